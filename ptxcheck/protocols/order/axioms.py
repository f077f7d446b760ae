"""The axioms of the hardware profile: order that hardware keeps beyond the words of the PTX ISA, one row each.

Property: a race, or another flaw of order, that an axiom removes does not happen on hardware as released kernels rely
on it. It is *strict*: never a violation; pedantic rules tell it, and the verdict names what it rests on.

Argument: the judge (`races`) works by the words of the PTX ISA. Where it finds a race between two accesses of shared
memory, the first row of `MEMORY` whose `removes` holds takes it away. What other judges find names its row itself.
Each row says what it rests on: a measurement (`benchmarks/hardware.md`) or the kernels that rely on it.

Not covered: whether hardware of the future does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...verdict import Property
from ..model.actions import Access, Action, Commit, Fence, Protocol, Proxy, Transfer, WaitGroup
from ..model.axiom import Axiom
from ..model.outcome import Flaw
from . import lanes_in_step
from .clock import Row
from .conflicts import Touch, is_executed_before
from .extents import MATRIX_PIPELINES
from .races import Race, Races

_THREAD_COPIES = "cp.async"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A race of two accesses by the words of PTX, and the protocol that it is in."""

    protocol: Protocol
    races: Races
    race: Race
    earlier: Touch
    later: Touch


@dataclass(frozen=True, slots=True)
class MemoryAxiom:
    """A row about accesses of shared memory: which races it removes, and how these are told."""

    axiom: Axiom
    removes: Callable[[Conflict], bool]
    flaw: Flaw | None = None
    """What such a race is called, None for what it was."""
    detail: str = ""
    """What is said of it, empty for what was said."""


