"""Two threads, one barrier interval: can two of their accesses meet?

Property: where `Pairs.meeting` gives no pair for an interval and no doubt, no two threads of the relation (other
warps, or lanes of one warp) access a byte there in ways that race, whatever the parameters, the block and what is
loaded.

Argument: the interval's visits cover all that the two may execute (`intervals`), with conditions and addresses of
which the terms of both threads allow all values (`thread_terms`). One question of the solver asks for all pairs at
once; no answer means that there is none (two-thread reduction: Betts and others, GPUVerify, OOPSLA 2012).

Not covered: misaligned accesses, which fault; arrays that are accessed beyond their ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from ...cfg import Uniformity
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits, Numbers, variables_of
from ...terms.effort import Work
from .accesses import Access, Action
from .disjoint import are_apart, are_of_each_cta, pinned
from .intervals import Interval
from .kernel import Kernel
from .mirrored import MirroredTerms, two_threads
from .questions import UndecidedError
from .sites import Site, mirrored, sites_in
from .thread_terms import LOADED, ROUNDS, ThreadTerms

MOST_FOUND = 16
"""Pairs that are looked for in an interval, one after the other."""
_OF_EACH_WRITE = 2
_MOST_PAIRS = 6000
_OF_THREADS = ("%tid.", "%ctaid.", "%ntid.", "%nctaid.", "%laneid", ROUNDS)


class Relation(Enum):
    """How the two threads stand to each other."""

    ANY = "two threads"
    OTHER_WARPS = "threads of different warps"
    SAME_WARP = "lanes of one warp"
    OTHER_BLOCKS = "threads of different CTAs"

    @property
    def level(self) -> Uniformity:
        """How far two such threads must agree to have one variable."""
        if self is Relation.OTHER_BLOCKS:
            return Uniformity.GRID
        return Uniformity.WARP if self is Relation.SAME_WARP else Uniformity.CTA


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two accesses that may meet, with numbers of a model."""

    interval: Interval
    relation: Relation
    first: Site
    second: Site
    numbers: Numbers
    claim: Bits
    threads: tuple[ThreadTerms, ThreadTerms]

    @property
    def points(self) -> tuple[int, int]:
        return self.first.access.point, self.second.access.point

    @property
    def is_scatter(self) -> bool:
        """Tell whether both store at places that they have loaded."""
        return all(
            site.access.action is Action.WRITE
            and any(variable.name.startswith(LOADED) for variable in variables_of(site.address))
            for site in (self.first, self.second)
        )


@dataclass(frozen=True, slots=True)
class Meeting:
    """What was found in one interval: pairs, and points of which nothing is known."""

    pairs: tuple[Pair, ...]
    undecided: tuple[tuple[int, int], ...] = ()
    """Pairs that nothing is known of: those found may be excused, so these matter, too."""
    in_step: tuple[Pair, ...] = ()
    """Pairs of lanes of one warp that only their running in step keeps apart."""


Known = Callable[[tuple[ThreadTerms, ThreadTerms], Site, Site], tuple[Bits, ...]]
"""What is known besides of two threads that come to two sites in one interval."""


