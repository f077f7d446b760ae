"""Loops that hand over to each other, and go round as often as parameters of their own say.

No kernel with such loops is right for all numbers, and its text does not tell for which it is meant: that both go round
equally often is a condition on the host. Loops whose numbers have a parameter in common are the kernel's own matter,
but for those of which one asks for the size of the grid where the other has a parameter. A parameter whose number a run
knows, from what it has decided before, is an input all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations, zip_longest

from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions
from ...model.actions import (
    Init,
    Inval,
    Protocol,
    Registers,
    SyncObject,
)
from ...model.object_uses import sync_objects_of
from ...model.outcome import Problem
from ...proof.first.paths import Plan
from ...symex.values.approximated_terms import inputs_of
from ...symex.values.symbol import Atom
from .loop_inputs import Place, parameters_of


@dataclass(slots=True)
class _Loop:
    """What decides how often a loop goes round and what it acts at, as runs have shown, and where threads left it."""

    inputs: set[Atom] = field(default_factory=set)
    objects: set[SyncObject] = field(default_factory=set)
    left: int = -1

    @property
    def given(self) -> set[Atom]:
        """Return the parameters and sizes of the grid among the inputs, none where something that is read is, too."""
        if not all(each[0] in ("param", "special") for each in self.inputs):
            return set()
        return {each for each in self.inputs if each[0] == "param" or _is_of_grid(each)}


@dataclass(frozen=True, slots=True)
class AtOdds:
    """Where threads left the first of two loops that went round differently often, and what of the host said so."""

    left: int
    given: tuple[Atom, ...]


class PartnerLoops:
    """The loops of a kernel as its runs show them."""

    def __init__(self, cfg: Cfg, definitions: Definitions) -> None:
        self._cfg = cfg
        self._definitions = definitions
        self._blocks = {loop.header: loop.blocks for loop in cfg.loops}
        self._computed: dict[int, frozenset[Place]] = {}
        """Parameters that the text says rounds are computed from, by the header of their loop."""
        self._loops: dict[int, _Loop] = {}

    def note(self, plan: Plan, protocol: Protocol) -> dict[int, list[int]]:
        """Note what loops did in a run, and return how often they went round each time that it came to them."""
        rounds: dict[int, list[int]] = {}
        for question, ((point, truth), _) in zip(plan.asked, plan.made, strict=True):
            if question.stays is None or not question.turns:
                continue
            loop = self._loops.setdefault(question.loop, _Loop())
            loop.inputs.update(inputs_of(tuple(name for name, _ in question.condition.form.terms)))
            if truth is not question.stays:
                rounds.setdefault(question.loop, []).append(question.turns[-1] + (not question.at_top))
                loop.left = point
        for header, known in self._loops.items():
            places = self._places(header)
            known.inputs.update(name for name in plan.pins if name[0] == "param" and name[1:3] in places)
        for block, objects in self._objects(protocol).items():
            for each in self._cfg.loops_around(block):
                if each.header in self._loops:
                    self._loops[each.header].objects |= objects
        return rounds

    def _places(self, header: int) -> frozenset[Place]:
        if header not in self._computed:
            loop = next(each for each in self._cfg.loops if each.header == header)
            self._computed[header] = frozenset(parameters_of(self._cfg, self._definitions, loop))
        return self._computed[header]

    def at_odds(self, plan: Plan, protocol: Protocol, problems: Iterable[Problem]) -> AtOdds | None:
        """Return loops that hand over to each other and are at odds in a run that goes wrong in one of them."""
        rounds = self.note(plan, protocol)
        wrong = {self._cfg.graph.block_of[problem.point] for problem in problems if problem.point >= 0}
        for one, other in combinations(sorted(self._loops), 2):
            here, there = self._loops[one], self._loops[other]
            blocks, others = self._blocks[one], self._blocks[other]
            if (
                _are_apart(here.given, there.given)
                and blocks.isdisjoint(others)
                and not wrong.isdisjoint(blocks | others)
                and not here.objects.isdisjoint(there.objects)
                and self._differ(one, other, rounds, protocol)
            ):
                given = tuple(sorted(here.given | there.given, key=repr))
                return AtOdds(here.left, given)
        return None

    def _differ(self, one: int, other: int, rounds: Mapping[int, Sequence[int]], protocol: Protocol) -> bool:
        """Tell whether two loops went round differently often, or only one of them at all.

        What decisions for other reasons have ended is counted by what threads did in it.
        """
        if one in rounds and other in rounds:
            return _lengths_differ(rounds[one], rounds[other])
        return self._done_in(one, protocol) != self._done_in(other, protocol)

    def _done_in(self, header: int, protocol: Protocol) -> int:
        """Return how often a strand acted by one instruction of a loop, but of none inside it, at most."""
        inside = {
            block
            for block in self._blocks[header]
            if next(each.header for each in self._cfg.loops_around(block) if each.header in self._loops)
            == header
        }
        return max(
            (
                count
                for strand in protocol.strands
                for point, count in Counter(each.point for each in strand.actions).items()
                if point >= 0 and self._cfg.graph.block_of[point] in inside
            ),
            default=0,
        )

    def _objects(self, protocol: Protocol) -> dict[int, set[SyncObject]]:
        """Return the mbarriers and barriers that the instructions of each block act at.

        Each action is looked at once: the same ones come again and again.
        """
        found: dict[int, set[SyncObject]] = {}
        actions = {id(action): action for strand in protocol.strands for action in strand.actions}
        for action in actions.values():
            if action.point >= 0 and not isinstance(action, Init | Inval | Registers):
                block = self._cfg.graph.block_of[action.point]
                found.setdefault(block, set()).update(sync_objects_of(action))
        return found


def _is_of_grid(name: Atom) -> bool:
    return name[0] == "special" and str(name[1]).startswith(("%nctaid", "%nclusterid"))


def _are_apart(one: AbstractSet[Atom], other: AbstractSet[Atom]) -> bool:
    """Tell whether two loops ask for nothing in common, or one for the grid where the other has a parameter for it."""
    own, others = one - other, other - one
    if not own or not others:
        return False
    repeats = any(
        all(map(_is_of_grid, mine)) and not any(map(_is_of_grid, yours))
        for mine, yours in ((own, others), (others, own))
    )
    return one.isdisjoint(other) or repeats


def _lengths_differ(one: Sequence[int], other: Sequence[int]) -> bool:
    return any(mine != yours for mine, yours in zip_longest(one, other, fillvalue=0))
