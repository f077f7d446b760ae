"""Who holds which of the values that threads hand to each other through shared memory, and what was decided of them.

Property: where `Receiving.perform` gives contents for every action, two threads that hold one value have read what one
write has put there, in every schedule; so a predicate on it has one answer. No CTA asks to cancel a launch that may
have read that there is none.

Argument: every write to bytes that are received puts a new value there, and a read takes what is there. Words of one
`Telling` that strands put there at one node, in one round of all loops and with the same variables, are one value. The
order of the product has every read behind the writes before it and in front of those that follow, or fails: so what is
read is the same in every schedule. States are compared by the order in which they tell of values: nothing else of a
number counts. An answer that nobody holds any more, and that was not decided to be yes, may have been no.

Not covered: bytes that a write covers in part, or may not write: what is read there is a value that nobody else holds.
Writes to places that are not known are taken not to be there, under an assumption with a name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..automata.environments import Env
from ..automata.nodes import Node
from ..automata.received_values import OLDEST, age_of, place_of, point_of, received_in, renamed
from ..model.actions import Span
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import negate
from ..symex.values.substitution import with_pins
from ..symex.values.symbol import Atom, Form
from ..symex.values.traversal import walk
from .loop_nests import Ordinals
from .received_uses import Look, Put, Take, Telling, Uses
from .roles import Role
from .turns import Turn

Slot = tuple[int, int, int]
"""Strand, point, and how many values it has received there since."""
Piece = tuple[int, int, int]
"""Offset of the first byte, size, and the value that was written there."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A word that a strand has told some CTA, in the round that it is in."""

    value: int
    strand: int
    ordinals: Ordinals
    env: Env


@dataclass(frozen=True, slots=True)
class Contents:
    """The values of one state."""

    held: Mapping[Slot, tuple[Piece, ...]] = field(default_factory=dict)
    written: Mapping[tuple[int, int, int], int] = field(default_factory=dict)
    """By CTA, offset and size."""
    decided: Mapping[Form, bool] = field(default_factory=dict)
    answers: frozenset[int] = frozenset()
    """Values that tell whether a launch was cancelled."""
    yes: frozenset[int] = frozenset()
    """Those of them that say so."""
    read_by: frozenset[tuple[int, int]] = frozenset()
    """CTA and answer."""
    told: Mapping[Telling, _Told] = field(default_factory=dict)
    next: int = 1
    """A number that is no value yet."""

    @property
    def text(self) -> Hashable:
        """Return what is equal for states that are alike, where both are `Receiving.normal`."""
        return (
            tuple(sorted(self.held.items())), tuple(sorted(self.written.items())),
            frozenset(self.decided.items()), self.answers, self.yes, self.read_by,
            frozenset((name, each.value, each.strand, each.env) for name, each in self.told.items()),
        )  # fmt: skip

    def may_have_refused(self, cta: int) -> bool:
        """Tell whether a CTA has read an answer that may be no."""
        return any(each == cta and answer not in self.yes for each, answer in self.read_by)


