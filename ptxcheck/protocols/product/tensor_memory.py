"""Accesses of tensor memory, as `order.tensor_order` and `order.tensor_fences` have them.

Property: where no step fails, two accesses that certainly touch the same columns of the same lanes, one of them a
write, are in one order in every schedule, the later one behind the end of the earlier, or an axiom that was taken
says so. What a deallocation freed is not touched again.

Argument: that of `order.tensor_order`, with landmarks: one for the end of each kind of access, one for its issue. A
fence before the synchronisation of threads marks what its warp has issued (in the row FENCED of the issue), a fence
behind it what its strand then knows to be over.

Not covered: what tells that the other CTA of a pair runs, so that its axiom is taken always. A fence of another strand
of the same warp counts for nothing, so that more often an axiom is taken.
"""

from __future__ import annotations

from ..model.actions import TENSOR_CORE, TENSOR_LOADS, TENSOR_STORES, TensorFence
from ..model.outcome import Flaw
from ..order.axioms import PEER_RUNS, TENSOR_STORE_TOLD, TENSOR_WITHOUT_FENCES
from .operations import TensorFenceStep, TensorKind, TensorStep, TensorWaitStep, Unproved
from .pipelines import push, work_but
from .rows import FENCED, Bits, Knowledge
from .state import State

DONE = 1


def access(state: State, strand: int, step: TensorStep) -> int:
    if step.fault:
        raise Unproved(step.fault, strand, step.point)
    cta = state.setup.strands[strand].cta
    if step.allocates:
        state.allocated[cta] = state.allocated.get(cta, 0) + 1
        if step.kinds:
            state.facts.take(PEER_RUNS, step.point)
    elif step.frees:
        state.allocated[cta] = max(state.allocated.get(cta, 0) - 1, 0)
        if step.freed is not None:
            if step.freed in state.freed:
                raise Unproved(Flaw.FREED_AMISS.value, strand, step.point)
            state.freed |= {step.freed}
    known = state.clocks[strand]
    passed: Bits = 0
    for kind in step.kinds:
        passed |= _check(state, kind, known)
    work: Bits = 0
    for kind in step.kinds:
        _note(state, kind, passed)
        state.happen(kind.bit)
        state.happen(kind.issued)
        state.clocks[strand] |= kind.own
        work |= kind.bit
    if step.pipeline >= 0:
        push(state, step.pipeline, work)
    return DONE


def wait(state: State, strand: int, step: TensorWaitStep) -> int:
    state.clocks[strand] |= work_but(state, step.pipeline, step.pending)
    return DONE


def fence(state: State, strand: int, step: TensorFenceStep) -> int:
    setup, rows = state.setup, state.setup.rows
    known = state.clocks[strand]
    if step.kind is TensorFence.BEFORE_SYNC:
        own = setup.issued_in[setup.strands[strand].cta, setup.strands[strand].warp]
        state.clocks[strand] |= (known & own) << rows.at[FENCED]
    else:
        state.add(("after-sync", strand), known & setup.tensor_work)
    return DONE


def check_end(state: State) -> None:
    """Check that all is freed when all threads have ended."""
    for cta, count in state.allocated.items():
        if count:
            strand = next(number for number, each in enumerate(state.setup.strands) if each.cta == cta)
            raise Unproved(f"{Flaw.FREED_AMISS.value}: never freed", strand, -1)


def _check(state: State, kind: TensorKind, known: Knowledge) -> Bits:
    """Check an access; return what it is let pass of which it does not know that it is over."""
    written: Bits = 0
    read: Bits = 0
    for cell in kind.cells:
        found = state.cells.get(cell)
        if found is not None:
            written |= found[0]
            read |= found[1]
    met = written | read if kind.writes else written
    passed: Bits = 0
    while met:
        bit = met & -met
        met ^= bit
        earlier = state.setup.tensor_kind_of[bit]
        if known & bit:
            if earlier.frees and not kind.frees:
                raise Unproved(f"{Flaw.OUTSIDE_ALLOCATION.value}: freed before", kind.strand, kind.point)
            _check_fences(state, earlier, kind, known)
        elif _is_of_pair(earlier, kind):
            passed |= bit
        elif not _is_in_order(earlier, kind):
            told = (
                earlier.pipeline == TENSOR_STORES and earlier.strand != kind.strand and known & earlier.issued
            )
            if not (told and kind.pipeline in (TENSOR_LOADS, "")):
                flaw = Flaw.WRITES_COLLIDE if kind.writes else Flaw.READ_TOO_EARLY
                flaw = flaw if earlier.writes else Flaw.OVERWRITE
                raise Unproved(f"{flaw.value}: tensor memory", kind.strand, kind.point)
            state.facts.take(TENSOR_STORE_TOLD, kind.point)
            passed |= bit
    return passed


def _is_of_pair(earlier: TensorKind, later: TensorKind) -> bool:
    """Tell whether two accesses may come in any order: deallocations of both CTAs of a pair, allocation and use."""
    if earlier.frees and later.frees:
        return earlier.warp[0] != later.warp[0]
    return (earlier.makes and not later.frees) or (later.makes and not earlier.frees)


def _check_fences(state: State, earlier: TensorKind, later: TensorKind, known: Knowledge) -> None:
    """Note where one of the fences is missing that PTX asks for around the synchronisation of threads."""
    if not later.pipeline or earlier.warp == later.warp:
        return
    before = earlier.pipeline == TENSOR_CORE or state.setup.rows.of(known, FENCED) & earlier.issued
    after = state.clocks.get(("after-sync", later.strand), 0) & earlier.bit
    if not (before and after):
        state.facts.take(TENSOR_WITHOUT_FENCES, later.point)


def _is_in_order(earlier: TensorKind, later: TensorKind) -> bool:
    """Tell whether the hardware keeps the order of two accesses of one thread or warp."""
    if earlier.strand != later.strand:
        return False
    first, then = earlier.pipeline, later.pipeline
    return first == then or (first == TENSOR_LOADS and then == TENSOR_STORES)


def _note(state: State, kind: TensorKind, passed: Bits) -> None:
    for cell in kind.cells:
        written, read = state.cells.get(cell, (0, 0))
        if kind.writes:
            state.cells[cell] = written & passed | kind.bit, read & passed
        else:
            state.cells[cell] = written, read | kind.bit
