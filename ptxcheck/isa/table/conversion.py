"""PTX ISA 9.7.9.21 and 9.7.9.22: conversion between types."""

from __future__ import annotations

from ...op import Op
from ...spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_INTEGERS = ".u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64"
_CVT_OPERANDS = {"d": "w dtype+", "a": "atype+"}
_ROUNDING = {
    "irnd": ".rni .rzi .rmi .rpi",
    "frnd": ".rn .rz .rm .rp",
    "frnd2": ".rn .rz",
    "frnd3": ".rz .rp",
}
_NARROW_PAIRS = ".e4m3x2,.e5m2x2"
_BRAIN_SINCE = "7.8+sm_90"

ROWS = (
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        (
            f"cvt{{.sat}}.dtype({_INTEGERS}).atype({_INTEGERS}) d, a",
            f"cvt.irnd{{.ftz}}{{.sat}}.dtype({_INTEGERS}).atype(.f16,.f32) d, a",
            f"cvt.irnd{{.sat}}.dtype({_INTEGERS}).atype(.f64) d, a",
            f"cvt.irnd.dtype({_INTEGERS}).atype(.bf16) d, a @{_BRAIN_SINCE}",
            f"cvt.frnd{{.ftz}}{{.sat}}.dtype(.f16,.f32).atype({_INTEGERS}) d, a",
            f"cvt.frnd{{.sat}}.dtype(.f64).atype({_INTEGERS}) d, a",
            f"cvt.frnd{{.sat}}.dtype(.bf16).atype({_INTEGERS}) d, a @{_BRAIN_SINCE}",
            "cvt{.irnd}{.ftz}{.sat}.dtype(.f16).atype(.f16) d, a",
            "cvt{.irnd}{.ftz}{.sat}.dtype(.f32).atype(.f32) d, a",
            "cvt{.irnd}{.sat}.dtype(.f64).atype(.f64) d, a",
            f"cvt.irnd{{.sat}}.dtype(.bf16).atype(.bf16) d, a @{_BRAIN_SINCE}",
            "cvt.frnd{.ftz}{.sat}.dtype(.f16).atype(.f32,.f64) d, a",
            "cvt.frnd{.ftz}{.sat}.dtype(.f32).atype(.f64) d, a",
            "cvt{.ftz}{.sat}.dtype(.f32,.f64).atype(.f16) d, a",
            "cvt{.ftz}{.sat}.dtype(.f64).atype(.f32) d, a",
            "cvt{.ftz}{.sat}.dtype(.f32).atype(.bf16) d, a @7.1+sm_80",
            "cvt.frnd2{.relu}.dtype(.f16,.bf16).atype(.f32) d, a @7.0+sm_80",
        ),
        slots=_ROUNDING,
        operands=_CVT_OPERANDS,
        traits=_PURE,
    ),
    Row(
        "cvt",
        Op.CVT,
        "9.7.9.21",
        (
            "cvt.frnd2{.relu}{.satfinite@8.1}.dtype(.f16x2,.bf16x2).atype(.f32) d, a, b @7.0+sm_80".replace(
                "@8.1", ""
            ),
        ),
        slots=_ROUNDING,
        operands={"b": "atype"},
        traits=_PURE,
    ),
)
