"""The commonest slip of a ring: its producer waits for a release in the first round, when nothing was filled yet.

Property: the hint is given where a producer is stuck in its first wait on a barrier of which no phase has completed,
and others are stuck in waits for what it would bring behind that wait. Whether it is the slip that was made, nobody
knows; so it is told besides what is needed, and never in place of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..protocols.model.actions import Barrier, Strand, Wait
from .barrier_history import Held
from .barrier_names import BarrierNames, barriers_of
from .roles import RoleOf


def first_round_hint(
    strands: Sequence[Strand],
    stuck: Mapping[int, int],
    held: Mapping[Barrier, Held],
    names: BarrierNames,
    role_of: Callable[[int], RoleOf],
) -> str:
    """Return what else would help, or ""; `stuck` has the index of the action that each strand cannot do."""
    for strand, index in stuck.items():
        actions = strands[strand].actions
        wait = actions[index]
        if not isinstance(wait, Wait) or wait.parity != 0 or not role_of(strand).duty.startswith("producer"):
            continue
        state = held.get(wait.barrier)
        is_first = not any(
            isinstance(each, Wait) and each.barrier == wait.barrier for each in actions[:index]
        )
        if state is None or state.phase != 0 or not is_first:
            continue
        brought = {barrier for each in actions[index + 1 :] for barrier in barriers_of(each)}
        awaited = {
            barrier
            for other, at in stuck.items()
            if other != strand
            for barrier in barriers_of(strands[other].actions[at])
        }
        if brought & awaited:
            return (
                f"; or {role_of(strand).name} begins with parity 1 on {names.of(wait.barrier)}, which passes: "
                "in the first round there is nothing to release"
            )
    return ""
