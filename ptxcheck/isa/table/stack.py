"""PTX ISA §9.7.17: stack manipulation instructions."""

from __future__ import annotations

from ...opcodes.op import Op
from ..row import Row

ROWS = (
    Row("stacksave", Op.STACKSAVE, "9.7.17.1", ("stacksave.type(.u32,.u64) d",), since="7.3+sm_52"),
    Row("stackrestore", Op.STACKRESTORE, "9.7.17.2", ("stackrestore.type(.u32,.u64) a",), since="7.3+sm_52"),
    Row(
        "alloca",
        Op.ALLOCA,
        "9.7.17.3",
        ("alloca.type(.u32,.u64) d, size{, align}",),
        since="7.3+sm_52",
        operands={"align": "imm"},
    ),
)
