"""Words that warps hand to each other through shared memory, such as which part of a kernel a warp is to execute.

Property: a read of a followed point gives the number that `HandedWords` expects there of that warp, for the n-th time.

Argument: what was read is a guess, and a hidden register counts the guesses that a warp has used: so a loop that
waits for commands is executed command by command. The product tells what is in the bytes whenever a warp reads them: it
makes the guesses, one after the other, and refuses an automaton that has a wrong one (`product.word_contents`).

Not covered: words that are handed on as often as the host says (more than `_MOST_WORDS` for a warp), and numbers that
are none in the text of the kernel. Where no point is followed, what is read is a symbol: what it decides is free.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...ir import Instruction, Register, Vector
from ..symex.interpreter.event_log import EventLog
from ..symex.interpreter.shared_numbers import SharedNumbers
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import settle
from ..symex.values.register_file import RegisterFile, lanes_of
from ..symex.values.symbol import FROM_SHARED, Atom, Form, Value
from ..symex.values.thread_sets import warps_of
from ..symex.values.trace import NotFollowedError, ThreadSet
from ..symex.values.traversal import walk
from .received_values import ReceivedValues

_MOST_WORDS = 8
_WARP_MASK = 0xFFFFFFFF


class Reader(NamedTuple):
    """A warp at a point that reads a word."""

    cta: int
    warp: int
    point: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A word that threads store in a node."""

    point: int
    threads: ThreadSet
    place: int
    """Shared address of its first byte."""
    size: int
    number: int | None
    """None where it is no number."""


@dataclass(frozen=True, slots=True)
class Read:
    """A word that a warp reads in a node."""

    reader: Reader
    number: int | None
    """What is expected; None where that is to be found out, and the warp is followed no further."""


@dataclass(slots=True)
class HandedWords:
    """What is known of the words of one CTA; it only grows."""

    points: set[int] = field(default_factory=set)
    """Reads that are followed."""
    asked: set[int] = field(default_factory=set)
    """Reads that are not, and that decide what threads do."""
    expected: dict[Reader, list[int]] = field(default_factory=dict)
    """What each warp reads, time by time."""

    @property
    def size(self) -> int:
        return len(self.points) + sum(map(len, self.expected.values()))

    def expect(self, reader: Reader, number: int) -> bool:
        """Note what a warp reads next; False where that is more than is followed."""
        found = self.expected.setdefault(reader, [])
        found.append(number)
        return len(found) <= _MOST_WORDS


class UnknownWordError(Exception):
    """Threads read a word of which nothing is known yet."""


def counter(point: int) -> Register:
    """Return the hidden register that counts what was read at a point."""
    return Register(f"words read at {point}")


class WordNumbers(SharedNumbers):
    """What one CTA reads of words: what is expected, or nothing."""

    def __init__(
        self,
        words: HandedWords,
        received: ReceivedValues,
        rank: int,
        threads: int,
        registers: RegisterFile,
    ) -> None:
        self._words = words
        self._received = received
        self._rank = rank
        self._threads = threads
        self._registers = registers
        self.stored: list[Stored] = []
        """What was stored since `begin`."""
        self.read_words: list[Read] = []
        """What was read since `begin`."""

        self._loads: dict[Atom, set[int]] = {}

    def note_loads(self, log: EventLog) -> None:
        """Note where symbols were read from shared memory."""
        for event in log.events:
            for name in log.loaded.get(event.index, ()):
                self._loads.setdefault(name, set()).add(event.point)

    def follow(self, truth: Form) -> bool:
        """Follow the words that a predicate depends on; tell whether some of them were not followed before."""
        points = self._read_by(truth)
        self._words.points |= points
        return bool(points)

    def note_asked(self, truth: Form) -> bool:
        """Note the words that a question depends on; tell whether they are received, and were not followed before."""
        points = self._read_by(truth)
        reads = self._received.reads
        if reads.follows:
            reads.points |= points
            return bool(points)
        self._words.asked |= points
        return False

    def _read_by(self, truth: Form) -> set[int]:
        """Return where words were read that a predicate depends on and that are not followed."""
        if not truth.origin & FROM_SHARED:
            return set()
        loaded = (name for name in walk(truth.terms) if name.kind is Kind.SHARED)
        points = {point for name in loaded for point in self._loads.get(name, ())}
        return points - self._words.points - self._received.reads.points

    @property
    def told(self) -> tuple[tuple[Stored, ...], tuple[Read, ...]]:
        """What was stored and read since `begin`."""
        return tuple(self.stored), tuple(self.read_words)

    def begin(self, threads: ThreadSet) -> None:
        """Begin a node."""
        self.stored, self.read_words = [], []
        self._received.begin(threads)

    @property
    def may_park(self) -> bool:
        return False

    @may_park.setter
    def may_park(self, may: bool) -> None:
        """Nobody waits."""

    def pass_barrier(self, threads: ThreadSet) -> None:
        """Know nothing."""

    def end(self, threads: ThreadSet) -> None:
        """Know nothing."""

    def wait(self, threads: ThreadSet) -> None:
        """Know nothing."""

    def keep(self, point: int, address: int, size: int, value: Value, threads: ThreadSet) -> None:
        number = value if isinstance(value, int) else None
        self.stored.append(Stored(point, threads, address, size, number))

    def forget(self, point: int, threads: ThreadSet) -> None:
        """Know nothing: the product looks at every store to bytes of a word."""

    def read(
        self, point: int, instruction: Instruction, address: Value, guard: ThreadSet, offset: int
    ) -> Value | None:
        """Return what threads read at a point that is followed. Raises UnknownWordError, NotFollowedError."""
        if point in self._received.reads.points:
            return self._received.read(point, instruction, address, guard, offset)
        if point not in self._words.points:
            return None
        if isinstance(instruction.operands[0], Vector) or instruction.guard is not None:
            raise NotFollowedError("a word is read together with others, or by some threads", point)
        register = counter(point)
        found = np.zeros(self._threads, dtype=np.uint64)
        counts = np.zeros(self._threads, dtype=np.uint64)
        unknown = False
        for first in warps_of(guard, self._threads):
            held = guard & _WARP_MASK << first
            count = self._registers.read(register, held)
            if not isinstance(count, int | None):
                raise NotFollowedError("a warp has read a word in several ways", point)
            reader = Reader(self._rank, first // 32, point)
            known = self._words.expected.get(reader, ())
            number = known[count or 0] if (count or 0) < len(known) else None
            self.read_words.append(Read(reader, number))
            unknown |= number is None
            lanes = lanes_of(held, self._threads)
            found[lanes], counts[lanes] = number or 0, (count or 0) + 1
        if unknown:
            raise UnknownWordError
        self._registers.write(register, guard, settle(counts))
        return settle(found)
