"""Registers of a group of threads where control comes to a block: restricted to what matters, and comparable.

Property: two valuations with one key hold the same in all registers that are live, for all threads of the group.

Argument: registers that nothing reads before it is written are dropped, so are other threads; pieces with one value
are one piece.

Not covered: registers outside the slice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from ...ir import Register
from ..symex.values.lane_arithmetic import negate
from ..symex.values.register_file import Piece, lanes_of
from ..symex.values.substitution import Restated, is_predicate
from ..symex.values.symbol import CHOSEN, Form, Value
from ..symex.values.trace import ThreadSet
from .plain_truths import plain
from .received_values import received_in

Valuation: TypeAlias = Mapping[Register, list[Piece]]
Key: TypeAlias = tuple[tuple[Register, tuple[tuple[ThreadSet, object], ...]], ...]


def restricted(contents: Valuation, live: Collection[Register], threads: ThreadSet, count: int) -> Valuation:
    """Return what some threads hold in the registers that are live."""
    found: dict[Register, list[Piece]] = {}
    for register in live:
        pieces = contents.get(register)
        if not pieces:
            continue
        kept = list(_merged(pieces, threads, count))
        if kept:
            found[register] = kept
    return found


def _merged(pieces: list[Piece], threads: ThreadSet, count: int) -> Iterator[Piece]:
    """Yield the pieces of some threads, those with one value together."""
    if len(pieces) == 1:
        held = pieces[0][0] & threads
        if held:
            yield held, _settled(pieces[0][1], held, count)
        return
    known: dict[object, tuple[ThreadSet, Value]] = {}
    arrays: list[Piece] = []
    for mask, value in pieces:
        held = mask & threads
        if not held:
            continue
        value = _settled(value, held, count)
        if isinstance(value, np.ndarray):
            arrays.append((held, value))
            continue
        before = known.get(value)
        known[value] = (held, value) if before is None else (held | before[0], value)
    if len(arrays) > 1 or (arrays and any(isinstance(v, int) for _, v in known.values())):
        numbers = [piece for piece in known.values() if isinstance(piece[1], int)]
        total, merged = 0, np.zeros(count, dtype=np.uint64)
        for held, value in (*arrays, *numbers):
            assert not isinstance(value, Form)
            lanes = lanes_of(held, count)
            merged[lanes] = value if isinstance(value, int) else value[lanes]
            total |= held
        arrays = [(total, merged)]
        known = {key: piece for key, piece in known.items() if not isinstance(piece[1], int)}
    yield from sorted((*known.values(), *arrays), key=lambda piece: piece[0] & -piece[0])


def _settled(value: Value, held: ThreadSet, count: int) -> Value:
    """Return a value with nothing in other threads, the uniform number where all hold one."""
    if not isinstance(value, np.ndarray):
        return value
    lanes = lanes_of(held, count)
    chosen = value[lanes]
    if (chosen == chosen[0]).all():
        return int(chosen[0])
    return np.where(lanes, value, np.uint64(0))


def key_of(valuation: Valuation) -> Key:
    """Return what is equal for equal valuations."""
    return tuple(
        (register, tuple((held, _key(value)) for held, value in valuation[register]))
        for register in sorted(valuation)
    )


def _key(value: Value) -> object:
    return value.tobytes() if isinstance(value, np.ndarray) else value


def decided(
    valuation: Valuation,
    truth: Form,
    answer: bool,
    threads: int,
    named: Callable[[Form, ThreadSet], Value | None],
) -> Valuation:
    """Return a valuation in which a predicate is answered: it is a number.

    `named` gives the name that a predicate has in some threads, None where it may be another one in each of them.

    Choices by what was received are made, as they would name values that were received before. All others stay as they
    are: sides that meet again have one name for them.
    """
    truths = {truth: answer}
    opposite = negate(truth)
    if isinstance(opposite, Form):
        truths[opposite] = not answer
    choices = Restated(truths.get, threads, {})
    makes_choices = any(received_in(truth))

    def settled(value: Value, held: ThreadSet) -> Value:
        if not isinstance(value, Form):
            return value
        made: Value | None = plain(value) if value.origin & CHOSEN and is_predicate(value) else value
        if isinstance(made, Form) and made.differs:
            made = named(made, held) if is_predicate(made) else None
        known = truths.get(made) if isinstance(made, Form) else None
        if known is not None:
            return int(known)
        return choices.of(value) if makes_choices and value.origin & CHOSEN else value

    return {
        register: [(held, settled(value, held)) for held, value in pieces]
        for register, pieces in valuation.items()
    }


def united(sides: Collection[tuple[ThreadSet, Valuation]]) -> Valuation:
    """Return what several groups of threads hold together."""
    found: dict[Register, list[Piece]] = {}
    for threads, valuation in sides:
        for register, pieces in valuation.items():
            found.setdefault(register, []).extend((m & threads, v) for m, v in pieces if m & threads)
    return found
