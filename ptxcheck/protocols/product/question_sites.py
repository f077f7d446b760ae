"""The questions of a kernel, with the loops that count what they ask about, and how these move with rounds.

Property: of a direction that is asked about in a loop, the threshold moves by `slopes` with each unit of its class, in
all automata alike; where it does not, the loop is in `fixed`.

Argument: a question belongs to the loop whose ordinal is in it. One without an ordinal belongs to the loop that counts
the same, the next one or the one before. Units of a class are what most of its loops move thresholds by. A question of
a group is one of each strand where strands may have come to it by answers of their own: registers hold numbers of each
of them then.

Not covered: what relates different directions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction

from ..automata.automaton import Automaton
from ..automata.known_residues import Residue
from ..automata.nodes import Node
from ..automata.quotients import least_quotient
from ..symex.values.symbol import Atom
from .cluster_agreement import agreed
from .congruences import Congruence, congruence_of
from .held_numbers import is_of_group, named
from .intervals import Interval
from .loop_nests import Class, Nest, nest_of
from .questions import (
    Asked,
    Below,
    Free,
    Named,
    OfReceived,
    OfStrand,
    Polled,
    Terms,
    classified,
    related,
    round_number,
    undivided_question,
)
from .reachable_questions import ReachableQuestions
from .readings import (
    At,
    Given,
    lowered,
    read_apart,
    read_as_naturals,
    read_both_ways,
    reads_unsigned,
    sizes_of,
)
from .roles import Role

_MOST_BETWEEN = 16
"""How far apart thresholds may be for what is known of the numbers between them to be kept from loop to loop."""
_IN_NO_LOOP = -1
"""What stands for a loop inside another one, where no loop there counts what is asked about."""


@dataclass(frozen=True, slots=True)
class Site:
    """A question of one node."""

    asked: Asked
    loop: Class
    """The loop that counts what is asked about; () for none."""
    depth: int
    """Loops around that one."""


class Questions:
    """The questions of all automata of a kernel, and how they move with the rounds of loops."""

    def __init__(
        self,
        automata: Sequence[Automaton],
        roles: Sequence[Role],
        residues: Mapping[Atom, Residue],
        given: Given,
    ) -> None:
        self.automata = automata
        self.nests: tuple[Nest, ...] = tuple(nest_of(each) for each in automata)
        self.roles = roles
        self._sites: dict[tuple[int, int], Site] = {}
        asked = _asked_by(automata, roles)
        self.agreed = agreed(automata, asked)
        """What CTAs of a cluster ask apart, as the first one asks it."""
        self.agreed_at = self._points(self.agreed) if given.in_whole_clusters else ()
        """Where that is taken for granted."""
        asked.update(self.agreed if given.in_whole_clusters else {})
        as_read, self.read_both_ways = self._as_read(asked, given)
        least = dict(given.least)
        for terms in self.read_both_ways if given.takes_sizes else ():
            least = {**dict.fromkeys(sizes_of(terms), 0), **least}
        self.quotients = _quotients(as_read.values(), least)
        """The least that quotients of sums are, as these do not wrap around."""
        self.given: Mapping[Terms, Interval] = {
            **{terms: Interval(number) for terms, number in self.quotients.items()},
            **{((name, 1),): Interval(number) for name, number in least.items()},
        }
        """What is known of directions from the start."""
        for (number, node_number), each in as_read.items():
            node = automata[number].nodes[node_number]
            if isinstance(each, Below) and each.held:
                each = named(each, number, automata[number], node, self.nests[number].classes) or Free()
            self._sites[number, node_number] = self._site(number, node, each)
        self._signed = _read_as_signed(self._sites.items(), automata)
        self._passed = set[int]()
        """Where rounds are compared with a number that they may have passed: they come to it as they wrap around."""
        self._place_constants()
        self.congruences: dict[Terms, Congruence] = {}
        """Residues of directions."""
        for site in self._sites.values():
            if isinstance(site.asked, Below):
                found = congruence_of(site.asked.terms, residues)
                if found is not None:
                    self.congruences[site.asked.terms] = found
        self.rates = self._rates()
        self.slopes: dict[tuple[Terms, Class], Fraction | None] = {}
        """By how much a threshold moves with a unit of its class; None where that is not the same everywhere."""
        self.first: dict[tuple[Terms, Class], int | None] = {}
        """The threshold of first rounds, behind which all later ones are; None where loops around move it back."""
        self.window: dict[tuple[Terms, Class], int] = {}
        """Thresholds that are asked outside of the loop."""
        self.fixed: set[Class] = set()
        """Loops whose rounds some threshold does not move with alike: states are compared with them as they are."""
        self._measure()
        self.strides = {
            (terms, loop): slope.denominator
            * (self.congruences[terms].modulus if terms in self.congruences else 1)
            for (terms, loop), slope in self.slopes.items()
            if slope is not None
        }
        """For a threshold, the units of its class by which it moves by whole numbers, and keeps its residue."""
        self.reachable = ReachableQuestions(
            automata,
            {
                at: (site.asked.terms, site.loop) if isinstance(site.asked, Below) else None
                for at, site in self._sites.items()
            },
        )
        self.marks: dict[Terms, tuple[int, ...]] = self._marks()
        """Thresholds of a direction that are asked in front of loops, and in their first rounds."""
        self.loops_of_held: dict[Terms, frozenset[Class]] = {}
        """Where numbers that threads hold for a round are asked about."""
        for (of_automaton, of_node), site in self._sites.items():
            if isinstance(site.asked, Below) and site.asked.held:
                terms = site.asked.terms
                self.loops_of_held[terms] = self.loops_of_held.get(terms, frozenset()) | {site.loop}
                node = automata[of_automaton].nodes[of_node]
                loop, _ = self.place_of_held(of_automaton, node, site.asked)
                self.window[terms, loop] = max(
                    (1 + abs(each) for each in self.marks.get(terms, ())), default=1
                )
        self.round_numbers: dict[Class, tuple[Terms, ...]] = {}
        """Directions that are numbers of the text, which the rounds of a loop are compared with."""
        of_text = {key for key in self.slopes if round_number(key[0]) is not None}
        for terms, loop in sorted(of_text, key=lambda key: (text_of(key[0]), key[1])):
            self.round_numbers[loop] = (*self.round_numbers.get(loop, ()), terms)

    def _points(self, sites: Iterable[At]) -> tuple[int, ...]:
        """Return where questions are asked, in order."""
        asked = (self.automata[number].nodes[node].question for number, node in sites)
        return tuple(sorted({question.point for question in asked if question is not None}))

    def _as_read(
        self, asked: Mapping[At, Asked], given: Given
    ) -> tuple[Mapping[At, Asked], Mapping[Terms, int]]:
        """Return questions about quotients as such about what is divided, and each reading of a number by its name.

        And the directions that are read as signed numbers and as unsigned ones, each with a point where it is.
        """
        nodes = {at: self.automata[at[0]].nodes[at[1]] for at in asked}
        quotients = related(each for each in asked.values() if isinstance(each, Below))
        found = {
            at: undivided_question(each) if isinstance(each, Below) and each.terms in quotients else each
            for at, each in asked.items()
        }
        both = read_both_ways(found, nodes)
        naturals = read_as_naturals(self.automata, found, both)
        both = read_both_ways(found, nodes, naturals)
        for at, each in found.items():
            if at in naturals or not isinstance(each, Below) or each.terms not in both:
                continue
            if each != asked[at] and reads_unsigned(each, nodes[at]):
                found[at] = asked[at]
            elif not (given.takes_sizes and sizes_of(each.terms)):
                found[at] = read_apart(each, nodes[at])
        self.lowered = lowered(self.automata, found)
        return found, both

    def place_of_held(self, automaton: int, node: Node, asked: Below) -> tuple[Class, int]:
        """Return where a number is the same that threads hold for a round: a class, and the depth of that round."""
        depth = node.loops.index(asked.held[-1]) + 1
        return (*self.nests[automaton].classes[asked.held[-1]], _IN_NO_LOOP), depth

    def may_ask(self, terms: Terms, loop: Class, nodes: Sequence[tuple[int, int]]) -> bool:
        """Tell whether somebody who stands at some nodes may still ask about a direction in a loop."""
        is_of_all = bool(loop) and loop[-1] == _IN_NO_LOOP
        loops = self.loops_of_held.get(terms, frozenset({loop})) if is_of_all else frozenset({loop})
        return any(self.reachable.may_ask((terms, each), nodes) for each in loops)

    def possible(self, terms: Terms, known: Interval) -> Interval:
        """Return what is known of a direction, with what is known from the start."""
        given = self.given.get(terms)
        return known if given is None else known.within(given)

    def tightened(self, terms: Terms, known: Interval) -> Interval:
        """Return what is known of a direction, with its residue."""
        congruence = self.congruences.get(terms)
        return known if congruence is None or known.is_empty else congruence.tightened(known)

    def site(self, automaton: int, node: int) -> Site:
        return self._sites[automaton, node]

    def asked(self) -> Iterator[tuple[Node, Asked]]:
        """Yield what each node asks."""
        for (number, node), site in self._sites.items():
            yield self.automata[number].nodes[node], site.asked

    def may_wrap(self, sizes: Collection[Atom]) -> Iterator[int]:
        """Yield points where a number is compared that may have wrapped around, unless some sizes are not negative."""
        for (number, node), site in self._sites.items():
            asked, question = site.asked, self.automata[number].nodes[node].question
            if not isinstance(asked, Below) or question is None:
                continue
            names = sizes_of(asked.terms)
            is_sum = (number, node) in self.lowered or asked.terms in self.quotients
            if is_sum and (not names or not names <= {*sizes}):
                yield question.point
        yield from sorted(self._passed)

    def note_passed(self, site: Site, node: Node, known: Interval, threshold: int, truth: bool) -> None:
        """Note where a number is not what rounds have come to, and may lie behind them: they have to wrap around then.

        A number that nobody orders with a sign is none below zero.
        """
        asked = site.asked
        if not (isinstance(asked, Below) and asked.equal and asked.slopes and truth != asked.positive):
            return
        low = (known if asked.terms in self._signed else known.within(Interval(0))).low
        rises = all(slope > 0 for _, slope in asked.slopes)
        high = known.high
        is_ahead = low is not None and low >= threshold if rises else high is not None and high <= threshold
        if not is_ahead and node.question is not None:
            self._passed.add(node.question.point)

    def _site(self, number: int, node: Node, asked: Asked) -> Site:
        classes = self.nests[number].classes
        if isinstance(asked, Below) and asked.slopes:
            depth = min(node.loops.index(header) for header, _ in asked.slopes)
            return Site(asked, classes[node.loops[depth]], depth)
        if isinstance(asked, Below) and asked.held:
            return Site(asked, *self.place_of_held(number, node, asked))
        if isinstance(asked, Named) and asked.ordinals:
            depth = max(node.loops.index(header) for header in asked.ordinals)
            return Site(asked, classes[node.loops[depth]], depth)
        return Site(asked, (), 0)

    def _place_constants(self) -> None:
        """Give questions without an ordinal the loop that counts the same: the next one, or the one before."""
        for (number, node), site in list(self._sites.items()):
            if not isinstance(site.asked, Below) or site.asked.slopes or not site.asked.terms:
                continue
            around = self.nests[number].loops[node]
            same = [
                each.loop
                for (other, _), each in self._sites.items()
                if other == number and isinstance(each.asked, Below) and each.asked.slopes
                and each.asked.terms == site.asked.terms and around[: each.depth] == tuple(
                    each.loop[: depth + 1] for depth in range(each.depth)
                )
            ]  # fmt: skip
            ahead = [loop for loop in same if node in self.nests[number].ahead.get(loop, ())]
            behind = [loop for loop in same if loop not in ahead]
            chosen = min(ahead) if ahead else max(behind) if behind else None
            if chosen is not None:
                self._sites[number, node] = Site(site.asked, chosen, len(chosen) - 1)

    def _rates(self) -> dict[tuple[int, int], int]:
        """Return by how much each round of a loop moves what it is left by."""
        asked: dict[tuple[int, int], dict[Terms, int]] = {}
        askers: dict[tuple[Class, Terms], set[tuple[int, int]]] = {}
        for (number, _), site in sorted(self._sites.items()):
            if isinstance(site.asked, Below):
                for header, slope in site.asked.slopes:
                    if self.nests[number].classes[header] == site.loop and slope:
                        asked.setdefault((number, header), {}).setdefault(site.asked.terms, abs(slope))
                        askers.setdefault((site.loop, site.asked.terms), set()).add((number, header))
        found: dict[tuple[int, int], int] = {}
        for (number, header), slopes in asked.items():
            loop = self.nests[number].classes[header]
            # What most loops of a class ask measures its rounds, so that they measure alike.
            most = max(slopes, key=lambda terms: (len(askers[loop, terms]), text_of(terms)))
            found[number, header] = slopes[most]
        return found

    def _marks(self) -> dict[Terms, tuple[int, ...]]:
        found: dict[Terms, set[int]] = {}
        for site in self._sites.values():
            if isinstance(site.asked, Below) and site.asked.terms and not site.asked.equal:
                found.setdefault(site.asked.terms, set()).add(site.asked.constant)
        return {terms: filled(numbers) for terms, numbers in found.items()}

    def _measure(self) -> None:
        for (number, _), site in sorted(self._sites.items()):
            asked = site.asked
            if not isinstance(asked, Below):
                continue
            key = asked.terms, site.loop
            others = {self.nests[number].classes[header] for header, _ in asked.slopes} - {site.loop}
            if others:
                self.fixed |= {site.loop, *others}
            own = [
                Fraction(slope, self.rates[number, header])
                for header, slope in asked.slopes
                if self.nests[number].classes[header] == site.loop
            ]
            if own:
                slope = own[0]
                known = self.slopes.setdefault(key, slope)
                if known != slope:
                    self.slopes[key] = None
                if self.slopes[key] is None:
                    self.fixed.add(site.loop)
                self._note_first(key, asked, rises=slope > 0)
            else:
                width = abs(asked.constant) + 1
                self.window[key] = max(self.window.get(key, 0), width)

    def _note_first(self, key: tuple[Terms, Class], asked: Below, *, rises: bool) -> None:
        known = self.first.get(key, asked.constant)
        goes_on = all((slope > 0) == rises for _, slope in asked.slopes)
        first = min if rises else max
        self.first[key] = first(known, asked.constant) if goes_on and known is not None else None


def filled(numbers: Set[int]) -> tuple[int, ...]:
    """Return thresholds in order, with all numbers between them if these are few: loops in a row count to them."""
    first, last = min(numbers), max(numbers)
    return tuple(range(first, last + 1)) if last - first <= _MOST_BETWEEN else tuple(sorted(numbers))


def text_of(terms: Terms) -> bytes:
    """Return what terms are sorted by."""
    return b"".join(name.digest + b"%d" % factor for name, factor in terms)


__all__ = ["Questions", "Site", "text_of"]


def _read_as_signed(sites: Iterable[tuple[At, Site]], automata: Sequence[Automaton]) -> frozenset[Terms]:
    """Return the directions that some question orders, and not as unsigned numbers alone."""
    return frozenset(
        site.asked.terms
        for (number, node), site in sites
        if isinstance(site.asked, Below) and not site.asked.equal
        and not reads_unsigned(site.asked, automata[number].nodes[node])
    )  # fmt: skip


def _quotients(asked: Iterable[Asked], least: Mapping[Atom, int]) -> dict[Terms, int]:
    directions = {each.terms for each in asked if isinstance(each, Below) and len(each.terms) == 1}
    found = {terms: least_quotient(terms[0][0], least) for terms in directions if terms[0][1] == 1}
    return {terms: low for terms in sorted(found, key=text_of) if (low := found[terms]) is not None}


def _asked_by(automata: Sequence[Automaton], roles: Sequence[Role]) -> dict[At, Asked]:
    """Return what each node asks."""
    asked: dict[At, Asked] = {
        (number, node.number): classified(
            node, automaton.modulus, automaton.of_shared, automaton.entered_again
        )
        for number, automaton in enumerate(automata)
        for node in automaton.nodes
        if node.question is not None
    }
    for at in _behind_own(automata, roles, asked):
        each = asked.get(at)
        if isinstance(each, Free) or (isinstance(each, Below) and is_of_group(each)):
            asked[at] = OfStrand()
    return asked


def _behind_own(
    automata: Sequence[Automaton], roles: Sequence[Role], asked: Mapping[tuple[int, int], Asked]
) -> set[tuple[int, int]]:
    """Return the nodes that several strands may come to by answers that each of them had alone."""
    found: set[tuple[int, int]] = set()
    waiting: list[tuple[int, int]] = []
    for (number, node), each in asked.items():
        if isinstance(each, Polled | OfReceived | OfStrand):
            threads = automata[number].nodes[node].threads
            if sum(role.automaton == number and not role.threads & ~threads for role in roles) > 1:
                waiting.append((number, node))
    while waiting:
        number, node = waiting.pop()
        for target in automata[number].nodes[node].targets:
            behind = number, target.node
            if behind not in found:
                found.add(behind)
                waiting.append(behind)
    return found
