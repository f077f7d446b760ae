"""PTX ISA 9.3, 9.7.9.12 to 9.7.9.15, 9.7.14.5 to 9.7.14.8: atomics, asynchronous stores, multimem.

Operands that analyses ask for: `d` the old value, `addr`, `b` and `c` of `atom` and `red`; `dst`, `b` and
`mbar` of asynchronous stores and reductions to the cluster (`dst` and `b` alone to global memory); `dst`,
`size` and `value` of `st.bulk`; `addr` of `multimem`; `cache_policy`.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_ATOM = frozenset({Trait.ATOMIC, Trait.LOAD, Trait.STORE, Trait.VOLATILE})
_RED = frozenset({Trait.ATOMIC, Trait.STORE})
_SHARED = ".shared,.shared::cta@7.8,.shared::cluster@7.8+sm_90"
_SCOPE = ".cta .cluster@7.8+sm_90 .gpu .sys"
_CACHED = "{.space(.global)}.cache_hint"
_ANYWHERE = f"{{.space(.global,{_SHARED})}}"

_TYPES = (
    ".op(.and,.or,.xor).type(.b32,.b64)",
    ".op(.add).type(.u32,.s32,.u64,.f32,.f64@5.0+sm_60)",
    ".op(.add).noftz.type(.f16@6.3+sm_70,.f16x2@6.2+sm_60,.bf16@7.8+sm_90,.bf16x2@7.8+sm_90)",
    ".op(.inc,.dec).type(.u32)",
    ".op(.min,.max).type(.u32,.s32,.u64,.s64)",
)
_VECTOR_TYPES = (
    ".op(.add).vec(.v2,.v4).type(.f32)",
    ".op(.add,.min,.max).noftz.vec(.v2,.v4,.v8).type(.f16,.bf16)",
    ".op(.add,.min,.max).noftz.vec(.v2,.v4).type(.f16x2,.bf16x2)",
)
_VECTOR = "8.1+sm_90"


def _forms(name: str, types: tuple[str, ...], operands: str, since: str = "") -> tuple[str, ...]:
    """Return each group of types in any space, and in global memory with a cache policy."""
    later = f" @{since}" if since else ""
    return tuple(
        line
        for one in types
        for line in (
            f"{name}{{.sem}}{{.scope}}{_ANYWHERE}{one} {operands}{later}",
            f"{name}{{.sem}}{{.scope}}{_CACHED}{one} {operands}, cache_policy @{since or '7.4+sm_80'}",
        )
    )


def _vector_forms(name: str, operands: str) -> tuple[str, ...]:
    return tuple(
        f"{name}{{.sem}}{{.scope}}{{.space(.global)}}{{.cache_hint}}{one} {operands}"
        f"{{, cache_policy}}@cache_hint @{_VECTOR}"
        for one in _VECTOR_TYPES
    )


_ATOMICS = (
    Row(
        "atom",
        Op.ATOM,
        "9.7.14.5",
        (
            *_forms("atom", _TYPES, "d, [addr], b"),
            *_forms("atom", (".op(.exch).type(.b32,.b64,.b128@8.3+sm_90)",), "d, [addr], b"),
            f"atom{{.sem}}{{.scope}}{_ANYWHERE}.op(.cas).type(.b16@6.3+sm_70,.b32,.b64,.b128@8.3+sm_90)"
            " d, [addr], b, c",
            *_vector_forms("atom", "d, [addr], b"),
        ),
        since="1.1",
        slots={
            "sem": ".relaxed@6.0+sm_70 .acquire@6.0+sm_70 .release@6.0+sm_70 .acq_rel@6.0+sm_70",
            "scope": _SCOPE,
            "cache_hint": ".L2::cache_hint",
        },
        operands={
            "d": "w_ type*vec",
            "b": "type*vec",
            "addr": "addr in space",
            "cache_policy": ".b64",
        },
        traits=_ATOM,
    ),
    Row(
        "red",
        Op.RED,
        "9.7.14.6",
        (*_forms("red", _TYPES, "[addr], b"), *_vector_forms("red", "[addr], b")),
        since="1.2",
        slots={
            "sem": ".relaxed@6.0+sm_70 .release@6.0+sm_70",
            "scope": _SCOPE,
            "cache_hint": ".L2::cache_hint",
        },
        operands={"b": "type*vec", "addr": "addr in space", "cache_policy": ".b64"},
        traits=_RED,
    ),
)

_TO_CLUSTER = "{.space(.shared::cluster,.shared::cta)}.completion"
_ASYNC_SLOTS = {"completion": ".mbarrier::complete_tx::bytes"}
_ASYNC_OPERANDS = {"dst": "addr in space", "mbar": "addr in space", "b": "type*vec"}
_ASYNC_STORE = frozenset({Trait.ASYNC, Trait.STORE})
_ASYNC_RED = frozenset({Trait.ASYNC, Trait.ATOMIC, Trait.STORE})
_RELEASE = "8.7+sm_100"
_STORE_TYPES = ".b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64"
_RED_TYPES = (
    ".op(.inc,.dec).type(.u32)",
    ".op(.min,.max).type(.u32,.s32)",
    ".op(.and,.or,.xor).type(.b32)",
    ".op(.add).type(.u32,.s32,.u64,.s64)",
)


def _release(name: str, rest: str) -> tuple[str, ...]:
    """Return the release forms to global memory; memory-mapped ones are at system scope."""
    return (
        f"{name}.sem(.release).scope(.gpu,.sys){{.space(.global)}}{rest} @{_RELEASE}",
        f"{name}.mmio.sem(.release).scope(.sys){{.space(.global)}}{rest} @{_RELEASE}",
    )


_ASYNCHRONOUS = (
    Row(
        "st.async",
        Op.ST_ASYNC,
        "9.7.9.12",
        (
            f"st.async{{.weak}}{_TO_CLUSTER}{{.vec(.v2,.v4)}}.type(.b32,.u32,.s32,.f32) [dst], b, [mbar]"
            " @8.1+sm_90",
            f"st.async{{.weak}}{_TO_CLUSTER}{{.vec(.v2)}}.type(.b64,.u64,.s64,.f64) [dst], b, [mbar]"
            " @8.1+sm_90",
            f"st.async{{.weak}}{_TO_CLUSTER}.type(.b128) [dst], b, [mbar] @9.2+sm_90",
            *_release("st.async", f".type({_STORE_TYPES}) [dst], b"),
        ),
        slots=_ASYNC_SLOTS,
        operands=_ASYNC_OPERANDS,
        traits=_ASYNC_STORE,
    ),
    Row(
        "red.async",
        Op.RED_ASYNC,
        "9.7.14.7",
        (
            *(
                f"red.async.sem(.relaxed).scope(.cluster){{.space(.shared::cluster)}}.completion{types}"
                " [dst], b, [mbar] @8.1+sm_90"
                for types in _RED_TYPES
            ),
            *(line for types in _RED_TYPES for line in _release("red.async", f"{types} [dst], b")),
            *(
                f"red.async.sem(.relaxed).scope(.gpu,.sys){{.space(.global)}}{types} [dst], b @{_RELEASE}"
                for types in _RED_TYPES
            ),
        ),
        slots=_ASYNC_SLOTS,
        operands=_ASYNC_OPERANDS,
        traits=_ASYNC_RED,
    ),
    Row(
        "st.bulk",
        Op.ST_BULK,
        "9.7.9.14",
        ("st.bulk{.weak}{.space} [dst], size, value",),
        since="8.6+sm_100",
        slots={"space": ".shared::cta"},
        operands={"dst": "addr in space", "size": ".u64", "value": "imm"},
        traits=frozenset({Trait.STORE}),
        limits={"size": "0..9223372036854775800 step 8", "value": "0"},
    ),
    Row(
        "multimem.st.async",
        Op.MULTIMEM_ST_ASYNC,
        "9.7.9.13",
        (f"multimem.st.async.sem.scope{{.space}}.type({_STORE_TYPES}) [dst], b",),
        since="9.3+sm_100",
        slots={"sem": ".release", "scope": ".gpu .sys", "space": ".global"},
        operands=_ASYNC_OPERANDS,
        traits=_ASYNC_STORE,
    ),
    Row(
        "multimem.red.async",
        Op.MULTIMEM_RED_ASYNC,
        "9.7.14.8",
        ("multimem.red.async.sem.scope{.space}.op(.add).type(.u32,.s32,.u64) [dst], b",),
        since="9.3+sm_100",
        slots={"sem": ".release", "scope": ".gpu .sys", "space": ".global"},
        operands=_ASYNC_OPERANDS,
        traits=_ASYNC_RED,
    ),
)

_INTEGER_REDUCTIONS = (
    ".op(.add).type(.u32,.s32,.u64)",
    ".op(.min,.max).type(.u32,.s32,.u64,.s64)",
    ".op(.and,.or,.xor).type(.b32,.b64)",
)
_FLOAT_REDUCTIONS = (
    ".op(.add).type(.f32,.f64)",
    ".op(.add).vec(.v2,.v4).type(.f32)",
)
_HALF_TYPES = ("{.vec(.v2,.v4)}.type(.f16x2,.bf16x2)", ".vec(.v2,.v4,.v8).type(.f16,.bf16)")
_EIGHT_SINCE = "8.6+sm_100a|sm_100f|sm_110a|sm_110f|sm_120a|sm_121a"
_EIGHT_TYPES = (
    "{.vec(.v2,.v4)}.type(.e4m3x4,.e5m2x4)",
    ".vec(.v2,.v4,.v8).type(.e4m3x2,.e5m2x2)",
    ".vec(.v2,.v4,.v8).type(.e4m3,.e5m2)",
)
_MULTIMEM = {
    "scope": ".cta .cluster .gpu .sys",
    "space": ".global",
    "acc32": ".acc::f32@8.2",
    "acc16": ".acc::f16",
}
_MULTIMEM_OPERANDS = {"d": "type*vec", "b": "type*vec", "addr": "addr in space"}


def _load_reductions() -> tuple[str, ...]:
    found = []
    for order in ("{.weak}", ".sem(.relaxed,.acquire).scope"):
        head = f"multimem.ld_reduce{order}{{.space}}"
        found += [f"{head}{types} d, [addr]" for types in (*_INTEGER_REDUCTIONS, *_FLOAT_REDUCTIONS)]
        for types in _HALF_TYPES:
            found += [
                f"{head}.op(.add){{.acc32}}{types} d, [addr]",
                f"{head}.op(.min,.max){types} d, [addr]",
            ]
        for types in _EIGHT_TYPES:
            found += [
                f"{head}.op(.add){{.acc16}}{types} d, [addr] @{_EIGHT_SINCE}",
                f"{head}.op(.min,.max){types} d, [addr] @{_EIGHT_SINCE}",
            ]
    return tuple(found)


_MULTIMEMS = (
    Row(
        "multimem.ld_reduce",
        Op.MULTIMEM_LD_REDUCE,
        "9.7.9.15",
        _load_reductions(),
        since="8.1+sm_90",
        slots=_MULTIMEM,
        operands=_MULTIMEM_OPERANDS,
        traits=frozenset({Trait.LOAD, Trait.VOLATILE}),
    ),
    Row(
        "multimem.st",
        Op.MULTIMEM_ST,
        "9.7.9.15",
        tuple(
            f"multimem.st{order}{{.space}}{types} [addr], b{since}"
            for order in ("{.weak}", ".sem(.relaxed,.release).scope")
            for types, since in (
                (".type(.b32,.b64,.u32,.u64,.s32,.s64,.f32,.f64)", ""),
                (".vec(.v2,.v4).type(.f32)", ""),
                *((types, "") for types in _HALF_TYPES),
                *((types, f" @{_EIGHT_SINCE}") for types in _EIGHT_TYPES),
            )
        ),
        since="8.1+sm_90",
        slots=_MULTIMEM,
        operands=_MULTIMEM_OPERANDS,
        traits=frozenset({Trait.STORE}),
    ),
    Row(
        "multimem.red",
        Op.MULTIMEM_RED,
        "9.7.9.15",
        tuple(
            f"multimem.red{{.sem(.relaxed,.release).scope}}{{.space}}{types} [addr], b"
            for types in (
                *_INTEGER_REDUCTIONS,
                *_FLOAT_REDUCTIONS,
                *(f".op(.add){{.acc32}}{types}" for types in _HALF_TYPES),
                *(f".op(.min,.max){types}" for types in _HALF_TYPES),
            )
        ),
        since="8.1+sm_90",
        slots=_MULTIMEM,
        operands=_MULTIMEM_OPERANDS,
        traits=_RED,
    ),
)

ROWS = (*_ATOMICS, *_ASYNCHRONOUS, *_MULTIMEMS)
