"""Data that threads hand to those of other CTAs through global memory, and what is missing on the way.

A thread writes an array, then tells of it by a *word*: an atomic operation or a store that others observe. Others read
the array behind an observation: an atomic operation whose result is used, or a strong load.

Property: a handover with no `gaps` is in order if who observes the word knows by its value that all that is read has
been told of. What a `Gap` that is `certain` names is missing on each way (`global_certainty`).

Argument: on each way of the graph between the write and each word behind it stands a barrier of the block, unless one
thread does both, and a release of the scope of the GPU or a fence; the same between each observation and the read, and
an acquire (PTX ISA 8.8, causality order through barriers). A fence on the other side of the barrier than the word
counts, too: the hardware makes writes visible to the GPU there.

Not covered: what the value of a word says; words that one role writes for another; that asynchronous copies need a
proxy fence to read what others have stored.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from ...cfg import Uniformity
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling
from .global_arrays import Array, GlobalAccess, GlobalArrays
from .global_certainty import Certainty, Need
from .global_places import Decided, GlobalPlaces
from .global_ways import GlobalWays

if TYPE_CHECKING:
    from ...view import KernelView

_MOST_PAIRS = 500
"""Pairs of accesses that are looked at in one kernel; what is left is not decided."""
_RELEASING = (Mod.RELEASE, Mod.ACQ_REL)
_ACQUIRING = (Mod.ACQUIRE, Mod.ACQ_REL)


class Missing(Enum):
    """What does not stand between a write and its word, or between an observation and its read."""

    WRITING_WAIT = "a wait for the writing of the copy"
    WRITERS_BARRIER = "a barrier behind the writes of the other threads"
    RELEASE = "a release, or a fence, of the scope of the GPU"
    READERS_BARRIER = "a barrier in front of the reads of the other threads"
    ACQUIRE = "an acquire, or a fence, of the scope of the GPU"
    WORD = "a word that tells of it"
    OBSERVATION = "an observation of a word"
    COHERENCE = "a load that sees what is written meanwhile"
    EFFORT = "time to look at all ways"
    ROLES = "a way of one thread"
    """The two are in different roles, and what lies between is not followed."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing on one way."""

    missing: Missing
    data: GlobalAccess
    """The write or the read."""
    word: GlobalAccess
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Handover:
    """An array that is written, and read behind an observation of a word."""

    write: GlobalAccess
    read: GlobalAccess
    word: GlobalAccess
    """The observation."""
    gaps: tuple[Gap, ...]


