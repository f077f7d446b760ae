"""Warps that do the same: one of them stands for itself, and another one for all the rest.

Property: where the product shows that a kernel holds with the strands of `by_symmetry(roles)`, it holds with those of
`roles`.

Argument: symmetry reduction (Emerson, Sistla 1996; Clarke, Enders, Filkorn, Jha 1996). Warps of a class go through the
same nodes and do the same there, but for which bytes they touch: to exchange two of them changes nothing for anybody
else. One schedule speaks for all of them, so let it be one in which they go in step. Then everybody knows of all warps
of a class or of none, but for what each knows of itself; and what one of them knows of another one is what each knows
of each. So two warps tell it all: the first, and a second one that stands for the others, and arrives as often as they
do together. What any warp of the class touches is touched by the first, for itself and for everybody outside. Where an
access of one warp meets one of another warp of the class, the two warps meet at a byte that only that tells of.

Not covered: warps that complete bytes, initialise mbarriers, or allocate; warps that answer questions by themselves:
where the second warp would have to answer for the others, the exploration is open (`exploration`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..model.actions import (
    TEAM_PIPELINES,
    TENSOR_LOADS,
    TENSOR_STORES,
    WARPS_OF_A_TEAM,
    Access,
    Action,
    Arrive,
    Commit,
    Fence,
    Registers,
    Rendezvous,
    Span,
    TensorAccess,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.sync_objects import (
    ClusterBarrier,
    CountedBarrier,
    DivergentWarpBarrier,
    HaltPoint,
    LockstepBarrier,
    NamedBarrier,
    WarpBarrier,
)
from .roles import Role

_NOWHERE = -2
"""The CTA of bytes that are in none, of the first class; each further one has the number below."""
_FEWEST = 3
"""Warps of a class: of two nobody is left out."""
_Warp: TypeAlias = tuple[Role, ...]
"""The strands of a warp, by their lanes."""


def by_symmetry(roles: Sequence[Role]) -> tuple[Role, ...]:
    """Return the strands of all warps, but of each class of warps that do the same those of two."""
    warps: dict[tuple[int, int], list[Role]] = {}
    for role in roles:
        warps.setdefault((role.automaton, role.info.warp), []).append(role)
    classes: dict[Hashable, list[_Warp]] = {}
    for own in warps.values():
        strands = tuple(sorted(own, key=lambda role: role.info.lanes))
        text = _text(strands)
        if text is not None:
            classes.setdefault(text, []).append(strands)
    changed: dict[int, Role | None] = {}
    for number, alike in enumerate(classes.values()):
        if len(alike) >= _FEWEST:
            first, second = _stand_for(alike, _NOWHERE - number)
            changed.update((id(role), None) for strands in alike for role in strands)
            changed.update((id(old), new) for old, new in zip(alike[0], first, strict=True))
            changed.update((id(old), new) for old, new in zip(alike[1], second, strict=True))
    found = (changed.get(id(role), role) for role in roles)
    return tuple(role for role in found if role is not None)


# -- what makes warps alike


def _text(strands: _Warp) -> Hashable | None:
    """Return what is equal for warps that do the same; None for one that is in no class."""
    info = strands[0].info
    found: list[Hashable] = [strands[0].automaton]
    actions = [action for role in strands for step in role.steps.values() for action in step.actions]
    if any(_is_of_team(action) for action in actions):
        found.append(info.warp // WARPS_OF_A_TEAM)
    for role in strands:
        found.append((role.info.lanes, tuple((key, step.number) for key, step in role.variants.items())))
        for number, step in role.steps.items():
            own = tuple(_alike(action) for action in step.actions)
            if None in own:
                return None
            found.append((number, step.node.number, step.nexts, own))
    return tuple(found)


def _is_of_team(action: Action) -> bool:
    """Tell whether the warps of a warpgroup do something together, or each has its lanes."""
    if isinstance(action, Commit | WaitGroup):
        return action.pipeline in TEAM_PIPELINES
    return isinstance(action, Transfer | TensorAccess)


def _alike(action: Action) -> Hashable | None:
    """Return what an action of one warp has in common with that of another; None where warps may be in no class."""
    match action:
        case Access() if action.combines or not (action.reads and action.writes):
            touched = bool(action.reads), bool(action.writes), bool(action.stored)
            return replace(action, reads=(), writes=(), stored=()), touched
        case Transfer(completes=(), copied=(), faults=()) if action.pipeline in TEAM_PIPELINES:
            return replace(action, reads=(), writes=())
        case TensorAccess(allocates=False, fault="") if action.pipeline in (TENSOR_LOADS, TENSOR_STORES):
            return replace(action, reads=(), writes=()), bool(action.reads)
        case Arrive(beside=()) if action.expect == 0:
            return action
        case Rendezvous(parted=0, unnamed=0) if not isinstance(action.name, HaltPoint):
            return replace(action, name=_of_any_warp(action.name))
        case Wait() | Commit() | WaitGroup() | Fence() | TensorWait() | Registers():
            return action
        case _:
            return None


def _of_any_warp(name: CountedBarrier) -> CountedBarrier:
    """Return a barrier of a warp as one of any."""
    if isinstance(name, WarpBarrier | DivergentWarpBarrier | LockstepBarrier):
        return replace(name, warp=-1)
    return name


# -- who stands for a class


def _stand_for(alike: Sequence[_Warp], nowhere: int) -> tuple[_Warp, _Warp]:
    """Return the strands of the first warp of a class, and of the one that stands for all others.

    Bytes at which they meet are of the CTA `nowhere`: those of another class are others.
    """
    rows = {
        (strand, number, index): row
        for strand, same in enumerate(zip(*alike, strict=True))
        for number in same[0].steps
        for index, row in enumerate(zip(*(role.steps[number].actions for role in same), strict=True))
    }
    meeting = _Meeting.of(rows, nowhere)
    tensors = _share_columns(alike)
    ones: list[Role] = []
    others: list[Role] = []
    for strand, (first, second) in enumerate(zip(alike[0], alike[1], strict=True)):
        by_one: dict[int, tuple[Action, ...]] = {}
        by_others: dict[int, tuple[Action, ...]] = {}
        for number, step in first.steps.items():
            at = [(strand, number, index) for index in range(len(step.actions))]
            by_one[number] = tuple(meeting.by_one(each, _by_all(rows[each])) for each in at)
            by_others[number] = tuple(
                meeting.by_others(each, _by_others(rows[each], tensors=tensors), rows[each]) for each in at
            )
        copies = len(alike) - 1
        info = replace(second.info, name=f"{second.info.name}, and {copies - 1} more", copies=copies)
        ones.append(first.with_actions(by_one))
        others.append(replace(second.with_actions(by_others), info=info))
    return tuple(ones), tuple(others)


def _by_all(row: Sequence[Action]) -> Action:
    """Return the action of the first warp, which touches what those of all warps do."""
    match row[0]:
        case Access() as action if _differ(row):
            own = [each for each in row if isinstance(each, Access)]
            stored = dict.fromkeys(pair for each in own for pair in each.stored)
            return replace(action, reads=_reads(own), writes=_writes(own), stored=tuple(stored))
        case Transfer() as action if _differ(row):
            matrices = [each for each in row if isinstance(each, Transfer)]
            return replace(action, reads=_reads(matrices), writes=_writes(matrices))
        case TensorAccess() as action if _differ(row):
            tensors = [each for each in row if isinstance(each, TensorAccess)]
            reads = tuple(sorted({columns for each in tensors for columns in each.reads}))
            writes = tuple(sorted({columns for each in tensors for columns in each.writes}))
            return replace(action, reads=reads, writes=writes)
        case action:
            return action


def _differ(row: Sequence[Action]) -> bool:
    return any(each != row[0] for each in row)


def _reads(row: Sequence[Access | Transfer]) -> tuple[Span, ...]:
    return tuple(sorted({span for each in row for span in each.reads}))


def _writes(row: Sequence[Access | Transfer]) -> tuple[Span, ...]:
    return tuple(sorted({span for each in row for span in each.writes}))


def _by_others(row: Sequence[Action], *, tensors: bool) -> Action:
    """Return what the other warps do together; what they touch where that differs is for `_Meeting`."""
    copies = len(row) - 1
    match row[1]:
        case Access() | Transfer() if _differ(row):
            return _by_all(row)
        case TensorAccess() as action if _differ(row):
            return _by_all(row) if tensors else replace(action, reads=(), writes=())
        case Arrive() as action:
            return replace(action, count=action.count * copies)
        case Rendezvous(name=NamedBarrier() | ClusterBarrier()) as action:
            return replace(action, threads=action.threads * copies)
        case Registers() as action:
            return replace(action, warps=action.warps * copies)
        case action:
            return action


def _share_columns(alike: Sequence[_Warp]) -> bool:
    """Tell whether two warps of a class may access the same lanes of tensor memory."""
    seen = 0
    for strands in alike:
        own = 0
        for action in (a for role in strands for step in role.steps.values() for a in step.actions):
            if isinstance(action, TensorAccess):
                for columns in (*action.reads, *action.writes):
                    own |= columns.groups if columns.start >= 0 else 0
        if own & seen:
            return True
        seen |= own
    return False


# -- bytes of several warps

_At: TypeAlias = tuple[int, int, int]
"""A strand of a warp, a step, and an action of it."""


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Where an action of one warp of a class may touch bytes that another one of another warp touches, too.

    The bytes themselves are touched by the first warp: each warp knows of its own accesses, and everybody else of those
    of all. That two warps meet is told by bytes of no CTA, apart for each action that writes (`_met`).
    """

    ones: Mapping[_At, tuple[Span, ...]]
    others: Mapping[_At, tuple[Span, ...]] | None
    """None where it is not known which bytes are touched: all are touched by both."""

    @classmethod
    def of(cls, rows: Mapping[_At, tuple[Action, ...]], nowhere: int) -> _Meeting:
        """Return where the warps of a class meet; `rows` are the actions of all of them at each place."""
        touched: list[tuple[Span, int, _At, bool]] = []
        own = {at for at, row in rows.items() if _differ(row)}
        for at, row in rows.items():
            for warp, action in enumerate(row):
                if isinstance(action, Access | Transfer):
                    touched += [(span, warp, at, False) for span in action.reads]
                    touched += [(span, warp, at, True) for span in action.writes]
        if own and any(span.start < 0 or not span.exact or span.reach for span, *_ in touched):
            return cls({}, None)
        ones: dict[_At, list[Span]] = {}
        others: dict[_At, list[Span]] = {}
        for number, (at, places) in enumerate(_met(touched, own)):
            span = Span(nowhere, number, 1)
            ones.setdefault(at, []).append(span)
            for there in places:
                others.setdefault(there, []).append(span)
        return cls(_tuples(ones), _tuples(others))

    def by_one(self, at: _At, action: Action) -> Action:
        """Return an action of the first warp, with those of others that it may meet."""
        if not isinstance(action, Access | Transfer) or at not in self.ones:
            return action
        reads = action.reads + self.ones[at] if action.reads == action.writes else action.reads
        return replace(action, reads=reads, writes=action.writes + self.ones[at])

    def by_others(self, at: _At, action: Action, row: Sequence[Action]) -> Action:
        """Return an action of the other warps: what all warps touch, or nothing, and where it meets the first warp."""
        if not isinstance(action, Access | Transfer) or self.others is None:
            return action
        met, is_own = self.others.get(at, ()), _differ(row)
        reads, writes = (() if is_own else each for each in (action.reads, action.writes))
        return replace(
            action, reads=reads + met if action.reads else (), writes=writes + met if action.writes else ()
        )


