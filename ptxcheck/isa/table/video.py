"""PTX ISA §9.7.18: scalar and SIMD video instructions.

Sources may select bytes or halves (`r1.b0`, `r2.h10`) and destinations a part to merge into: such operands
are components of a register.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_TYPES = {"dtype": ".u32 .s32", "atype": ".u32 .s32", "btype": ".u32 .s32"}
_SECOND = {"second": ".add .min .max"}
_COMPARE = {"compare": ".eq .ne .lt .le .gt .ge"}
_SCALAR_SINCE = "2.0+sm_20"
_SIMD_SINCE = "3.0+sm_30"


def _scalar(mnemonic: str, op: Op, section: str) -> Row:
    head = f"{mnemonic}.dtype.atype.btype{{.sat}}"
    return Row(
        mnemonic,
        op,
        section,
        (f"{head} d, a, b", f"{head}.second d, a, b, c", f"{head} d, a, b, c"),
        since=_SCALAR_SINCE,
        slots=_TYPES | _SECOND,
        operands={"c": "dtype"},
        traits=_PURE,
    )


def _shift(mnemonic: str, op: Op, section: str) -> Row:
    head = f"{mnemonic}.dtype.atype.btype(.u32){{.sat}}.mode"
    return Row(
        mnemonic,
        op,
        section,
        (f"{head} d, a, b", f"{head}.second d, a, b, c", f"{head} d, a, b, c"),
        since=_SCALAR_SINCE,
        slots=_TYPES | _SECOND | {"mode": ".clamp .wrap"},
        operands={"c": "dtype"},
        traits=_PURE,
    )


def _simd(mnemonic: str, op: Op, section: str) -> Row:
    head = f"{mnemonic}.dtype.atype.btype"
    return Row(
        mnemonic,
        op,
        section,
        (f"{head}{{.sat}} d, a, b, c", f"{head}.add d, a, b, c"),
        since=_SIMD_SINCE,
        slots=_TYPES,
        operands={"c": "dtype"},
        traits=_PURE,
    )


def _simd_compare(mnemonic: str, op: Op, section: str) -> Row:
    return Row(
        mnemonic,
        op,
        section,
        (f"{mnemonic}.atype.btype.compare{{.add}} d, a, b, c",),
        since=_SIMD_SINCE,
        slots=_TYPES | _COMPARE,
        operands={"d": "w .u32", "c": ".u32"},
        traits=_PURE,
    )


ROWS = (
    _scalar("vadd", Op.VADD, "9.7.18.1.1"),
    _scalar("vsub", Op.VSUB, "9.7.18.1.1"),
    _scalar("vabsdiff", Op.VABSDIFF, "9.7.18.1.1"),
    _scalar("vmin", Op.VMIN, "9.7.18.1.1"),
    _scalar("vmax", Op.VMAX, "9.7.18.1.1"),
    _shift("vshl", Op.VSHL, "9.7.18.1.2"),
    _shift("vshr", Op.VSHR, "9.7.18.1.2"),
    Row(
        "vmad",
        Op.VMAD,
        "9.7.18.1.3",
        ("vmad.dtype.atype.btype{.po}{.sat}{.scale} d, a, b, c",),
        since=_SCALAR_SINCE,
        slots=_TYPES | {"scale": ".shr7 .shr15"},
        operands={"c": "dtype"},
        traits=_PURE,
    ),
    Row(
        "vset",
        Op.VSET,
        "9.7.18.1.4",
        (
            "vset.atype.btype.compare d, a, b",
            "vset.atype.btype.compare.second d, a, b, c",
            "vset.atype.btype.compare d, a, b, c",
        ),
        since=_SCALAR_SINCE,
        slots=_TYPES | _SECOND | _COMPARE,
        operands={"d": "w .u32", "c": ".u32"},
        traits=_PURE,
    ),
    _simd("vadd2", Op.VADD2, "9.7.18.2.1"),
    _simd("vsub2", Op.VSUB2, "9.7.18.2.1"),
    _simd("vavrg2", Op.VAVRG2, "9.7.18.2.1"),
    _simd("vabsdiff2", Op.VABSDIFF2, "9.7.18.2.1"),
    _simd("vmin2", Op.VMIN2, "9.7.18.2.1"),
    _simd("vmax2", Op.VMAX2, "9.7.18.2.1"),
    _simd_compare("vset2", Op.VSET2, "9.7.18.2.2"),
    _simd("vadd4", Op.VADD4, "9.7.18.2.3"),
    _simd("vsub4", Op.VSUB4, "9.7.18.2.3"),
    _simd("vavrg4", Op.VAVRG4, "9.7.18.2.3"),
    _simd("vabsdiff4", Op.VABSDIFF4, "9.7.18.2.3"),
    _simd("vmin4", Op.VMIN4, "9.7.18.2.3"),
    _simd("vmax4", Op.VMAX4, "9.7.18.2.3"),
    _simd_compare("vset4", Op.VSET4, "9.7.18.2.4"),
)
