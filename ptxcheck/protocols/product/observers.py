"""Strands that from some place on only wait, and that hand nothing to anybody.

Property: what `with_observers` marks are waits behind which their strand does nothing that another strand, or anybody
behind the kernel, could see but its end.

Argument: compilers let a whole warpgroup wait for a slot that one of its threads fills. Nobody waits for the other
warps, so what the others do is the same in every schedule, whether these are ever late or not; that none of them is
two phases late is an axiom, which is taken where the phases do not show it (`order.axioms.LATE_OBSERVER`). It is not
taken where one strand ends phase after phase and waits for nobody else in between.

Not covered: a strand that fills slots, hands them back or leaves results has reason to be late.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import replace
from functools import cache, partial

from ...cfg.cfg import Cfg
from ..model.actions import Action, Arrive, AsyncArrive, Barrier, Expect, Fence, Rendezvous, Transfer, Wait
from ..model.outside import leaves_results
from ..model.sync_objects import WarpBarrier
from .roles import Role


def with_observers(cfg: Cfg, roles: Sequence[Role]) -> tuple[Role, ...]:
    """Return the strands of a kernel, with those waits marked that only observe."""
    warps: dict[tuple[int, int], list[Role]] = {}
    for role in roles:
        warps.setdefault((role.info.cta, role.info.warp), []).append(role)
    tails = {
        id(role): tail for own in warps.values() for role, tail in zip(own, _tails(own), strict=True) if tail
    }
    slow = _slow(roles)
    leaves = cache(partial(leaves_results, cfg))  # lanes and warps that do the same ask the same
    return tuple(
        _marked(role, tails[id(role)], slow, leaves) if id(role) in tails else role for role in roles
    )


def _slow(roles: Sequence[Role]) -> Set[Barrier]:
    """Return the mbarriers of which who ends a phase waits for somebody else before the next one."""
    counting: dict[Barrier, bool] = {}
    for role in roles:
        told = _told_by(role)
        for barrier in told:
            counting[barrier] = counting.get(barrier, True) and _waits_between(role, barrier, told)
    return {barrier for barrier, waits in counting.items() if waits}


def _told_by(role: Role) -> dict[Barrier, None]:
    """Return the mbarriers that a strand arrives at."""
    actions = (action for step in role.steps.values() for action in step.actions)
    return dict.fromkeys(each.barrier for each in actions if isinstance(each, Arrive | AsyncArrive))


def _waits_between(role: Role, barrier: Barrier, told: Collection[Barrier]) -> bool:
    """Tell whether a strand waits, between any two arrivals, at an mbarrier that it does not arrive at itself."""
    onward = role.onward()
    waiting = [
        (number, at + 1)
        for number, step in role.steps.items()
        for at, action in enumerate(step.actions)
        if isinstance(action, Arrive | AsyncArrive) and action.barrier == barrier
    ]
    seen: set[int] = set()
    while waiting:
        number, first = waiting.pop()
        for action in role.steps[number].actions[first:]:
            if isinstance(action, Arrive | AsyncArrive) and action.barrier == barrier:
                return False
            if isinstance(action, Wait) and action.barrier not in told:
                break
        else:
            fresh = {target for target, _ in onward[number]} - seen
            seen |= fresh
            waiting += [(target, 0) for target in sorted(fresh)]
    return True


def _hands_over(role: Role) -> bool:
    handing = Arrive | Expect | Transfer | AsyncArrive
    return any(isinstance(action, handing) for step in role.steps.values() for action in step.actions)


def _marked(
    role: Role, tail: Set[int], slow: Set[Barrier], leaves: Callable[[frozenset[int], int], bool]
) -> Role:
    """Return a strand with the waits marked that are in some of its steps, for phases of some mbarriers.

    `leaves` tells of what was done and of a point whether threads leave results from there on.
    """
    done = frozenset(action.point for step in role.steps.values() for action in step.actions)
    marked: dict[int, tuple[Action, ...]] = {}
    for number in sorted(tail):
        actions = role.steps[number].actions
        first = next((action for action in actions if isinstance(action, Wait)), None)
        if first is not None and not leaves(done, first.point):
            marked[number] = tuple(_observing(each, slow) for each in actions)
    return role.with_actions(marked)


def _observing(action: Action, slow: Set[Barrier]) -> Action:
    is_late = isinstance(action, Wait) and action.barrier in slow
    return replace(action, observes=True) if is_late and isinstance(action, Wait) else action


def _tails(warp: Sequence[Role]) -> list[set[int]]:
    """Return for each strand of a warp the steps from which it comes to no action that concerns other warps.

    Where lanes of the warp meet, all of them have come that far.
    """
    apart: Set[int] = frozenset()
    while True:
        tails = [set[int]() if _hands_over(role) else _tail(role, apart) for role in warp]
        known, apart = apart, {
            action.point
            for role, tail in zip(warp, tails, strict=True)
            for number, step in role.steps.items()
            if number not in tail
            for action in step.actions
            if isinstance(action, Rendezvous)
        }  # fmt: skip
        if apart == known:
            return tails


def _tail(role: Role, apart: Set[int]) -> set[int]:
    """Return the steps from which a strand concerns no other warp, nor comes to some meetings of its own."""
    before = _sources(role)
    acting = [
        number
        for number, step in role.steps.items()
        if step.node.is_last or not all(_concerns_nobody(each, apart) for each in step.actions)
    ]
    found = set(role.steps) - set(acting)
    while acting:
        for source in before.get(acting.pop(), ()):
            if source in found:
                found.remove(source)
                acting.append(source)
    return found


def _sources(role: Role) -> dict[int, list[int]]:
    """Return the steps in front of each one."""
    found: dict[int, list[int]] = {}
    for number, targets in role.onward().items():
        for target, _ in targets:
            found.setdefault(target, []).append(number)
    return found


def _concerns_nobody(action: Action, apart: Set[int]) -> bool:
    """Tell whether no other warp is told anything by an action."""
    if isinstance(action, Rendezvous):
        return isinstance(action.name, WarpBarrier) and action.point not in apart
    return isinstance(action, Wait | Fence)
