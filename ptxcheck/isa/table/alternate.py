"""PTX ISA §9.7.6 of version 9.4: arithmetic on four packed numbers of 8, 6 or 4 bits."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_SINCE = "9.4+sm_100a|sm_103a"
_RESULTS = ".e5m2x4 .e4m3x4"
_SOURCES = ".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4"
_PURE = frozenset({Trait.PURE})


def _row(mnemonic: str, op: Op, section: str, types: str, operands: str) -> Row:
    return Row(
        mnemonic,
        op,
        section,
        (f"{mnemonic}{{.rn}}{{.satfinite}}{types} {operands}",),
        since=_SINCE,
        slots={"cdtype": _RESULTS, "dtype": _RESULTS, "atype": _SOURCES, "btype": _SOURCES},
        operands={"d": "w .e4m3x4", "c": ".e4m3x4"},
        traits=_PURE,
    )


ROWS = (
    _row("add", Op.ADD, "9.7.6.1", ".cdtype.atype", "d, a, c"),
    _row("sub", Op.SUB, "9.7.6.2", ".cdtype.atype", "d, a, c"),
    _row("mul", Op.MUL, "9.7.6.3", ".dtype.atype.btype", "d, a, b"),
    _row("fma", Op.FMA, "9.7.6.4", ".cdtype.atype.btype", "d, a, b, c"),
)
