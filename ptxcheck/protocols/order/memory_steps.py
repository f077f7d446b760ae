"""When a schedule touches shared memory.

Property: each access and each piece of asynchronous work of a schedule comes once, at the step in which its bytes are
read or written.

Argument: asynchronous work is done when it completes; work that never does is taken for done at its issue.

Not covered: what a piece of work writes before it completes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.actions import (
    Access,
    Action,
    Protocol,
    Transfer,
)
from ..model.outcome import Step


def memory_steps(protocol: Protocol, steps: Sequence[Step]) -> Iterator[tuple[Step, Access | Transfer]]:
    """Yield what touches memory when it does: asynchronous work when it completes, or at its issue if it never does."""
    later = {(step.strand, step.index) for step in steps if step.completes}
    for step in steps:
        action: Action = protocol.strands[step.strand].actions[step.index]
        is_over = step.completes or (step.strand, step.index) not in later
        if is_over and isinstance(action, Access | Transfer):
            yield step, action
