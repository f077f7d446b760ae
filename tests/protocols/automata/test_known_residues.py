"""Values with known residues are what numbers with these residues make of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.automata.known_residues import KnownResidues, Residue, combined
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


@given(NUMBERS, some.sampled_from([2, 4, 8]), some.integers(-99, 99), some.sampled_from([1, 3, -1]))
def test_bits_of_a_multiple_are_low_bits_of_the_number(
    number: int, size: int, offset: int, factor: int
) -> None:
    """As compilers compute the offset of a slot: `(stage + n << 3) & 56`."""
    mask = (size - 1) * 8
    value = masked(Form(((NAME, 8 * factor),), offset), mask)
    assert stated(value, 8, number) == 8 * factor * number + offset & mask


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


def natural(form: Form) -> bool | None:
    """Nothing is negative but what is less than nothing."""
    return None if form.constant < 0 else False


def quotient(number: Value, divisor: int) -> Value:
    """Return the quotient by 3, 5 or 7 as compilers compute it, for numbers of 32 bits."""
    if divisor != 7:
        factor = {3: 0xAAAAAAAB, 5: 0xCCCCCCCD}[divisor]
        return lanes.shift_right(
            lanes.multiply_high(number, factor, 32, signed_operands=False), divisor // 2, 32, arithmetic=False
        )
    high = lanes.shift_right(lanes.multiply(number, 613566757, 64), 32, 64, arithmetic=False)
    half = lanes.shift_right(lanes.subtract(number, high, 32), 1, 32, arithmetic=False)
    return lanes.shift_right(lanes.add(half, high, 32), 2, 32, arithmetic=False)


def rest(number: Value, divisor: int) -> Value:
    return lanes.subtract(number, lanes.multiply(quotient(number, divisor), divisor, 32), 32)


STAGE = atom(Kind.VARIABLE, 3, "stage", "0", "0x1", differs=0)
DIVISORS = some.sampled_from([3, 5, 7])
FEW = some.integers(0, 200)


def known(divisor: int, number: int) -> KnownResidues:
    return KnownResidues({NAME: Residue(2 * divisor, number % (2 * divisor))})


@given(FEW, DIVISORS, some.integers(0, 20), some.sampled_from([1, 2, 3]), some.integers(1, 64))
def test_rests_of_divisions(number: int, divisor: int, constant: int, factor: int, scale: int) -> None:
    value = Form(((NAME, factor),), constant)
    asked = lanes.add(lanes.multiply(rest(value, divisor), scale, 32), 7, 32)
    found = known(divisor, number).stated(asked, 1, natural)
    bits = factor * ((1 << 31) - 1) + constant  # a multiple of a parameter may be no word any more
    assert found == (asked if bits > WORD else (factor * number + constant) % divisor * scale + 7)


@given(FEW, DIVISORS, some.integers(0, 20))
def test_low_bits_of_quotients(number: int, divisor: int, constant: int) -> None:
    asked = masked(quotient(Form(((NAME, 1),), constant), divisor), 1)
    assert known(divisor, number).stated(asked, 1, natural) == (number + constant) // divisor & 1


@given(FEW, DIVISORS, some.integers(0, 9))
def test_a_stage_that_is_moved(number: int, divisor: int, stage: int) -> None:
    moved = lanes.add(STAGE, SIZE, 32)
    residues, at = known(divisor, number), {STAGE.terms[0][0]: stage}
    for asked, wanted in (
        (rest(moved, divisor), (stage + number) % divisor),
        (masked(quotient(moved, divisor), 1), (stage + number) // divisor & 1),
    ):
        found = residues.stated(asked, 1, natural)
        assert isinstance(found, Form)
        assert NAME not in {name for name, _ in found.terms}
        assert with_pins(found, at, 1) == wanted


@given(FEW, DIVISORS, some.integers(0, 9))
def test_a_stage_that_is_moved_is_compared(number: int, divisor: int, stage: int) -> None:
    moved = lanes.add(STAGE, SIZE, 32)
    below = lanes.compare(".lo", moved, divisor, 32, signed_operands=False)
    found = known(divisor, number).stated(below, 1, natural)
    assert isinstance(found, Form)
    assert with_pins(found, {STAGE.terms[0][0]: stage, NAME: number}, 1) == int(stage + number < divisor)


@pytest.mark.parametrize("number", [0, 1, 13, 14, 28])
def test_one_less_than_a_size(number: int) -> None:
    less = Form(((NAME, 1),), -1)
    residues = known(7, number)
    is_open = number % 14 == 0
    assert list(residues.of_open_rest(rest(less, 7), natural)) == ([less] if is_open else [])  # type: ignore[arg-type]
    if is_open:
        assert residues.stated(rest(less, 7), 1, lambda form: form.constant < 0) == WORD % 7
        assert residues.stated(rest(less, 7), 1, lambda _: False) == 6
    else:
        assert residues.stated(rest(less, 7), 1, natural) == (number - 1) % 7


def test_nothing_is_said_of_a_division_where_the_sign_is_not_known() -> None:
    value = rest(SIZE, 3)
    assert known(3, 4).stated(value, 1, lambda _: None) == value
    assert isinstance(value, Form)
    assert list(known(3, 4).of_open_rest(value, lambda _: None)) == [SIZE]


def test_what_is_asked_for_by_divisions() -> None:
    asked = KnownResidues()
    asked.ask(rest(SIZE, 3))
    assert asked.asked == {NAME: 3}
    asked.ask(masked(quotient(SIZE, 3), 1))
    assert asked.asked == {NAME: 6}
    asked.ask(rest(lanes.add(STAGE, SIZE, 32), 5))
    assert asked.asked == {NAME: 6}  # 30 are too many


@given(FEW, DIVISORS, some.integers(0, 9), some.integers(0, 9))
def test_what_is_not_negative_leaves_no_negative_rest(
    number: int, divisor: int, stage: int, less: int
) -> None:
    moved = lanes.add(lanes.subtract(SIZE, less, 32), STAGE, 32)
    found = known(divisor, number).stated(rest(moved, divisor), 1, lambda _: False)
    assert isinstance(found, Form)
    if number + stage >= less:
        assert with_pins(found, {STAGE.terms[0][0]: stage}, 1) == (number + stage - less) % divisor


@pytest.mark.parametrize(
    ("divisor", "constant", "factor", "is_taken"),
    [
        (3, 0, 1, False),
        (3, -1, 1, False),
        (3, 0, 2, False),
        (7, 0, 1, False),
        (7, -1, 1, True),
        (7, 0, 2, True),
    ],
)
def test_what_is_taken_for_a_number_that_is_not_negative(
    divisor: int, constant: int, factor: int, is_taken: bool
) -> None:
    """By 7 a wide product divides here, and it is not known whether the number was extended as a signed one."""
    value = rest(Form(((NAME, factor),), constant), divisor)
    assert isinstance(value, Form)
    residues = known(divisor, 0)
    assert residues.takes_for_natural(value, lambda form: form.constant < 0) is is_taken


def test_a_rest_with_something_taken_away_is_a_word() -> None:
    """It was a number of 64 bits, of which a high product is another one."""
    less = lanes.subtract(rest(SIZE, 5), 2, 32)
    assert known(5, 10).stated(less, 1, natural) == WORD - 1
    high = lanes.multiply_high(less, 0xAAAAAAAB, 32, signed_operands=False)
    assert known(5, 10).stated(high, 1, natural) == (WORD - 1) * 0xAAAAAAAB >> 32
    assert known(5, 13).stated(less, 1, natural) == 1


@given(
    NUMBERS, some.integers(1, 3), some.sampled_from([1, 2, 4]), some.integers(-9, 9), some.booleans(),
)  # fmt: skip
def test_low_bits_of_what_was_shifted(
    number: int, bits: int, size: int, offset: int, arithmetic: bool
) -> None:
    """Whatever the sign of the number, and whether the sum wraps around: the bits below it are those of its residue."""
    value = masked(lanes.shift_right(Form(((NAME, 1),), offset), bits, 32, arithmetic=arithmetic), size - 1)
    assert stated(value, size << bits, number) == (number + offset & WORD) >> bits & size - 1


def test_a_shifted_sum_is_not_known_where_a_bit_of_it_is_not() -> None:
    value = masked(lanes.shift_right(Form(((NAME, 1),), 3), 2, 32, arithmetic=False), 1)
    assert stated(value, 4, 5) == value
    known = KnownResidues({NAME: Residue(8, 5)})
    known.ask(value)
    assert not known.asked
    assert known.stated(value, 1, lambda _: None) == 0


def test_a_quotient_is_not_asked_for_beside_what_is_divided() -> None:
    quotient = lanes.shift_right(SIZE, 2, 32, arithmetic=False)
    assert isinstance(quotient, Form)
    ((shifted, _),) = quotient.terms
    assert combined({NAME: 4, shifted: 2}) == {NAME: 8}
    assert combined({NAME: 3, shifted: 2}) == {NAME: 3, shifted: 2}, "24 are more than are told apart"
    assert combined({shifted: 2}) == {shifted: 2}
    assert combined({NAME: 4, shifted: 3}) == {NAME: 4, shifted: 3}, "of a negative number that is no residue"