class Receiving:
    """The values of one kernel."""

    def __init__(self, uses: Uses, roles: Sequence[Role], threads: int) -> None:
        self.uses = uses
        self._roles = roles
        self._threads = threads

    def perform(
        self, strand: int, step: int, index: int, ordinals: Ordinals, env: Env, contents: Contents
    ) -> tuple[Contents, Put | Look | Take | None]:
        """Return the values behind an action of a strand in a round, and what it does to them."""
        use = self.uses.of(strand, step, index)
        if isinstance(use, Put):
            return _put(contents, use, strand, ordinals, env), use
        if isinstance(use, Look):
            return _look(contents, use), use
        if isinstance(use, Take):
            return self._take(contents, strand, use), use
        return contents, None

    def is_open(self, strand: int, use: Look | Take, contents: Contents) -> bool:
        """Tell whether what a strand has just read is an answer that may be no."""
        spans = use.spans if isinstance(use, Look) else (use.span,)
        values = {value for span in spans for _, _, value in _pieces(contents, span)}
        return bool(values & contents.answers - contents.yes)

    def _take(self, contents: Contents, strand: int, take: Take) -> Contents:
        span = take.span
        pieces = _pieces(contents, span)
        contents = _look(contents, Look(take.point, (span,)))
        at = span.start
        for start, size, _ in pieces:
            if start <= at:
                at = start + size
        if at < span.end:
            pieces = ((span.start, span.size, contents.next),)
            contents = replace(contents, next=contents.next + 1)
        held = dict(contents.held)
        for age in reversed(range(OLDEST)):
            if (strand, take.point, age) in held:
                held[strand, take.point, age + 1] = held[strand, take.point, age]
        held[strand, take.point, 0] = tuple(
            (start - span.start, size, value) for start, size, value in pieces
        )
        return replace(contents, held=held)

    def answer(self, strand: int, truth: Form, contents: Contents) -> bool | None:
        """Return what is known of a predicate of a strand."""
        form, positive = _canonical(self._of_values(strand, truth, contents))
        known = contents.decided.get(form)
        return None if known is None else known == positive

    def decide(self, strand: int, truth: Form, holds: bool, contents: Contents) -> Contents:
        """Answer a predicate of a strand."""
        form, positive = _canonical(self._of_values(strand, truth, contents))
        decided = {**contents.decided, form: holds == positive}
        yes = frozenset(self._said_yes(form, holds == positive)) & contents.answers
        return replace(contents, decided=decided, yes=contents.yes | yes)

    def _of_values(self, strand: int, truth: Form, contents: Contents) -> Form:
        """Return a predicate of a strand as one on the values that it holds."""
        names = {name: _of_value(name, strand, contents) for name in received_in(truth)}
        return renamed(truth, names)

    def _said_yes(self, truth: Form, holds: bool) -> Iterator[int]:
        """Yield the values that a predicate holds of, or does not, only if they say that a launch was cancelled."""
        for name in walk(truth.terms):
            if str(name.inner[0]) in self.uses.tests:
                found = with_pins(truth, {name: 0}, self._threads)
                if isinstance(found, int) and bool(found & 1) != holds:
                    yield from (value for inner in walk(name.inner) for value, _ in _values_of(inner))

    def normal(
        self, contents: Contents, standing: Sequence[tuple[Node, Ordinals] | None]
    ) -> tuple[Contents, frozenset[int]]:
        """Return the same with new numbers for values, and the CTAs that may have read a no that nobody holds any more.

        `standing`: where strands are, None for one that has ended.
        """
        held = {
            (strand, point, age): pieces
            for (strand, point, age), pieces in sorted(contents.held.items())
            if (at := standing[strand]) is not None
            and (point, age) in self.uses.asked_at[self._roles[strand].automaton][at[0].number]
        }
        numbers: dict[int, int] = {}
        for pieces in held.values():
            for _, _, value in pieces:
                numbers.setdefault(value, len(numbers) + 1)
        for _, value in sorted(contents.written.items()):
            numbers.setdefault(value, len(numbers) + 1)
        refused = frozenset(
            cta for cta, value in contents.read_by if value not in numbers and value not in contents.yes
        )
        return Contents(
            {slot: tuple((at, size, numbers[value]) for at, size, value in held[slot]) for slot in held},
            {place: numbers[value] for place, value in contents.written.items()},
            dict(_renumbered(contents.decided, numbers)),
            frozenset(numbers[value] for value in contents.answers if value in numbers),
            frozenset(numbers[value] for value in contents.yes if value in numbers),
            frozenset((cta, numbers[value]) for cta, value in contents.read_by if value in numbers),
            {
                name: replace(each, value=numbers[each.value])
                for name, each in contents.told.items()
                if each.value in numbers and self._is_in_round(name, each, standing[each.strand])
            },
            len(numbers) + 1,
        ), refused  # fmt: skip

    @staticmethod
    def turned(contents: Contents, turn: Turn) -> Contents | None:
        """Return the values behind a turn; None where it does not move all places, or strands, of values."""
        told: dict[Telling, _Told] = {}
        for name, each in contents.told.items():
            env = turn.strands[each.strand].of(name.node, each.env)
            if env is None:
                return None
            told[name] = replace(each, env=env)
        if not contents.written.keys() <= turn.places.keys():
            return None
        written = {turn.places[place]: value for place, value in contents.written.items()}
        return replace(contents, written=written, told=told)

    def _is_in_round(self, name: Telling, told: _Told, at: tuple[Node, Ordinals] | None) -> bool:
        """Tell whether a strand is still in the round in which it told something."""
        loops = self.uses.loops_at(name)
        depth = len(loops)
        return at is not None and at[0].loops[:depth] == loops and at[1][:depth] == told.ordinals


