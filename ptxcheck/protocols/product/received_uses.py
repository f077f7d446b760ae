"""What the actions of all strands do to values that threads receive through shared memory.

Property: an action that may write bytes which are received as a value has a `Put` that names these bytes, and one that
receives a value has a `Take`; `asked_at` names the values that a strand may still ask about.

Argument: all bytes that are read at the points of such values are known, as each such read is of one known place;
a kernel in which one is not is refused. What may be asked is a backward analysis over the nodes of an automaton: a
read makes values that were received at its point one older.

Lanes of one warp that make an `st.async` together store one number of a word that is uniform in the warp, whatever CTA
each stores it to: these words have one `Telling`.

Not covered: writes to places that are not known (`may_be_overwritten`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...isa.modifier import Mod
from ..automata.automaton import Automaton
from ..automata.nodes import Node
from ..automata.received_values import age_of, point_of, received_in
from ..model.actions import Access, Action, Span, Transfer
from ..model.launch_answers import requests_of
from ..symex.slice.broadcasts import uniform_words
from ..symex.slice.sliced_program import Program
from ..symex.values.trace import NotFollowedError
from .roles import Role, Step
from .word_contents import may_touch

_Asked = frozenset[tuple[int, int]]
"""Points of values, and their ages."""
_WORD = 4


class Telling(NamedTuple):
    """A word that lanes of one warp store, each to the CTA that it tells: one number whenever they do so together."""

    automaton: int
    warp: int
    node: int
    point: int
    word: int


@dataclass(frozen=True, slots=True)
class Put:
    """An action writes bytes of values."""

    spans: tuple[Span, ...]
    """Each gets a value of its own; all get one where an answer is sent to several CTAs."""
    forgotten: tuple[Span, ...]
    """What may be there afterwards is not known."""
    is_answer: bool
    tellings: tuple[Telling | None, ...] = ()
    """For each of the spans, if they are words of which some may be told several CTAs."""


@dataclass(frozen=True, slots=True)
class Look:
    """An action reads bytes of answers, and nothing that threads do depends on them."""

    point: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Take:
    """An action receives the value at a place."""

    point: int
    span: Span


class Uses:
    """What all actions do, by strand, step and number of the action."""

    def __init__(
        self,
        program: Program,
        automata: Sequence[Automaton],
        roles: Sequence[Role],
        points: Collection[int],
    ) -> None:
        cfg = program.cfg
        operations = [instruction.operation for instruction in cfg.instructions]
        self._uniform = uniform_words(cfg, program.facts) if points else {}
        self._automata = automata
        self._requests = requests_of(cfg)
        self.tests = frozenset(each.text for each in operations if each.has(Mod.IS_CANCELED))
        """Opcodes that ask an answer whether there was something to cancel."""
        self.may_be_overwritten = False
        self._uses: dict[tuple[int, int, int], Put | Look | Take] = {}
        self.asked_at: tuple[Mapping[int, _Asked], ...] = tuple(map(_asked_at, automata))
        """For each node of each automaton."""
        answered = {
            byte
            for role in roles
            for step in role.steps.values()
            for action in step.actions
            if isinstance(action, Transfer) and action.point in self._requests
            for span in action.writes
            for byte in _bytes(span)
        }
        bytes_read: set[tuple[int, int]] = set(answered)
        for number, role in enumerate(roles):
            for step in role.steps.values():
                for index, take in _takes(step, points):
                    self._uses[number, step.number, index] = take
                    bytes_read.update(_bytes(take.span))
                self._add_looks(number, step, answered)
        for number, role in enumerate(roles):
            for step in role.steps.values():
                self._add_writes(number, role, step, bytes_read)

    @property
    def are_any(self) -> bool:
        """Tell whether any action does anything to values."""
        return bool(self._uses)

    def of(self, strand: int, step: int, index: int) -> Put | Look | Take | None:
        """Return what an action does to values."""
        return self._uses.get((strand, step, index))

    def loops_at(self, name: Telling) -> tuple[int, ...]:
        """Return the headers of the kept loops around where a word is told, outermost first."""
        return self._automata[name.automaton].nodes[name.node].loops

    def _add_looks(self, number: int, step: Step, answered: set[tuple[int, int]]) -> None:
        for index, action in enumerate(step.actions):
            key = number, step.number, index
            if not isinstance(action, Access) or key in self._uses:
                continue
            spans = tuple(span for span in action.reads if _may_meet(span, answered))
            if spans:
                self._uses[key] = Look(action.point, spans)

    def _add_writes(self, number: int, role: Role, step: Step, read: set[tuple[int, int]]) -> None:
        requested: set[int] = set()
        for index, action in enumerate(step.actions):
            if not isinstance(action, Access | Transfer):
                continue
            self.may_be_overwritten |= any(may_touch(span, read) for span in action.writes)
            touched = tuple(span for span in action.writes if not read.isdisjoint(_bytes(span)))
            if not touched:
                continue
            if (number, step.number, index) in self._uses:
                raise NotFollowedError("an instruction receives a value and writes it", action.point)
            is_answer = isinstance(action, Transfer) and action.point in self._requests
            if is_answer:
                if action.point in requested:
                    continue
                requested.add(action.point)
                touched = _of_request(step.actions, action.point)
            if not _is_known(action, touched):
                put = Put((), touched, is_answer)
            elif self._is_told(action, touched):
                words = list(self._words(role, step, action.point, touched))
                put = Put(tuple(span for span, _ in words), (), False, tuple(name for _, name in words))
            else:
                put = Put(touched, (), is_answer)
            self._uses[number, step.number, index] = put

    def _is_told(self, action: Action, touched: Sequence[Span]) -> bool:
        """Tell whether an action stores words of which some are uniform in the warp."""
        uniform = self._uniform.get(action.point, ())
        return any(uniform) and all(span.size == _WORD * len(uniform) for span in touched)

    def _words(
        self, role: Role, step: Step, point: int, touched: Sequence[Span]
    ) -> Iterator[tuple[Span, Telling | None]]:
        """Yield the words of bytes that an `st.async` writes, and their names.

        One that lies in a loop whose rounds ordinals do not tell apart has none.
        """
        is_one_time = self._automata[role.automaton].entered_again.isdisjoint(step.node.loops)
        for span in touched:
            for word, is_uniform in enumerate(self._uniform[point]):
                name = Telling(role.automaton, role.info.warp, step.node.number, point, word)
                start = span.start + word * _WORD
                yield Span(span.cta, start, _WORD), name if is_uniform and is_one_time else None


def _may_meet(span: Span, answered: set[tuple[int, int]]) -> bool:
    """Tell whether some bytes that are read may be of an answer; accesses of unknown places are taken not to be."""
    return not answered.isdisjoint(_bytes(span)) or (span.start >= 0 and may_touch(span, answered))


def _of_request(actions: Sequence[Action], point: int) -> tuple[Span, ...]:
    """Return where the answer to a request goes. Raises NotFollowedError."""
    found = [
        span for each in actions if isinstance(each, Transfer) and each.point == point for span in each.writes
    ]
    if len({span.cta for span in found}) < len(found):
        raise NotFollowedError("several threads ask to cancel a launch", point)
    return tuple(found)


def _is_known(action: Access | Transfer, touched: Sequence[Span]) -> bool:
    """Tell whether an action surely writes all of some bytes, each once."""
    if not all(span.exact and span.start >= 0 for span in touched):
        return False
    if isinstance(action, Access) and not action.certain:
        return False
    written = [byte for span in touched for byte in _bytes(span)]
    return len(set(written)) == len(written)


def _takes(step: Step, points: Collection[int]) -> list[tuple[int, Take]]:
    """Return the reads of a node that receive values. Raises NotFollowedError."""
    found: list[tuple[int, Take]] = []
    for index, action in enumerate(step.actions):
        if action.point not in points:
            continue
        spans = action.reads if isinstance(action, Access) and action.certain else ()
        if len(spans) != 1 or spans[0].start < 0 or not spans[0].exact:
            raise NotFollowedError("what threads receive lies at a place that is not known", action.point)
        found.append((index, Take(action.point, spans[0])))
    if sorted(take.point for _, take in found) != sorted(step.node.received):
        raise NotFollowedError("threads receive a value in several steps", found[0][1].point if found else -1)
    return found


def _bytes(span: Span) -> list[tuple[int, int]]:
    return [(span.cta, offset) for offset in range(span.start, span.end)] if span.start >= 0 else []


def _asked_at(automaton: Automaton) -> Mapping[int, _Asked]:
    """Return the values that may be asked about in or behind each node."""
    found: dict[int, _Asked] = {node.number: frozenset() for node in automaton.nodes}
    before: dict[int, list[int]] = {}
    for node in automaton.nodes:
        for target in node.targets:
            before.setdefault(target.node, []).append(node.number)
    waiting = [node.number for node in automaton.nodes]
    while waiting:
        node = automaton.nodes[waiting.pop()]
        behind = _behind(node, found)
        kept = frozenset(each for each in behind if each[0] not in node.received)
        younger = frozenset((p, age - 1) for p, age in behind if p in node.received and age)
        now = behind | kept | younger
        if now != found[node.number]:
            found[node.number] = now
            waiting += before.get(node.number, ())
    return found


def _behind(node: Node, found: Mapping[int, _Asked]) -> _Asked:
    asked = () if node.question is None else received_in(node.question.truth)
    own = frozenset((point_of(name), age_of(name)) for name in asked)
    return own.union(*(found[target.node] for target in node.targets))


__all__ = ["Look", "Put", "Take", "Telling", "Uses"]
