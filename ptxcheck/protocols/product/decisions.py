"""What has been decided in a state, and the same relative to how far roles have come.

Property: `Decisions.answer` gives a truth only if all earlier answers that are still known imply it, so that roles
which ask one question in one round get one answer. `normal` is equal for states that will ask and answer alike.

Argument: of a direction (`questions`) an interval and excluded numbers are kept, for each round of the loops around
the loop that counts it. Ordinals and thresholds move together, so both are taken relative to the least round that
some role is in. What nobody can ask again is dropped; to drop more only adds freedom. A direction is one number for
the whole launch: what is known of it at the thresholds that stand in the text is kept from loop to loop.

Not covered: what relates different directions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import lcm
from typing import TypeAlias

from ..automata.environments import Env
from ..automata.nodes import Node
from ..symex.values.symbol import Form
from .held_numbers import is_held
from .intervals import ANYTHING, Interval
from .loop_nests import Class, Ordinals, Standing, standing
from .question_sites import Questions, Site, text_of
from .questions import Below, Free, Named, Terms, instantiated, round_number

Place: TypeAlias = tuple[Class, Ordinals]
"""A loop, and the rounds of the loops around it."""
Key: TypeAlias = tuple[object, ...]


class AskedAgainError(Exception):
    """Threads come to a question of their group again, in the same round, before all have had the answer."""


class Decisions:
    """The decisions of one state."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._intervals: dict[tuple[Terms, Place], Interval] = {}
        self._host: dict[Terms, Interval] = {}
        """What is known wherever it is asked: a direction is one number for the whole launch."""
        self._names: dict[
            tuple[Hashable, Place], tuple[bool, Named, Mapping[int, int], Mapping[int, int]]
        ] = {}
        self._free: dict[tuple[int, int, Ordinals, Env], tuple[bool, int]] = {}
        self._strides: Mapping[Class, int] = {}

    def copy(self) -> Decisions:
        found = Decisions(self._questions)
        found._intervals, found._names = dict(self._intervals), dict(self._names)
        found._free, found._host = dict(self._free), dict(self._host)
        return found

    def interval(self, site: Site, around: Ordinals) -> Interval:
        """Return what is known of the number that a site asks about, in some rounds of the loops around its loop."""
        asked = site.asked
        assert isinstance(asked, Below)
        number = round_number(asked.terms)
        if number is not None:
            return Interval(number, number)
        own = self._intervals.get((asked.terms, (site.loop, around)), ANYTHING)
        return self._questions.possible(asked.terms, own.within(self._host.get(asked.terms, ANYTHING)))

    def _asked(self, automaton: int, node: Node, ordinals: Ordinals) -> tuple[Site, Place, dict[int, int]]:
        site = self._questions.site(automaton, node.number)
        return site, (site.loop, ordinals[: site.depth]), dict(zip(node.loops, ordinals, strict=True))

    def answer(
        self, automaton: int, node: Node, ordinals: Ordinals, strand: int, env: Env = ()
    ) -> bool | None:
        """Return what is known of a question."""
        site, place, rounds = self._asked(automaton, node, ordinals)
        asked = site.asked
        if isinstance(asked, bool):
            return asked
        if isinstance(asked, Below):
            threshold = asked.threshold(rounds)
            if not asked.terms:
                return (threshold == 0 if asked.equal else threshold > 0) == asked.positive
            congruence = self._questions.congruences.get(asked.terms)
            if asked.equal and congruence is not None and not congruence.admits(threshold):
                return not asked.positive
            of_all = self._held_by_all(automaton, node, ordinals, asked)
            for known in (
                self.interval(site, place[1]),
                None if of_all is None else self._intervals.get(of_all),
            ):
                truth = None if known is None else asked.truth_in(known, threshold)
                if known is not None and truth is not None:
                    self._questions.note_passed(site, node, known, threshold, truth)
                    return truth
            return None
        if isinstance(asked, Named):
            name = self._name(asked, automaton, node, rounds)
            if isinstance(name, bool):
                return name == asked.positive
            entry = self._names.get((name, place))
            return None if entry is None else entry[0] == asked.positive
        free = self._free.get((automaton, node.number, ordinals, env))
        if free is None:
            return None
        answer, left = free
        if not left >> strand & 1:
            return None
        left &= ~(1 << strand)
        if left:
            self._free[automaton, node.number, ordinals, env] = answer, left
        else:
            del self._free[automaton, node.number, ordinals, env]
        return answer

    def _name(self, asked: Named, automaton: int, node: Node, rounds: Mapping[int, int]) -> Hashable:
        each = self._questions.automata[automaton]
        residues = dict(zip(node.loops, node.residues, strict=True))
        return instantiated(asked, residues, rounds, each.modulus, each.shape.threads)

    def decide(self, automaton: int, node: Node, ordinals: Ordinals, truth: bool, env: Env = ()) -> bool:
        """Answer a question; False where no run can have that answer."""
        site, place, rounds = self._asked(automaton, node, ordinals)
        asked = site.asked
        if isinstance(asked, Below):
            threshold = asked.threshold(rounds)
            self._questions.note_passed(site, node, self.interval(site, place[1]), threshold, truth)
            known = self._intervals.get((asked.terms, place), ANYTHING)
            now = self._questions.tightened(asked.terms, asked.narrowed(known, threshold, truth))
            self._intervals[asked.terms, place] = now
            of_all = self._held_by_all(automaton, node, ordinals, asked)
            if of_all is not None:
                return self._note_held(of_all, now)
            host = self._questions.possible(asked.terms, now.within(self._host.get(asked.terms, ANYTHING)))
            rounded = host.rounded(self._questions.marks.get(asked.terms, ()))
            if rounded != ANYTHING:
                self._host[asked.terms] = rounded
            return not host.is_empty
        if isinstance(asked, Named):
            residues = dict(zip(node.loops, node.residues, strict=True))
            name = self._name(asked, automaton, node, rounds)
            kept = {header: rounds[header] for header in asked.ordinals}
            self._names[name, place] = truth == asked.positive, asked, kept, residues
            return True
        assert isinstance(asked, Free)
        if (automaton, node.number, ordinals, env) in self._free:
            raise AskedAgainError(node.number)
        everybody = sum(
            1 << number
            for number, role in enumerate(self._questions.roles)
            if role.automaton == automaton and not role.threads & ~node.threads
        )
        self._free[automaton, node.number, ordinals, env] = truth, everybody
        return True

    def _held_by_all(
        self, automaton: int, node: Node, ordinals: Ordinals, asked: Below
    ) -> tuple[Terms, Place] | None:
        """Return where it is kept what is known of a number in all loops of the round that it is held for."""
        if not asked.held:
            return None
        loop, depth = self._questions.place_of_held(automaton, node, asked)
        return asked.terms, (loop, ordinals[:depth])

    def _note_held(self, key: tuple[Terms, Place], now: Interval) -> bool:
        """Note what is known of a number at the thresholds of the text; False where no number is left."""
        found = now.within(self._intervals.get(key, ANYTHING))
        rounded = found.rounded(self._questions.marks.get(key[0], ()))
        if rounded != ANYTHING:
            self._intervals[key] = rounded
        return not found.is_empty

    def known(self) -> Iterator[tuple[Terms, Interval]]:
        """Yield what is known of what the host passes, in the rounds that it was asked in, and for the whole launch."""
        own = ((terms, each) for (terms, _), each in self._intervals.items())
        yield from ((terms, each) for terms, each in own if not is_held(terms))
        yield from self._host.items()
        yield from self._questions.given.items()

    def answers(self) -> Iterator[tuple[Form, bool]]:
        """Yield the predicates that no round tells of, with their truths."""
        for truth, asked, rounds, _ in self._names.values():
            if not rounds:
                yield asked.truth, truth

    # -- relative to where roles are

    def normal(self, standing_at: Sequence[tuple[int, Node, Ordinals] | None]) -> Hashable:
        """Return positions and decisions relative to the least rounds, and drop what nobody can ask again.

        For each strand its automaton, node and ordinals; None when it has ended.
        """
        places = {place for _, place in (*self._intervals, *self._names)}
        for each in standing_at:
            if each is not None:
                automaton, node, ordinals = each
                around = self._questions.nests[automaton].loops[node.number]
                places.update((loop, ordinals[:depth]) for depth, loop in enumerate(around))
        self._note_rounds(places)
        self._strides = _strides_at(self._questions, self._intervals, standing_at)
        bases: dict[Place, int | None] = {}
        for place in sorted(places, key=lambda each: (len(each[0]), each)):
            bases[place] = self._base(place, standing_at)
        positions = tuple(None if each is None else self._position(each, bases) for each in standing_at)
        intervals = tuple(sorted(self._relative_intervals(bases, standing_at), key=repr))
        names = tuple(sorted(self._relative_names(bases, standing_at), key=repr))
        free = tuple(
            sorted(
                (
                    automaton, number, answer, left, env,
                    self._position((automaton, self._questions.automata[automaton].nodes[number], ordinals), bases),
                )
                for (automaton, number, ordinals, env), (answer, left) in self._free.items()
            )
        )  # fmt: skip
        host = tuple(sorted((text_of(terms), _row(known)) for terms, known in self._host.items()))
        return positions, intervals, names, free, host

    def _note_rounds(self, places: Iterable[Place]) -> None:
        """Note the numbers of the text that rounds of loops are compared with, for all rounds that somebody is in."""
        for place in places:
            for terms in self._questions.round_numbers.get(place[0], ()):
                number = round_number(terms)
                self._intervals[terms, place] = Interval(number, number)

    def _base(self, place: Place, standing_at: Sequence[tuple[int, Node, Ordinals] | None]) -> int | None:
        """Return the least round, in units of the class, that somebody is in who counts a loop; None if nobody does."""
        loop, outer = place
        if not loop:
            return None
        if loop in self._questions.fixed:
            return 0
        least: int | None = None
        for each in standing_at:
            if each is None:
                continue
            automaton, node, ordinals = each
            nest = self._questions.nests[automaton]
            where, ordinal = standing(nest, node.number, ordinals, loop, outer)
            if where is Standing.BEFORE:
                return 0
            if where is Standing.INSIDE:
                header = node.loops[len(loop) - 1]
                units = ordinal * self._questions.rates.get((automaton, header), 1)
                least = units if least is None else min(least, units)
        if least is None:
            return None
        stride = self._strides.get(loop, 1)
        return least // stride * stride

    def _shift(
        self, automaton: int, header: int, loop: Class, outer: Ordinals, bases: Mapping[Place, int | None]
    ) -> int:
        base = bases.get((loop, outer))
        return 0 if base is None else base // self._questions.rates.get((automaton, header), 1)

    def _position(
        self, each: tuple[int, Node, Ordinals], bases: Mapping[Place, int | None]
    ) -> tuple[int, ...]:
        automaton, node, ordinals = each
        around = self._questions.nests[automaton].loops[node.number]
        return (
            node.number,
            *(
                ordinal - self._shift(automaton, node.loops[depth], around[depth], ordinals[:depth], bases)
                for depth, ordinal in enumerate(ordinals)
            ),
        )

    def _outer(self, place: Place, bases: Mapping[Place, int | None]) -> Ordinals:
        """Return the rounds of the loops around, relative to the least, in units of their classes."""
        loop, outer = place
        found = []
        for depth, ordinal in enumerate(outer):
            around = loop[: depth + 1]
            base = bases.get((around, outer[:depth]))
            rate = self._strides.get(around, 1)
            found.append(ordinal if base is None else ordinal - base // rate)
        return tuple(found)

    def _may_ask(self, place: Place, standing_at: Sequence[tuple[int, Node, Ordinals] | None]) -> bool:
        """Tell whether somebody may still come to the round of the loops around a loop, or is in it."""
        loop, outer = place
        if not outer:
            return True
        parent = loop[: len(outer)]
        for automaton, node, ordinals in filter(None, standing_at):
            nest = self._questions.nests[automaton]
            where, ordinal = standing(nest, node.number, ordinals, parent, outer[:-1])
            if where is Standing.BEFORE or (where is Standing.INSIDE and ordinal <= outer[-1]):
                return True
        return False

    def _relative_intervals(
        self, bases: Mapping[Place, int | None], standing_at: Sequence[tuple[int, Node, Ordinals] | None]
    ) -> Iterator[Hashable]:
        nodes = [(each[0], each[1].number) for each in standing_at if each is not None]
        for (terms, place), known in list(self._intervals.items()):
            key = terms, place[0]
            if not self._questions.may_ask(*key, nodes) or not self._may_ask(place, standing_at):
                del self._intervals[terms, place]
                continue
            base, slope = bases.get(place), self._questions.slopes.get(key)
            window = self._questions.window.get(key)
            kept = known
            if base is None:  # everybody has the loop behind them
                kept = known if not place[0] else known.clipped(window or 0)
                if kept != known:
                    self._intervals[terms, place] = kept
                moved: Interval | None = None
            else:
                moved = known if slope is None else known.moved(int(-slope * base))
                first = self._questions.first.get(key)
                if slope is not None and first is not None:
                    moved = moved.from_on(first) if slope > 0 else moved.up_to(first)
                kept = known.clipped(window) if window is not None else ANYTHING
            if kept == ANYTHING and (moved is None or moved == ANYTHING):
                if base is None:
                    del self._intervals[terms, place]
                continue
            yield text_of(terms), place[0], self._outer(place, bases), _row(moved), _row(kept)

    def _relative_names(
        self, bases: Mapping[Place, int | None], standing_at: Sequence[tuple[int, Node, Ordinals] | None]
    ) -> Iterator[Hashable]:
        for (name, place), (truth, asked, rounds, _) in list(self._names.items()):
            if asked.ordinals and not _is_ahead(self._questions, place, asked, rounds, standing_at):
                del self._names[name, place]
                continue
            shifted = []
            loop, outer = place
            for depth, header in enumerate(asked.ordinals):
                around = loop[: depth + 1] if len(asked.ordinals) > 1 else loop
                base = bases.get((around, outer[: len(around) - 1]))
                shifted.append(rounds[header] - (0 if base is None else base // self._strides.get(around, 1)))
            yield text_of(asked.truth.terms), place[0], self._outer(place, bases), tuple(shifted), truth


def _strides_at(
    questions: Questions,
    places: Iterable[tuple[Terms, Place]],
    standing_at: Sequence[tuple[int, Node, Ordinals] | None],
) -> dict[Class, int]:
    """Return for each class what ordinals are compared in multiples of: by the loops that somebody is in."""
    found = dict[Class, int]()
    for each in standing_at:
        if each is not None:
            automaton, node, _ = each
            for header in node.loops:
                loop = questions.nests[automaton].classes[header]
                found[loop] = lcm(found.get(loop, 1), questions.rates.get((automaton, header), 1))
    for terms, (loop, _) in places:
        found[loop] = lcm(found.get(loop, 1), questions.strides.get((terms, loop), 1))
    return found


def _is_ahead(
    questions: Questions,
    place: Place,
    asked: Named,
    rounds: Mapping[int, int],
    standing_at: Sequence[tuple[int, Node, Ordinals] | None],
) -> bool:
    loop, outer = place
    own = rounds[asked.ordinals[-1]]
    for each in standing_at:
        if each is None:
            continue
        automaton, node, ordinals = each
        where, ordinal = standing(questions.nests[automaton], node.number, ordinals, loop, outer)
        if where is Standing.BEFORE or (where is Standing.INSIDE and ordinal <= own):
            return True
    return False


def _row(known: Interval | None) -> Hashable:
    return None if known is None else (known.low, known.high, tuple(sorted(known.excluded)))


def are_of_numbers(decisions: Decisions) -> bool:
    """Tell whether some answer is of threads with certain numbers of variables."""
    return any(env for _, _, _, env in decisions._free)


__all__ = ["Decisions", "Form", "Interval", "Questions"]
