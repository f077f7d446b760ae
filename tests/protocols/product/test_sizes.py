"""Parameters with which threads may come to where the product finds them stuck."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ptxcheck.protocols.product.congruences import Congruence
from ptxcheck.protocols.product.intervals import Interval
from ptxcheck.protocols.product.questions import Terms
from ptxcheck.protocols.product.sizes import empty_sizes, sizes_of
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import key_of
from ptxcheck.protocols.symex.values.symbol import Atom, Form, atom
from ptxcheck.terms.effort import Effort

N = atom(Kind.PARAM, "n", 0, 4).terms[0][0]
M = atom(Kind.PARAM, "m", 0, 4).terms[0][0]
TILES = atom(Kind.SHR, N, 7, 32).terms[0][0]


def sizes(
    *known: tuple[Terms, Interval],
    answers: Sequence[tuple[Form, bool]] = (),
    congruences: dict[Terms, Congruence] | None = None,
) -> dict[str, int]:
    found = sizes_of(known, answers, congruences or {}, Effort(1_000_000))
    return {str(name[1]): number for name, number in found.items()}


@pytest.mark.parametrize(
    ("tiles", "least", "most"),
    [
        (Interval(0, 0), 1, 127),
        (Interval(3, 3), 384, 511),
        (Interval(None, 2, frozenset({0, 1})), 256, 383),
        (Interval(17), 17 * 128, (1 << 31) - 1),
    ],
)
def test_a_quotient_tells_of_what_is_divided(tiles: Interval, least: int, most: int) -> None:
    assert least <= sizes((((TILES, 1),), tiles))["n"] <= most


def test_all_that_is_known_of_one_number_holds_of_it() -> None:
    known = (((N, 1),), Interval(130)), (((TILES, 1),), Interval(1, 1))
    assert 130 <= sizes(*known)["n"] <= 255


def test_a_sum_of_two() -> None:
    found = sizes((((N, 1), (M, 1)), Interval(9, 9)), (((M, 1),), Interval(4, 4)))
    assert found == {"n": 5, "m": 4}


def test_nothing_where_numbers_contradict_each_other() -> None:
    both = (((N, 1), (M, 1)), Interval(9, 9)), (((N, 1), (M, 1)), Interval(8, 8))
    assert sizes(*both) == {}


def test_lone_numbers_are_told_where_others_are_not_found() -> None:
    assert sizes((((TILES, 1),), Interval(5, 4)), (((M, 1),), Interval(4, 4))) == {"m": 4}


def test_none_is_negative() -> None:
    assert sizes((((N, 1),), Interval(None, -1))) == {}
    assert sizes((((N, 1), (M, 1)), Interval(None, -1)), (((M, 1),), Interval(0, 0))) == {}


def test_residues_of_lone_numbers() -> None:
    terms = ((N, 1),)
    assert sizes((terms, Interval(6)), congruences={terms: Congruence(4, 1)}) == {"n": 9}


@pytest.mark.parametrize("is_odd", [False, True])
def test_answers_to_predicates(is_odd: bool) -> None:
    odd = atom(Kind.AND, N, 1, 32)
    found = sizes((((TILES, 1),), Interval(2, 2)), answers=[(odd, is_odd)])
    assert 256 <= found["n"] < 384
    assert found["n"] % 2 == is_odd


def test_answers_that_contradict_the_rest_are_left_out() -> None:
    found = sizes((((TILES, 1),), Interval(2, 2)), answers=[(atom(Kind.CMP, ".lt", ((N, 1),), 0), True)])
    assert 256 <= found["n"] < 384


def test_a_quotient_that_is_rounded_up_tells_that_there_is_nothing() -> None:
    steps = Form(((N, 1),), 63)
    rounded = Atom((Kind.SAR, key_of(steps), 6, 32))
    assert empty_sizes([(((rounded, 1),), Interval(None, 0))], {}) == {N}
    assert empty_sizes([(((rounded, 1),), Interval(None, 1))], {}) == set()
    whole = Atom((Kind.SAR, N, 6, 32))
    assert empty_sizes([(((whole, 1),), Interval(None, 0))], {}) == set(), "less than one step is some work"
