"""Two histories of one protocol that come to the same control state with different knowledge."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.protocol_generator import generate
from ptxcheck.protocols.model.actions import Access, Action, Arrive, Fence, Span, Wait
from ptxcheck.protocols.product.operations import Failure
from ptxcheck.protocols.product.order_state import BLOCKED, OrderState
from ptxcheck.protocols.product.setup import Setup, StrandInfo

Programs = Sequence[Sequence[Action]]


def run(
    state: OrderState, programs: Programs, at: list[int], to: Sequence[int], *, ends: bool = False
) -> str:
    """Perform programs from where they are to some place; return what went wrong, or ""."""
    ended: set[int] = set()
    moved = True
    while moved:
        moved = False
        for strand, program in enumerate(programs):
            while at[strand] < to[strand]:
                result = state.perform(strand, program[at[strand]])
                if isinstance(result, Failure):
                    return result.reason
                if result == BLOCKED:
                    break
                at[strand] += 1
                moved = True
            if ends and at[strand] == len(program) and strand not in ended:
                ended.add(strand)
                moved = True
                failure = state.end(strand)
                if failure is not None:
                    return failure.reason
    return "" if list(at) == list(to) else "stuck"


def to_the_end(state: OrderState, programs: Programs, cut: Sequence[int]) -> bool:
    """Tell whether the rest of some programs holds from a state on."""
    if run(state, programs, list(cut), [len(each) for each in programs], ends=True):
        return False
    return state.finish() is None


def histories(seed: int) -> tuple[Programs, Sequence[int], OrderState, OrderState] | None:
    """Return programs, where they stand, and two states that they have come there with; None where there are none."""
    rng = random.Random(seed)
    protocol = generate(seed)
    programs = [list(strand.actions) for strand in protocol.strands]
    infos = [StrandInfo(each.cta, each.warp, each.lanes, each.name) for each in protocol.strands]
    cut = [0] * len(programs)
    first = OrderState(Setup(infos, programs, registers=protocol.registers))
    if run(first, programs, cut, [rng.randint(0, len(each)) for each in programs]) not in ("", "stuck"):
        return None
    others = [_changed(rng, program, end) for program, end in zip(programs, cut, strict=True)]
    both = [[*one, *other] for one, other in zip(programs, others, strict=True)]
    setup = Setup(infos, both, registers=protocol.registers)
    one, other = OrderState(setup), OrderState(setup)
    if run(one, programs, [0] * len(cut), cut) or run(other, others, [0] * len(cut), cut):
        return None
    return (programs, cut, one, other) if one.control() == other.control() else None


def _changed(rng: random.Random, program: Sequence[Action], end: int) -> list[Action]:
    """Return a program in which something before a place is known in another way, or touches other bytes."""
    found = list(program)
    places = [at for at in range(end) if isinstance(found[at], Access | Fence | Arrive | Wait)]
    if not places or rng.random() < 0.3:
        return found
    at = rng.choice(places)
    action = found[at]
    if isinstance(action, Arrive):
        found[at] = replace(action, releases=not action.releases)
    elif isinstance(action, Wait):
        found[at] = replace(action, acquires=not action.acquires)
    else:
        others: list[Action] = [
            Access(action.point, reads=(Span(0, 1024, 16),)),
            Access(action.point, writes=(Span(0, 2048, 16),)),
            Fence(action.point),
            Fence(action.point, proxy=True),
        ]
        found[at] = rng.choice(others)
    return found
