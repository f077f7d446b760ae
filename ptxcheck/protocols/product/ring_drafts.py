"""Turns of rings as they are looked for: from one pair of numbers to all that has to follow from it.

Property: a `Draft` that `RingDrafts` yields moves variables in a way that is closed under the edges of automata, and
agrees with all steps that it looked at about which mbarrier is which.

Argument: what variables are behind an edge follows from what they were in front of it, so a pair of numbers at one node
gives a pair at each node behind it. Where steps at another node name an mbarrier that is moved, one of its pairs has to
agree; the first that does is taken.

Not covered: that all steps of all strands agree (`ring_turns`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...terms.effort import Effort, Work
from ..automata.automaton import Automaton
from ..automata.environments import Variables
from .ring_steps import Draft, Key, Pairs, RingSteps, Row, Site

_MOST_NEXT = 4
"""How many of the numbers that variables may have a round later are tried."""


class RingDrafts:
    """Looks for turns of one kernel."""

    def __init__(self, automata: Sequence[Automaton], steps: RingSteps, effort: Effort) -> None:
        self._automata = automata
        self._steps = steps
        self._effort = effort
        self._named: dict[tuple[int, int], frozenset[int]] = {}
        self.sites = self._all_sites()
        """Where actions depend on variables: nodes with most numbers of these first."""

    def of(self, site: Site) -> Iterator[Draft]:
        """Yield turns that move what actions at a site depend on to what that is a round later."""
        (number, component), node = site
        row = self._variables(number).rows(node, component)[-1]
        for later in self._next_rows(site, row):
            draft = self._extended(Draft(), site, row, later)
            if draft is not None:
                yield self._completed(draft)

    def _all_sites(self) -> tuple[Site, ...]:
        found: dict[Site, int] = {}
        for number, own in self._steps.of_automaton.items():
            variables = self._steps.roles[own[0]].variables
            nodes = {node for each in own for node, _ in self._steps.roles[each].variants}
            for node in sorted(nodes):
                read = set(variables.read_at(node))
                for component, positions in variables.components(node):
                    rows = variables.rows(node, component)
                    if read & set(positions) and rows:
                        found[(number, component), node] = len(rows)
        return tuple(sorted(found, key=lambda site: -found[site]))

    def _variables(self, automaton: int) -> Variables:
        return self._automata[automaton].variables

    def _next_rows(self, site: Site, row: Row) -> list[Row]:
        (number, component), home = site
        found: list[Row] = []
        seen, waiting = {(home, row)}, [(home, row)]
        for node, at in waiting:
            for _, target, then in self._variables(number).behind(node, component, at):
                if (target, then) in seen:
                    continue
                seen.add((target, then))
                if target == home:
                    found.append(then)
                    if len(found) == _MOST_NEXT:
                        return found
                else:
                    waiting.append((target, then))
        return found

    def _extended(self, draft: Draft, site: Site, one: Row, other: Row) -> Draft | None:
        """Return a turn that moves a component, too; None where that contradicts what the turn moves already."""
        key, home = site
        if not self._corresponds(draft.with_pairs(key, {home: {one: other}}), (home,), key[0]):
            return None
        before = draft.moved.get(key, {})
        pairs = self._pairs(key, {node: {**rows} for node, rows in before.items()}, home, one, other)
        if pairs is None:
            return None
        found = draft.with_pairs(key, pairs)
        nodes = [node for each, node in self.sites if each == key and node in pairs and node not in before]
        return found if self._corresponds(found, nodes, key[0]) else None

    def _corresponds(self, draft: Draft, nodes: Sequence[int], automaton: int) -> bool:
        """Note which mbarriers correspond at some nodes; tell whether that agrees with what a turn moves already."""
        for node in nodes:
            for number in self._steps.of_automaton[automaton]:
                for mine, its in self._steps.variants(number, node, draft):
                    images = self._steps.images(number, mine, its)
                    if images is None or not all(map(draft.take, images)):
                        return False
        return True

    def _pairs(
        self, key: Key, found: dict[int, dict[Row, Row]], home: int, one: Row, other: Row
    ) -> Pairs | None:
        """Return what follows from one pair of numbers, and others; None where it contradicts itself."""
        number, component = key
        variables = self._variables(number)
        found[home] = {one: other}
        waiting = [(home, one, other)]
        while waiting:
            node, mine, its = waiting.pop()
            self._effort.spend(Work.TRANSITION)
            ways = variables.behind(node, component, mine)
            others = variables.behind(node, component, its)
            if [which for which, _, _ in ways] != [which for which, _, _ in others]:
                return None
            for (_, target, then), (_, _, there) in zip(ways, others, strict=True):
                known = found.setdefault(target, {})
                if then not in known:
                    known[then] = there
                    waiting.append((target, then, there))
                elif known[then] != there:
                    return None
        is_one_to_one = all(set(rows) == set(rows.values()) for rows in found.values())
        return found if is_one_to_one else None

    def _completed(self, draft: Draft) -> Draft:
        """Return a turn that moves all components that name what it moves, wherever it may."""
        changed = True
        tried: set[Site] = set()
        while changed:
            changed = False
            for site in self.sites:
                if draft.has(site) or site in tried or not any(map(draft.moves, self._named_at(site))):
                    continue
                tried.add(site)
                found = self._with(draft, site)
                if found is not None:
                    draft, changed = found, True
        return draft

    def _named_at(self, site: Site) -> frozenset[int]:
        """Return the mbarriers that actions at a site name."""
        (automaton, _), node = site
        found = self._named.get((automaton, node))
        if found is None:
            found = self._named[automaton, node] = frozenset(
                barrier
                for number in self._steps.of_automaton[automaton]
                for step in self._steps.by_node[number].get(node, ())
                for operation in self._steps.operations[number][step.number]
                for barrier in operation.barriers
            )
        return found

    def _with(self, draft: Draft, site: Site) -> Draft | None:
        (number, component), node = site
        rows = self._variables(number).rows(node, component)
        drafts = (self._extended(draft, site, rows[-1], other) for other in rows)
        return next((found for found in drafts if found is not None), None)


__all__ = ["RingDrafts"]