LANES_IN_STEP = Axiom(
    id="lanes-in-step",
    text="lanes of a warp run in step between their accesses of shared memory",
    source="code that was compiled for warps in step; sm_90a measured: not across the sides of a branch",
    rule="SM023",
    properties=(Property.SLOT_SAFETY,),
)
LANES_WAIT_TOGETHER = Axiom(
    id=Flaw.MISSED_PHASE.value,
    text="lanes of a warp that come to a wait or an arrival together pass it together",
    source="rings of CUTLASS and Triton, where all lanes of a consumer wait; sm_90a measured (benchmarks/litmus.md)",
    rule="SM023",
)
LANES_POLL_ALIKE = Axiom(
    id="lanes-poll-alike",
    text="lanes of a warp that poll by one instruction find one answer",
    source="sm_90a measured (benchmarks/litmus.md); a poll ahead of a wait needs none, as lanes only wait or not",
    properties=(
        Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY, Property.TX_BALANCE, Property.LIFECYCLE,
        Property.SLOT_SAFETY, Property.EXIT_SAFETY,
    ),
)  # fmt: skip
SAME_VALUE = Axiom(
    id="same-value",
    text="threads that store to the same bytes by one instruction store one value",
    source="released kernels let all threads that know a value store it",
    rule="SM023",
    properties=(Property.SLOT_SAFETY,),
    is_stated=False,  # it is where the values may differ, which `same_instruction_stores` knows
)
LATE_OBSERVER = Axiom(
    id=Flaw.LATE_OBSERVER.value,
    text="a warp that only waits, and that nobody waits for, is never two phases late",
    source="schedulers of CUTLASS",
    rule="MB032",
    properties=(Property.PHASE_SAFETY, Property.DEADLOCK_FREEDOM),
)
LATE_INIT = Axiom(
    id=Flaw.UNORDERED_INIT.value,
    text="an mbarrier that is initialised after fence.mbarrier_init is visible to others all the same",
    source="kernels of CUTLASS that initialise further barriers behind the fence",
    rule="MB031",
)
BARRIER_LEFT = Axiom(
    id="barrier-left",
    text="an mbarrier that is used no more needs no invalidation",
    source="most released kernels end, or use the bytes again, without mbarrier.inval",
    rule="MB030",
    properties=(Property.LIFECYCLE,),
)
COPIES_AT_EXIT = Axiom(
    id=Flaw.EXIT_WITH_REMOTE_ACCESS.value,
    text="copies and commits under way when a CTA ends find its shared memory as it was",
    source="loads ahead and last stores of released kernels",
    rule="CL021",
)
TENSOR_STORE_TOLD = Axiom(
    id=Flaw.UNAWAITED_STORE.value,
    text="a store to tensor memory is over when another warp loads that was told of it",
    source="the row maxima of attention in CUTLASS 77",
    rule="TM043",
)
TENSOR_WITHOUT_FENCES = Axiom(
    id="tensor-without-fences",
    text="barriers order accesses of tensor memory by different warps without tcgen05.fence",
    source="CUTLASS, whose C++ kernels have none; whether mbarriers need them is debated (NVIDIA/cutlass #2974)",
    rule="TM045",
)
PEER_RUNS = Axiom(
    id="peer-runs",
    text="the other CTA of a pair runs when one allocates tensor memory for both",
    source="tutorials of CUTLASS that allocate first (NVIDIA/cutlass #3316); Triton was mended for it",
    rule="TM034",
)
REGISTERS_OF_WARPGROUP = Axiom(
    id="registers-of-warpgroup",
    text="warps of a warpgroup may change their registers one by one",
    source="warp-specialised kernels of CUTLASS for sm_100",
    properties=(Property.DEADLOCK_FREEDOM,),
)
ENDED_LANES = Axiom(
    id="ended-lanes",
    text="lanes that have ended are not waited for by the others of their warp",
    source="kernels that return early behind a bounds check",
    properties=(Property.DEADLOCK_FREEDOM,),
)
WGMMA_WAIT_OF_WARPGROUP = Axiom(
    id=Flaw.AWAITED_BY_ANOTHER_WARP.value,
    text="a warp that waits for its wgmma waits for those of its whole warpgroup",
    source="released kernels with one release a warpgroup",
    rule="WG023",
)
WGMMA_SEES_WARPGROUP = Axiom(
    id=Flaw.STORED_BY_ANOTHER_WARP.value,
    text="wgmma sees what all warps of its warpgroup stored, or copied and waited for, before they came to it",
    source="CuTe's tutorial and other kernels with no barrier there; sm_90a measured (benchmarks/litmus.md)",
    rule="WG024",
)
LATE_FENCE = Axiom(
    id=Flaw.FENCED_BEHIND_BARRIER.value,
    text="a proxy fence behind the barrier is in time for what other warps multiply, too",
    source="released kernels that fence where wgmma begins",
    rule="PX021",
)
FENCE_ON_THE_PATH = Axiom(
    id=Flaw.FENCED_ON_THE_WAY.value,
    text="a proxy fence on the path from the write to its use is in time, whoever executes it",
    source="TileLang, whose copying thread has the fence; sm_90a measured (benchmarks/litmus.md)",
    rule="PX021",
)
COPY_WITHOUT_FENCE = Axiom(
    id=Flaw.UNFENCED_COPY.value,
    text="what cp.async brought is visible to matrix instructions without a proxy fence",
    source="the cp.async pipelines of CUTLASS in front of wgmma and tcgen05.mma",
    rule="PX021",
)
SLOT_WITHOUT_FENCE = Axiom(
    id="slot-without-fence",
    text="a slot that a barrier hands back to the async proxy needs no proxy fence",
    source="the rings of CUTLASS and Triton; sm_90a measured",
    rule="PX021",
    is_stated=False,  # no released ring has the fence: each verdict would have to name it
)
COPIES_OF_ONE_INSTRUCTION = Axiom(
    id="copies-of-one-instruction",
    text="threads that copy to the same bytes by one cp.async bring the same bytes",
    source="kernels that clamp the source of a copy, and warps that all copy what all of them read",
    rule="SM023",
    is_stated=False,  # it is where the sources may differ, which `same_instruction_stores` knows
)
RESULT_OF_BLOCKING_WRITE = Axiom(
    id="result-of-blocking-write",
    text="what an instruction writes that ends with its write is visible where execution comes behind it",
    source="the address that tcgen05.alloc writes, in released kernels",
    rule="SM023",
    is_stated=False,
)


