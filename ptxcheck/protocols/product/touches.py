"""Accesses of shared memory: what is not known to be in order with what came before, and what lets it pass.

Property: where `touch` fails at no access, any two of them that may meet, one of them a write and not both atomic,
are in order by the words of PTX, or a row of `order.axioms` that was taken lets the pair pass.

Argument: each cell has the last writes, and the reads since then; the rest is ordered by these. An access looks at
those in its cells, all at once, by the rows of what its strand knows (`order.races`). A landmark speaks for earlier
accesses of its strand of the same kind, which its strand knows or must know itself. A store that others may pass by
(`SAME_VALUE`) speaks for nothing that comes before it: all of that stays.

Not covered: which cells an access of unknown size does not reach: it is taken to reach all up to the end of its slot.
An axiom is taken for it, too, where `order.memory` only lets it pass.
"""

from __future__ import annotations

from ..model.actions import TEAM_PIPELINES, Access, Transfer
from ..model.axiom import Axiom
from ..model.outcome import Flaw
from ..order.axioms import (
    COPY_WITHOUT_FENCE,
    FENCE_ON_THE_PATH,
    LANES_IN_STEP,
    LATE_FENCE,
    RELEASE_SUFFICES,
    RESULT_OF_BLOCKING_WRITE,
    SAME_VALUE,
    SLOT_WITHOUT_FENCE,
    STORES_IN_ORDER,
    WGMMA_WAIT_OF_WARPGROUP,
)
from ..order.extents import MATRIX_PIPELINES
from .operations import Kind, Unproved
from .rows import AWAITED_BY_TEAM, CROSSED, FENCED, IN_ORDER, RELEASED, VISIBLE, WIDE, Bits, Knowledge
from .state import State

_THREAD_COPIES = "cp.async"


def touch(state: State, strand: int, kinds: tuple[Kind, ...]) -> None:
    """Let an action of a strand touch memory; work that is asynchronous is known to nobody then."""
    known = state.clocks[strand]
    passed: Bits = 0
    for kind in kinds:
        passed |= _check(state, kind, known)
    for kind in kinds:
        _note(state, kind, passed)
        state.happen(kind.bit)
        for key in state.multiplied_unfenced if kind.writes else ():
            state.multiplied_unfenced[key] &= ~kind.bit
    for kind in kinds:
        if kind.own:
            state.clocks[strand] |= kind.own


def _check(state: State, kind: Kind, known: Knowledge) -> Bits:
    """Check an access; return what it is let pass of which it does not know that it is over."""
    written: Bits = 0
    read: Bits = 0
    for cell in kind.cells:
        found = state.cells.get(cell)
        if found is not None:
            written |= found[0]
            read |= found[1]
    if not kind.writes:
        read = 0
    if kind.combines:
        written &= ~state.setup.combining
        read &= ~state.setup.combining
    wrong = _wrong(state, kind, known, written, read) if written | read else 0
    passed: Bits = 0
    while wrong:
        bit = wrong & -wrong
        wrong ^= bit
        if bit & state.setup.were_objects and known & bit:
            continue
        passed |= _excused(state, state.setup.kind_of[bit], kind, known)
    return passed


def _wrong(state: State, kind: Kind, known: Knowledge, written: Bits, read: Bits) -> Bits:
    """Return which of some writes and reads are not known well enough: see `order.races`."""
    setup, rows = state.setup, state.setup.rows
    wrong = written & ~rows.of(known, VISIBLE) | read & ~known
    if kind.through_async_proxy:
        fenced, crossed = rows.of(known, FENCED), rows.of(known, CROSSED)
        wrong |= written & setup.generic & ~(fenced | crossed & setup.asynchronous)
        wrong |= read & setup.generic & ~setup.asynchronous & ~(fenced | crossed)
    if setup.is_cluster and not kind.is_asynchronous:
        wrong |= written & ~setup.asynchronous & ~setup.synchronous_in[kind.cta] & ~rows.of(known, WIDE)
    return wrong


def _excused(state: State, earlier: Kind, later: Kind, known: Knowledge) -> Bits:
    """Let a race pass by an axiom; return the earlier access unless it is known, or taken, to be over."""
    flaw = _flaw(state, earlier, later, known)
    if flaw is Flaw.WRITES_COLLIDE and _store_different(earlier, later):
        raise Unproved(flaw.value, later.strand, later.point)
    axiom = _axiom(state, earlier, later, flaw, known)
    if axiom is None and flaw is Flaw.MISSING_PROXY_FENCE:
        axiom = _late_fence(state, earlier, later, known)
    if axiom is None and state.setup.are_in_step(earlier, later):
        axiom = LANES_IN_STEP
        state.clocks[later.strand] |= earlier.bit
        known |= earlier.bit
    if axiom is None:
        raise Unproved(flaw.value, later.strand, later.point)
    state.facts.take(axiom, later.point)
    return 0 if known & earlier.bit else earlier.bit


def _flaw(state: State, earlier: Kind, later: Kind, known: Knowledge) -> Flaw:
    rows = state.setup.rows
    if not earlier.writes:
        return Flaw.OVERWRITE if not known & earlier.bit else Flaw.MISSING_PROXY_FENCE
    hidden = not rows.of(known, VISIBLE) & earlier.bit
    crosses = later.through_async_proxy and not earlier.through_async_proxy
    if not hidden and crosses:
        lacks = not rows.of(known, FENCED) & earlier.bit
        if lacks and not (earlier.is_asynchronous and rows.of(known, CROSSED) & earlier.bit):
            return Flaw.MISSING_PROXY_FENCE
    return Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY


