"""PTX ISA §9.7.19: miscellaneous instructions."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

ROWS = (
    Row("brkpt", Op.BRKPT, "9.7.19.1", ("brkpt",)),
    Row("nanosleep", Op.NANOSLEEP, "9.7.19.2", ("nanosleep.type(.u32) t",), since="6.3+sm_70"),
    Row(
        "pmevent",
        Op.PMEVENT,
        "9.7.19.3",
        ("pmevent event", "pmevent.mask mask @3.0+sm_20"),
        operands={"event": "imm", "mask": "imm"},
        limits={"event": "0..15", "mask": "0..65535"},
    ),
    Row(
        "setmaxnreg",
        Op.SETMAXNREG,
        "9.7.19.5",
        ("setmaxnreg.action!.sync.aligned.type(.u32) count",),
        since="8.0+sm_90a|sm_100a|sm_100f|sm_110a|sm_110f|sm_120a|sm_120f",
        slots={"action": ".inc .dec"},
        operands={"count": "imm"},
        traits=frozenset({Trait.WARPGROUP, Trait.ALIGNED}),
        limits={"count": "24..256 step 8"},
    ),
)
