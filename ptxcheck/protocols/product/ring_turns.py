"""Turns of the rings of a kernel: what stands in one slot as it would stand in the next one.

Property: a state and what a turn that `RingTurns` finds makes of it do the same next, and what is in order in one of
them is in order in the other.

Argument: symmetry reduction (Emerson, Sistla 1996) by automorphisms of the transition system. A turn is looked for from
one pair of numbers: what variables are at a node, and what they are there a round later. Along the edges of the
automaton each pair gives the next ones, so that the turn is closed under all that strands do from there on. Each action
of a strand at a node is compared with the one that it performs there with the other numbers (`step_images`): that says
which mbarrier is which, and whether the parity is another one. Cells of memory correspond where what touches one
corresponds to what touches the other. A strand turns only at nodes from which it comes to nothing else.

Not covered: stages that nodes tell apart (residues of rounds); words that warps hand to each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...terms.effort import Effort
from ..automata.automaton import Automaton
from ..symex.values.symbol import VARYING
from .operations import InitStep, InvalStep
from .operations import Step as Operation
from .question_sites import Questions
from .questions import Below, Named, OfReceived
from .received import Receiving
from .ring_drafts import RingDrafts
from .ring_landmarks import Performed, cells_between, landmarks_between
from .ring_places import places_between
from .ring_steps import Draft, Key, RingSteps, Site
from .roles import Role, Step
from .setup import Setup
from .turns import Move, Moves, Turn

_SHARE = 0.2
"""What may be spent of the effort that is left on looking for turns."""
_MOST_TRIED = 4
"""Places of the program, and strands, at which turns of some variables are looked for."""


class RingTurns:
    """The turns of one kernel."""

    def __init__(
        self,
        automata: Sequence[Automaton],
        roles: Sequence[Role],
        setup: Setup,
        questions: Questions,
        receiving: Receiving | None,
        effort: Effort,
    ) -> None:
        self._automata = automata
        self._roles = roles
        self._setup = setup
        self._questions = questions
        self._uses = None if receiving is None else receiving.uses
        self._effort = effort.share_of_rest(_SHARE)
        self._steps = RingSteps(automata, roles, setup, questions, self._effort)
        self._drafts = RingDrafts(self._steps, self._effort)

    def find(self) -> Iterator[Turn]:
        """Yield turns, one for each ring that has one."""
        done: set[Site] = set()
        tried: Counter[Key] = Counter()
        for site in self._drafts.sites:
            (number, component), _ = site
            of_variables = self._roles[number].automaton, component
            if site in done or self._effort.is_over or tried[of_variables] >= _MOST_TRIED:
                continue
            tried[of_variables] += 1
            found: list[Turn] = []
            for draft in self._drafts.of(site):
                done |= {each for each in self._drafts.sites if draft.has(each)}
                turn = self._turn(draft)
                if turn is not None:
                    found.append(turn)
                    if turn.moves_barriers:
                        break
            if found:  # one that flips phases alone is made from one that moves all
                yield found[-1] if found[-1].moves_barriers else found[0]

    def _turn(self, draft: Draft) -> Turn | None:
        """Return a turn; None where what strands do is not the same behind it."""
        setup = self._setup
        count = len(setup.barriers)
        barriers = tuple(draft.barriers.get(number, number) for number in range(count))
        flips = tuple(draft.flips.get(number, 0) for number in range(count))
        if sorted(barriers) != list(range(count)) or draft.barriers.keys() - draft.flips.keys():
            return None
        found = [self._good(number, role, draft) for number, role in enumerate(self._roles)]
        steps = [(number, one, other) for number, (_, own) in enumerate(found) for one, other in own]
        performed = self._performed(steps, barriers)
        places = {} if self._uses is None else places_between(self._uses, steps)
        cells = None if performed is None else cells_between(setup, performed)
        if performed is None or places is None or cells is None:
            return None
        landmarks = landmarks_between(setup, barriers, flips, performed, cells, self._steps.named)
        if landmarks is None:
            return None
        strands = tuple(
            Moves(_moves(number, self._roles[number], nodes, draft))
            for number, (nodes, _) in enumerate(found)
        )
        return Turn(barriers, flips, landmarks, cells, places, strands)

    def _performed(
        self, steps: Sequence[tuple[int, Step, Step]], barriers: Sequence[int]
    ) -> Performed | None:
        """Return what strands do, and what corresponds: also where they make or end mbarriers, before they turn."""
        found: Performed = {}
        named = self._steps.named
        for number, one, other in steps:
            operations = self._steps.operations[number]
            for mine, its in zip(operations[one.number], operations[other.number], strict=True):
                if found.setdefault(id(mine.step), (mine, its))[1].step is not its.step:
                    return None
        for strand, actions in enumerate(self._setup.unique):
            for action in actions:
                operation = self._setup.step(strand, action)
                elsewhere = self._made_elsewhere(strand, operation, barriers)
                if elsewhere is not None:
                    found.setdefault(id(operation), (named(operation), named(elsewhere)))
        return found

    def _good(
        self, number: int, role: Role, draft: Draft
    ) -> tuple[Mapping[int, None], list[tuple[Step, Step]]]:
        """Return the nodes from which a strand does the same behind a turn, and which steps correspond there."""
        by_node = self._steps.by_node[number]
        pairs: dict[int, list[tuple[Step, Step]]] = {}
        bad: set[int] = set()
        for node, steps in by_node.items():
            if node in role.variables.passed or not role.variables.is_reached(node):
                continue
            found = self._corresponding(number, role, node, steps, draft)
            if found is None:
                bad.add(node)
            else:
                pairs[node] = found
        before: dict[int, list[int]] = {}
        for node in pairs.keys() | bad:
            for target in self._steps.targets(number, node):
                before.setdefault(target, []).append(node)
                if _begins_ring(number, role, node, target, draft):
                    bad.add(node)
        waiting = list(bad)
        while waiting:
            for node in before.get(waiting.pop(), ()):
                if node not in bad:
                    bad.add(node)
                    waiting.append(node)
        performed = [pair for node, found in pairs.items() if node not in bad for pair in found]
        return {node: None for node in pairs if node not in bad}, performed

    def _corresponding(
        self, number: int, role: Role, node: int, steps: Sequence[Step], draft: Draft
    ) -> list[tuple[Step, Step]] | None:
        """Return what a strand does at a node with each numbers, and with the other ones; None where that differs."""
        question = self._automata[role.automaton].nodes[node].question
        if question is not None and question.truth.origin & VARYING:
            asked = self._questions.site(role.automaton, node).asked
            if isinstance(asked, Below | Named | OfReceived):
                return None
        for component, _ in role.variables.components(node):
            pairs = draft.moved.get((number, component))
            if pairs is not None and not pairs.get(node):
                return None
        if node in role.steps:
            operations = self._steps.operations[number][node]
            is_kept = not any(draft.moves(barrier) for each in operations for barrier in each.barriers)
            return [(each, each) for each in steps] if is_kept else None
        found = []
        for one, other in self._steps.variants(number, node, draft):
            images = self._steps.images(number, one, other)
            if other is None or images is None or not all(map(draft.agrees, images)):
                return None
            found.append((one, other))
        return found

    def _made_elsewhere(self, strand: int, one: Operation, barriers: Sequence[int]) -> Operation | None:
        """Return what the strand does to the other mbarrier where it makes, or ends, one."""
        if not isinstance(one, InitStep | InvalStep):
            return None
        found = [
            other
            for other in (self._setup.step(strand, action) for action in self._setup.unique[strand])
            if isinstance(other, type(one)) and other.barrier == barriers[one.barrier]
        ]
        return found[0] if len(found) == 1 else None


def _begins_ring(number: int, role: Role, node: int, target: int, draft: Draft) -> bool:
    """Tell whether variables that a turn moves get their numbers on an edge from where the turn is not known."""
    return any(
        node not in pairs
        for component, _ in role.variables.components(target)
        if (pairs := draft.moved.get((number, component))) is not None
    )


def _moves(number: int, role: Role, nodes: Mapping[int, None], draft: Draft) -> dict[int, tuple[Move, ...]]:
    found: dict[int, tuple[Move, ...]] = {}
    for node in nodes:
        moves: list[Move] = []
        for component, positions in role.variables.components(node):
            pairs = draft.moved.get((number, component))
            if pairs is not None:
                moves.append((positions, pairs.get(node, {})))
        found[node] = tuple(sorted(moves, key=lambda move: move[0]))
    return found


__all__ = ["RingTurns"]