class Pairs:
    """Pairs of accesses of two threads in one relation."""

    def __init__(
        self,
        kernel: Kernel,
        relation: Relation,
        accesses: Sequence[Access],
        most: int = MOST_FOUND,
        threads: tuple[ThreadTerms, ThreadTerms] | None = None,
        known: Known | None = None,
    ) -> None:
        self.kernel = kernel
        self.pool: Pool = kernel.pool
        self.relation = relation
        self._accesses = {access.point: access for access in accesses}
        self._written = frozenset(each.point for each in accesses if each.action is not Action.READ)
        self._overlaps: dict[tuple[Site, Site], Bits] = {}
        self._pins: dict[Bits, Mapping[Bits, int]] = {}
        self._most = most
        self._known = known
        level = relation.level
        self.threads = threads or two_threads(kernel, level)

    @property
    def base(self) -> tuple[Bits, ...]:
        """What holds of the two threads anyway, but for the places of their CTAs."""
        pool, geometry = self.pool, self.kernel.geometry
        one, two = (thread.index for thread in self.threads)
        if self.relation is Relation.OTHER_BLOCKS:
            return geometry.claims(pool, one), geometry.claims(pool, two)
        same = pool.true
        for x, y in zip(one.axes, two.axes, strict=True):
            same = pool.both(same, pool.eq(x, y))
        claims = (geometry.claims(pool, one), geometry.claims(pool, two), pool.not_(same))
        if self.relation is Relation.ANY:
            return claims
        together = pool.eq(geometry.warp(pool, one), geometry.warp(pool, two))
        return (*claims, together if self.relation is Relation.SAME_WARP else pool.not_(together))

    def meeting(self, interval: Interval) -> Meeting:
        """Return the pairs that may meet in an interval."""
        if not self._is_written_in(interval):
            return Meeting(())
        one, two = self.threads
        ones = [*sites_in(interval, self._accesses, one)]
        twos = (
            [mirrored(site, two) for site in ones]
            if isinstance(two, MirroredTerms)
            else [*sites_in(interval, self._accesses, two)]
        )
        pairs = [*islice(self._that_may_meet(ones, twos), _MOST_PAIRS + 1)]
        if not pairs:
            return Meeting(())
        if len(pairs) > _MOST_PAIRS:
            return Meeting((), tuple(dict.fromkeys((a.access.point, b.access.point) for a, b in pairs[:4])))
        return self._told_apart(interval, pairs)

    def _that_may_meet(self, ones: Sequence[Site], twos: Sequence[Site]) -> Iterator[tuple[Site, Site]]:
        """Yield pairs of sites, of the first thread and of the second one, that may be at one place."""
        for place, a in enumerate(ones):
            self.kernel.effort.spend(Work.SPAN, 2 * max(0, len(twos) - place))
            yield from ((a, b) for b in twos[place:] if a.access.conflicts(b.access) and self._may_meet(a, b))

    def _is_written_in(self, interval: Interval) -> bool:
        return any(point in self._written for visit in interval.visits for point in interval.points(visit))

    def _may_meet(self, a: Site, b: Site) -> bool:
        if self._overlap(a, b) is self.pool.false:
            return False
        one, two = self.threads
        difference = self.pool.sub(a.address, b.address)
        if a.access.array is not None and not is_of_threads(difference):
            return False
        if self.relation is Relation.OTHER_BLOCKS:
            axes = self._axes_used(a, b)
            size = max(a.access.size, b.access.size)
            return bool(axes) and not are_of_each_cta(difference, size, (one.index, two.index), axes)
        pins = self._pins_of(a.condition), self._pins_of(b.condition)
        size = max(a.access.size, b.access.size)
        return not are_apart(difference, size, pins, one.index, two.index)

    def _pins_of(self, condition: Bits) -> Mapping[Bits, int]:
        found = self._pins.get(condition)
        if found is None:
            found = self._pins[condition] = dict(pinned(condition))
        return found

    def _overlap(self, a: Site, b: Site) -> Bits:
        found = self._overlaps.get((a, b))
        if found is None:
            found = self._overlaps[a, b] = self._made_overlap(a, b)
        return found

    def _made_overlap(self, a: Site, b: Site) -> Bits:
        pool, size = self.pool, max(a.access.size, b.access.size)
        one, two = a.address, b.address
        if a.access.size != b.access.size:
            mask = pool.number(-size, 32)
            one, two = pool.and_(one, mask), pool.and_(two, mask)
        return pool.eq(one, two)

    def _touching(self, a: Site, b: Site) -> Bits:
        """Return that both accesses happen, at one place."""
        meet = self.pool.both(self._overlap(a, b), self.pool.both(a.condition, b.condition))
        return self.pool.both(meet, self._apart(a, b)) if self.relation is Relation.OTHER_BLOCKS else meet

    def _apart(self, a: Site, b: Site) -> Bits:
        """Return that both threads are in CTAs of the grid, which differ along an axis that an address depends on."""
        pool = self.pool
        inside, differ = pool.true, pool.false
        named = variables_of(a.address, b.address, a.condition, b.condition)
        for axis in "xyz":
            places, extents = self._special(f"%ctaid.{axis}", a), self._special(f"%nctaid.{axis}", a)
            if not set(places).isdisjoint(named):
                for place, extent in zip(places, extents, strict=True):
                    inside = pool.both(inside, pool.ult(place, extent))
        for places in self._axes_used(a, b):
            differ = pool.either(differ, pool.not_(pool.eq(*places)))
        return pool.both(inside, differ)

    def _axes_used(self, a: Site, b: Site) -> list[tuple[Bits, Bits]]:
        """Return where the CTAs of both threads are, along the axes that an address depends on."""
        used = variables_of(a.address, b.address)
        places = (self._special(f"%ctaid.{axis}", a) for axis in "xyz")
        return [each for each in places if not set(each).isdisjoint(used)]

    def _special(self, name: str, site: Site) -> tuple[Bits, Bits]:
        one, two = (thread.special(name, site.access.point) for thread in self.threads)
        return one, two

    def claim(self, a: Site, b: Site) -> Bits:
        """Return that both accesses happen and meet: two stores by one instruction do with different values."""
        pool, meet = self.pool, self._touching(a, b)
        if stores_once(a, b):
            one, two = a.value, b.value
            if one is not None and two is not None:
                meet = pool.both(meet, pool.not_(pool.eq(one, two)))
        return meet

    def _told_apart(self, interval: Interval, pairs: Sequence[tuple[Site, Site]]) -> Meeting:
        """Return the pairs that meet, those that lanes in step order by themselves.

        Where the effort ends before that is known of the latter, one is taken to meet: that lanes run in step is
        enough in either case.
        """
        if self.relation is not Relation.SAME_WARP:
            return self._asked(interval, pairs)
        meeting = self._asked(interval, [each for each in pairs if not self._is_ordered(*each)])
        kept = [each for each in pairs if self._is_ordered(*each)]
        ordered = self._asked(interval, kept)
        if ordered.pairs or not ordered.undecided:
            return Meeting(meeting.pairs, meeting.undecided, ordered.pairs)
        a, b = kept[0]
        pair = Pair(interval, self.relation, a, b, {}, self.claim(a, b), self.threads)
        return Meeting(meeting.pairs, meeting.undecided, (pair,))

    def _is_ordered(self, a: Site, b: Site) -> bool:
        p, q = a.access.point, b.access.point
        reaches = self.kernel.cfg.reaches
        return p != q and (reaches(p, q) or reaches(q, p))

    def _asked(self, interval: Interval, pairs: Sequence[tuple[Site, Site]]) -> Meeting:
        """Return pairs that meet: of all there are, but not more than a few of each write."""
        groups: dict[tuple[Bits, ...], list[tuple[Site, Site]]] = {}
        for a, b in pairs:
            known = () if self._known is None else self._known(self.threads, a, b)
            groups.setdefault(known, []).append((a, b))
        found = [self._asked_with(interval, each, known) for known, each in groups.items()]
        met = tuple(pair for meeting in found for pair in meeting.pairs)
        return Meeting(met, tuple(each for meeting in found for each in meeting.undecided))

    def _are_apart(self, pairs: Sequence[tuple[Site, Site]], known: tuple[Bits, ...]) -> bool:
        """Tell whether no two accesses are at one place: what is stored does not matter then, and is not made."""
        pool = self.pool
        anything = pool.false
        for a, b in pairs:
            anything = pool.either(anything, self._touching(a, b))
        try:
            return self.kernel.questions.numbers((*self.base, *known, anything)) is None
        except UndecidedError:
            return False

    def _asked_with(
        self, interval: Interval, pairs: Sequence[tuple[Site, Site]], known: tuple[Bits, ...]
    ) -> Meeting:
        if any(stores_once(a, b) for a, b in pairs) and self._are_apart(pairs, known):
            return Meeting(())
        claims = [(a, b, claim) for a, b in pairs if (claim := self.claim(a, b)) is not self.pool.false]
        found: list[Pair] = []
        told: Counter[int] = Counter()
        while claims and len(found) < self._most:
            anything = self.pool.false
            for _, _, claim in claims:
                anything = self.pool.either(anything, claim)
            try:
                numbers = self.kernel.questions.numbers(
                    (*self.base, *known, anything), [claim for _, _, claim in claims]
                )
            except UndecidedError:
                points = dict.fromkeys((a.access.point, b.access.point) for a, b, _ in claims)
                return Meeting(tuple(found), tuple(points))
            if numbers is None:
                break
            a, b, claim = next(each for each in claims if numbers[each[2]])
            found.append(Pair(interval, self.relation, a, b, numbers, claim, self.threads))
            if not stores_once(a, b):
                told.update({each.access.point for each in (a, b) if each.access.action is not Action.READ})
            met = {a.access.point, b.access.point}
            claims = [
                (x, y, claim) for x, y, claim in claims
                if {x.access.point, y.access.point} != met
                and not any(told[each.access.point] >= _OF_EACH_WRITE for each in (x, y))
            ]  # fmt: skip
        left = (
            claims if len(found) >= self._most and all(stores_once(x.first, x.second) for x in found) else []
        )
        return Meeting(
            tuple(found), tuple(dict.fromkeys((a.access.point, b.access.point) for a, b, _ in left))
        )


def is_of_threads(term: Bits) -> bool:
    """Tell whether a number is made of the places of threads and CTAs alone, and of rounds of loops."""
    return all(variable.name.startswith(_OF_THREADS) for variable in variables_of(term))


def stores_once(a: Site, b: Site) -> bool:
    """Tell whether two accesses are stores by one instruction."""
    return a.access.point == b.access.point and a.access.action is Action.WRITE