STORES_IN_ORDER = Axiom(
    id="stores-in-order",
    text="what is stored to the shared memory of a CTA is there for its threads that come behind it, released or not",
    source="attention of FlashInfer, behind a commit; sm_90a measured (benchmarks/litmus.md)",
    rule="SM029",
)
RELEASE_SUFFICES = Axiom(
    id=Flaw.NARROW_ACQUIRE.value,
    text="what another CTA stored here and released for the cluster is there behind any wait, relaxed ones too",
    source="waits with no scope, which are of scope .cta; sm_90a measured (benchmarks/litmus.md)",
    rule="SM029",
)


def _is_awaited_by_another_warp(conflict: Conflict) -> bool:
    found = conflict.race.flaw is Flaw.OVERWRITE
    return found and conflict.races.is_waited_for_by_team(conflict.earlier, conflict.later)


def _is_stored_in_front(conflict: Conflict) -> bool:
    """Tell whether a warp brought what a `wgmma` of its warpgroup reads, and fenced or awaited it, before its own.

    In the schedule at hand either may come first.
    """
    if conflict.race.flaw not in (Flaw.READ_TOO_EARLY, Flaw.OVERWRITE):
        return False
    earlier, later, protocol = conflict.earlier, conflict.later, conflict.protocol
    write, read = (earlier, later) if conflict.race.flaw is Flaw.READ_TOO_EARLY else (later, earlier)
    is_done = _is_awaited_in_step if write.is_asynchronous else _is_fenced_in_step
    if write.strand not in protocol.team(read.strand) or not is_done(protocol, write, read):
        return False
    reader, writer = (protocol.strands[each.strand].actions for each in (read, write))
    point = reader[read.index].point
    before = sum(each.point == point for each in writer[: write.index])
    return before <= sum(each.point == point for each in reader[: read.index])


def _on_the_way(protocol: Protocol, write: Touch, use: Touch) -> Sequence[Action]:
    """Return what who wrote does until it comes to the same `wgmma` itself; nothing if it does not, or it is none."""
    action, own = protocol.strands[use.strand].actions[use.index], protocol.strands[write.strand].actions
    if not isinstance(action, Transfer) or action.pipeline != "wgmma":
        return ()
    places = (place for place in range(write.index + 1, len(own)) if own[place].point == action.point)
    return own[write.index + 1 : next(places, 0)]


def _is_fenced_in_step(protocol: Protocol, store: Touch, use: Touch) -> bool:
    """Tell whether who stored comes to the same `wgmma` itself, with a proxy fence on its way there."""
    way = () if store.is_asynchronous else _on_the_way(protocol, store, use)
    return any(isinstance(action, Fence) and action.proxy for action in way)


def _is_awaited_in_step(protocol: Protocol, copy: Touch, use: Touch) -> bool:
    """Tell whether who copied by `cp.async` comes to the same `wgmma` itself, with a wait for the copy on its way."""
    action = protocol.strands[copy.strand].actions[copy.index]
    if not isinstance(action, Transfer) or action.pipeline != _THREAD_COPIES:
        return False
    closed = 0
    for own in _on_the_way(protocol, copy, use):
        if isinstance(own, Commit) and own.pipeline == _THREAD_COPIES:
            closed += 1
        elif isinstance(own, WaitGroup) and own.pipeline == _THREAD_COPIES and closed > own.pending:
            return True
    return False


def _is_fenced_behind(conflict: Conflict) -> bool:
    """Tell whether a store that a barrier puts in front of a `wgmma` only lacks a fence before that barrier.

    Its warp has the fence on its own way to the same `wgmma`.
    """
    is_missing = conflict.race.flaw is Flaw.MISSING_PROXY_FENCE
    return is_missing and _is_fenced_in_step(conflict.protocol, conflict.earlier, conflict.later)


