"""From definitions to the points that read them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..ir import Register
from .cfg import Cfg
from .definitions import Definitions


class Uses:
    """Readers of the results of one function."""

    def __init__(self, cfg: Cfg, definitions: Definitions) -> None:
        self._cfg = cfg
        self._definitions = definitions

    def of(self, point: int) -> tuple[int, ...]:
        """Return the points that may read a register as the instruction at `point` left it."""
        found: set[int] = set()
        for register in set(self._cfg.instructions[point].writes()):
            for reader in self._readers.get(register, ()):
                name = self._definitions.before(reader, register)
                if point in self._definitions.instructions_behind(name):
                    found.add(reader)
        return tuple(sorted(found))

    @cached_property
    def _readers(self) -> Mapping[Register, tuple[int, ...]]:
        found: dict[Register, dict[int, None]] = {}
        for point, instruction in enumerate(self._cfg.instructions):
            for register in instruction.reads():
                found.setdefault(register, {})[point] = None
        return {register: tuple(points) for register, points in found.items()}
