"""PTX ISA §9.7.9.21 and 9.7.9.22: conversion between types.

What ptxas 13 accepts was tried for every pair of types; where the manual differs, ptxas is followed.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_INTEGERS = ".u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64"
_ROUNDING = {"irnd": ".rni .rzi .rmi .rpi", "frnd": ".rn .rz .rm .rp", "frnd2": ".rn .rz"}
_BRAIN_SINCE = "7.8+sm_90"

_NARROWING = (
    (".u8", ".s8,.u16,.s16,.u32,.s32,.u64,.s64"),
    (".s8", ".u8,.u16,.s16,.u32,.s32,.u64,.s64"),
    (".u16", ".s8,.s16,.u32,.s32,.u64,.s64"),
    (".s16", ".u16,.u32,.s32,.u64,.s64"),
    (".u32", ".s8,.s16,.s32,.u64,.s64"),
    (".s32", ".u32,.u64,.s64"),
    (".u64", ".s8,.s16,.s32,.s64"),
    (".s64", ".u64"),
)
"""Integer conversions that can go out of range: only these saturate."""

_FAMILY = "sm_100f|sm_110f|sm_120f"
_STOCHASTIC = "8.7+sm_100a|sm_103a|sm_107a"
_NEWEST = "9.4+sm_107f"
_EIGHT = ".e4m3x2,.e5m2x2"
_SIX = ".e2m3x2,.e3m2x2"
_FOUR = ".e2m1x2"
_HALVES = ".f16x2,.bf16x2"


def _to_narrow(target: str, source: str, operands: str, since: str, *, rounding: str = ".rn") -> str:
    return f"cvt{rounding}.satfinite{{.relu}}.dtype({target}).atype({source}) {operands} @{since}"


def _to_narrow_new(target: str, source: str, operands: str) -> tuple[str, ...]:
    """Return what PTX 9.4 adds to a conversion: rounding to zero, `.pzo`, a scale."""
    head = f".satfinite{{.relu}}{{.pzo}}{{.scale(.scaled::n1::ue8m0)}}.dtype({target}).atype({source})"
    return (
        f"cvt.frnd2(.rz){head} {operands}{{, factor=byte}}@scale @{_NEWEST}",
        f"cvt.frnd2(.rn).satfinite{{.relu}}.pzo.dtype({target}).atype({source}) {operands} @{_NEWEST}",
        f"cvt.frnd2(.rn).satfinite{{.relu}}{{.pzo}}.scale(.scaled::n1::ue8m0).dtype({target}).atype({source})"
        f" {operands}, factor=byte @{_NEWEST}",
    )


def _from_narrow(source: str, since: str) -> str:
    return f"cvt.rn{{.relu}}.dtype(.f16x2).atype({source}) d, a @{since}"


def _from_narrow_to_brain(source: str) -> str:
    return (
        f"cvt.rn{{.relu}}{{.satfinite}}{{.scale(.scaled::n2::ue8m0)}}.dtype(.bf16x2).atype({source})"
        f" d, a{{, factor=half}}@scale @9.2+{_FAMILY}"
    )


def _pairs(target: str) -> tuple[str, ...]:
    """Return the lines that pack two singles into a pair of halves."""
    return (
        f"cvt.frnd2{{.relu}}.dtype({target}).atype(.f32) d, a, b @7.0+sm_80",
        f"cvt.frnd2{{.relu}}.satfinite.dtype({target}).atype(.f32) d, a, b @8.1+sm_80",
        f"cvt.frnd2{{.relu}}{{.satfinite}}.pzo.dtype({target}).atype(.f32) d, a, b @{_NEWEST}",
        f"cvt.rs{{.relu}}{{.satfinite}}.dtype({target}).atype(.f32) d, a, b, bits @{_STOCHASTIC}",
    )


ROWS = (
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        (
            f"cvt.dtype({_INTEGERS}).atype({_INTEGERS}) d, a",
            *(f"cvt.sat.dtype({target}).atype({source}) d, a" for target, source in _NARROWING),
            f"cvt.irnd{{.ftz}}{{.sat}}.dtype({_INTEGERS}).atype(.f32) d, a",
            f"cvt.irnd{{.sat}}.dtype({_INTEGERS}).atype(.f16,.f64) d, a",
            f"cvt.frnd{{.ftz}}{{.sat}}.dtype(.f32).atype({_INTEGERS}) d, a",
            f"cvt.frnd{{.sat}}.dtype(.f16,.f64).atype({_INTEGERS}) d, a",
            "cvt{.irnd}{.sat}.dtype(.f16).atype(.f16) d, a",
            "cvt{.irnd}{.ftz}{.sat}.dtype(.f32).atype(.f32) d, a",
            "cvt{.irnd}{.sat}.dtype(.f64).atype(.f64) d, a",
            "cvt{.ftz}{.sat}.dtype(.f32).atype(.f16) d, a",
            "cvt{.sat}.dtype(.f64).atype(.f16) d, a",
            "cvt{.ftz}{.sat}.dtype(.f64).atype(.f32) d, a",
            "cvt.frnd{.ftz}{.sat}.dtype(.f16).atype(.f32) d, a",
            "cvt.frnd{.sat}.dtype(.f16).atype(.f64) d, a",
            "cvt.frnd{.ftz}{.sat}.dtype(.f32).atype(.f64) d, a",
            "cvt.frnd2.satfinite.dtype(.f16).atype(.f32) d, a @8.1",
            "cvt.frnd2.relu.satfinite.dtype(.f16).atype(.f32) d, a @8.1+sm_80",
            "cvt.frnd2.relu.dtype(.f16).atype(.f32) d, a @7.0+sm_80",
            f"cvt.frnd2{{.relu}}{{.satfinite}}.pzo.dtype(.f16).atype(.f32) d, a @{_NEWEST}",
        ),
        slots=_ROUNDING,
        operands={"d": "w dtype+", "a": "atype+"},
        traits=_PURE,
    ),
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        (
            f"cvt.irnd.dtype({_INTEGERS}).atype(.bf16) d, a @{_BRAIN_SINCE}",
            f"cvt.frnd.dtype(.bf16).atype({_INTEGERS}) d, a @{_BRAIN_SINCE}",
            f"cvt{{.irnd}}.dtype(.bf16).atype(.bf16) d, a @{_BRAIN_SINCE}",
            "cvt{.frnd}.dtype(.f32).atype(.bf16) d, a @7.1+sm_80",
            f"cvt{{.frnd}}.ftz.dtype(.f32).atype(.bf16) d, a @{_BRAIN_SINCE}",
            f"cvt{{.frnd}}.dtype(.f64).atype(.bf16) d, a @{_BRAIN_SINCE}",
            f"cvt{{.frnd}}.dtype(.f16).atype(.bf16) d, a @{_BRAIN_SINCE}",
            f"cvt{{.frnd}}.dtype(.bf16).atype(.f16) d, a @{_BRAIN_SINCE}",
            "cvt.rna.dtype(.tf32).atype(.f32) d, a @7.0+sm_80",
            "cvt.rna.satfinite.dtype(.tf32).atype(.f32) d, a @8.1+sm_80",
            f"cvt.frnd2{{.relu}}.dtype(.tf32).atype(.f32) d, a @{_BRAIN_SINCE}",
            "cvt.frnd2{.relu}.satfinite.dtype(.tf32).atype(.f32) d, a @8.6+sm_100",
            f"cvt.frnd2{{.relu}}{{.satfinite}}.pzo.dtype(.tf32).atype(.f32) d, a @{_NEWEST}",
            "cvt.frnd{.ftz}.dtype(.bf16).atype(.f32) d, a @7.0+sm_80",
            f"cvt.frnd.dtype(.bf16).atype(.f64) d, a @{_BRAIN_SINCE}",
            "cvt.frnd2.relu.dtype(.bf16).atype(.f32) d, a @7.0+sm_80",
            "cvt.frnd2{.relu}.satfinite.dtype(.bf16).atype(.f32) d, a @8.1+sm_80",
            f"cvt.frnd2{{.relu}}{{.satfinite}}.pzo.dtype(.bf16).atype(.f32) d, a @{_NEWEST}",
        ),
        slots=_ROUNDING,
        traits=_PURE,
    ),
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        _pairs(".f16x2"),
        slots=_ROUNDING,
        operands={"d": "w dtype+", "a": "atype+", "b": "atype+", "bits": ".b32"},
        traits=_PURE,
    ),
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        (
            *_pairs(".bf16x2"),
            _to_narrow(_EIGHT, ".f32", "d, a, b", "8.1+sm_89"),
            _to_narrow(_EIGHT, ".f16x2", "d, a", "8.1+sm_89"),
            _to_narrow(_EIGHT, ".bf16x2", "d, a", f"9.1+{_FAMILY}"),
            *(
                line
                for target in (_SIX, _FOUR)
                for line in (
                    _to_narrow(target, ".f32", "d, a, b", f"8.6+{_FAMILY}"),
                    _to_narrow(target, _HALVES, "d, a", f"9.1+{_FAMILY}"),
                )
            ),
            *(
                line
                for target in (_EIGHT, _SIX, _FOUR)
                for line in (
                    *_to_narrow_new(target, ".f32", "d, a, b"),
                    *_to_narrow_new(target, _HALVES, "d, a"),
                )
            ),
            _from_narrow(_EIGHT, "8.1+sm_89"),
            _from_narrow(f"{_SIX},{_FOUR}", f"8.6+{_FAMILY}"),
            _from_narrow_to_brain(f"{_EIGHT},{_SIX},{_FOUR}"),
            f"cvt.frnd3{{.satfinite}}.dtype(.ue8m0x2).atype(.f32) d, a, b @8.6+{_FAMILY}",
            f"cvt.frnd3{{.satfinite}}.dtype(.ue8m0x2).atype(.bf16x2) d, a @8.6+{_FAMILY}",
            f"cvt.rn.dtype(.bf16x2).atype(.ue8m0x2) d, a @8.6+{_FAMILY}",
            "cvt.rs{.relu}.satfinite.dtype(.e4m3x4,.e5m2x4,.e2m3x4,.e3m2x4,.e2m1x4).atype(.f32)"
            f" d, a=four, bits @{_STOCHASTIC}",
        ),
        slots=_ROUNDING | {"frnd3": ".rz .rp"},
        operands={"four": "vec atype*4", "b": "atype", "bits": ".b32", "byte": ".ue8m0", "half": ".ue8m0x2"},
        traits=_PURE,
    ),
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        (
            *(
                f"cvt.frnd2({rounding}).satfinite{{.relu}}{{.scale(.scaled::n2::ue8m0)}}"
                f".dtype(.s2f6x2).atype({source}) {operands}{{, factor=half}}@scale @{since}"
                for rounding, since in (
                    (".rn", "9.1+sm_100a|sm_103a|sm_110a|sm_120a|sm_121a|sm_107a"),
                    (".rz", "9.4+sm_107a"),
                )
                for source, operands in ((".f32", "d, a, b"), (".bf16x2", "d, a"))
            ),
            "cvt.rn{.satfinite}{.relu}{.scale(.scaled::n2::ue8m0)}.dtype(.bf16x2).atype(.s2f6x2)"
            " d, a{, factor=half}@scale @9.1+sm_100a|sm_103a|sm_110a|sm_120a|sm_121a|sm_107a",
            f"cvt.frnd4{{.satfinite}}.dtype(.ue5m3x2).atype(.f32) d, a, b @{_NEWEST}",
            f"cvt.frnd4{{.satfinite}}.dtype(.ue5m3x2).atype({_HALVES}) d, a @{_NEWEST}",
            "cvt.frnd2{.satfinite}.scale(.scaled::n1::ue8m0).dtype(.ue5m3x2).atype(.f32)"
            f" d, a, b, factor=byte @{_NEWEST}",
            f"cvt.frnd2{{.satfinite}}.scale(.scaled::n1::ue8m0).dtype(.ue5m3x2).atype({_HALVES})"
            f" d, a, factor=byte @{_NEWEST}",
            f"cvt.rn.dtype(.f16x2).atype(.ue5m3x2) d, a @{_NEWEST}",
            "cvt.rn{.satfinite}{.scale(.scaled::n2::ue8m0)}.dtype(.bf16x2).atype(.ue5m3x2)"
            f" d, a{{, factor=half}}@scale @{_NEWEST}",
        ),
        slots=_ROUNDING | {"frnd4": ".rn .rz .rp"},
        operands={"b": "atype", "byte": ".ue8m0", "half": ".ue8m0x2"},
        traits=_PURE,
    ),
    Row(
        "cvt.pack",
        Op.CVT_PACK,
        "9.7.9.22",
        (
            "cvt.pack.sat.dtype(.u16,.s16).abtype(.s32) d, a, b",
            "cvt.pack.sat.dtype(.u2,.s2,.u4,.s4,.u8,.s8).abtype(.s32).ctype(.b32) d, a, b, c",
        ),
        since="6.5+sm_72",
        operands={"d": "w .b32+", "a": "abtype+", "b": "abtype+", "c": "ctype+"},
        traits=_PURE,
    ),
)
