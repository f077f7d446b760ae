"""What strands do at each node, with some numbers of the variables and with the other ones that a turn gives them.

Property: `RingSteps.variants` yields each step that a strand may perform at a node, of those whose numbers a turn
moves, and the step that it performs there with the other numbers.

Argument: a step depends on the numbers of some variables; those of one component are moved together.

Not covered: numbers that a turn does not move: no strand that turns comes there with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...terms.effort import Effort, Work
from ..automata.automaton import Automaton
from ..automata.environments import Component, Env
from .feasible_edges import feasible_edges
from .operations import Step as Operation
from .question_sites import Questions
from .roles import Role, Step
from .setup import Setup
from .step_images import Image, Named, image_of, named
from .turns import Move, moved

Row: TypeAlias = Env
"""Numbers of the variables of one component."""
Pairs: TypeAlias = dict[int, dict[Row, Row]]
"""For each node, numbers of a component and the other ones."""
Key: TypeAlias = tuple[int, Component]
"""A strand, and a component of its variables."""
Site: TypeAlias = tuple[Key, int]
"""A component, and a node at which actions depend on it."""


@dataclass(slots=True)
class Draft:
    """A turn that is looked for."""

    moved: dict[Key, Pairs] = field(default_factory=dict)
    barriers: dict[int, int] = field(default_factory=dict)
    flips: dict[int, int] = field(default_factory=dict)

    def take(self, image: Image) -> bool:
        """Note which mbarriers correspond; tell whether that agrees with what is known."""
        for one, other in image.barriers:
            if self.barriers.setdefault(one, other) != other:
                return False
        return all(self.flips.setdefault(number, flip) == flip for number, flip in image.flips)

    def agrees(self, image: Image) -> bool:
        """Tell whether what corresponds is what the turn moves, and nothing else."""
        return all(self.barriers.get(one, one) == other for one, other in image.barriers) and all(
            self.flips.get(number, 0) == flip for number, flip in image.flips
        )

    def with_pairs(self, key: Key, pairs: Pairs) -> Draft:
        return Draft({**self.moved, key: pairs}, dict(self.barriers), dict(self.flips))

    def moves(self, number: int) -> bool:
        return self.barriers.get(number, number) != number or bool(self.flips.get(number))

    def has(self, site: Site) -> bool:
        key, node = site
        return node in self.moved.get(key, {})


class RingSteps:
    """The steps of all strands of one kernel."""

    def __init__(
        self,
        automata: Sequence[Automaton],
        roles: Sequence[Role],
        setup: Setup,
        questions: Questions,
        effort: Effort,
    ) -> None:
        self.roles = roles
        self._effort = effort
        self._named: dict[int, Named] = {}
        self.by_node = [_by_node(role) for role in roles]
        """For each strand its steps, by node."""
        self._variants_at = [_variants_at(role) for role in roles]
        self.operations = [
            {
                step.number: tuple(self.named(setup.step(number, action)) for action in step.actions)
                for step in role.steps.values()
            }
            for number, role in enumerate(roles)
        ]
        """For each strand what each of its steps does."""
        self.entries = tuple(automata[role.automaton].entry for role in roles)
        """Where each strand begins."""
        feasible = [feasible_edges(number, each, questions) for number, each in enumerate(automata)]
        self.edges = [
            {
                node: feasible[role.automaton][node]
                & {which for target, _, which in steps[0].nexts if role.variables.is_reached(target)}
                for node, steps in own.items()
            }
            for role, own in zip(roles, self.by_node, strict=True)
        ]
        """For each strand and node the edges that it may take."""

    def named(self, operation: Operation) -> Named:
        """Return an operation, taken apart."""
        found = self._named.get(id(operation))
        if found is None:
            found = self._named[id(operation)] = named(operation)
        return found

    def targets(self, number: int, node: int) -> set[int]:
        """Return where a strand may come to from a node, past those at which it does not matter to be."""
        found: set[int] = set()
        passed, waiting = set[int](), [node]
        while waiting:
            at = waiting.pop()
            for target, _, which in self.by_node[number][at][0].nexts:
                if which not in self.edges[number][at]:
                    continue
                if target not in self.roles[number].variables.passed:
                    found.add(target)
                elif target not in passed:
                    passed.add(target)
                    waiting.append(target)
        return found

    def varying_nodes(self, number: int) -> tuple[int, ...]:
        """Return the nodes at which actions of a strand depend on variables."""
        return tuple(sorted(self._variants_at[number]))

    def variants(self, number: int, node: int, draft: Draft) -> Iterator[tuple[Step, Step | None]]:
        """Yield what a strand does at a node with some numbers, and with the other ones."""
        role = self.roles[number]
        variables = role.variables
        read = variables.read_at(node)
        at_node = self._variants_at[number].get(node, ())
        moves: list[Move] = []
        for component, positions in variables.components(node):
            pairs = draft.moved.get((number, component))
            if pairs is None:
                continue
            own = tuple(at for at, position in enumerate(read) if position in positions)
            kept = [positions.index(read[at]) for at in own]
            projected: dict[Row, Row] = {}
            for mine, its in pairs.get(node, {}).items():
                there = tuple(its[at] for at in kept)
                if projected.setdefault(tuple(mine[at] for at in kept), there) != there:
                    yield from ((step, None) for _, step in at_node)
                    return
            moves.append((own, projected))
        for variant, step in at_node:
            other = moved(variant, moves)
            if other is not None:  # else no strand that turns comes here with these numbers
                yield step, role.variants.get((node, other))

    def images(self, number: int, one: Step, other: Step | None) -> list[Image] | None:
        """Return what two steps of a strand name, action by action; None where they do not do the same."""
        if other is None or len(one.actions) != len(other.actions):
            return None
        self._effort.spend(Work.ACTION, len(one.actions))
        pairs = zip(self.operations[number][one.number], self.operations[number][other.number], strict=True)
        images = [image_of(mine, its) for mine, its in pairs]
        return [each for each in images if each is not None] if None not in images else None


def _by_node(role: Role) -> dict[int, list[Step]]:
    found: dict[int, list[Step]] = {}
    for step in role.steps.values():
        found.setdefault(step.node.number, []).append(step)
    return found


def _variants_at(role: Role) -> dict[int, list[tuple[Env, Step]]]:
    found: dict[int, list[tuple[Env, Step]]] = {}
    for (node, variant), step in role.variants.items():
        found.setdefault(node, []).append((variant, step))
    return found


__all__ = ["Draft", "Key", "Pairs", "RingSteps", "Row", "Site"]
