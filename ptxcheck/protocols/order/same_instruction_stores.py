"""Stores of several threads to the same bytes by one instruction: which value stays is open, unless it is one.

Property: of a store, or a copy by `cp.async`, by which several threads may write different values to one place, it is
either said that they do (`Stores.numbers`, from which `memory` finds that), or that they are taken to store one value.

Argument: released kernels let all threads that know a value store it. That it is one is seen where no register of the
store depends on the thread, or where the numbers that threads store follow from their indices (`stored_numbers`).
Those that surely store different numbers leave open which of them stays (PTX ISA, "Memory Consistency Model": a race).

Not covered: stores at places that are not known and differ from thread to thread, which are taken to be apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from ...cfg.cfg import Cfg
from ...cfg.facts import Facts
from ...cfg.uniform import Uniformity
from ...ir import Address, Instruction, Register, registers_of
from ...opcodes.op import Op
from ..model.axiom import Axiom
from ..model.lowering import StoredNumbers
from ..model.outcome import Flaw, Problem
from ..symex.values.register_file import lanes_of
from ..symex.values.symbol import Form, Value
from ..symex.values.trace import Event, Trace
from ..typestate.shared_access import access_bytes
from .axioms import COPIES_OF_ONE_INSTRUCTION, SAME_VALUE
from .stored_numbers import StoredBy

_WARP = 32
_POINTER = 64
"""Bits of an address."""
_Truths = npt.NDArray[np.bool_]


class Stores:
    """What threads store at each point of one kernel, and where that goes."""

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._facts = facts
        self._stored_by = StoredBy(cfg, facts)

    def uniform(self, point: int) -> Uniformity:
        """Return the largest groups of threads that store one value at a point; GRID for numbers alone.

        Of a copy that is what its source and its size are for.
        """
        instruction = self._cfg.instructions[point]
        is_copy = instruction.operation.op is Op.CP_ASYNC
        stored = instruction.operands[1:] if is_copy else instruction.operands[-1:]
        return max(
            (
                max(self._facts.uniform(point, register), Uniformity.CTA)
                for operand in stored
                for register in registers_of(operand)
            ),
            default=Uniformity.GRID,
        )

    def uniform_place(self, point: int) -> Uniformity:
        """Return the largest groups of threads that store to one place at a point."""
        address = _address(self._cfg.instructions[point])
        return Uniformity.DIVERGENT if address is None else self._facts.uniform(point, address)

    def numbers(self, point: int) -> StoredNumbers | None:
        """Return what each thread stores at a point, None where it is not known: for `st` of one element.

        Of a copy, where it is from, if all threads copy as many bytes.
        """
        instruction = self._cfg.instructions[point]
        if instruction.operation.op is Op.CP_ASYNC:
            return self._sources(point, instruction)
        value = instruction.operands[-1]
        if instruction.operation.op is not Op.ST or not isinstance(value, Register):
            return None
        found = self._stored_by(point, value, 8 * access_bytes(instruction))
        return None if found is None or len(found[0]) == 1 else found

    def _sources(self, point: int, instruction: Instruction) -> StoredNumbers | None:
        source = instruction.operands[1]
        is_one_size = all(
            self._facts.uniform(point, register) <= Uniformity.CTA
            for operand in instruction.operands[2:]
            for register in registers_of(operand)
        )
        if not is_one_size or not isinstance(source, Address) or not isinstance(source.base, Register):
            return None
        return self._stored_by(point, source.base, _POINTER)

    def takes_part(self, point: int, threads: int) -> _Truths | None:
        """Return the threads for which the predicate of a store holds, None where it is not known."""
        guard = self._cfg.instructions[point].guard
        if guard is None:
            return np.ones(threads, dtype=np.bool_)
        held = self._facts.threads_where(point, guard.register, not guard.negated)
        return None if held is None or held.size < threads else lanes_of(held.bits, held.size)[:threads]


def _address(instruction: Instruction) -> Address | None:
    return next((operand for operand in instruction.operands if isinstance(operand, Address)), None)


def stored_together(cfg: Cfg, trace: Trace, stores: Stores, done: set[int]) -> Iterator[tuple[Axiom, int]]:
    """Yield points at which threads store or copy to the same bytes what may differ, with what says that it does not.

    Each once, and none that are done.
    """
    for event in trace.events:
        placed = None if event.point in done else _placed(cfg, event)
        if placed is None:
            continue
        done.add(event.point)
        level = _shared_by(event, *placed, trace.shape.threads, stores)
        if level is not None and stores.uniform(event.point) > level:
            is_copy = cfg.instructions[event.point].operation.op is Op.CP_ASYNC
            yield (COPIES_OF_ONE_INSTRUCTION if is_copy else SAME_VALUE), event.point


def _placed(cfg: Cfg, event: Event) -> tuple[Value | None, bool] | None:
    """Return where an event stores or copies to, and whether all of its threads do; None for what does neither."""
    op = cfg.instructions[event.point].operation.op
    if op is Op.ST and event.access is not None:
        return event.access.address, event.access.certain
    return (event.operands["dst"], event.certain) if op is Op.CP_ASYNC else None


def _shared_by(
    event: Event, address: Value | None, is_certain: bool, threads: int, stores: Stores
) -> Uniformity | None:
    """Return which threads store to the same place, None when each has a place of its own, or that is not known."""
    chosen = lanes_of(event.threads, threads)
    taking = stores.takes_part(event.point, threads)
    if taking is not None:
        chosen = chosen & taking
    elif not is_certain:
        return None
    own = np.flatnonzero(chosen)
    if address is None or isinstance(address, Form):
        return _shared_by_unknown(own, stores.uniform_place(event.point))
    places = np.broadcast_to(np.asarray(address, dtype=np.uint64), threads)[own]
    if len(np.unique(places)) == len(places):
        return None
    named = np.stack([places, (own // _WARP).astype(np.uint64)])
    by_warps = len(np.unique(named, axis=1).T) > len(np.unique(places))
    return Uniformity.CTA if by_warps else Uniformity.WARP


def _shared_by_unknown(own: npt.NDArray[np.int64], place: Uniformity) -> Uniformity | None:
    """Return which threads store to a place that is not known, by how many it is the same for."""
    warps = len(np.unique(own // _WARP))
    if place is Uniformity.DIVERGENT or len(own) < 2:
        return None
    if place is Uniformity.WARP:
        return Uniformity.WARP if warps < len(own) else None
    return Uniformity.CTA if warps > 1 else Uniformity.WARP


def collisions(
    cfg: Cfg, problems: Iterable[Problem], uniform: Callable[[int], Uniformity]
) -> Iterator[Problem]:
    """Yield stores and copies of several threads to the same bytes, by one instruction, of values that may differ.

    In a loop, warps may be in different rounds, and what they agree about in each round may be another number.
    """
    for problem in problems:
        same = problem.point >= 0 and any(point == problem.point for _, point in problem.related)
        if problem.flaw is Flaw.WRITES_COLLIDE and same:
            level = uniform(problem.point)
            is_in_loop = bool(cfg.loops_around(cfg.graph.block_of[problem.point]))
            if level > Uniformity.CTA or (is_in_loop and level > Uniformity.GRID):
                yield problem
