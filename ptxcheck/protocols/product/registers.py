"""The register budget of each CTA, as `order.register_budget` has it.

Property: where no step fails, every increase gets its registers in every schedule.

Argument: that of `order.register_budget`. Each change keeps which other changes it knew of, so that the worst that
others may hold at its time can be found whenever a change is added.

Not covered: a change that a strand makes a second time.
"""

from __future__ import annotations

from ..model.actions import Registers
from ..model.outcome import Flaw
from .operations import RegistersStep, Unproved
from .rows import Bits
from .state import State

BLOCKED, DONE = 0, 1


def change(state: State, strand: int, step: RegistersStep) -> int:
    """Change the registers of a strand; BLOCKED while there are not enough."""
    start = state.setup.registers
    if start is None:
        return DONE
    cta = state.setup.strands[strand].cta
    action = step.action
    if any(known is step for _, known, _ in state.changes):
        raise Unproved("registers are changed a second time at one place", strand, step.point)
    more = (action.count - state.held.get(strand, start)) * action.warps
    free = state.free.get(cta, 0)
    if action.increases and more > free:
        return BLOCKED
    state.held[strand] = action.count
    state.free[cta] = free - more
    known = state.clocks[strand] & state.setup.register_changes
    state.happen(step.event)
    state.clocks[strand] |= step.event
    state.changes = (*state.changes, (strand, step, known))
    for each in state.changes:
        if each[1].action.increases and _wanted(state, each) > _there(state, each):
            raise Unproved(f"{Flaw.DEADLOCK.value}: registers", each[0], each[1].point)
    return DONE


def _others(state: State, strand: int) -> dict[int, int]:
    """Return the strands of the same CTA that change registers, with the warps that each stands for."""
    ctas = [each.cta for each in state.setup.strands]
    return {
        other: step.action.warps for other, step, _ in state.changes if other != strand and ctas[other] == ctas[strand]
    }


def _there(state: State, wish: tuple[int, RegistersStep, Bits]) -> int:
    assert state.setup.registers is not None
    warps = wish[1].action.warps + sum(_others(state, wish[0]).values())
    return state.setup.registers * warps


def _wanted(state: State, wish: tuple[int, RegistersStep, Bits]) -> int:
    """Return the registers that may be wanted when a strand asks for more."""
    strand, step, known = wish
    assert state.setup.registers is not None
    wanted = step.action.count * step.action.warps
    for other, warps in _others(state, strand).items():
        held = state.setup.registers
        possible: list[Registers] = []
        for one, its, before in state.changes:
            if one != other:
                continue
            if its.event & known:
                held = its.action.count
            elif not before & step.event:
                possible.append(its.action)
        if any(action.increases for action in possible):
            held = max(held, *(action.count for action in possible))
        elif possible:
            held = possible[-1].count
        wanted += held * warps
    return wanted
