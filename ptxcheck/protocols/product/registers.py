"""The register budget of each CTA, as `order.register_budget` has it.

Property: where no step fails, every increase gets its registers in every schedule.

Argument: that of `order.register_budget`. Each change keeps which other changes it knew of, so that the worst that
others may hold at its time can be found whenever a change is added. A change is forgotten, but for what its strand
holds since, when no later one can meet it (all strands know of it) and all that are kept knew of it.

Not covered: a change that a strand makes a second time before the first is forgotten.
"""

from __future__ import annotations

from ..model.actions import Registers
from ..model.outcome import Flaw
from .operations import RegistersStep, Unproved
from .rows import Bits
from .state import Change, Changes, State

BLOCKED, DONE = 0, 1


def change(state: State, strand: int, step: RegistersStep) -> int:
    """Change the registers of a strand; BLOCKED while there are not enough."""
    start = state.setup.registers
    if start is None:
        return DONE
    cta = state.setup.strands[strand].cta
    action = step.action
    changes = forget(state, cta)
    if any(each.step is step for each in changes.made):
        raise Unproved(
            "registers are changed a second time while others may change theirs", strand, step.point
        )
    more = (action.count - state.held.get(strand, start)) * action.warps
    free = state.free.get(cta, 0)
    if action.increases and more > free:
        return BLOCKED
    state.held[strand] = action.count
    state.free[cta] = free - more
    known = state.clocks[strand] & state.setup.register_changes
    state.happen(step.event)
    state.clocks[strand] |= step.event
    changes = Changes((*changes.made, Change(strand, step, known)), changes.held)
    state.changes[cta] = changes
    for each in changes.made:
        if each.step.action.increases and _wanted(changes, each, start) > _there(changes, each, start):
            raise Unproved(f"{Flaw.DEADLOCK.value}: registers", each.strand, each.step.point)
    return DONE


def forget(state: State, cta: int) -> Changes:
    """Forget changes that cannot matter any more; return what is left of those of a CTA."""
    changes = state.changes.get(cta, Changes())
    if not changes.made:
        return changes
    setup = state.setup
    told = setup.register_changes
    for strand in setup.changers:
        if setup.strands[strand].cta == cta and not state.ended >> strand & 1:
            told &= state.clocks[strand]
    gone: Bits = 0
    held = dict(changes.held)
    kept: set[int] = set()
    for each in changes.made:
        event = each.step.event
        is_needed = any(not other.known & event for other in changes.made if not other.step.event & told)
        if event & told and not is_needed and each.strand not in kept:
            gone |= event
            held[each.strand] = each.step.action.count, each.step.action.warps
        else:
            kept.add(each.strand)
    made = tuple(
        Change(each.strand, each.step, each.known & ~gone)
        for each in changes.made
        if not each.step.event & gone
    )
    changes = Changes(made, tuple(sorted(held.items())))
    state.changes[cta] = changes
    return changes


def _others(changes: Changes, strand: int) -> dict[int, int]:
    """Return the other strands of the CTA that change registers, with the warps that each stands for."""
    warps = {other: its for other, (_, its) in changes.held}
    warps.update((each.strand, each.step.action.warps) for each in changes.made)
    return {other: its for other, its in warps.items() if other != strand}


def _there(changes: Changes, wish: Change, start: int) -> int:
    return start * (wish.step.action.warps + sum(_others(changes, wish.strand).values()))


def _wanted(changes: Changes, wish: Change, start: int) -> int:
    """Return the registers that may be wanted when a strand asks for more."""
    wanted = wish.step.action.count * wish.step.action.warps
    before = {other: count for other, (count, _) in changes.held}
    for other, warps in _others(changes, wish.strand).items():
        held = before.get(other, start)
        possible: list[Registers] = []
        for each in changes.made:
            if each.strand != other:
                continue
            if each.step.event & wish.known:
                held = each.step.action.count
            elif not each.known & wish.step.event:
                possible.append(each.step.action)
        if any(action.increases for action in possible):
            held = max(held, *(action.count for action in possible))
        elif possible:
            held = possible[-1].count
        wanted += held * warps
    return wanted
