"""Two runs of one kernel for sizes a period apart: does the larger one only make some rounds more?

If `period_between` finds a period, then so do all larger runs: each is the one a period smaller, with the rounds of
the period put in once more (`lockstep`, `shifted`). The argument, for a run of size s and one of size
s + d, where each loop that makes more rounds has a first round from which on a comparison sees the end come:

- up to that round every comparison keeps its truth for all larger sizes, so all larger runs begin alike;
- registers at its start, and at the start of the round a period later in the larger run, agree as far as it matters;
- so from there both runs do the same, to the end; and by induction every larger run and the one a period smaller do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from ....cfg.definitions import Name
from ...model.actions import Protocol
from ...symex.interpreter.observation import Comparison, Observation
from ...symex.slice.sliced_program import Program
from ...symex.values.register_file import lanes_of
from ...symex.values.symbol import (
    Atom,
    Form,
    Value,
    plus,
)
from .lockstep import (
    APART,
    SAME,
    Agrees,
    Gap,
    Lockstep,
    gap_of,
    meet,
)
from .shifted import Sizes, keeps_truth

_MASK64 = (1 << 64) - 1
Loop = tuple[int, int]
"""Rank of a CTA, and the header of a loop."""


@dataclass(frozen=True, slots=True)
class SizedRun:
    """The run of a kernel for all sizes of an interval."""

    sizes: Sizes
    protocol: Protocol
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Period:
    """What the larger of two runs does more."""

    size: int
    """By how much the sizes are apart."""
    starts: Mapping[Loop, int]
    """In the smaller run, the round of each loop in which the end is first seen to come."""
    rounds: Mapping[Loop, int]
    """How many rounds more each loop makes."""


class Family:
    """The runs of a kernel whose decisions are all on one size."""

    def __init__(self, program: Program, size: Atom, threads: int) -> None:
        self._program = program
        self._cfg = program.cfg
        self._size = size
        self._threads = threads
        self._kept: dict[int, tuple[Comparison, bool]] = {}
        """What `keeps` said, by the identity of comparisons, which are kept here to keep it."""
        self._first_ends: dict[tuple[Sizes, Loop], int | None] = {}

    def first_end(self, run: SizedRun, loop: Loop) -> int | None:
        """Return the first round of a loop in which a comparison is not the same for all larger sizes.

        What a comparison that nothing but the size moves does for all larger sizes does not depend on the period.
        """
        key = run.sizes, loop
        if key not in self._first_ends:
            rank, header = loop
            blocks = self._program.loops.headers[header]
            ends = [
                seen.turns.get(header, 0)
                for seen in run.observations[rank].comparisons
                if self.block_of(seen.point) in blocks and not self.keeps(seen, run.sizes, 1, (0, 0))
            ]
            self._first_ends[key] = min(ends, default=None)
        return self._first_ends[key]

    def period_between(self, smaller: SizedRun, larger: SizedRun) -> Period | None:
        """Return what the larger run does more, None when it may do anything else as well."""
        by = _distance(smaller.sizes, larger.sizes)
        if by is None or any(self._hides_size(run) for run in (smaller, larger)):
            return None
        rounds = _growth(smaller.observations, larger.observations)
        if not rounds:
            return None
        growing = {header: self._program.loops.headers[header] for _, header in rounds}
        if any(one != other and growing[one] & growing[other] for one in growing for other in growing):
            return None
        if any(seen.entered_again & growing.keys() for seen in (*smaller.observations, *larger.observations)):
            return None
        starts = {loop: self.first_end(smaller, loop) for loop in rounds}
        known = {loop: start for loop, start in starts.items() if start is not None and start >= 1}
        if len(known) < len(rounds):
            return None
        if any(self.first_end(larger, loop) != known[loop] + rounds[loop] for loop in rounds):
            return None
        period = Period(by, known, rounds)
        heads = self._heads(smaller, larger, period)
        agrees = _Comparisons(self, growing, by).agreement(smaller, larger, period)
        lockstep = Lockstep(self._program, growing, heads, agrees)
        return None if lockstep.differs() else period

    def _hides_size(self, run: SizedRun) -> bool:
        """Tell whether an operand of an event depends on the size."""
        return any(
            name.marks & self._size.mark
            for seen in run.observations
            for form in seen.used
            for name, _ in form.terms
        )

    def _heads(self, smaller: SizedRun, larger: SizedRun, period: Period) -> dict[Name, Gap]:
        """Return the gaps of what the loops carry, where the end comes into sight in the smaller run."""
        gaps: dict[Name, Gap] = {}
        for rank, (one, other) in enumerate(zip(smaller.observations, larger.observations, strict=True)):
            for (header, threads), seen in one.heads.items():
                if (rank, header) not in period.rounds:
                    continue
                start = period.starts[rank, header]
                before = seen.get(start)
                after = other.heads[header, threads].get(start + period.rounds[rank, header])
                for place, register in enumerate(one.carried[header]):
                    name = Name(register, -2 - header)
                    gap = (
                        APART if before is None or after is None
                        else _gap(before[place], after[place], lanes_of(threads, self._threads))
                    )  # fmt: skip
                    gaps[name] = meet(gaps.get(name, gap), gap)
        return gaps

    def keeps(self, seen: Comparison, sizes: Sizes, by: int, gaps: tuple[int | None, int | None]) -> bool:
        """Tell whether a comparison keeps its truth for all larger sizes."""
        if gaps == (0, 0):
            return self._keeps_as_it_is(seen, sizes)
        return keeps_truth(
            self._cfg.instructions[seen.point], seen, self._size, sizes, by, gaps, self._threads
        )

    def _keeps_as_it_is(self, seen: Comparison, sizes: Sizes) -> bool:
        """Tell it of a comparison whose sides only the size moves: any period gives the same answer."""
        known = self._kept.get(id(seen))
        if known is None:
            instruction = self._cfg.instructions[seen.point]
            kept = keeps_truth(instruction, seen, self._size, sizes, 1, (0, 0), self._threads)
            known = self._kept[id(seen)] = (seen, kept)
        return known[1]

    def block_of(self, point: int) -> int:
        return self._cfg.graph.block_of[point]


class _Comparisons:
    def __init__(self, family: Family, growing: Mapping[int, frozenset[int]], by: int) -> None:
        self._family = family
        self._by = by
        self._loop_of = {block: header for header, blocks in growing.items() for block in blocks}

    def agreement(self, smaller: SizedRun, larger: SizedRun, period: Period) -> Agrees:
        """Return what tells whether a comparison comes out alike (see `lockstep.Agrees`).

        Comparisons before the end keep their truth for larger sizes. Those from there on, and in the larger run those
        of the period too, keep it when the size grows and the rounds before them with it.
        """
        steady: dict[int, list[tuple[Comparison, Sizes]]] = {}
        ending: dict[int, list[tuple[Comparison, Sizes]]] = {}
        for run, more in ((smaller, 0), (larger, 1)):
            for seen, rank in _each(run.observations):
                header = self._loop_of.get(self._family.block_of(seen.point))
                loop = (rank, -1 if header is None else header)
                if loop in period.starts:
                    turn = seen.turns.get(loop[1], 0)
                    is_steady = turn < period.starts[loop] + more * period.rounds[loop]
                    is_ending = turn >= period.starts[loop]
                else:
                    is_ending = any(each in seen.turns for each in self._loop_of.values())
                    is_steady = not is_ending
                for wanted, found in ((is_steady, steady), (is_ending, ending)):
                    if wanted:
                        found.setdefault(seen.point, []).append((seen, run.sizes))

        def agrees(point: int, left: int | None, right: int | None) -> bool:
            keeps = self._family.keeps
            if (left, right) != (0, 0) and point in steady and point not in ending:
                return False
            return all(keeps(seen, sizes, self._by, (0, 0)) for seen, sizes in steady.get(point, ())) and all(
                keeps(seen, sizes, self._by, (left, right)) for seen, sizes in ending.get(point, ())
            )

        return agrees


def _each(observations: Sequence[Observation]) -> Iterator[tuple[Comparison, int]]:
    for rank, observation in enumerate(observations):
        for seen in observation.comparisons:
            yield seen, rank


def _distance(smaller: Sizes, larger: Sizes) -> int | None:
    """Return by how much an interval lies above another one of the same length; None when it does not."""
    if smaller.low is None or smaller.high is None or larger.low is None:
        return None
    by = larger.low - smaller.low
    return by if by > 0 and larger == smaller.moved(by) else None


def _growth(smaller: Sequence[Observation], larger: Sequence[Observation]) -> Mapping[Loop, int] | None:
    """Return how many rounds more each loop makes that makes more; None when threads do not make them together."""
    found: dict[Loop, set[int]] = {}
    for rank, (one, other) in enumerate(zip(smaller, larger, strict=True)):
        if one.heads.keys() != other.heads.keys():
            return None
        for key, seen in one.heads.items():
            found.setdefault((rank, key[0]), set()).add(max(other.heads[key]) - max(seen))
    if any(len(growth) > 1 or min(growth) < 0 for growth in found.values()):
        return None
    return {loop: rounds for loop, (rounds,) in found.items() if rounds}


def _gap(before: Value | None, after: Value | None, held: npt.NDArray[np.bool_]) -> Gap:
    if before is None or after is None:
        return APART
    if isinstance(before, Form) or isinstance(after, Form):
        if isinstance(before, np.ndarray) or isinstance(after, np.ndarray):
            return APART
        apart = plus(after, before, -1)
        return gap_of(apart) if isinstance(apart, int) else APART
    apart_of = {
        _signed((int(b) - int(a)) & _MASK64)
        for a, b in zip(_lanes(before, held), _lanes(after, held), strict=True)
    }
    gaps = [_without_wrap(gap_of(apart)) for apart in sorted(apart_of)]
    return reduce(meet, gaps) if gaps else SAME


def _without_wrap(gap: Gap) -> Gap:
    """Forget a distance that may come from wrapping around at 32 bits."""
    return gap if gap.delta is None or abs(gap.delta) < 1 << 31 else Gap(gap.bits, None)


def _lanes(value: Value, held: npt.NDArray[np.bool_]) -> list[int]:
    assert not isinstance(value, Form)
    return [value] if isinstance(value, int) else [int(each) for each in value[held]]


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