def _put(contents: Contents, put: Put, strand: int, ordinals: Ordinals, env: Env) -> Contents:
    touched = (*put.spans, *put.forgotten)
    written = {
        (cta, start, size): value
        for (cta, start, size), value in contents.written.items()
        if not any(span.cta == cta and start < span.end and span.start < start + size for span in touched)
    }
    first, told = contents.next, contents.told
    for number, span in enumerate(put.spans):
        value = first if put.is_answer else first + number
        name = put.tellings[number] if put.tellings else None
        if name is not None:
            before = told.get(name)
            if before is not None and (before.ordinals, before.env) == (ordinals, env):
                value = before.value
            told = {**told, name: _Told(value, strand, ordinals, env)}
        written[span.cta, span.start, span.size] = value
    answers = contents.answers | {first} if put.is_answer and put.spans else contents.answers
    return replace(contents, written=written, answers=answers, told=told, next=first + len(put.spans))


def _pieces(contents: Contents, span: Span) -> tuple[Piece, ...]:
    """Return the values that are in some bytes."""
    return tuple(
        (start, size, value)
        for (cta, start, size), value in sorted(contents.written.items())
        if cta == span.cta and start < span.start + max(span.size, span.reach) and span.start < start + size
    )


def _look(contents: Contents, look: Look) -> Contents:
    """Return the values behind a read of answers."""
    read = {
        (span.cta, value)
        for span in look.spans
        for _, _, value in _pieces(contents, span)
        if value in contents.answers
    }
    return replace(contents, read_by=contents.read_by | read)


def _of_value(name: Atom, strand: int, contents: Contents) -> Atom:
    """Return the symbol of the bytes of values that a thread has received."""
    start, size = place_of(name)
    pieces = contents.held[strand, point_of(name), age_of(name)]
    within = tuple(
        (value, start - at) for at, length, value in pieces if at < start + size and start < at + length
    )
    return Atom((Kind.RECEIVED, within, name[2]), 0)


def _values_of(name: Atom) -> Iterable[tuple[int, int]]:
    """Return the values, and the offset in each, that a symbol of bytes is of."""
    return name.inner[1] if name.inner_kind is Kind.RECEIVED else ()  # type: ignore[return-value]


def _canonical(truth: Form) -> tuple[Form, bool]:
    """Return a predicate or its opposite, whichever comes first, and whether it is the predicate."""
    opposite = negate(truth)
    if not isinstance(opposite, Form):
        return truth, True
    return min((truth, True), (opposite, False), key=lambda each: (_text(each[0]), each[1]))


def _text(form: Form) -> tuple[object, ...]:
    return form.constant, tuple((name.digest, factor) for name, factor in form.terms)


def _renumbered(decided: Mapping[Form, bool], numbers: Mapping[int, int]) -> Iterator[tuple[Form, bool]]:
    for form, truth in decided.items():
        names: dict[Atom, Atom] = {}
        values: set[int] = set()
        for name in received_in(form):
            values.update(value for value, _ in _values_of(name))
            within = tuple((numbers.get(value, 0), at) for value, at in _values_of(name))
            names[name] = Atom((Kind.RECEIVED, within, name[2]), 0)
        if values <= numbers.keys():
            again, positive = _canonical(renamed(form, names))
            yield again, truth == positive


__all__ = ["Contents", "Receiving"]