def _axiom(state: State, earlier: Kind, later: Kind, flaw: Flaw, known: Knowledge) -> Axiom | None:
    """Return what lets a race pass: the rows of `order.axioms.MEMORY` whose conditions a state can tell."""
    rows = state.setup.rows
    one, other = earlier.action, later.action
    if flaw is Flaw.OVERWRITE and rows.of(known, AWAITED_BY_TEAM) & state.setup.team_reads & earlier.bit:
        return WGMMA_WAIT_OF_WARPGROUP
    if flaw is Flaw.MISSING_PROXY_FENCE:
        if (
            isinstance(one, Transfer) and one.pipeline == _THREAD_COPIES
            and isinstance(other, Transfer) and other.pipeline in MATRIX_PIPELINES
        ):  # fmt: skip
            return COPY_WITHOUT_FENCE
        if later.writes and (
            earlier.writes or not (isinstance(other, Transfer) and other.after_fenced_reads)
        ):
            return SLOT_WITHOUT_FENCE
    are_at_once = not earlier.is_asynchronous and not later.is_asynchronous
    hidden = not rows.of(known, VISIBLE) & earlier.bit
    if flaw is Flaw.WRITES_COLLIDE and earlier.point == later.point and are_at_once and hidden:
        return SAME_VALUE
    if flaw is Flaw.READ_TOO_EARLY and isinstance(one, Access) and one.blocks and known & earlier.bit:
        return RESULT_OF_BLOCKING_WRITE
    if not earlier.writes or flaw is Flaw.MISSING_PROXY_FENCE:
        return None
    is_copy = earlier.is_asynchronous and (earlier.through_async_proxy or not later.is_asynchronous)
    is_own = earlier.cta == later.cta and not earlier.reaches
    if (are_at_once or is_copy) and is_own and rows.of(known, IN_ORDER) & earlier.bit:
        return STORES_IN_ORDER
    if are_at_once and rows.of(known, RELEASED) & earlier.bit and not later.reaches:
        return RELEASE_SUFFICES
    return None


def _late_fence(state: State, earlier: Kind, later: Kind, known: Knowledge) -> Axiom | None:
    """Return what lets a read pass that a fence comes in front of, if not that of the strand which stored."""
    if _is_fenced_behind(state, earlier, later):
        return LATE_FENCE
    is_crossed = earlier.writes and state.setup.rows.of(known, CROSSED) & earlier.bit
    return FENCE_ON_THE_PATH if is_crossed else None


def _is_fenced_behind(state: State, earlier: Kind, later: Kind) -> bool:
    """Tell whether the strand that stored fenced that, or is to do so, before it comes to the same `wgmma` itself."""
    action, setup = later.action, state.setup
    if not isinstance(action, Transfer) or action.pipeline not in TEAM_PIPELINES or earlier.is_asynchronous:
        return False
    key = earlier.strand, later.point
    if setup.rows.of(state.clocks[earlier.strand], FENCED) & earlier.bit:
        return not state.multiplied_unfenced.get(key, 0) & earlier.bit
    state.late_fences[key] = state.late_fences.get(key, 0) | earlier.bit
    return True


def fence_late(state: State, strand: int) -> None:
    """Note that a strand has fenced all that it stored."""
    for key in [key for key in state.late_fences if key[0] == strand]:
        del state.late_fences[key]


def multiply(state: State, strand: int, point: int) -> None:
    """Check that a strand has fenced what it stored when it comes to a multiplication that reads it for others."""
    if (strand, point) in state.late_fences:
        raise Unproved(Flaw.MISSING_PROXY_FENCE.value, strand, point)
    rows, known = state.setup.rows, state.clocks[strand]
    unfenced = known & state.setup.stored_by.get(strand, 0) & ~rows.of(known, FENCED)
    if unfenced:
        key = strand, point
        state.multiplied_unfenced[key] = state.multiplied_unfenced.get(key, 0) | unfenced


def _store_different(earlier: Kind, later: Kind) -> bool:
    """Tell whether threads surely store different numbers to one place by one instruction."""
    one, other = earlier.action, later.action
    if earlier.point != later.point or not (earlier.writes and later.writes):
        return False
    if not isinstance(one, Access) or not isinstance(other, Access):
        return False
    numbers = dict(one.stored)
    return any(numbers.get(place, number) != number for place, number in other.stored)


def _note(state: State, kind: Kind, passed: Bits) -> None:
    cells, bit = state.cells, kind.bit
    combining = state.setup.combining
    for cell in kind.cells:
        written, read = cells.get(cell, (0, 0))
        if not kind.writes:
            cells[cell] = written, read | bit
        elif (kind.combines and written & combining) or (cell, kind.point) in state.setup.stored_by_several:
            cells[cell] = written | bit, read
        else:
            cells[cell] = written & passed | bit, read & passed
    for cta in kind.reaches:
        state.far[cta] = state.far.get(cta, 0) | bit
    if kind.reaches_own:
        state.copies[kind.cta] = state.copies.get(kind.cta, 0) | bit
