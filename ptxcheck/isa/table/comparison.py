"""PTX ISA §9.7.6 and 9.7.7: comparison and selection, half precision included."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_BITS = ".b16,.b32,.b64"
_UNSIGNED = ".u16,.u32,.u64"
_SIGNED = ".s16,.s32,.s64"
_BIT_COMPARISONS = ".eq,.ne"
_SIGNED_COMPARISONS = ".eq,.ne,.lt,.le,.gt,.ge"
_UNSIGNED_COMPARISONS = f"{_SIGNED_COMPARISONS},.lo,.ls,.hi,.hs"
_FLOAT_COMPARISONS = f"{_SIGNED_COMPARISONS},.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan"
_HALF_SINCE = "4.2+sm_53"
_BRAIN_SINCE = "7.8+sm_90"


def _setp_lines(comparisons: str, types: str, *, flush: str = "", since: str = "") -> tuple[str, ...]:
    """Return the plain line and the one that combines with a predicate."""
    needs = f" @{since}" if since else ""
    return (
        f"setp.compare({comparisons}){flush}.type({types}) p{{|q}}, a, b{needs}",
        f"setp.compare({comparisons}){flush}.bool.type({types}) p{{|q}}, a, b, c{needs}",
    )


def _setp_half_lines(type_: str, *, flush: str = "", since: str) -> tuple[str, ...]:
    """A half has one result; ptxas rejects the second."""
    lines = _setp_lines(_FLOAT_COMPARISONS, type_, flush=flush, since=since)
    return tuple(line.replace("p{|q}", "p") for line in lines)


def _set_lines(
    comparisons: str, results: str, types: str, *, flush: str = "", since: str = ""
) -> tuple[str, ...]:
    needs = f" @{since}" if since else ""
    return (
        f"set.compare({comparisons}){flush}.dtype({results}).type({types}) d, a, b{needs}",
        f"set.compare({comparisons}).bool{flush}.dtype({results}).type({types}) d, a, b, c{needs}",
    )


_BOOL = {"bool": ".and .or .xor"}
_SET_RESULTS = ".u32,.s32,.f32"
_HALF_RESULTS = f".f16@{_HALF_SINCE},.bf16@{_BRAIN_SINCE}"
_WHOLE_RESULTS = ".u16,.s16,.u32,.s32"

ROWS = (
    Row(
        "set",
        Op.SET,
        "9.7.6.1",
        (
            *_set_lines(_BIT_COMPARISONS, _SET_RESULTS, _BITS),
            *_set_lines(_UNSIGNED_COMPARISONS, _SET_RESULTS, _UNSIGNED),
            *_set_lines(_SIGNED_COMPARISONS, _SET_RESULTS, _SIGNED),
            *_set_lines(_FLOAT_COMPARISONS, _SET_RESULTS, ".f32", flush="{.ftz}"),
            *_set_lines(_FLOAT_COMPARISONS, _SET_RESULTS, ".f64"),
        ),
        slots=_BOOL,
        operands={"c": "pred"},
        traits=_PURE,
    ),
    Row(
        "set",
        Op.SET,
        "9.7.6.1",
        (
            f"set.compare({_UNSIGNED_COMPARISONS}).type(.u8x4,.u16x2) d, a, b",
            f"set.compare({_SIGNED_COMPARISONS}).type(.s8x4,.s16x2) d, a, b",
        ),
        since="9.4+sm_107f",
        traits=_PURE,
    ),
    Row(
        "setp",
        Op.SETP,
        "9.7.6.2",
        (
            *_setp_lines(_BIT_COMPARISONS, _BITS),
            *_setp_lines(_UNSIGNED_COMPARISONS, _UNSIGNED),
            *_setp_lines(_SIGNED_COMPARISONS, _SIGNED),
            *_setp_lines(_FLOAT_COMPARISONS, ".f32", flush="{.ftz}"),
            *_setp_lines(_FLOAT_COMPARISONS, ".f64"),
        ),
        slots=_BOOL,
        operands={"p": "w_ pred", "q": "w_ pred", "c": "pred"},
        traits=_PURE,
    ),
    Row(
        "selp",
        Op.SELP,
        "9.7.6.3",
        (f"selp.type({_BITS},{_UNSIGNED},{_SIGNED},.f32,.f64) d, a, b, c",),
        operands={"c": "pred"},
        traits=_PURE,
    ),
    Row(
        "slct",
        Op.SLCT,
        "9.7.6.4",
        (
            f"slct.type({_BITS},{_UNSIGNED},{_SIGNED},.f32,.f64).ctype(.s32) d, a, b, c",
            f"slct{{.ftz}}.type({_BITS},{_UNSIGNED},{_SIGNED},.f32,.f64).ctype(.f32) d, a, b, c",
        ),
        traits=_PURE,
    ),
    Row(
        "set",
        Op.SET,
        "9.7.7.1",
        (
            *_set_lines(_BIT_COMPARISONS, _HALF_RESULTS, _BITS),
            *_set_lines(_UNSIGNED_COMPARISONS, _HALF_RESULTS, _UNSIGNED),
            *_set_lines(_SIGNED_COMPARISONS, _HALF_RESULTS, _SIGNED),
            *_set_lines(_FLOAT_COMPARISONS, f".f16@{_HALF_SINCE}", ".f32", flush="{.ftz}"),
            *_set_lines(_FLOAT_COMPARISONS, ".bf16", ".f32", since=_BRAIN_SINCE),
            *_set_lines(_FLOAT_COMPARISONS, _HALF_RESULTS, ".f64"),
            *_set_lines(_FLOAT_COMPARISONS, ".bf16", ".f16", since=_BRAIN_SINCE),
            *_set_lines(_FLOAT_COMPARISONS, ".f16", ".f16", flush="{.ftz}", since=_HALF_SINCE),
            *_set_lines(_FLOAT_COMPARISONS, _WHOLE_RESULTS, ".f16", flush="{.ftz}", since="6.5+sm_53"),
            *_set_lines(_FLOAT_COMPARISONS, f".bf16,{_WHOLE_RESULTS}", ".bf16", since=_BRAIN_SINCE),
            *_set_lines(_FLOAT_COMPARISONS, ".f16x2", ".f16x2", flush="{.ftz}", since=_HALF_SINCE),
            *_set_lines(_FLOAT_COMPARISONS, ".u32,.s32", ".f16x2", flush="{.ftz}", since="6.5+sm_53"),
            *_set_lines(_FLOAT_COMPARISONS, ".bf16x2,.u32,.s32", ".bf16x2", since=_BRAIN_SINCE),
        ),
        slots=_BOOL,
        operands={"c": "pred"},
        traits=_PURE,
    ),
    Row(
        "setp",
        Op.SETP,
        "9.7.7.2",
        (
            *_setp_half_lines(".f16", flush="{.ftz}", since=_HALF_SINCE),
            *_setp_half_lines(".bf16", since=_BRAIN_SINCE),
            *_setp_lines(_FLOAT_COMPARISONS, ".f16x2", flush="{.ftz}", since=_HALF_SINCE),
            *_setp_lines(_FLOAT_COMPARISONS, ".bf16x2", since=_BRAIN_SINCE),
        ),
        slots=_BOOL,
        operands={"p": "w_ pred", "q": "w_ pred", "c": "pred"},
        traits=_PURE,
    ),
)
