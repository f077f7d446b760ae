"""In how many ways threads come to a block: where these are too many, numbers are given up.

Property: `note` and `check` return only where each block has at most so many valuations as are followed.

Argument: numbers that threads hold at a block in several ways become variables (`environments`), which nodes do not
tell apart. What is no number that a variable may be keeps nodes apart; where these are too many at the header of a
loop, the loop is kept, and then what varies most, and what varies half as much, is a symbol.

Not covered: how many ways there are in all.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Register
from ..symex.slice.sliced_program import Program
from ..symex.values.symbol import Form
from ..symex.values.trace import NotFollowedError, ThreadSet
from .journaled_sets import JournaledSets
from .kept_loops import Kept, RestartError
from .valuations import Key
from .variables import LARGEST, is_of_variables

_MOST_NUMBERS = 24
"""Valuations of one block and group of threads, for each residue: behind them numbers that differ are variables."""
_MOST_OF_LARGE = 4
"""The same, where threads come to more than `_LARGE` blocks and headers, each in all its ways."""
_LARGE = 400
_MANY = 6
"""Ways to a block behind which its numbers are variables as well, where those of another block are to be."""
_MOST_NODES = 96
"""Valuations of one header, for each residue, that differ in numbers: behind them what varies most is widened."""


class Ways:
    """The ways of one automaton."""

    def __init__(self, program: Program, kept: Kept) -> None:
        self._program = program
        self._kept = kept
        self._seen: JournaledSets[int, tuple[ThreadSet, int, Key]] = JournaledSets()
        """The ways to come to each block."""
        self._count: dict[tuple[int, ThreadSet], int] = {}
        self._values: dict[tuple[int, ThreadSet], dict[Register, set[object]]] = {}
        """What registers hold in the ways of a block, kept where these are too many."""

    def note(self, block: int, threads: ThreadSet, residue: int, key: Key) -> None:
        """Note a way. Raises RestartError where numbers are variables from now on."""
        if not self._seen.add(block, (threads, residue, key)):
            return
        count = self._count[block, threads] = self._count.get((block, threads), 0) + 1
        most = _MOST_NUMBERS if self._seen.count <= _LARGE else min(_MOST_NUMBERS, _MOST_OF_LARGE)
        if count > most * self._kept.modulus:
            self._let_vary(block, threads, key)

    @property
    def count(self) -> int:
        """How many ways were noted."""
        return self._seen.count

    def forget_since(self, count: int) -> None:
        """Forget all ways but the first."""
        for block, (threads, _, _) in self._seen.since(count):
            self._count[block, threads] -= 1
            self._values.pop((block, threads), None)
        self._seen.forget_since(count)

    def check(self, header: int) -> None:
        """Check that there are not too many for the header of a loop. Raises RestartError, NotFollowedError."""
        seen, kept = self._seen.of(header), self._kept
        if len(seen) <= _MOST_NODES * kept.modulus:
            return
        if header not in kept.opened:
            kept.opened.add(header)
            raise RestartError((header,))
        values: dict[Register, set[object]] = {}
        for _, _, key in seen:
            _add(key, values)
        most = max(len(each) for each in values.values())
        widened = kept.widened.setdefault(header, set())
        varying = {register for register, each in values.items() if 2 * len(each) >= most} - widened
        if varying:
            widened |= varying
            raise RestartError((header,))
        start = self._program.cfg.blocks[header].start
        raise NotFollowedError("too many ways to begin a round of a loop", start)

    def widen(self, header: int) -> None:
        """Widen what threads hold at the header of a loop in several forms that are no numbers.

        Raises RestartError where there is something.
        """
        values: dict[Register, set[object]] = {}
        for _, _, key in self._seen.of(header):
            _add(key, values)
        widened = self._kept.widened.setdefault(header, set())
        growing = {register for register, each in values.items() if _are_forms(each)} - widened
        if growing:
            widened |= growing
            raise RestartError((header,))

    def _let_vary(self, block: int, threads: ThreadSet, key: Key) -> None:
        """Let the registers that hold several numbers at a block be variables. Raises RestartError."""
        values = self._values.get((block, threads))
        if values is None:
            values = self._values[block, threads] = {}
            for each, _, earlier in self._seen.of(block):
                if each == threads:
                    _add(earlier, values)
        else:
            _add(key, values)
        varying = self._varying(block, values)
        if varying:
            self._kept.variables.setdefault(block, set()).update(varying)
            raise RestartError((block, *self._let_others_vary(block)))

    def _varying(self, block: int, values: dict[Register, set[object]]) -> list[Register]:
        varying = self._kept.variables.get(block, set())
        return [
            register
            for register, each in values.items()
            if len(each) > 1 and register not in varying
            if self._kept.may_vary(block, register) and all(map(is_number, each))
        ]

    def _let_others_vary(self, block: int) -> Iterator[int]:
        """Let registers vary in front of blocks that threads come to in many ways already; yield the blocks.

        What is built anew for one block is built anew for all of them at once.
        """
        for (other, threads), count in sorted(self._count.items()):
            if other == block or count <= _MANY * self._kept.modulus:
                continue
            values: dict[Register, set[object]] = {}
            for each, _, key in self._seen.of(other):
                if each == threads:
                    _add(key, values)
            varying = self._varying(other, values)
            if varying:
                self._kept.variables.setdefault(other, set()).update(varying)
                yield other


def _add(key: Key, values: dict[Register, set[object]]) -> None:
    for register, pieces in key:
        values.setdefault(register, set()).add(pieces)


def _are_forms(values: set[object]) -> bool:
    """Tell whether several of these are forms that are no numbers of variables."""
    forms = 0
    for pieces in values:
        assert isinstance(pieces, tuple)
        forms += any(isinstance(value, Form) and not is_of_variables(value) for _, value in pieces)
    return forms > 1


def is_number(pieces: object) -> bool:
    """Tell whether each of some threads holds a number that a variable may be."""
    assert isinstance(pieces, tuple)
    return all(
        (isinstance(value, int) and value < LARGEST) or (isinstance(value, Form) and is_of_variables(value))
        for _, value in pieces
    )