def _met(
    touched: Sequence[tuple[Span, int, _At, bool]], own: Set[_At]
) -> Iterator[tuple[_At, Sequence[_At]]]:
    """Yield what writes to bytes, with what another warp does there: all that reads together, each write by itself.

    A write stands for what its own warp has read or written there before, and would hide that of another one. Two
    accesses by which all warps touch the same bytes meet at these; one of each pair is of `own`, by which they do not.
    """
    reads: dict[_At, dict[_At, None]] = {}
    writes: dict[_At, dict[_At, None]] = {}
    open_ones: list[tuple[Span, int, _At, bool]] = []
    for each in sorted(touched, key=lambda one: (one[0], one[1:])):
        span, warp, at, is_write = each
        open_ones = [o for o in open_ones if o[0].cta == span.cta and o[0].end > span.start]
        for _, other, there, was_write in open_ones:
            if other == warp or not (at in own or there in own):
                continue
            if is_write:
                (writes if was_write else reads).setdefault(at, {})[there] = None
            if was_write:
                (writes if is_write else reads).setdefault(there, {})[at] = None
        open_ones.append(each)
    for at in sorted({*reads, *writes}):
        if at in reads:
            yield at, tuple(reads[at])
        for there in writes.get(at, ()):
            yield at, (there,)


def _tuples(found: Mapping[_At, list[Span]]) -> dict[_At, tuple[Span, ...]]:
    return {at: tuple(spans) for at, spans in found.items()}


__all__ = ["by_symmetry"]
