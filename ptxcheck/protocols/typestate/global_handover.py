"""Data that threads hand to those of other CTAs through global memory, and what is missing on the way.

A thread writes an array, then tells of it by a *word*: an atomic operation or a store that others observe. Others read
the array behind an observation: an atomic operation whose result is used, or a strong load.

Property: a handover with no `gaps` is in order if who observes the word knows by its value that all that is read has
been told of. A `Gap` that is `certain` is one that each way of telling, or of observing, has, between accesses of which
the solver's terms are not needed to see that they are of different CTAs: what is read has an address that neither the
CTA nor anything loaded decides, so that it is the same for all CTAs.

Argument: between the write and the word, and between the observation and the read, stand a barrier where other threads
may be concerned, and a release or an acquire of the scope of the GPU (PTX ISA 8.8, causality order through barriers).
A fence on the other side of the barrier than the word counts, too: the hardware makes writes visible to the GPU there.

Not covered: what the value of a word says; which threads meet at a barrier; words that one role writes for another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from ...cfg import Uniformity
from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling
from .global_arrays import Array, GlobalAccess, GlobalArrays
from .global_places import Decided, GlobalPlaces
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...view import KernelView

_WARP = 32
_MOST_ASKED = 200
"""Searches of paths in one kernel; what is not looked at then is not decided."""
_WIDE = (Mod.GPU, Mod.SYS, Mod.GL)
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


_NOT_FOLLOWED = frozenset({Missing.COHERENCE, Missing.EFFORT, Missing.ROLES})


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
        self._accesses = tuple(self._one_of_each_row(view.get(GlobalArrays).accesses))
        self._places = view.get(GlobalPlaces)
        self._asked = 0
        self._paths: dict[tuple[frozenset[int], frozenset[int], frozenset[int]], bool] = {}

    def _one_of_each_row(self, accesses: Iterable[GlobalAccess]) -> Iterator[GlobalAccess]:
        """Yield one of those accesses that a thread makes together, with nothing between that orders anything."""
        instructions = self._view.body.instructions
        ordering = [p for p, each in self._instructions() if not _ORDERING.isdisjoint(each.operation.traits)]
        seen: set[object] = set()
        for each in accesses:
            guard = instructions[each.point].guard
            executes = (
                None if guard is None else (self._view.facts.name(each.point, guard.register), guard.negated)
            )
            row = (self._cfg.graph.block_of[each.point], bisect_left(ordering, each.point), executes)
            what = (each.arrays, each.map_at, each.reads, each.writes, each.is_asynchronous, each.is_strong)
            if each.is_strong or (row, what) not in seen:
                seen.add((row, what))
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

    @cached_property
    def _writes(self) -> tuple[GlobalAccess, ...]:
        return tuple(each for each in self._accesses if each.writes)

    @cached_property
    def _tellers(self) -> tuple[GlobalAccess, ...]:
        """The writes of words; weak ones of a word that is written strongly, too, are none, such as its reset."""
        found = [each for each in self._writes if any(each.may_meet(word) for word in self.words)]
        return tuple(
            each for each in found
            if each.is_strong or not any(other.is_strong and other.may_meet(each) for other in found)
        )  # fmt: skip

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
            decided = places.decided_by(write)
            return places.is_of_all(write, read) and decided is not None and Decided.CTA in decided
        return not places.is_alike(write, read) or any(
            self._may_follow(word.point, read.point) for word in self.words
        )

    def _may_observe(self, access: GlobalAccess) -> bool:
        instruction = self._view.body.instructions[access.point]
        if not (access.reads and access.is_strong and instruction.operation.op in _OBSERVING):
            return False
        if access.is_narrow and self._places.decided_by(access) != frozenset():
            return False
        return not access.is_atomic or bool(self._view.facts.uses(access.point))

    def _may_follow(self, first: int, then: int) -> bool:
        """Tell whether one may come behind the other, in one thread or because they are of different roles."""
        return self._cfg.reaches(first, then) or not self._cfg.reaches(then, first)

    def _handover(self, writes: list[GlobalAccess], reads: list[GlobalAccess]) -> Handover:
        """Return the first write and read of an array, with the gaps: all of them, or one if none can be certain."""
        plain = [write for write in writes if not write.is_strong and self.words]
        of_all = {read: [write for write in plain if self._places.is_of_all(write, read)] for read in reads}
        shared = {write for found in of_all.values() for write in found}
        found = chain(
            *(self._release_gaps(write, certain=write in shared) for write in writes),
            *(self._acquire_gaps(read, certain=bool(of_all[read])) for read in reads),
        )
        gaps = tuple(dict.fromkeys(found if shared else islice(found, 1)))
        observed = next(
            (word for word in self.words if self._may_follow(word.point, reads[0].point)), reads[0]
        )
        return Handover(writes[0], reads[0], observed, gaps)

    # ---- what is missing

    def _release_gaps(self, write: GlobalAccess, *, certain: bool) -> Iterator[Gap]:
        """Yield what is missing between a write and the words behind it; it is certain only if each word lacks it."""
        telling = [
            each for each in self._tellers if each != write and self._may_follow(write.point, each.point)
        ]
        if not telling:
            yield Gap(Missing.WORD, write, write)
        missing = [frozenset(self._missing_before(write, word)) for word in telling]
        lacks_all = all(each - _NOT_FOLLOWED for each in missing)
        for word, each in zip(telling, missing, strict=True):
            for what in sorted(each, key=lambda what: what.name):
                sure = certain and lacks_all and what in (Missing.WRITERS_BARRIER, Missing.RELEASE)
                yield Gap(what, write, word, sure)

    def _missing_before(self, write: GlobalAccess, word: GlobalAccess) -> Iterator[Missing]:
        start, end = write.point, word.point
        if self._is_over:
            yield Missing.EFFORT
            return
        if not self._cfg.reaches(start, end):
            yield Missing.ROLES
            return
        if write.is_asynchronous and self._is_open(start, end, self._writing_waits):
            yield Missing.WRITING_WAIT
        if self._is_for_fewer(end, start) and self._comes(start, end, self._meetings_for(end)):
            yield Missing.WRITERS_BARRIER
        if not self._does(word, _RELEASING) and self._is_open(start, end, self._releases(word)):
            yield Missing.RELEASE

    def _acquire_gaps(self, read: GlobalAccess, *, certain: bool) -> Iterator[Gap]:
        """Yield what is missing between observations and what is read behind them."""
        observed = [each for each in self.words if self._may_follow(each.point, read.point)]
        if not observed:
            yield Gap(Missing.OBSERVATION, read, read)
        missing = [frozenset(self._missing_behind(word, read)) for word in observed]
        lacks_all = all(each - _NOT_FOLLOWED for each in missing)
        for word, each in zip(observed, missing, strict=True):
            for what in sorted(each, key=lambda what: what.name):
                yield Gap(what, read, word, certain and lacks_all and what not in _NOT_FOLLOWED)

    def _missing_behind(self, word: GlobalAccess, read: GlobalAccess) -> Iterator[Missing]:
        start, end = word.point, read.point
        if self._is_over:
            yield Missing.EFFORT
            return
        if self._view.body.instructions[end].operation.op is Op.LD_NC:
            yield Missing.COHERENCE
        if not self._cfg.reaches(start, end):
            yield Missing.ROLES
            return
        if self._is_for_fewer(start, end) and self._comes(start, end, self._meetings_for(start)):
            yield Missing.READERS_BARRIER
        if not self._does(word, _ACQUIRING) and self._is_open(start, end, self._fences(_ACQUIRING)):
            yield Missing.ACQUIRE

    def _is_open(self, start: int, end: int, closing: frozenset[int]) -> bool:
        """Tell whether a way leads past none of some points: of one thread, or of two that meet at a barrier."""
        if self._comes(start, end, closing):
            return True
        return any(
            self._comes(start, meeting, closing) and self._comes(meeting, end, closing)
            for meeting in sorted(self._meetings)
            if self._cfg.reaches(start, meeting) and self._cfg.reaches(meeting, end)
        )

    def _comes(self, start: int, end: int, barred: frozenset[int]) -> bool:
        key = (frozenset({start}), frozenset({end}), barred)
        if key not in self._paths:
            self._asked += 1
            self._paths[key] = self._view.get(Paths.of).find(Query(*key)) is not None
        return self._paths[key]

    @property
    def _is_over(self) -> bool:
        return self._asked > _MOST_ASKED

    def _is_for_fewer(self, one: int, other: int) -> bool:
        """Tell whether a thread may execute `other` and none but another one `one`: a branch parts the two.

        Branches that a thread comes to behind `one` do not keep it from that.
        """
        dominates, block_of = self._cfg.dominators.dominates, self._cfg.graph.block_of
        around = set(controlling(self._cfg, block_of[other]))
        mine = [
            branch for branch, taken in controlling(self._cfg, block_of[one])
            if (branch, taken) not in around
            and not dominates(block_of[one], branch)
            and not self._is_of_words(branch)
        ]  # fmt: skip
        if any(self._view.facts.branch_uniformity(branch) > Uniformity.CTA for branch in mine):
            return True
        guard = self._view.body.instructions[one].guard
        return guard is not None and self._view.facts.uniform(one, guard.register) > Uniformity.CTA

    def _is_of_words(self, branch: int) -> bool:
        """Tell whether a branch is decided by an observation: who learns enough goes on, the others look again."""
        observed = frozenset(word.point for word in self.words)
        return self._places.depends(self._cfg.blocks[branch].last, observed)

    # ---- what stands between

    def _instructions(self) -> Iterator[tuple[int, Instruction]]:
        yield from enumerate(self._view.body.instructions)

    @cached_property
    def _meetings(self) -> frozenset[int]:
        """Where threads of several warps wait for each other."""
        return frozenset(
            point for point, each in self._instructions()
            if each.operation.op is not Op.BAR_WARP_SYNC and _meets(each)
        )  # fmt: skip

    def _meetings_for(self, point: int) -> frozenset[int]:
        """Return the meetings that order a point behind, or in front of, what other threads do.

        A barrier of the warp is one for what a lane of each warp does.
        """
        threads = self._view.launch.max_threads
        is_of_warps = (threads is not None and threads <= _WARP) or (
            self._view.facts.execution(point).elected and not self._view.facts.execution(point).single_thread
        )
        if not is_of_warps:
            return self._meetings
        return self._meetings | {
            p for p, each in self._instructions() if each.operation.op is Op.BAR_WARP_SYNC
        }

    @cached_property
    def _writing_waits(self) -> frozenset[int]:
        return frozenset(
            point for point, each in self._instructions()
            if each.operation.op is Op.CP_ASYNC_BULK_WAIT_GROUP and not each.operation.has(Mod.READ)
        )  # fmt: skip

    def _fences(self, directions: tuple[Mod, ...]) -> frozenset[int]:
        """Return the fences of the scope of the GPU in a direction, and observations that acquire."""
        other = Mod.ACQUIRE if Mod.RELEASE in directions else Mod.RELEASE
        fences = frozenset(
            point for point, each in self._instructions()
            if each.operation.op in (Op.FENCE, Op.MEMBAR)
            and each.operation.slots.get("scope") in _WIDE
            and not each.operation.has(other)
        )  # fmt: skip
        if Mod.ACQUIRE not in directions:
            return fences
        return fences | {each.point for each in self.words if self._does(each, _ACQUIRING)}

    def _releases(self, word: GlobalAccess) -> frozenset[int]:
        """Return fences, and earlier releases by the same word: a later write of it goes on with what they released."""
        same = (each for each in self._tellers if each.arrays == word.arrays and self._does(each, _RELEASING))
        return self._fences(_RELEASING) | {each.point for each in same}

    def _does(self, access: GlobalAccess, words: tuple[Mod, ...]) -> bool:
        """Tell whether an access releases, or acquires, for the GPU."""
        operation = self._view.body.instructions[access.point].operation
        return not access.is_narrow and any(operation.has(word) for word in words)


_ORDERING = frozenset(
    {Trait.BARRIER, Trait.MBARRIER, Trait.FENCE, Trait.WAIT, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING}
)
_OBSERVING = frozenset({Op.LD, Op.ATOM})
_ONLY_ARRIVES = frozenset({Op.BAR_ARRIVE, Op.BARRIER_CLUSTER_ARRIVE})


def _meets(instruction: Instruction) -> bool:
    traits = instruction.operation.traits
    if Trait.MBARRIER in traits:
        return Trait.WAIT in traits
    return Trait.BARRIER in traits and instruction.operation.op not in _ONLY_ARRIVES
