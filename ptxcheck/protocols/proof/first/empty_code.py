"""Code that a kernel keeps for an empty size, such as a product with nothing to add up.

Property: no run in which the host gives something for the sizes of `EmptyCode.sizes_at` comes there. Every way there
passes one side of a branch that compares the size alone, and the comparison says there that nothing is left.
"""

from __future__ import annotations

from ....cfg.addresses import PARAMETER_SPACES
from ....cfg.cfg import Cfg
from ....cfg.definitions import Name
from ....cfg.facts import Facts
from ....cfg.graph import Edge, EdgeKind
from ....ir import Register
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ...symex.values.approximated_terms import empty_sizes
from ...symex.values.symbol import Atom, Condition
from .paths import Plan, Side

_SETP_OPERANDS = 3
"""Of a comparison that no other predicate has a part in."""


class EmptyCode:
    """Which code only runs with an empty size come to, by what runs were asked."""

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._facts = facts
        self._sides: dict[Side, frozenset[Atom]] = {}
        """Sizes that were empty whenever a side was taken."""

    def note(self, plan: Plan) -> None:
        """Note the decisions of a run."""
        for (side, _), (condition, truth) in zip(plan.made, plan.answers, strict=True):
            self._take(side, condition, truth)
        for side, (_, condition, truth) in plan.followed.items():
            self._take(side, condition, truth)

    def sizes_at(self, point: int) -> frozenset[Atom]:
        """Return the sizes that a point is in code for as empty ones, and for nothing else."""
        dominators = self._cfg.dominators
        block: int | None = self._cfg.graph.block_of[point]
        while block is not None:
            entering = [e for e in self._cfg.edges_into(block) if not dominators.dominates(block, e.source)]
            found = self._sizes_behind(entering[0]) if len(entering) == 1 else frozenset()
            if found:
                return found
            block = dominators.parent[block]
        return frozenset()

    def _take(self, side: Side, condition: Condition, truth: bool) -> None:
        empty = frozenset(empty_sizes([(condition, truth)]))
        self._sides[side] = empty & self._sides.get(side, empty)

    def _sizes_behind(self, edge: Edge) -> frozenset[Atom]:
        if edge.guard is None:
            return frozenset()
        branch = self._cfg.blocks[edge.source].last
        sizes = self._sides.get((branch, edge.kind is EdgeKind.BRANCH), frozenset())
        return sizes if sizes and self._compares_parameters(branch, edge.guard.register) else frozenset()

    def _compares_parameters(self, branch: int, predicate: Register) -> bool:
        """Tell whether a predicate is one comparison of numbers that are the same wherever and whenever it is made."""
        name = self._facts.name(branch, predicate)
        if name.site < 0:
            return False
        instruction = self._cfg.instructions[name.site]
        is_alone = instruction.operation.op is Op.SETP and len(instruction.operands) == _SETP_OPERANDS
        return is_alone and self._is_of_parameters(name)

    def _is_of_parameters(self, name: Name) -> bool:
        if name.site < 0:
            return False
        instruction = self._cfg.instructions[name.site]
        operation = instruction.operation
        if instruction.guard is not None:
            return False
        if Trait.LOAD in operation.traits:
            return operation.slots.get("space", "") in PARAMETER_SPACES and not tuple(instruction.reads())
        return Trait.PURE in operation.traits and all(
            self._is_of_parameters(self._facts.name(name.site, register)) for register in instruction.reads()
        )