class GlobalHandovers:
    """The handovers of one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._cfg = view.cfg
        self._places = view.get(GlobalPlaces)
        self._ways = view.get(GlobalWays)
        self._pairs = 0

    @cached_property
    def _accesses(self) -> tuple[GlobalAccess, ...]:
        return tuple(self._one_of_each_row(self._view.get(GlobalArrays).accesses))

    def _one_of_each_row(self, accesses: Iterable[GlobalAccess]) -> Iterator[GlobalAccess]:
        """Yield one of those accesses that a thread makes together, side by side, with nothing between that orders."""
        instructions = self._view.body.instructions
        ordering = [
            p for p, each in enumerate(instructions) if not _ORDERING.isdisjoint(each.operation.traits)
        ]
        seen: set[object] = set()
        for each in accesses:
            guard = instructions[each.point].guard
            executes = (
                None if guard is None else (self._view.facts.name(each.point, guard.register), guard.negated)
            )
            linear = self._view.facts.value(each.point, each.operand).linear
            row = (self._cfg.graph.block_of[each.point], bisect_left(ordering, each.point), executes)
            place = each.operand.base if linear is None else linear.terms
            what = (each.arrays, each.map_at, each.reads, each.writes, each.is_asynchronous, each.is_strong)
            if each.is_strong or (row, place, what) not in seen:
                seen.add((row, place, what))
                yield each

    @cached_property
    def words(self) -> tuple[GlobalAccess, ...]:
        """The observations: accesses from which a thread learns what other CTAs have done.

        Atomic operations and strong loads that decide branches; where there are none, all strong loads.
        """
        seen = [
            each for each in self._accesses
            if self._may_observe(each) and any(write.may_meet(each) for write in self._writes)
        ]  # fmt: skip
        deciding = [each for each in seen if each.is_atomic or self._places.decides_branches(each.point)]
        return tuple(deciding or seen)

    def _may_observe(self, access: GlobalAccess) -> bool:
        instruction = self._view.body.instructions[access.point]
        if not (access.reads and access.is_strong and instruction.operation.op in _OBSERVING):
            return False
        if access.is_narrow and self._places.decided_by(access) != frozenset():
            return False
        return not access.is_atomic or bool(self._view.facts.uses(access.point))

    @cached_property
    def _writes(self) -> tuple[GlobalAccess, ...]:
        return tuple(each for each in self._accesses if each.writes)

    def _tellers(self, words: Sequence[GlobalAccess]) -> tuple[GlobalAccess, ...]:
        """Return the writes of words; weak ones of a word that is written strongly, too, are none: its resets."""
        found = [each for each in self._writes if any(each.may_meet(word) for word in words)]
        return tuple(
            each for each in found
            if each.is_strong or not any(other.is_strong and other.may_meet(each) for other in found)
        )  # fmt: skip

    # ---- handovers

    @cached_property
    def all(self) -> tuple[Handover, ...]:
        """One handover for each array that some CTA may read as others have written it.

        Where no thread learns of other CTAs, these are arrays that all read alike, and whose writers the CTA decides.
        """
        found: dict[frozenset[Array], Handover] = {}
        for read in self._accesses:
            if self._is_data(read) and read.arrays not in found:
                writes = [each for each in self._writes if self._concerns(each, read)]
                if writes:
                    reads = [
                        each for each in self._accesses if self._is_data(each) and each.arrays == read.arrays
                    ]
                    found[read.arrays] = self._handover(writes, reads)
        return tuple(found.values())

    def _is_data(self, access: GlobalAccess) -> bool:
        return access.reads and not access.is_atomic and access not in self.words

    def _concerns(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        """Tell whether a write may be of what another CTA reads.

        Not if each thread reads what it writes itself; nor if it reads, with no word in front, what it is to write.
        """
        places = self._places
        if not write.may_meet(read) or places.is_own(write, read) or places.is_guess(read, write):
            return False
        if not self.words:
            return places.are_shared(write, read) and Decided.CTA in (places.decided_by(write) or ())
        return not places.is_alike(write, read) or any(
            self._may_follow(word.point, read.point) for word in self.words
        )

    def _may_follow(self, first: int, then: int) -> bool:
        """Tell whether one may come behind the other, in one thread or because they are of different roles."""
        return self._cfg.reaches(first, then) or not self._cfg.reaches(then, first)

    def _handover(self, writes: Sequence[GlobalAccess], reads: Sequence[GlobalAccess]) -> Handover:
        """Return a handover by the word with the fewest gaps, of those behind the writes and in front of the reads."""
        if not self.words:
            gap = Gap(Missing.WORD, writes[0], writes[0])
            return Handover(writes[0], reads[0], reads[0], (gap,))
        found: list[Handover] = []
        for arrays in dict.fromkeys(word.arrays for word in self.words):
            words = [word for word in self.words if word.arrays == arrays]
            found.append(self._by_word(writes, reads, words))
            if not found[-1].gaps:
                return found[-1]
        telling = [each for each in found if not any(gap.missing in _NO_WORD for gap in each.gaps)] or found
        best = min(telling, key=lambda each: len(each.gaps))
        if len(telling) > 1:
            return replace(best, gaps=tuple(replace(gap, certain=False) for gap in best.gaps))
        return best

    def _by_word(
        self, writes: Sequence[GlobalAccess], reads: Sequence[GlobalAccess], words: Sequence[GlobalAccess]
    ) -> Handover:
        tellers = self._tellers(words)
        certainty = Certainty(self._view, words, tellers)
        found = chain(
            *(self._release_gaps(write, reads, tellers, certainty) for write in writes),
            *(self._acquire_gaps(read, writes, words, certainty) for read in reads),
        )
        gaps = dict.fromkeys(found if certainty.may_be(writes, reads) else islice(found, 1))
        observed = next((word for word in words if self._may_follow(word.point, reads[0].point)), words[0])
        return Handover(writes[0], reads[0], observed, tuple(gaps))

    # ---- what is missing

    def _release_gaps(
        self,
        write: GlobalAccess,
        reads: Sequence[GlobalAccess],
        tellers: Sequence[GlobalAccess],
        certainty: Certainty,
    ) -> Iterator[Gap]:
        """Yield what is missing between a write and the words behind it; it is certain only if each word lacks it."""
        telling = [each for each in tellers if each != write and self._may_follow(write.point, each.point)]
        if not telling:
            yield Gap(Missing.WORD, write, write)
        for word in telling:
            for what in self._missing_before(write, word, tellers):
                need = self._need(what, word, tellers)
                sure = need is not None and certainty.lacks(write, telling, reads, need)
                yield Gap(what, write, word, sure)

    def _missing_before(
        self, write: GlobalAccess, word: GlobalAccess, tellers: Sequence[GlobalAccess]
    ) -> Iterator[Missing]:
        start, end = write.point, word.point
        if self._is_over():
            yield Missing.EFFORT
            return
        if not self._cfg.reaches(start, end):
            yield Missing.ROLES
            return
        if write.is_asynchronous and not self._ways.is_awaited(start, end):
            yield Missing.WRITING_WAIT
        if not self._is_by_each(start, word) and self._ways.is_open(
            start, end, self._ways.meetings_of(start, end)
        ):
            yield Missing.WRITERS_BARRIER
        if not self._does(word, _RELEASING) and self._ways.is_parted_open(
            start, end, self._releases(word, tellers)
        ):
            yield Missing.RELEASE

    def _acquire_gaps(
        self,
        read: GlobalAccess,
        writes: Sequence[GlobalAccess],
        words: Sequence[GlobalAccess],
        certainty: Certainty,
    ) -> Iterator[Gap]:
        """Yield what is missing between observations and what is read behind them."""
        observed = [each for each in words if self._may_follow(each.point, read.point)]
        if not observed:
            yield Gap(Missing.OBSERVATION, read, read)
        if self._view.body.instructions[read.point].operation.op is Op.LD_NC:
            yield Gap(Missing.COHERENCE, read, read)
        for word in observed:
            for what in self._missing_behind(word, read, words):
                need = self._need(what, word, words)
                sure = need is not None and certainty.lacks(read, observed, writes, need)
                yield Gap(what, read, word, sure)

    def _missing_behind(
        self, word: GlobalAccess, read: GlobalAccess, words: Sequence[GlobalAccess]
    ) -> Iterator[Missing]:
        start, end = word.point, read.point
        if self._is_over():
            yield Missing.EFFORT
            return
        if not self._cfg.reaches(start, end):
            yield Missing.ROLES
            return
        if not self._is_by_each(end, word) and self._ways.is_open(
            start, end, self._ways.meetings_of(start, end)
        ):
            yield Missing.READERS_BARRIER
        if not self._does(word, _ACQUIRING) and self._ways.is_parted_open(start, end, self._acquires(words)):
            yield Missing.ACQUIRE

    def _need(self, missing: Missing, word: GlobalAccess, of_kind: Sequence[GlobalAccess]) -> Need | None:
        """Return what would close a gap of a kind that may be certain."""
        match missing:
            case Missing.WRITERS_BARRIER | Missing.READERS_BARRIER:
                return Need(self._ways.meetings | self._ways.warp_meetings, is_barrier=True)
            case Missing.RELEASE:
                return Need(self._releases(word, of_kind), is_barrier=False)
            case Missing.ACQUIRE:
                return Need(self._acquires(of_kind), is_barrier=False)
            case _:
                return None

    def _is_over(self) -> bool:
        self._pairs += 1
        return self._pairs > _MOST_PAIRS

    def _is_by_each(self, data: int, word: GlobalAccess) -> bool:
        """Tell whether a thread that comes to the data comes to a word of its own.

        One thread does both; or no branch but those that the word decides keeps a thread that comes to one from the
        other, and the word counts who comes to it.
        """
        if self._ways.are_of_one_thread(data, word.point):
            return True
        return word.is_atomic and self._are_together(data, word.point)

    def _are_together(self, data: int, word: int) -> bool:
        """Tell whether no branch that parts threads is around the word alone, nor a guard."""
        dominates, block_of = self._cfg.dominators.dominates, self._cfg.graph.block_of
        around = set(controlling(self._cfg, block_of[data]))
        alone = [
            branch for branch, taken in controlling(self._cfg, block_of[word])
            if (branch, taken) not in around
            and not dominates(block_of[word], branch)
            and not self._is_of_words(branch)
        ]  # fmt: skip
        if any(self._view.facts.branch_uniformity(branch) > Uniformity.CTA for branch in alone):
            return False
        guard, other = (self._view.body.instructions[point].guard for point in (word, data))
        if guard is None or self._view.facts.uniform(word, guard.register) <= Uniformity.CTA:
            return True
        return (
            other is not None
            and guard.negated is other.negated
            and self._view.facts.same_definition(word, guard.register, data, other.register)
        )

    def _is_of_words(self, branch: int) -> bool:
        """Tell whether a branch is decided by an observation: who learns enough goes on, the others look again."""
        observed = frozenset(word.point for word in self.words)
        return self._places.depends(self._cfg.blocks[branch].last, observed)

    def _releases(self, word: GlobalAccess, tellers: Sequence[GlobalAccess]) -> frozenset[int]:
        """Return fences, and earlier releases by the same word: a later write of it goes on with what they released."""
        same = (
            each.point
            for each in tellers
            if self._does(each, _RELEASING) and self._places.is_alike(each, word)
        )
        return self._ways.fences(Mod.RELEASE) | {*same}

    def _acquires(self, words: Sequence[GlobalAccess]) -> frozenset[int]:
        """Return fences, and observations of the same words that acquire."""
        return self._ways.fences(Mod.ACQUIRE) | {each.point for each in words if self._does(each, _ACQUIRING)}

    def _does(self, access: GlobalAccess, words: tuple[Mod, ...]) -> bool:
        """Tell whether an access releases, or acquires, for the GPU."""
        operation = self._view.body.instructions[access.point].operation
        return not access.is_narrow and any(operation.has(word) for word in words)


_ORDERING = frozenset(
    {Trait.BARRIER, Trait.MBARRIER, Trait.FENCE, Trait.WAIT, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING}
)
_OBSERVING = frozenset({Op.LD, Op.ATOM})
_NO_WORD = frozenset({Missing.WORD, Missing.OBSERVATION})
"""What is missing where a word cannot be what tells of some data."""