def _is_fenced_on_the_way(conflict: Conflict) -> bool:
    """Tell whether a thread that had seen a write fenced it, on the path to its use through the async proxy."""
    earlier, later = conflict.earlier, conflict.later
    is_missing = conflict.race.flaw is Flaw.MISSING_PROXY_FENCE and earlier.writes
    return is_missing and bool(later.clock[Row.CROSSED, earlier.component] >= earlier.over)


def _is_copied_and_multiplied(conflict: Conflict) -> bool:
    """Tell whether a matrix instruction reads what `cp.async` brought."""
    if conflict.race.flaw is not Flaw.MISSING_PROXY_FENCE:
        return False
    strands = conflict.protocol.strands
    copy, work = (strands[touch.strand].actions[touch.index] for touch in (conflict.earlier, conflict.later))
    return (
        isinstance(copy, Transfer) and copy.pipeline == _THREAD_COPIES
        and isinstance(work, Transfer) and work.pipeline in MATRIX_PIPELINES
    )  # fmt: skip


def _is_handed_back(conflict: Conflict) -> bool:
    """Tell whether the async proxy overwrites what was accessed in another way, and was told by barriers alone.

    Where a fence of the thread that waits speaks for other reads of its round, it has to speak for this one.
    """
    if conflict.race.flaw is not Flaw.MISSING_PROXY_FENCE or not conflict.later.writes:
        return False
    return conflict.earlier.writes or not conflict.later.after_fenced_reads


def _is_one_store(conflict: Conflict) -> bool:
    earlier, later = conflict.earlier, conflict.later
    return (
        conflict.race.flaw is Flaw.WRITES_COLLIDE
        and earlier.point == later.point
        and not earlier.is_asynchronous
        and not later.is_asynchronous
        and bool(later.clock[Row.VISIBLE, earlier.component] < earlier.over)
    )


def _is_warp_synchronous(conflict: Conflict) -> bool:
    return lanes_in_step.orders(conflict.protocol, conflict.earlier, conflict.later)


def _is_one_copy(conflict: Conflict) -> bool:
    pair = conflict.earlier, conflict.later
    return lanes_in_step.copy_together(conflict.protocol, *pair) or conflict.races.copy_the_same(*pair)


def _are_unreleased_stores(conflict: Conflict) -> bool:
    """Tell whether a store to the memory of its CTA only lacks a release on the way to a thread of this CTA.

    For other CTAs it is to be released: CUTLASS, Triton and SGLang were mended where it was not. So were kernels in
    which a lane tells of what other lanes stored, and has met these for execution alone.
    """
    cta, other = (conflict.protocol.strands[touch.strand].cta for touch in (conflict.earlier, conflict.later))
    is_own = cta == other and all(span.cta == cta for span in conflict.earlier.spans)
    is_told = conflict.later.clock[Row.IN_ORDER, conflict.earlier.component] >= conflict.earlier.over
    return (_is_hidden_store(conflict) or _is_hidden_copy(conflict)) and is_own and bool(is_told)


def _is_narrowly_acquired(conflict: Conflict) -> bool:
    """Tell whether a store to another CTA, released for the cluster, only lacks an acquire of that scope on the way."""
    own = conflict.protocol.strands[conflict.later.strand].cta
    is_own = all(span.cta == own for span in conflict.later.spans)
    is_released = conflict.later.clock[Row.RELEASED, conflict.earlier.component] >= conflict.earlier.over
    return _is_hidden_store(conflict) and is_own and bool(is_released)


def _is_hidden_copy(conflict: Conflict) -> bool:
    """Tell whether a copy races that somebody has seen complete, which no proxy fence is missing for."""
    earlier, later = conflict.earlier, conflict.later
    is_within_proxy = earlier.proxy is Proxy.ASYNC or not later.is_asynchronous
    return earlier.is_asynchronous and earlier.writes and is_within_proxy and _is_fenced(conflict)


