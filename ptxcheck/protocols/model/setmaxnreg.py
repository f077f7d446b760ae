"""What `setmaxnreg` does (PTX ISA, "setmaxnreg"): a warp changes how many registers its threads have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...opcodes.op import Op
from .actions import Action, Registers
from .lowering import Lower, Occurrence


def _change(occurrence: Occurrence) -> Iterator[Action]:
    increases = occurrence.operation.slots.get("action") == ".inc"
    yield Registers(
        occurrence.point, occurrence.number("count"), increases, int(occurrence.leads), occurrence.rank
    )


MEANINGS: Mapping[Op, Lower] = {Op.SETMAXNREG: _change}
