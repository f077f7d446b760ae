"""Warps that do the same: one of them stands for itself, and another one for all the rest.

Property: where the product shows that a kernel holds with the strands of `by_symmetry(roles)`, it holds with those of
`roles`.

Argument: symmetry reduction (Emerson, Sistla 1996; Clarke, Enders, Filkorn, Jha 1996). Warps of a class go through the
same nodes and do the same there, but for which bytes they touch: to exchange two of them changes nothing for anybody
else. One schedule speaks for all of them, so let it be one in which they go in step. Then everybody knows of all warps
of a class or of none, but for what each knows of itself; and what one of them knows of another one is what each knows
of each. So two warps tell it all: the first, and a second one that stands for the others, and arrives as often as they
do together. Bytes that one warp of the class alone touches are touched by the first, as those of each are by it; bytes
that several touch, by both.

Not covered: warps that complete bytes, initialise mbarriers, or allocate; warps that answer questions by themselves:
where the second warp would have to answer for the others, the exploration is open (`exploration`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
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
    for (_, warp), own in warps.items():
        strands = tuple(sorted(own, key=lambda role: role.info.lanes))
        text = _text(strands)
        classes.setdefault((None, warp) if text is None else text, []).append(strands)
    changed: dict[int, Role | None] = {}
    for alike in classes.values():
        if len(alike) >= _FEWEST:
            first, second = _stand_for(alike)
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
    if any(isinstance(action, Transfer | TensorAccess) for action in actions):
        found.append(info.warp // WARPS_OF_A_TEAM)
    for role in strands:
        found.append((role.info.lanes, tuple((key, step.number) for key, step in role.variants.items())))
        for number, step in role.steps.items():
            own = tuple(_alike(action) for action in step.actions)
            if None in own:
                return None
            found.append((number, step.node.number, step.nexts, own))
    return tuple(found)


def _alike(action: Action) -> Hashable | None:
    """Return what an action of one warp has in common with that of another; None where warps may be in no class."""
    match action:
        case Access():
            touched = bool(action.reads), bool(action.writes), bool(action.stored)
            return replace(action, reads=(), writes=(), stored=()), touched
        case Transfer(completes=(), copied=(), faults=()) if action.pipeline in TEAM_PIPELINES:
            return replace(action, reads=(), writes=())
        case TensorAccess(allocates=False) if action.pipeline in (TENSOR_LOADS, TENSOR_STORES):
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


def _stand_for(alike: Sequence[_Warp]) -> tuple[_Warp, _Warp]:
    """Return the strands of the first warp of a class, and of the one that stands for all others."""
    shared = _shared(alike)
    ones: list[Role] = []
    others: list[Role] = []
    for same in zip(*alike, strict=True):
        by_one: dict[int, tuple[Action, ...]] = {}
        by_others: dict[int, tuple[Action, ...]] = {}
        for number in same[0].steps:
            rows = list(zip(*(role.steps[number].actions for role in same), strict=True))
            by_one[number] = tuple(map(_by_all, rows))
            by_others[number] = tuple(_by_others(row, shared) for row in rows)
        ones.append(same[0].with_actions(by_one))
        copies = len(same) - 1
        info = replace(same[1].info, name=f"{same[1].info.name}, and {copies - 1} more", copies=copies)
        others.append(replace(same[1].with_actions(by_others), info=info))
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


def _by_others(row: Sequence[Action], shared: _Shared) -> Action:
    """Return what the other warps do together, as far as it touches what more than one of all warps does."""
    copies = len(row) - 1
    match row[1]:
        case Access() | Transfer() if _differ(row):
            action = _by_all(row)
            assert isinstance(action, Access | Transfer)
            return replace(action, reads=shared.of(action.reads), writes=shared.of(action.writes))
        case TensorAccess() if _differ(row):
            action = _by_all(row)
            assert isinstance(action, TensorAccess)
            return action if shared.has_columns else replace(action, reads=(), writes=())
        case Arrive() as action:
            return replace(action, count=action.count * copies)
        case Rendezvous(name=NamedBarrier() | ClusterBarrier()) as action:
            return replace(action, threads=action.threads * copies)
        case Registers() as action:
            return replace(action, warps=action.warps * copies)
        case action:
            return action


# -- bytes of several warps


@dataclass(frozen=True, slots=True)
class _Shared:
    """What more than one warp of a class may touch."""

    spans: frozenset[Span] | None
    """Those of all that meet such bytes; None for all."""
    has_columns: bool

    def of(self, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Return those of some spans that meet such bytes."""
        return spans if self.spans is None else tuple(span for span in spans if span in self.spans)


def _shared(alike: Sequence[_Warp]) -> _Shared:
    """Return what more than one warp of a class may touch."""
    spans: list[set[Span]] = []
    lanes: list[int] = []
    for strands in alike:
        actions = [a for role in strands for step in role.steps.values() for a in step.actions]
        own = (each for each in actions if isinstance(each, Access | Transfer))
        spans.append({span for each in own for span in (*each.reads, *each.writes)})
        columns = (each for a in actions if isinstance(a, TensorAccess) for each in (*a.reads, *a.writes))
        lanes.append(_union(each.groups for each in columns if each.start >= 0))
    have_one = any(one & other for n, one in enumerate(lanes) for other in lanes[:n])
    if any(span.start < 0 or not span.exact or span.reach for own in spans for span in own):
        return _Shared(None, have_one)
    found: set[Span] = set()
    for cta in sorted({span.cta for own in spans for span in own}):
        found |= _meeting([{span for span in own if span.cta == cta} for own in spans])
    return _Shared(frozenset(found), have_one)


def _union(groups: Iterable[int]) -> int:
    found = 0
    for each in groups:
        found |= each
    return found


def _meeting(spans: Sequence[Set[Span]]) -> set[Span]:
    """Return the spans of one CTA that meet one of another set."""
    rows = sorted(((span, number) for number, own in enumerate(spans) for span in own), key=_start)
    found: set[Span] = set()
    open_ones: list[tuple[Span, int]] = []
    for span, number in rows:
        open_ones = [each for each in open_ones if each[0].end > span.start]
        others = [other for other, its in open_ones if its != number]
        if others:
            found.update(others, (span,))
        open_ones.append((span, number))
    return found


def _start(row: tuple[Span, int]) -> tuple[int, int, int]:
    span, number = row
    return span.start, span.size, number


__all__ = ["by_symmetry"]
