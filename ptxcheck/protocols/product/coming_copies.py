"""Which mbarriers a strand may still copy to before it does anything else to them.

Property: `ComingCopies.to` has each mbarrier that some path of the strand from an action on comes to first with a copy.

Argument: backward data flow over the nodes of the role, with all that a node may do for any numbers of its variables.

Not covered: which paths a run takes. As `order.late_copies`, this chooses a schedule and proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.actions import Action, Barrier, Transfer
from .inventory import barriers_of
from .roles import Role, Step
from .rows import Bits


class ComingCopies:
    """The copies of all strands."""

    def __init__(self, roles: Sequence[Role], number_of: Mapping[Barrier, int]) -> None:
        self._roles = roles
        self._number_of = number_of
        self._behind: dict[int, Mapping[int, Bits]] = {}

    def to(self, strand: int, step: Step, index: int) -> Bits:
        """Return the mbarriers that a strand may copy to next which stands at an action of a step: a bit for each."""
        found = self._behind.get(strand)
        if found is None:
            found = self._behind[strand] = self._of(self._roles[strand])
        copies, others = self._first(step.actions[index:])
        return copies | found[step.node.number] & ~others

    def _of(self, role: Role) -> Mapping[int, Bits]:
        """Return for each node what the strand may copy to next from its end on."""
        copied: dict[int, Bits] = {}
        passed: dict[int, Bits] = {}
        nexts: dict[int, set[int]] = {}
        for step in role.steps.values():
            node, (copies, others) = step.node.number, self._first(step.actions)
            copied[node] = copied.get(node, 0) | copies
            passed[node] = passed.get(node, 0) | ~(copies | others)
            nexts[node] = {target for target, _, _ in step.nexts}
        before: dict[int, list[int]] = {}
        for node, targets in nexts.items():
            for target in targets:
                before.setdefault(target, []).append(node)
        behind = dict.fromkeys(nexts, 0)
        waiting = list(nexts)
        while waiting:
            node = waiting.pop()
            coming = copied[node] | behind[node] & passed[node]
            for each in before.get(node, ()):
                if coming & ~behind[each]:
                    behind[each] |= coming
                    waiting.append(each)
        return behind

    def _first(self, actions: Sequence[Action]) -> tuple[Bits, Bits]:
        """Return which mbarriers actions first copy to, and to which they first do something else."""
        copies: Bits = 0
        others: Bits = 0
        for action in actions:
            named = self._named(action) & ~(copies | others)
            if isinstance(action, Transfer):
                copies |= named
            else:
                others |= named
        return copies, others

    def _named(self, action: Action) -> Bits:
        return sum({1 << self._number_of[each] for each in barriers_of(action)})
