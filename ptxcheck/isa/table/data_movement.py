"""PTX ISA §9.7.9: moves, shuffles, loads, stores, cache control and address conversion."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_LOAD = frozenset({Trait.LOAD})
_STORE = frozenset({Trait.STORE})

_BYTES = ".b8,.u8,.s8"
_HALVES = ".b16,.u16,.s16"
_WORDS = ".b32,.u32,.s32,.f32"
_DOUBLES = ".b64,.u64,.s64,.f64"
_QUAD = ".b128@8.3+sm_70"

_SHAPES = (
    f"{{.vec(.v2,.v4,.v8)}}.type({_BYTES},{_HALVES})",
    f"{{.vec(.v2,.v4)}}.type({_WORDS})",
    f"{{.vec(.v2)}}.type({_DOUBLES})",
    f".type({_QUAD})",
)
"""Vector lengths and types of an access of at most 128 bits."""

_WIDE_SHAPES = (f".vec(.v8).type({_WORDS})", f".vec(.v4).type({_DOUBLES})")
"""Accesses of 256 bits: only these take a priority for the second cache level."""

_SCALARS = (f".type({_BYTES},{_HALVES},{_WORDS},{_DOUBLES},.b128@8.4+sm_70)",)

_WIDE_SINCE = "8.8+sm_100"

_SHARED = ".shared .shared::cta@7.8 .shared::cluster@7.8+sm_90"
_MEMORY_SLOTS = {
    "scope": ".cta .cluster@7.8+sm_90 .gpu .sys",
    "evict1": ".L1::evict_normal@7.4 .L1::evict_unchanged@7.4 .L1::evict_first@7.4 .L1::evict_last@7.4 "
    ".L1::no_allocate@7.4",
    "evict2": ".L2::evict_normal .L2::evict_first .L2::evict_last",
    "hint": ".L2::cache_hint@7.4+sm_80",
    "prefetch": ".L2::64B@7.4+sm_75 .L2::128B@7.4+sm_75 .L2::256B@7.4+sm_80",
}
_LOAD_SLOTS = {
    **_MEMORY_SLOTS,
    "space": f".const .global .local .param .param::entry@8.3 .param::func@8.3 {_SHARED}",
    "cop": ".ca .cg .cs .lu .cv",
}
_STORE_SLOTS = {
    **_MEMORY_SLOTS,
    "space": f".global .local .param .param::func@8.3 {_SHARED}",
    "cop": ".wb .cg .cs .wt",
}
_ORDERED = "{.space(.global,.shared,.shared::cta,.shared::cluster)}"
_GLOBAL = "{.space(.global)}"
_LOAD_OPERANDS = {"d": "w type+*vec", "policy": ".u64"}
_LOAD_TAIL = " d, [a]{, policy}@hint"
_STORE_TAIL = " [a], b{, policy}@hint"


def _lines(*heads: str, tail: str, shapes: tuple[str, ...] = _SHAPES, since: str = "") -> tuple[str, ...]:
    """Return the lines of each head with each shape."""
    needs = f" @{since}" if since else ""
    return tuple(f"{head}{shape}{tail}{needs}" for head in heads for shape in shapes)


def _wide_lines(*heads: str, tail: str) -> tuple[str, ...]:
    return _lines(*heads, tail=tail, shapes=_WIDE_SHAPES, since=_WIDE_SINCE)


ROWS = (
    Row(
        "mov",
        Op.MOV,
        "9.7.9.3",
        (
            "mov.type(.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64) d, a",
            "mov.type(.b128) d, a @8.3+sm_70",
            f"mov.vec(.v2,.v4).type({_HALVES},{_WORDS}) d, a",
            f"mov.vec(.v2).type({_DOUBLES}) d, a",
        ),
        operands={"d": "w any type*vec", "a": "any type*vec"},
        traits=_PURE,
    ),
    Row(
        "mov",
        Op.MOV,
        "9.7.9.3",
        ("mov.type(.pred) d, a",),
        operands={"d": "w pred", "a": "pred"},
        traits=_PURE,
    ),
    Row(
        "shfl",
        Op.SHFL,
        "9.7.9.5",
        ("shfl.mode.type(.b32) d{|p}, a, b, c",),
        since="3.0+sm_30+until6.4/sm_70",
        slots={"mode": ".up .down .bfly .idx"},
        operands={"b": ".b32", "c": ".b32", "p": "w_ pred"},
        traits=frozenset({Trait.CROSS_LANE}),
    ),
    Row(
        "shfl.sync",
        Op.SHFL_SYNC,
        "9.7.9.6",
        ("shfl.sync.mode.type(.b32) d{|p}, a, b, c, mask",),
        since="6.0+sm_30",
        slots={"mode": ".up .down .bfly .idx"},
        operands={"b": ".b32", "c": ".b32", "mask": ".u32", "p": "w_ pred"},
        traits=frozenset({Trait.CROSS_LANE, Trait.COLLECTIVE}),
    ),
    Row(
        "prmt",
        Op.PRMT,
        "9.7.9.7",
        ("prmt.type(.b32){.mode} d, a, b, c",),
        since="2.0+sm_20",
        slots={"mode": ".f4e .b4e .rc8 .ecl .ecr .rc16"},
        traits=_PURE,
    ),
    Row(
        "ld",
        Op.LD,
        "9.7.9.8",
        (
            *_lines("ld{.weak}{.space}{.cop}", tail=" d, [a]"),
            *_lines(
                f"ld{{.weak}}{_GLOBAL}{{.cop}}{{.hint}}{{.prefetch}}",
                f"ld{{.weak}}{_GLOBAL}{{.evict1}}{{.hint}}{{.prefetch}}",
                tail=_LOAD_TAIL,
            ),
            *_wide_lines(
                f"ld{{.weak}}{_GLOBAL}{{.cop}}{{.evict2}}{{.hint}}{{.prefetch}}",
                f"ld{{.weak}}{_GLOBAL}{{.evict1}}{{.evict2}}{{.hint}}{{.prefetch}}",
                tail=_LOAD_TAIL,
            ),
            *_lines(f"ld.proxy::readonly{_GLOBAL}", tail=" d, [a]", shapes=_SHAPES[:-1], since="9.4+sm_90"),
        ),
        slots=_LOAD_SLOTS,
        operands=_LOAD_OPERANDS,
        traits=_LOAD,
    ),
    Row(
        "ld",
        Op.LD,
        "9.7.9.8",
        (
            *_lines(f"ld.sem(.volatile){_ORDERED}", tail=" d, [a]"),
            *_lines("ld.sem(.volatile).space(.local)", tail=" d, [a]", since="9.1"),
            *_lines(f"ld.sem(.volatile){_GLOBAL}.prefetch", tail=" d, [a]"),
            *_wide_lines(f"ld.sem(.volatile){_GLOBAL}{{.evict2}}{{.prefetch}}", tail=" d, [a]"),
            *_lines(f"ld.sem(.relaxed,.acquire).scope{_ORDERED}", tail=" d, [a]", since="6.0+sm_70"),
            *_lines(
                f"ld.sem(.relaxed,.acquire).scope{_GLOBAL}{{.evict1}}{{.hint}}{{.prefetch}}",
                tail=_LOAD_TAIL,
                since="6.0+sm_70",
            ),
            *_wide_lines(
                f"ld.sem(.relaxed,.acquire).scope{_GLOBAL}{{.evict1}}{{.evict2}}{{.hint}}{{.prefetch}}",
                tail=_LOAD_TAIL,
            ),
            *_lines(
                f"ld.mmio.sem(.relaxed).scope(.sys){_GLOBAL}",
                tail=" d, [a]",
                shapes=_SCALARS,
                since="8.2+sm_70",
            ),
        ),
        slots=_LOAD_SLOTS,
        operands=_LOAD_OPERANDS,
        traits=_LOAD | {Trait.VOLATILE},
    ),
    Row(
        "ld",
        Op.LD_NC,
        "9.7.9.9",
        (
            *_lines(
                "ld.space(.global).nc{.cop(.ca,.cg,.cs)}{.hint}{.prefetch}",
                "ld.space(.global).nc{.evict1}{.hint}{.prefetch}",
                tail=_LOAD_TAIL,
                since="3.1+sm_32",
            ),
            *_wide_lines(
                "ld.space(.global).nc{.cop(.ca,.cg,.cs)}{.evict2}{.hint}{.prefetch}",
                "ld.space(.global).nc{.evict1}{.evict2}{.hint}{.prefetch}",
                tail=_LOAD_TAIL,
            ),
        ),
        slots=_LOAD_SLOTS,
        operands=_LOAD_OPERANDS,
        traits=_LOAD,
    ),
    Row(
        "ldu",
        Op.LDU,
        "9.7.9.10",
        (
            f"ldu{_GLOBAL}{{.vec(.v2,.v4)}}.type({_BYTES},{_HALVES},{_WORDS}) d, [a]",
            f"ldu{_GLOBAL}{{.vec(.v2)}}.type({_DOUBLES}) d, [a]",
            f"ldu{_GLOBAL}.type({_QUAD}) d, [a]",
        ),
        since="2.0+sm_20",
        operands=_LOAD_OPERANDS,
        traits=_LOAD,
    ),
    Row(
        "st",
        Op.ST,
        "9.7.9.11",
        (
            *_lines("st{.weak}{.space}{.cop}", tail=" [a], b"),
            *_lines(
                f"st{{.weak}}{_GLOBAL}{{.cop}}{{.hint}}",
                f"st{{.weak}}{_GLOBAL}{{.evict1}}{{.hint}}",
                tail=_STORE_TAIL,
            ),
            *_wide_lines(
                f"st{{.weak}}{_GLOBAL}{{.cop}}{{.evict2}}{{.hint}}",
                f"st{{.weak}}{_GLOBAL}{{.evict1}}{{.evict2}}{{.hint}}",
                tail=_STORE_TAIL,
            ),
            *_lines(f"st.sem(.volatile){_ORDERED}", tail=" [a], b"),
            *_lines("st.sem(.volatile).space(.local)", tail=" [a], b", since="9.1"),
            *_wide_lines(f"st.sem(.volatile){_GLOBAL}{{.evict2}}", tail=" [a], b"),
            *_lines(f"st.sem(.relaxed,.release).scope{_ORDERED}", tail=" [a], b", since="6.0+sm_70"),
            *_lines(
                f"st.sem(.relaxed,.release).scope{_GLOBAL}{{.evict1}}{{.hint}}",
                tail=_STORE_TAIL,
                since="6.0+sm_70",
            ),
            *_wide_lines(
                f"st.sem(.relaxed,.release).scope{_GLOBAL}{{.evict1}}{{.evict2}}{{.hint}}", tail=_STORE_TAIL
            ),
            *_lines(
                f"st.mmio.sem(.relaxed).scope(.sys){_GLOBAL}",
                tail=" [a], b",
                shapes=_SCALARS,
                since="8.2+sm_70",
            ),
        ),
        slots=_STORE_SLOTS,
        operands={"b": "type+*vec", "policy": ".u64"},
        traits=_STORE,
    ),
    Row(
        "prefetch",
        Op.PREFETCH,
        "9.7.9.15",
        (
            "prefetch{.space(.global,.local)}.level [a] @2.0+sm_20",
            "prefetch{.space(.global)}.evict [a] @7.4+sm_80",
            "prefetch{.space(.global)}.valid_addr.L1::32B [a] @9.4+sm_90",
        ),
        slots={"level": ".L1 .L2", "evict": ".L2::evict_last .L2::evict_normal"},
    ),
    Row("prefetchu", Op.PREFETCHU, "9.7.9.15", ("prefetchu.L1 [a]",), since="2.0+sm_20"),
    Row(
        "applypriority",
        Op.APPLYPRIORITY,
        "9.7.9.16",
        ("applypriority{.space(.global)}.evict(.L2::evict_normal) [a], size",),
        since="7.4+sm_80",
        operands={"size": "imm"},
        limits={"size": "128"},
    ),
    Row(
        "discard",
        Op.DISCARD,
        "9.7.9.17",
        ("discard{.space(.global)}.L2 [a], size",),
        since="7.4+sm_80",
        operands={"size": "imm"},
        traits=_STORE,
        limits={"size": "128"},
    ),
    Row(
        "createpolicy",
        Op.CREATEPOLICY,
        "9.7.9.18",
        (
            "createpolicy.range!{.space(.global)}.primary{.secondary}.type(.b64) d, [a], size, total",
            "createpolicy.fractional!.primary{.secondary}.type(.b64) d{, fraction}",
            "createpolicy.cvt!.L2.type(.b64) d, a",
        ),
        since="7.4+sm_80",
        slots={
            "primary": ".L2::evict_last .L2::evict_normal .L2::evict_first .L2::evict_unchanged",
            "secondary": ".L2::evict_first .L2::evict_unchanged",
        },
        operands={"d": "w .u64", "size": ".u32", "total": ".u32", "fraction": ".f32"},
        traits=_PURE,
    ),
    Row(
        "isspacep",
        Op.ISSPACEP,
        "9.7.9.19",
        ("isspacep.space p, a",),
        since="2.0+sm_20",
        slots={
            "space": ".const@3.1 .global .local .shared .shared::cta@7.8 .shared::cluster@7.8+sm_90 "
            ".param@7.7+sm_70 .param::entry@8.3+sm_70"
        },
        operands={"p": "w pred", "a": ".u32+"},
        traits=_PURE,
    ),
    Row(
        "cvta",
        Op.CVTA,
        "9.7.9.20",
        ("cvta.space.type(.u32,.u64) d, a=symbol", "cvta.to!.space.type(.u32,.u64) d, a"),
        since="2.0+sm_20",
        slots={
            "space": ".const@3.1 .global .local .shared .shared::cta@7.8 .shared::cluster@7.8+sm_90 "
            ".param@7.7+sm_70 .param::entry@8.3+sm_70"
        },
        operands={"symbol": "symbol type in space"},
        traits=_PURE,
    ),
    Row(
        "mapa",
        Op.MAPA,
        "9.7.9.23",
        ("mapa{.space(.shared::cluster)}.type(.u32,.u64) d, a, b",),
        since="7.8+sm_90",
        operands={"a": "symbol type in .shared", "b": ".u32"},
        traits=_PURE,
    ),
    Row(
        "getctarank",
        Op.GETCTARANK,
        "9.7.9.24",
        ("getctarank{.space(.shared::cluster)}.type(.u32,.u64) d, a",),
        since="7.8+sm_90",
        operands={"d": "w .u32", "a": "symbol type in .shared"},
        traits=_PURE,
    ),
)
