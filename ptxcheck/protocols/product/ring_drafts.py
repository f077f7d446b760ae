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
from ..automata.environments import Component
from ..automata.nodes import Begun
from ..automata.told_rests import counts_rounds
from .ring_steps import Draft, Key, Pairs, RingSteps, Row, Site

_MOST_NEXT = 4
"""How many of the numbers that variables may have a round later are tried."""


class RingDrafts:
    """Looks for turns of one kernel."""

    def __init__(self, steps: RingSteps, effort: Effort) -> None:
        self._steps = steps
        self._effort = effort
        self._named: dict[tuple[int, int], frozenset[int]] = {}
        self._rows: dict[Site, tuple[Row, ...]] = {}
        """Numbers that strands come with to where actions depend on them."""
        for number in range(len(steps.roles)):
            self._find_rows(number)
        self.sites = tuple(sorted(self._rows, key=lambda site: -len(self._rows[site])))
        """Where actions depend on variables: nodes with most numbers of these first."""

    def of(self, site: Site) -> Iterator[Draft]:
        """Yield turns that move what actions at a site depend on to what that is a round later."""
        row = self._rows[site][-1]
        for later in (*self._next_rows(site, row), *self._elsewhere(site, row)):
            draft = self._extended(Draft(), site, row, later)
            if draft is not None:
                yield self._completed(draft)

    # -- what numbers follow

    def _find_rows(self, number: int) -> None:
        """Find where actions of a strand depend on variables, and the numbers that it comes with."""
        variables = self._steps.roles[number].variables
        sites: dict[Component, list[int]] = {}
        for node in self._steps.varying_nodes(number):
            read = set(variables.read_at(node))
            for component, positions in variables.components(node):
                if read & set(positions):
                    sites.setdefault(component, []).append(node)
        for component, nodes in sites.items():
            reached = self._reached(number, component)
            for node in nodes:
                if rows := reached.get(node):
                    self._rows[(number, component), node] = tuple(sorted(rows))

    def _reached(self, number: int, component: Component) -> dict[int, set[Row]]:
        entry = self._steps.entries[number]
        found: dict[int, set[Row]] = {entry: {()}}
        waiting: list[tuple[int, Row]] = [(entry, ())]
        while waiting:
            for _, target, then in self._behind((number, component), *waiting.pop()):
                known = found.setdefault(target, set())
                if then not in known:
                    known.add(then)
                    waiting.append((target, then))
        return found

    def _behind(self, key: Key, node: int, row: Row) -> Iterator[tuple[int, int, Row]]:
        """Yield the edges that a strand may take, where they lead, and the numbers there."""
        self._effort.spend(Work.ACTION)
        number, component = key
        taken = self._steps.edges[number].get(node, frozenset())
        for way in self._steps.roles[number].variables.behind(node, component, row):
            if way[0] in taken:
                yield way

    def _next_rows(self, site: Site, row: Row) -> list[Row]:
        key, home = site
        found: list[Row] = []
        seen, waiting = {(home, row)}, [(home, row)]
        for node, at in waiting:
            for _, target, then in self._behind(key, node, at):
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

    def _elsewhere(self, site: Site, row: Row) -> list[Row]:
        """Return the numbers closest to some with which a strand has come as many rounds to the same site."""
        (number, component), node = site
        variables = self._steps.roles[number].variables
        counts = [counts_rounds(name) for name in variables.own(node, component)]
        if not any(counts):
            return []
        found = [
            other
            for other in self._rows[site]
            if other != row
            and all(a == b for a, b, is_count in zip(row, other, counts, strict=True) if is_count)
        ]
        return sorted(found, key=lambda other: sum(abs(a - b) for a, b in zip(row, other, strict=True)))[
            :_MOST_NEXT
        ]

    def _pairs(self, key: Key, found: Pairs, home: int, one: Row, other: Row) -> Pairs | None:
        """Return what follows from one pair of numbers, and others; None where it contradicts itself."""
        found[home] = {one: other}
        waiting = [(home, one, other)]
        while waiting:
            if self._effort.is_over:
                return None
            node, mine, its = waiting.pop()
            ways, others = list(self._behind(key, node, mine)), list(self._behind(key, node, its))
            if self._edges(key, node, ways) != self._edges(key, node, others):
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

    def _edges(
        self, key: Key, node: int, ways: Sequence[tuple[int, int, Row]]
    ) -> list[tuple[int, int, Begun | None]]:
        """Return where a strand goes by each answer, and which loops it enters or repeats."""
        number, _ = key
        targets = self._steps.by_node[number][node][0].node.targets
        is_open = len(ways) > 1
        return [(which if is_open else -1, target, targets[which].begun) for which, target, _ in ways]

    # -- what agrees with steps

    def _extended(self, draft: Draft, site: Site, one: Row, other: Row) -> Draft | None:
        """Return a turn that moves a component, too; None where that contradicts what the turn moves already."""
        key, home = site
        if not self._corresponds(draft.with_pairs(key, {home: {one: other}}), key, (home,)):
            return None
        before = draft.moved.get(key, {})
        pairs = self._pairs(key, {node: {**rows} for node, rows in before.items()}, home, one, other)
        if pairs is None:
            return None
        found = draft.with_pairs(key, pairs)
        nodes = [node for each, node in self.sites if each == key and node in pairs and node not in before]
        return found if self._corresponds(found, key, nodes) else None

    def _corresponds(self, draft: Draft, key: Key, nodes: Sequence[int]) -> bool:
        """Note which mbarriers correspond at some nodes; tell whether that agrees with what a turn moves already."""
        number, _ = key
        for node in nodes:
            for mine, its in self._steps.variants(number, node, draft):
                images = self._steps.images(number, mine, its)
                if images is None or not all(map(draft.take, images)):
                    return False
        return True

    def _completed(self, draft: Draft) -> Draft:
        """Return a turn that moves all components that name what it moves, wherever it may."""
        changed = True
        tried: set[Site] = set()
        while changed:
            changed = False
            for site in self.sites:
                if self._effort.is_over:
                    return draft
                if draft.has(site) or site in tried or not any(map(draft.moves, self._named_at(site))):
                    continue
                tried.add(site)
                found = self._with(draft, site)
                if found is not None:
                    draft, changed = found, True
        return draft

    def _named_at(self, site: Site) -> frozenset[int]:
        """Return the mbarriers that actions at a site name."""
        (number, _), node = site
        found = self._named.get((number, node))
        if found is None:
            found = self._named[number, node] = frozenset(
                barrier
                for step in self._steps.by_node[number].get(node, ())
                for operation in self._steps.operations[number][step.number]
                for barrier in operation.barriers
            )
        return found

    def _with(self, draft: Draft, site: Site) -> Draft | None:
        rows = self._rows[site]
        for other in rows:
            found = None if self._effort.is_over else self._extended(draft, site, rows[-1], other)
            if found is not None:
                return found
        return None


__all__ = ["RingDrafts"]
