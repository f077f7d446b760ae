"""Whether one thread issues what is asynchronous in tensor memory, and waits for its end (PTX ISA §9.7.17.5, 9.7.17.6).

Property: `proved` means that in every run one thread of the CTA alone issues each multiplication, copy, shift and
commit; that on every way of that thread to its end a commit comes behind each multiplication, copy and shift; and that
on every way of a thread from a store to its end, or to a deallocation, it waits for the store. What released kernels
rely on makes it an assumption: a barrier or an mbarrier in place of that wait (the row maxima of attention in CUTLASS
77), and registers of a load that are used in front of their wait.

`violated` rests on what the analyses of one thread show. Not asked: which mbarrier a commit arrives at, and who waits
there before what, which verification of whole kernels is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...cfg import Edge, EdgeKind, ThreadSet
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...verdict import (
    AssumptionSource,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from .divergence import WARP, controlling
from .elections import Elections
from .issue import issued_by_several
from .judgement import Judgement, assumes, unknown, verdict_of
from .largest_block import Launched
from .register_flow import unknown_calls
from .role_dispatch import HandedRoles
from .tensor_memory import (
    ASYNCHRONOUS,
    ISSUED_ONCE,
    LOADS,
    TensorMemory,
)
from .tensor_memory_use import TensorMemoryUse

if TYPE_CHECKING:
    from ...view import KernelView

_ASKED = ISSUED_ONCE | LOADS | {Op.TCGEN05_ST}
_READ_EARLY = (
    "machine code waits for the registers of a load where they are used in front of tcgen05.wait::ld"
)
_TOLD = "a store to tensor memory is over when another warp loads that was told of it"
_TELLING = frozenset({Trait.MBARRIER, Trait.BARRIER})
_HANDED = "each warp finds the role that the kernel stores for it in shared memory"
_SAME_THREAD = "the thread that is elected is the one that other instructions choose by its index"


def tensor_completion_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on ends of asynchronous operations; None for a kernel that has none."""
    view = launched.view
    if not any(i.operation.op in _ASKED for i in view.body.instructions):
        return None
    found = verdict_of(Property.TENSOR_MEMORY_COMPLETION, _judgements(launched))
    is_in_doubt = found.kind is VerdictKind.UNKNOWN or any(reason.text == _TOLD for reason in found.reasons)
    if not is_in_doubt:
        return found
    flaws = tuple(dict.fromkeys(_flaws(view)))
    return Verdict(Property.TENSOR_MEMORY_COMPLETION, VerdictKind.VIOLATED, flaws) if flaws else found


def _judgements(launched: Launched) -> Iterator[Judgement]:
    view = launched.view
    if not view.function.is_entry:
        yield unknown("what calls this function is not known", -1)
    for under, taken in launched.each():
        yield from _issues(under)
        if taken is not None and under.get(TensorMemory).of(ISSUED_ONCE):
            yield VerdictKind.ASSUMES, taken
        if len({_is_by_index(under, point) for point in under.get(TensorMemory).of(ISSUED_ONCE)}) > 1:
            yield assumes(_SAME_THREAD, -1, AssumptionSource.HARDWARE)
    memory, elections = view.get(TensorMemory), dict[ThreadSet | None, Elections]()
    for point in sorted(memory.of(ASYNCHRONOUS)):
        warps = _whole_warps(view, point)
        if _is_left_open(view, elections.setdefault(warps, Elections(view, warps)), point):
            yield unknown("whether a commit comes behind this on every way is not known", point)
    told = frozenset(
        p for p, i in enumerate(view.body.instructions) if i.guard is None and i.operation.traits & _TELLING
    )
    waits = frozenset(p for p in memory.store_waits if view.body.instructions[p].guard is None)
    for point in sorted(memory.points[Op.TCGEN05_ST]):
        if _may_come(view, point, waits | told, memory.deallocations, _any_edge):
            yield unknown("whether this store is waited for on every way is not known", point)
        elif _may_come(view, point, waits, memory.deallocations, _any_edge):
            yield assumes(_TOLD, point, AssumptionSource.HARDWARE)
    for point in memory.open_uses[:1]:
        yield assumes(_READ_EARLY, point, AssumptionSource.HARDWARE)


