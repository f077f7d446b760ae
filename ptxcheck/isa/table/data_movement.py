"""PTX ISA 9.7.9: moves, shuffles, loads, stores, cache control and address conversion."""

from __future__ import annotations

from ...op import Op
from ...spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_LOAD = frozenset({Trait.LOAD})
_STORE = frozenset({Trait.STORE})

_NARROW = ".b8,.u8,.s8,.b16,.u16,.s16,.b32,.u32,.s32,.f32"
_DOUBLE = ".b64,.u64,.s64,.f64"
_WORD = ".b32,.u32,.s32,.f32"

_SHAPES = (
    f"{{.vec(.v2,.v4)}}.type({_NARROW})",
    f"{{.vec(.v2)}}.type({_DOUBLE})",
    ".type(.b128@8.3+sm_70)",
)
"""Vector lengths and types of an access of at most 128 bits."""

_WIDE_SHAPES = (f".vec(.v8).type({_WORD})", f".vec(.v4).type({_DOUBLE})")
"""Accesses of 256 bits."""

_WIDE_SINCE = "8.8+sm_100"

_MEMORY_SLOTS = {
    "scope": ".cta .cluster@7.8+sm_90 .gpu .sys",
    "evict1": ".L1::evict_normal .L1::evict_unchanged .L1::evict_first .L1::evict_last .L1::no_allocate",
    "evict2": ".L2::evict_normal .L2::evict_first .L2::evict_last",
    "hint": ".L2::cache_hint@7.4+sm_80",
    "prefetch": ".L2::64B@7.4+sm_75 .L2::128B@7.4+sm_75 .L2::256B@7.4+sm_80",
}
_SHARED = ".shared,.shared::cta@7.8,.shared::cluster@7.8+sm_90"
_LOAD_SPACES = f".const,.global,.local,.param,.param::entry@8.3,.param::func@8.3,{_SHARED}"
_STORE_SPACES = f".global,.local,.param,.param::func@8.3,{_SHARED}"
_ORDERED_SPACES = f".global,{_SHARED}"

_LOAD_TAIL = " d, [a]{, policy}@hint"
_STORE_TAIL = " [a], b{, policy}@hint"
_HINTS = "{.hint}{.prefetch}"


def _lines(*heads: str, tail: str, shapes: tuple[str, ...] = _SHAPES, since: str = "") -> tuple[str, ...]:
    """Return the lines of each head with each shape."""
    needs = f" @{since}" if since else ""
    return tuple(f"{head}{shape}{tail}{needs}" for head in heads for shape in shapes)


_CVT_INTEGERS = ".u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64"

