"""The register budget of each CTA (PTX ISA, "setmaxnreg"): an increase waits until others have released enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, Protocol, Registers
from .lowering import Lower, Occurrence

_FILE = 65536
"""Registers of a multiprocessor."""
_UNIT = 8
_MOST = 255


def registers_at_entry(attributes: Mapping[str, tuple[int, ...]], threads: int) -> int | None:
    """Return the registers of a thread when a kernel starts, None when its directives do not fix them.

    `setmaxnreg` needs `.maxnreg`, or a block size with `.minnctapersm`, for which ptxas divides the register file.
    """
    if ".maxnreg" in attributes:
        return attributes[".maxnreg"][0]
    if ".minnctapersm" in attributes and threads:
        share = _FILE // (threads * attributes[".minnctapersm"][0])
        return min(share, _MOST) // _UNIT * _UNIT
    return None


def _change(occurrence: Occurrence) -> Iterator[Action]:
    increases = occurrence.operation.slots.get("action") == ".inc"
    yield Registers(occurrence.point, occurrence.number("count"), increases, int(occurrence.leads))


class RegisterPool:
    """Registers that warps of each CTA have released and not taken again, in registers of a thread for each warp."""

    def __init__(self, protocol: Protocol) -> None:
        self._strands = protocol.strands
        self._start = protocol.registers
        self._held: dict[int, int] = {}
        self._free: dict[int, int] = {}

    def move(self, strand: int, action: Registers) -> bool:
        """Change the registers of a strand; False while there are not enough."""
        if self._start is None:
            return True
        cta = self._strands[strand].cta
        more = (action.count - self._held.get(strand, self._start)) * action.warps
        free = self._free.get(cta, 0)
        if action.increases and more > free:
            return False
        self._held[strand] = action.count
        self._free[cta] = free - more
        return True


MEANINGS: Mapping[Op, Lower] = {Op.SETMAXNREG: _change}
