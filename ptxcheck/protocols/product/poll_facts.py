"""What a strand has answered on one way through its automaton, relative to the round that it is in.

Property: `PollFacts.decided` gives a truth only where what was known at the beginning of the way, and answered on it,
implies it, in every round that the way may begin in.

Argument: a threshold moves by its slope with each round of a loop, so what is known of a direction keeps its distance
from thresholds with the same slopes when it is moved by the slope as a round begins. What is known for a loop that is
left or entered is forgotten; bounds outside of the thresholds that stand in the text are brought nearer, which says
less.

Not covered: directions that are held for a round, or asked by a group alone, and what relates two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..automata.automaton import Automaton
from ..automata.nodes import Arrival, Node
from .decisions import Decisions
from .held_numbers import is_for_all
from .intervals import ANYTHING, Interval
from .loop_nests import Ordinals
from .question_sites import Questions, Site
from .questions import Below, Terms

_Slopes: TypeAlias = tuple[tuple[int, int], ...]
Facts: TypeAlias = tuple[tuple[int, int | None, int | None], ...]
"""Numbers of directions, with the bounds of each that are known in the present round."""
_Direction: TypeAlias = tuple[int, tuple[Site, ...], tuple[tuple[int, int], ...]]
"""A number of a direction, the sites that ask about it, and by how much each loop around, by depth, moves it."""


class PollFacts:
    """The directions that one automaton asks about, with the slopes of their thresholds."""

    def __init__(self, automaton: Automaton, number: int, questions: Questions) -> None:
        self._number: dict[tuple[Terms, _Slopes], int] = {}
        self._slopes: list[dict[int, int]] = []
        self._range: list[tuple[int, int]] = []
        """The least and the largest threshold in the first rounds."""
        self._sites: list[list[tuple[Node, Site]]] = []
        """Where each is asked about, once for each loop that may count it."""
        self._at: dict[int, Sequence[_Direction]] = {}
        """Those that may be known, by node."""
        self._classes = questions.nests[number].loops
        for node in automaton.nodes:
            if node.question is not None:
                self._add(node, questions.site(number, node.number))

    def _add(self, node: Node, site: Site) -> None:
        asked = site.asked
        if not isinstance(asked, Below) or not is_for_all(asked):
            return
        key, most = (asked.terms, asked.slopes), asked.constant + asked.equal
        number = self._number.setdefault(key, len(self._slopes))
        if number == len(self._slopes):
            self._slopes.append(dict(asked.slopes))
            self._range.append((asked.constant, most))
            self._sites.append([])
        low, high = self._range[number]
        self._range[number] = min(low, asked.constant), max(high, most)
        if all((each.loop, each.depth) != (site.loop, site.depth) for _, each in self._sites[number]):
            self._sites[number].append((node, site))

    def at(self, node: Node, ordinals: Ordinals, known: Decisions) -> Facts:
        """Return what is decided where a strand is."""
        found: list[tuple[int, int | None, int | None]] = []
        for number, sites, slopes in self._directions(node):
            now = ANYTHING
            for site in sites:
                now = now.within(known.interval(site, ordinals[: site.depth]))
            if now is not ANYTHING:
                back = -sum(slope * ordinals[depth] for depth, slope in slopes)
                found += self._clipped(number, now.moved(back))
        return tuple(found)

    def _directions(self, node: Node) -> Sequence[_Direction]:
        """Return the directions that may be known at a node, with who asks, and slopes by the depths of loops."""
        found = self._at.get(node.number)
        if found is None:
            classes, depths = self._classes[node.number], {header: at for at, header in enumerate(node.loops)}
            found = self._at[node.number] = tuple(
                (
                    number,
                    tuple(
                        site
                        for _, site in self._sites[number]
                        if not site.loop or classes[site.depth : site.depth + 1] == (site.loop,)
                    ),
                    tuple((depths[header], slope) for header, slope in slopes.items()),
                )
                for number, slopes in enumerate(self._slopes)
                if slopes.keys() <= depths.keys()
            )
        return found

    def _clipped(self, number: int, known: Interval) -> Facts:
        least, most = self._range[number]
        low, high = known.low, known.high
        low = None if low is None or low < least else min(low, most)
        high = None if high is None or high >= most else max(high, least - 1)
        return () if low is None and high is None else ((number, low, high),)

    @staticmethod
    def implies(facts: Facts, needed: Facts) -> bool:
        """Tell whether all that is needed is known."""
        bounds = {number: (low, high) for number, low, high in facts}
        for number, low, high in needed:
            least, most = bounds.get(number, (None, None))
            if low is not None and (least is None or least < low):
                return False
            if high is not None and (most is None or most > high):
                return False
        return True

    def decided(self, facts: Facts, site: Site, used: set[int]) -> bool | None:
        """Return what is known of a question, and add the direction that decides it to those that were used."""
        asked = site.asked
        if isinstance(asked, bool):
            return asked
        number = self._number.get((asked.terms, asked.slopes)) if isinstance(asked, Below) else None
        if number is None or not isinstance(asked, Below):
            return None
        truth = asked.truth_in(_bounds(facts).get(number, ANYTHING), asked.constant)
        if truth is not None:
            used.add(number)
        return truth

    def noted(self, facts: Facts, site: Site, answer: bool) -> Facts:
        """Return what is known behind an answer."""
        asked = site.asked
        number = self._number.get((asked.terms, asked.slopes)) if isinstance(asked, Below) else None
        if number is None or not isinstance(asked, Below):
            return facts
        known = asked.narrowed(_bounds(facts).get(number, ANYTHING), asked.constant, answer)
        others = [each for each in facts if each[0] != number]
        return tuple(sorted([*others, *self._clipped(number, known)]))

    def moved_on(self, facts: Facts, loops: Sequence[int], arrival: Arrival) -> Facts:
        """Return what is known behind an edge to a node in some loops."""
        changed = loops[-1] if arrival in (Arrival.ENTER, Arrival.REPEAT) else None
        found: list[tuple[int, int | None, int | None]] = []
        for number, low, high in facts:
            slopes = self._slopes[number]
            if not slopes.keys() <= {*loops} or (arrival is Arrival.ENTER and changed in slopes):
                continue
            slope = slopes.get(changed, 0) if arrival is Arrival.REPEAT and changed is not None else 0
            found += self._clipped(number, Interval(low, high).moved(-slope))
        return tuple(found)


def _bounds(facts: Facts) -> dict[int, Interval]:
    return {number: Interval(low, high) for number, low, high in facts}


__all__ = ["Facts", "PollFacts"]