def _is_fenced(conflict: Conflict) -> bool:
    return conflict.race.flaw is not Flaw.MISSING_PROXY_FENCE


def _is_hidden_store(conflict: Conflict) -> bool:
    """Tell whether ordinary accesses race and the first one is a store, which no proxy fence is missing for."""
    is_ordinary = not conflict.earlier.is_asynchronous and not conflict.later.is_asynchronous
    return is_ordinary and conflict.earlier.writes and _is_fenced(conflict)


def _is_over(conflict: Conflict) -> bool:
    """Tell whether a write that its instruction ends with comes first in every schedule, if not visibly so."""
    if conflict.race.flaw is not Flaw.READ_TOO_EARLY:
        return False
    earlier = conflict.earlier
    action = conflict.protocol.strands[earlier.strand].actions[earlier.index]
    return isinstance(action, Access) and action.blocks and is_executed_before(earlier, conflict.later)


MEMORY: tuple[MemoryAxiom, ...] = (
    MemoryAxiom(
        WGMMA_WAIT_OF_WARPGROUP,
        _is_awaited_by_another_warp,
        Flaw.AWAITED_BY_ANOTHER_WARP,
        "this write follows the wait of one warp for its wgmma, while another one reads the same bytes",
    ),
    MemoryAxiom(
        WGMMA_SEES_WARPGROUP,
        _is_stored_in_front,
        Flaw.STORED_BY_ANOTHER_WARP,
        "no barrier lies between a store by one warp of a warpgroup and a wgmma of another, which reads it",
    ),
    MemoryAxiom(
        COPY_WITHOUT_FENCE,
        _is_copied_and_multiplied,
        Flaw.UNFENCED_COPY,
        "no proxy fence lies between cp.async and this read of what it brought by a matrix instruction",
    ),
    MemoryAxiom(SLOT_WITHOUT_FENCE, _is_handed_back),
    MemoryAxiom(
        LATE_FENCE,
        _is_fenced_behind,
        Flaw.FENCED_BEHIND_BARRIER,
        "a warp fences its store behind the barrier in front of a wgmma of another warp, which reads it",
    ),
    MemoryAxiom(
        FENCE_ON_THE_PATH,
        _is_fenced_on_the_way,
        Flaw.FENCED_ON_THE_WAY,
        "the thread that wrote these bytes does not fence them, and another one does, on the way to this access",
    ),
    MemoryAxiom(SAME_VALUE, _is_one_store),
    MemoryAxiom(LANES_IN_STEP, _is_warp_synchronous),
    MemoryAxiom(COPIES_OF_ONE_INSTRUCTION, _is_one_copy),
    MemoryAxiom(RESULT_OF_BLOCKING_WRITE, _is_over),
    MemoryAxiom(
        STORES_IN_ORDER,
        _are_unreleased_stores,
        Flaw.UNRELEASED_STORE,
        "an earlier write of these bytes comes first by execution alone: no release and acquire are on the way",
    ),
    MemoryAxiom(
        RELEASE_SUFFICES,
        _is_narrowly_acquired,
        Flaw.NARROW_ACQUIRE,
        "another CTA releases its write of these bytes for the cluster, and no wait acquires at that scope",
    ),
)
"""Rows about accesses of shared memory: the first one that removes a race is taken."""
AXIOMS: tuple[Axiom, ...] = (
    *(row.axiom for row in MEMORY), LANES_WAIT_TOGETHER, LATE_OBSERVER, LATE_INIT, BARRIER_LEFT, COPIES_AT_EXIT,
    TENSOR_STORE_TOLD, TENSOR_WITHOUT_FENCES, PEER_RUNS, REGISTERS_OF_WARPGROUP, ENDED_LANES, LANES_POLL_ALIKE,
)  # fmt: skip
"""All rows."""
