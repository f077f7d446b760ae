"""Loads of global memory from words that the kernel itself writes.

Property: a point is in `rewritten_loads` only if some store, reduction or atomic operation of the kernel writes, where
it runs, a byte that this load reads.

Argument: both are constant offsets from one kernel parameter or variable, so that they are one place in all threads.
What such a load finds depends on who has come to the write: two threads, or one thread twice, may find different
numbers, and none of them need be the host's.

Not covered: offsets that vary, pointers that alias, copies. There it is an assumption that numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg import AtomKind
from ....cfg.cfg import Cfg
from ....cfg.facts import Facts
from ....ir import Address
from ....opcodes.spec import Trait
from ...typestate.shared_access import access_bytes

_SAME_FOR_ALL = frozenset({AtomKind.PARAMETER, AtomKind.ADDRESS})
_ELSEWHERE = (".shared", ".local", ".param", ".const")


def rewritten_loads(cfg: Cfg, facts: Facts) -> frozenset[int]:
    """Return the points of loads whose word the kernel itself writes."""
    written = [
        words for point in _points(cfg, Trait.STORE, Trait.ATOMIC) for words in _words(cfg, facts, point)
    ]
    return frozenset(
        point
        for point in (_points(cfg, Trait.LOAD) if written else ())
        if Trait.ATOMIC not in cfg.instructions[point].operation.traits
        for where, first, end in _words(cfg, facts, point)
        if any(
            where == other and first < its_end and its_first < end for other, its_first, its_end in written
        )
    )


def _points(cfg: Cfg, *traits: Trait) -> Iterator[int]:
    for point, instruction in enumerate(cfg.instructions):
        if not instruction.operation.traits.isdisjoint(traits):
            yield point


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
    yield pointer.base, first, first + access_bytes(instruction)