def _issues(view: KernelView) -> Iterator[Judgement]:
    """Yield where more than one thread may issue."""
    roles = HandedRoles(view)
    for point in sorted(view.get(TensorMemory).of(ISSUED_ONCE)):
        execution = view.facts.execution(point)
        if execution.single_thread:
            continue
        warps = roles.warps(point) if execution.elected else None
        if warps is not None and len(warps) == 1:
            yield assumes(_HANDED, -1, AssumptionSource.ENVIRONMENT)
        else:
            yield unknown("whether one thread alone issues this is not known", point)


def _whole_warps(view: KernelView, point: int) -> ThreadSet | None:
    """Return all threads of the warps that may come to a point."""
    threads = view.facts.execution(point).threads
    if threads is None:
        return None
    bits = sum((1 << WARP) - 1 << warp * WARP for warp in threads.warps) & (1 << threads.size) - 1
    return ThreadSet(bits, threads.size)


def _is_by_index(view: KernelView, point: int) -> bool:
    """Tell whether the index of a thread says that it executes a point, and not its election."""
    threads = view.facts.execution(point).threads
    return threads is not None and threads.one_per_warp


def _is_left_open(view: KernelView, elections: Elections, point: int) -> bool:
    """Tell whether the thread that issues at a point may end without a commit."""
    memory, instructions = view.get(TensorMemory), view.body.instructions
    guard = instructions[point].guard
    group = instructions[point].operation.slots.get("cta_group")
    commits = frozenset(
        p
        for p in memory.points[Op.TCGEN05_COMMIT]
        if instructions[p].operation.slots.get("cta_group") == group
    )
    stops = frozenset(p for p in commits if instructions[p].guard is None)
    if guard is not None:
        stops |= memory.commits_guarded_by(point, guard) & commits
    edges = (
        edge
        for block, target in controlling(view.cfg, view.cfg.graph.block_of[point])
        for edge in view.cfg.edges_from(block)
        if edge.target == target and edge.guard is not None
    )
    is_elected = guard is not None and elections.holds(point, guard) is True
    is_elected = is_elected or any(
        elections.holds(view.cfg.blocks[e.source].last, e.guard) is True for e in edges if e.guard is not None
    )
    if not is_elected:
        return _may_come(view, point, stops, frozenset(), _any_edge)
    stops |= {
        p for p in commits if (own := instructions[p].guard) is not None and elections.holds(p, own) is True
    }
    return _may_come(view, point, stops, frozenset(), lambda edge: not elections.loses(edge))


def _any_edge(edge: Edge) -> bool:
    return True


def _may_come(
    view: KernelView,
    start: int,
    stops: frozenset[int],
    goals: frozenset[int],
    takes: Callable[[Edge], bool],
) -> bool:
    """Tell whether some way leads from a point to the end, to a goal or to an unknown call, with no stop before."""
    cfg = view.cfg
    ends = goals | unknown_calls(view)
    block = cfg.block_at(start)
    work, seen = [(block.index, start + 1)], set[int]()
    while work:
        index, begin = work.pop()
        passed = next((p for p in range(begin, cfg.blocks[index].end) if p in stops or p in ends), None)
        if passed is not None:
            if passed in stops:
                continue
            return True
        for edge in cfg.edges_from(index):
            if edge.kind is EdgeKind.TRAP or not takes(edge):
                continue
            if edge.target == cfg.exit:
                return True
            if edge.target not in seen:
                seen.add(edge.target)
                work.append((edge.target, cfg.blocks[edge.target].start))
    return False


def _flaws(view: KernelView) -> Iterator[Reason]:
    """Yield what is surely wrong."""
    memory = view.get(TensorMemory)
    for point in sorted(memory.of(ISSUED_ONCE)):
        if issued_by_several(view, point):
            yield Reason("each of several threads of a warp issues this", point)
    missing = memory.uncommitted()
    if missing is not None:
        yield Reason("no commit comes behind this in its thread", missing.first)
    for pair in (*memory.unawaited_stores(), *view.get(TensorMemoryUse).stored_before_multiplication()):
        yield Reason("nothing waits for this store", pair.first)


__all__ = ["tensor_completion_verdict"]
