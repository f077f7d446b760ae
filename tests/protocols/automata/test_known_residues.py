"""Values with known residues are what numbers with these residues make of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.automata.known_residues import KnownResidues, Residue
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import FROM_GLOBAL, Atom, Form, Value, atom

SIZE = atom(Kind.PARAM, "n", 0, 4)
NAME = SIZE.terms[0][0]
ROUND = atom(Kind.ORDINAL, 1)
LOADED = atom(Kind.LOAD, NAME)
WORD = (1 << 32) - 1


def masked(value: Value, mask: int) -> Value:
    return lanes.bitwise(Op.AND, value, mask)


def stated(value: Value, modulus: int, number: int) -> Value:
    known = KnownResidues({NAME: Residue(modulus, number % modulus)})
    return known.stated(value, 1, lambda _: number >> 31 == 1)


NUMBERS = some.one_of(some.integers(0, 200), some.integers(0, WORD))


@given(NUMBERS, some.sampled_from([2, 4, 8]), some.integers(-9, 9), some.sampled_from([1, 3, -1]))
def test_low_bits_are_numbers(number: int, size: int, offset: int, factor: int) -> None:
    value = masked(Form(((NAME, factor),), offset), size - 1)
    assert stated(value, 8, number) == factor * number + offset & size - 1


@given(NUMBERS, some.sampled_from([2, 4, 8]), some.sampled_from([WORD, WORD >> 1]), some.integers(0, 60))
def test_what_is_left_is_the_number_without_them(number: int, size: int, kept: int, turn: int) -> None:
    value = lanes.subtract(masked(SIZE, kept & ~(size - 1)), turn * size, 32)
    found = stated(value, 8, number)
    assert isinstance(found, Form)
    assert [name for name, _ in found.terms] == [NAME]
    at = with_pins(found, {NAME: number - (1 << 32) if number >> 31 else number}, 1)
    assert isinstance(at, int)
    assert at & WORD == (number & kept & ~(size - 1)) - turn * size & WORD


def test_nothing_is_said_where_the_sign_is_cleared_and_not_known() -> None:
    value = masked(SIZE, 0x7FFFFFFC)
    known = KnownResidues({NAME: Residue(4, 1)})
    assert known.stated(value, 1, lambda _: None) == value
    assert isinstance(value, Form)
    assert list(known.of_open_sign(value)) == [SIZE]


def test_rounds_that_are_multiples_of_the_mask_do_not_matter() -> None:
    value = masked(lanes.subtract(SIZE, lanes.multiply(ROUND, 4, 32), 32), 3)
    assert stated(value, 4, 7) == 3


def test_what_is_asked_for() -> None:
    asked = KnownResidues({NAME: Residue(2, 1)})
    asked.ask(masked(SIZE, 1))
    assert not asked.asked
    asked.ask(lanes.subtract(masked(SIZE, 3), 1, 32))
    assert asked.asked == {NAME: 4}


def test_numbers_that_are_loaded_or_counted_are_not_asked_for() -> None:
    assert LOADED.origin & FROM_GLOBAL
    asked = KnownResidues()
    for value in (masked(LOADED, 3), masked(lanes.add(SIZE, ROUND, 32), 3), masked(SIZE, 5)):
        asked.ask(value)
    assert not asked.asked


OF_STRANDS = (
    Kind.VARIABLE, Kind.WIDENED, Kind.CARRIED, Kind.PHI, Kind.ROUNDS, Kind.TURN, Kind.LOOP, Kind.RESULT, Kind.RECEIVED,
    Kind.SHARED, Kind.LOAD, Kind.VOLATILE, Kind.LANE, Kind.SHFL, Kind.VOTE, Kind.OF, Kind.UNKNOWN, Kind.UNDEFINED,
)  # fmt: skip


@pytest.mark.parametrize("kind", OF_STRANDS)
def test_what_strands_have_of_their_own_is_no_number_of_the_host(kind: Kind) -> None:
    """A variable of a strand was taken for one: each strand has its own, and each case had one for all."""
    own = Atom((kind, 5, "tries"), 0)
    asked = KnownResidues()
    asked.ask(masked(Form(((own, 1),), 0), 1))
    assert not asked.asked
