"""Loads of global memory from words that the kernel itself writes.

Property: where a load is at a constant offset from a parameter or a variable and is of no rewritten word, no store,
reduction or atomic operation at such an offset from the same one writes a byte that the load reads.

Argument: both are constant offsets from one kernel parameter or variable, so that they are one place in all threads.
What such a load finds depends on who has come to the write: two threads, or one thread twice, may find different
numbers, and none of them need be the host's. How far a matrix or a `discard` reaches is not known, so that all bytes
behind its first one may be its own.

Not covered: offsets that vary, pointers that alias, copies. There it is an assumption that numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ....cfg import AtomKind
from ....cfg.cfg import Cfg
from ....cfg.facts import Facts
from ....ir import Address
from ....opcodes.spec import Trait
from ...typestate.shared_access import access_bytes

_SAME_FOR_ALL = frozenset({AtomKind.PARAMETER, AtomKind.ADDRESS})
_WRITING = frozenset({Trait.STORE, Trait.ATOMIC})
_ELSEWHERE = (".shared", ".local", ".param", ".const")
_UNKNOWN_END = 1 << 64
"""Behind every offset: how far a matrix, or what has no type, reaches is not known."""


class Rewrites:
    """Tells of single loads: few of a kernel matter, and most are of no word that is the same for all."""

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._facts = facts
        self._known: dict[int, bool] = {}

    def is_of(self, point: int) -> bool:
        """Tell whether a load reads a word that the kernel itself writes."""
        if point not in self._known:
            self._known[point] = self._is_of(point)
        return self._known[point]

    def _is_of(self, point: int) -> bool:
        traits = self._cfg.instructions[point].operation.traits
        if Trait.LOAD not in traits or Trait.ATOMIC in traits:
            return False
        return any(
            where == other and first < its_end and its_first < end
            for where, first, end in _words(self._cfg, self._facts, point)
            for other, its_first, its_end in self._written
        )

    @cached_property
    def _written(self) -> Sequence[tuple[object, int, int]]:
        return [
            words
            for point, instruction in enumerate(self._cfg.instructions)
            if instruction.operation.traits & _WRITING
            for words in _words(self._cfg, self._facts, point)
        ]


def _words(cfg: Cfg, facts: Facts, point: int) -> Iterator[tuple[object, int, int]]:
    """Yield what an access is relative to, its first byte, and the one behind it, where it is one place for all."""
    instruction = cfg.instructions[point]
    address = next((each for each in instruction.operands if isinstance(each, Address)), None)
    if address is None or instruction.operation.slots.get("space", "").startswith(_ELSEWHERE):
        return
    pointer = facts.address(point, address)
    if pointer is None or pointer.base is None or pointer.base.kind not in _SAME_FOR_ALL:
        return
    if pointer.space.startswith(_ELSEWHERE) or pointer.offset.constant is None:
        return
    first = pointer.offset.signed
    assert first is not None
    size = 0 if Trait.CROSS_LANE in instruction.operation.traits else access_bytes(instruction)
    yield pointer.base, first, first + size if size else _UNKNOWN_END
