"""Stores of several threads to the same bytes by one instruction: which value stays is open, unless it is one.

Property: of a store, or a copy by `cp.async`, by which several threads may write different values to one place, it is
either said that they do (`Stores.numbers`, from which `memory` finds that), or that they are taken to store one value.

Argument: released kernels let all threads that know a value store it. That it is one is seen where no register of the
store depends on the thread, or where the numbers that threads store follow from their indices (`stored_numbers`).
Those that surely store different numbers leave open which of them stays (PTX ISA, "Memory Consistency Model": a race).

Places that are not known are apart where they are as far from each other as follows from the index; else it is taken
that they are.

Not covered: places of several elements that overlap in part. Natural alignment rules them out (SM001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...cfg.cfg import Cfg
from ...cfg.facts import Facts
from ...cfg.uniform import Uniformity
from ...ir import Address, Instruction, Register, Vector, registers_of
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
        if instruction.operation.op is not Op.ST:
            return None
        parts = value.elements if isinstance(value, Vector) else (value,)
        width = 8 * access_bytes(instruction) // len(parts)
        found = [self._stored_by(point, part, width) for part in parts if isinstance(part, Register)]
        return _together(found) if len(found) == len(parts) else None

    def are_apart(self, point: int, own: npt.NDArray[np.int64]) -> bool:
        """Tell whether some threads surely store to places of their own, wherever these are."""
        instruction = self._cfg.instructions[point]
        address = _address(instruction)
        base = None if address is None else address.base
        size = access_bytes(instruction)
        return isinstance(base, Register) and size > 0 and self._stored_by.apart(point, base, own, size)

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


def _together(parts: Sequence[StoredNumbers | None]) -> StoredNumbers | None:
    """Return a number for each thread, of all parts of what it stores; None where all store one, or it is not known."""
    known = [part for part in parts if part is not None and len(part[0]) > 1]
    if not known or None in parts:
        return None
    is_relative = any(part is not None and part[1] for part in parts)
    if len(known) == 1:
        return known[0][0], is_relative
    _, numbers = np.unique(np.stack([words for words, _ in known]), axis=1, return_inverse=True)
    return numbers.astype(np.uint64).ravel(), is_relative


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
        address, is_certain = placed
        own = _storing(event, trace.shape.threads, stores, is_certain=is_certain)
        level = None if own is None else _shared_by(event, address, own, stores)
        if level is None or own is None or stores.uniform(event.point) <= level:
            continue
        if cfg.instructions[event.point].operation.op is Op.CP_ASYNC:
            yield COPIES_OF_ONE_INSTRUCTION, event.point
        elif not _is_one_number(address, own, stores.numbers(event.point)):
            yield SAME_VALUE, event.point


def _placed(cfg: Cfg, event: Event) -> tuple[Value | None, bool] | None:
    """Return where an event stores or copies to, and whether all of its threads do; None for what does neither."""
    op = cfg.instructions[event.point].operation.op
    if op is Op.ST and event.access is not None:
        return event.access.address, event.access.certain
    return (event.operands["dst"], event.certain) if op is Op.CP_ASYNC else None


def _storing(event: Event, threads: int, stores: Stores, *, is_certain: bool) -> npt.NDArray[np.int64] | None:
    """Return the threads that store, by number; None where that is not known."""
    chosen = lanes_of(event.threads, threads)
    taking = stores.takes_part(event.point, threads)
    if taking is None and not is_certain:
        return None
    return np.flatnonzero(chosen if taking is None else chosen & taking)


def _shared_by(
    event: Event, address: Value | None, own: npt.NDArray[np.int64], stores: Stores
) -> Uniformity | None:
    """Return which threads store to the same place, None when each has a place of its own."""
    if address is None or isinstance(address, Form):
        return _shared_by_unknown(event.point, own, stores)
    places = _places(address, own)
    _, numbers = np.unique(places, return_inverse=True)
    if len(np.unique(numbers)) == len(places):
        return None
    named = np.unique(np.stack([numbers, own // _WARP]), axis=1)
    by_warps = named.shape[1] > len(np.unique(numbers))
    return Uniformity.CTA if by_warps else Uniformity.WARP


def _places(address: Value, own: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    every = np.asarray(address, dtype=np.uint64)
    found: npt.NDArray[np.uint64] = np.broadcast_to(every, own.shape) if every.ndim == 0 else every[own]
    return found


def _is_one_number(address: Value | None, own: npt.NDArray[np.int64], numbers: StoredNumbers | None) -> bool:
    """Tell whether threads that store to one place surely store one number there."""
    if (
        numbers is None
        or address is None
        or isinstance(address, Form)
        or len(numbers[0]) <= own.max(initial=0)
    ):
        return False
    places, stored = _places(address, own), numbers[0][own]
    both = np.unique(np.stack([places, stored]), axis=1)
    return bool(both.shape[1] == len(np.unique(places)))


def _shared_by_unknown(point: int, own: npt.NDArray[np.int64], stores: Stores) -> Uniformity | None:
    """Return which threads may store to a place that is not known, by how many it is the same for."""
    warps = len(np.unique(own // _WARP))
    place = stores.uniform_place(point)
    if len(own) < 2 or stores.are_apart(point, own):
        return None
    if place is Uniformity.DIVERGENT:
        return Uniformity.CTA if warps > 1 else Uniformity.WARP
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
