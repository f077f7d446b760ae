"""PTX ISA §9.7.12: control flow instructions."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

ROWS = (
    Row(
        "bra",
        Op.BRA,
        "9.7.12.2",
        ("bra{.uni} target",),
        operands={"target": "label"},
        traits=frozenset({Trait.BRANCH}),
    ),
    Row(
        "brx.idx",
        Op.BRX_IDX,
        "9.7.12.3",
        ("brx.idx{.uni} index, targets",),
        since="6.0+sm_30",
        operands={"index": ".u32", "targets": "label"},
        traits=frozenset({Trait.BRANCH}),
    ),
    Row("ret", Op.RET, "9.7.12.5", ("ret{.uni}",), traits=frozenset({Trait.TERMINATOR})),
    Row("exit", Op.EXIT, "9.7.12.6", ("exit",), traits=frozenset({Trait.TERMINATOR})),
    Row("trap", Op.TRAP, "9.7.19.4", ("trap",), traits=frozenset({Trait.TERMINATOR})),
    Row(
        "call",
        Op.CALL,
        "9.7.12.4",
        (
            "call{.uni} function",
            "call{.uni} function, arguments{, prototype}",
            "call{.uni} returns, function, arguments{, prototype}",
        ),
        operands={"returns": "w any", "function": "any", "arguments": "any", "prototype": "label"},
        traits=frozenset({Trait.CALL}),
    ),
)