ROWS = (
    Row(
        "mov",
        Op.MOV,
        "9.7.9.3",
        (
            "mov.type(.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64) d, a",
            "mov.type(.b128) d, a @8.3+sm_70",
            f"mov.vec(.v2,.v4).type({_NARROW}) d, a",
            f"mov.vec(.v2).type({_DOUBLE}) d, a",
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
        since="3.0+sm_30",
        slots={"mode": ".up .down .bfly .idx"},
        operands={"b": ".u32", "c": ".u32", "p": "w_ pred"},
        traits=frozenset({Trait.CROSS_LANE}),
    ),
    Row(
        "shfl.sync",
        Op.SHFL_SYNC,
        "9.7.9.6",
        ("shfl.sync.mode.type(.b32) d{|p}, a, b, c, mask",),
        since="6.0+sm_30",
        slots={"mode": ".up .down .bfly .idx"},
        operands={"b": ".u32", "c": ".u32", "mask": ".u32", "p": "w_ pred"},
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
            *_lines(
                f"ld{{.weak}}{{.space}}{{.cop}}{_HINTS}",
                f"ld{{.weak}}{{.space(.global)}}{{.evict1}}{{.evict2}}{_HINTS}",
                tail=_LOAD_TAIL,
            ),
            *_lines(
                f"ld{{.weak}}.space(.global){{.cop}}{_HINTS}",
                f"ld{{.weak}}.space(.global){{.evict1}}{{.evict2}}{_HINTS}",
                tail=_LOAD_TAIL,
                shapes=_WIDE_SHAPES,
                since=_WIDE_SINCE,
            ),
        ),
        slots={"space": _LOAD_SPACES.replace(",", " "), "cop": ".ca .cg .cs .lu .cv", **_MEMORY_SLOTS},
        operands={"d": "w type+*vec", "policy": ".b64"},
        traits=_LOAD,
    ),
    Row(
        "ld",
        Op.LD,
        "9.7.9.8",
        (
            *_lines(
                f"ld.sem(.volatile){{.space({_ORDERED_SPACES},.local@9.1)}}{{.prefetch}}",
                tail=" d, [a]",
            ),
            *_lines(
                f"ld.sem(.relaxed,.acquire).scope{{.space({_ORDERED_SPACES})}}{{.evict1}}{{.evict2}}{_HINTS}",
                tail=_LOAD_TAIL,
                since="6.0+sm_70",
            ),
            *_lines(
                f"ld.sem(.relaxed,.acquire).scope.space(.global){{.evict1}}{{.evict2}}{_HINTS}",
                tail=_LOAD_TAIL,
                shapes=_WIDE_SHAPES,
                since=_WIDE_SINCE,
            ),
            *_lines(
                "ld.mmio.sem(.relaxed).scope(.sys){.space(.global)}",
                tail=" d, [a]",
                since="8.2+sm_70",
            ),
        ),
        slots=_MEMORY_SLOTS,
        operands={"d": "w type+*vec", "policy": ".b64"},
        traits=_LOAD | {Trait.VOLATILE},
    ),
    Row(
        "ld",
        Op.LD_NC,
        "9.7.9.9",
        (
            *_lines(
                f"ld.space(.global).nc{{.cop}}{_HINTS}",
                f"ld.space(.global).nc{{.evict1}}{{.evict2}}{_HINTS}",
                tail=_LOAD_TAIL,
                since="3.1+sm_32",
            ),
            *_lines(
                f"ld.space(.global).nc{{.cop}}{_HINTS}",
                f"ld.space(.global).nc{{.evict1}}{{.evict2}}{_HINTS}",
                tail=_LOAD_TAIL,
                shapes=_WIDE_SHAPES,
                since=_WIDE_SINCE,
            ),
        ),
        slots={"cop": ".ca .cg .cs", **_MEMORY_SLOTS},
        operands={"d": "w type+*vec", "policy": ".b64"},
        traits=_LOAD,
    ),
    Row(
        "ldu",
        Op.LDU,
        "9.7.9.10",
        _lines("ldu{.space(.global)}", tail=" d, [a]"),
        since="2.0+sm_20",
        operands={"d": "w type+*vec"},
        traits=_LOAD,
    ),
    Row(
        "st",
        Op.ST,
        "9.7.9.11",
        (
            *_lines(
                "st{.weak}{.space}{.cop}{.hint}",
                "st{.weak}{.space(.global)}{.evict1}{.evict2}{.hint}",
                tail=_STORE_TAIL,
            ),
            *_lines(
                "st{.weak}.space(.global){.cop}{.hint}",
                "st{.weak}.space(.global){.evict1}{.evict2}{.hint}",
                tail=_STORE_TAIL,
                shapes=_WIDE_SHAPES,
                since=_WIDE_SINCE,
            ),
            *_lines(f"st.sem(.volatile){{.space({_ORDERED_SPACES},.local@9.1)}}", tail=" [a], b"),
            *_lines(
                f"st.sem(.relaxed,.release).scope{{.space({_ORDERED_SPACES})}}{{.evict1}}{{.evict2}}{{.hint}}",
                tail=_STORE_TAIL,
                since="6.0+sm_70",
            ),
            *_lines(
                "st.sem(.relaxed,.release).scope.space(.global){.evict1}{.evict2}{.hint}",
                tail=_STORE_TAIL,
                shapes=_WIDE_SHAPES,
                since=_WIDE_SINCE,
            ),
            *_lines(
                "st.mmio.sem(.relaxed).scope(.sys){.space(.global)}",
                tail=" [a], b",
                since="8.2+sm_70",
            ),
        ),
        slots={"space": _STORE_SPACES.replace(",", " "), "cop": ".wb .cg .cs .wt", **_MEMORY_SLOTS},
        operands={"b": "type+*vec", "policy": ".b64"},
        traits=_STORE,
    ),
    Row(
        "prefetch",
        Op.PREFETCH,
        "9.7.9.15",
        (
            "prefetch{.space(.global,.local)}.level [a] @2.0+sm_20",
            "prefetch.space(.global).evict [a] @7.4+sm_80",
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
            "createpolicy.range{.space(.global)}.primary{.secondary}.type(.b64) d, [a], size, total",
            "createpolicy.fractional.primary{.secondary}.type(.b64) d{, fraction}",
            "createpolicy.cvt.L2.type(.b64) d, a",
        ),
        since="7.4+sm_80",
        slots={
            "primary": ".L2::evict_last .L2::evict_normal .L2::evict_first .L2::evict_unchanged",
            "secondary": ".L2::evict_first .L2::evict_unchanged",
        },
        operands={"size": ".u32", "total": ".u32", "fraction": ".f32"},
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
        operands={"p": "w pred", "a": ".u64"},
        traits=_PURE,
    ),
    Row(
        "cvta",
        Op.CVTA,
        "9.7.9.20",
        ("cvta.space.type(.u32,.u64) d, a=symbol", "cvta.to.space.type(.u32,.u64) d, a"),
        since="2.0+sm_20",
        slots={
            "space": ".const@3.1 .global .local .shared .shared::cta@7.8 .shared::cluster@7.8+sm_90 "
            ".param@7.7+sm_70 .param::entry@8.3+sm_70"
        },
        operands={"symbol": "any type"},
        traits=_PURE,
    ),
    Row(
        "mapa",
        Op.MAPA,
        "9.7.9.23",
        ("mapa{.space(.shared::cluster)}.type(.u32,.u64) d, a, b",),
        since="7.8+sm_90",
        operands={"a": "any type", "b": ".u32"},
        traits=_PURE,
    ),
    Row(
        "getctarank",
        Op.GETCTARANK,
        "9.7.9.24",
        ("getctarank{.space(.shared::cluster)}.type(.u32,.u64) d, a",),
        since="7.8+sm_90",
        operands={"d": "w .u32", "a": "any type"},
        traits=_PURE,
    ),
)
