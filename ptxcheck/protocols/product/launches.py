"""Requests to cancel a launch behind an answer that says that there is none, as `order.launch_requests` has them.

Property: where no step fails, every request of a CTA comes before all reads of answers by that CTA that may say no,
in every schedule.

Argument: such a read knows all requests so far, and none follows it. A read that knows of none reads no answer. Of
answers that are not decided yet `received` knows who has read them: when nobody holds one any more, it may have
been no.

Not covered: answers that only other CTAs of the cluster have read.
"""

from __future__ import annotations

from ..model.outcome import Flaw
from .operations import Unproved
from .rows import Bits
from .state import State


def ask(state: State, strand: int, event: Bits, point: int) -> None:
    """Let a strand ask. Raises Unproved."""
    cta = state.setup.strands[strand].cta
    if cta in state.heard:
        raise Unproved(Flaw.ASKED_AFTER_REFUSAL.value, strand, point)
    state.happen(event)
    state.clocks[strand] |= event
    state.asked[cta] = state.asked.get(cta, 0) | event


def hear(state: State, strand: int, point: int) -> None:
    """Let a strand read that there is none. Raises Unproved."""
    if may_hear(state, strand, point):
        state.heard |= {state.setup.strands[strand].cta}


def may_hear(state: State, strand: int, point: int) -> bool:
    """Tell whether what a strand reads may be an answer: it knows all requests so far. Raises Unproved."""
    asked, known = state.asked.get(state.setup.strands[strand].cta, 0), state.clocks[strand]
    if asked & known and asked & ~known:
        raise Unproved(Flaw.ASKED_AFTER_REFUSAL.value, strand, point)
    return bool(asked & known)
