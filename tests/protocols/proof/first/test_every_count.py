"""Sides that no number of rounds leads to: what lies on a line, and what the solver says of the line."""

from __future__ import annotations

from ptxcheck.protocols.proof.first.every_count import Claims, Way, is_dead
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import Atom, Condition, Form

N = Atom(("param", "n", 0, 4))
COUNTS = (1, 2, 3, 5, 8)


def claim(relation: str, constant: int, bound: int, truth: bool = True) -> Claims:
    """Return that n + constant relates to bound, or does not."""
    return ((Condition(relation, Form(((N, 1),), constant), bound), truth),)


def dead(*ways: Way) -> bool:
    return is_dead(ways, SolverOracle().is_possible)


def test_a_counter_that_ends_where_the_loop_does_has_no_round_left() -> None:
    """After t rounds of two n is 2t + 1: nothing is left of it at 2t + 1."""
    ways = [Way(claim("eq", -2 * t, 1), claim("lt", 0, 2 * t + 2, truth=False)) for t in COUNTS]
    assert dead(*ways)
    assert not dead(*[Way((), way.claims) for way in ways])


def test_a_side_behind_larger_counts_is_not_dead() -> None:
    ways = [Way(claim("eq", -t, 0), claim("lt", 0, 100, truth=False)) for t in COUNTS]
    assert all(not SolverOracle().is_possible(way.all) for way in ways)
    assert not dead(*ways)


def test_numbers_that_lie_on_no_line_say_nothing() -> None:
    ways = [Way(claim("eq", -t * t, 0), claim("lt", 0, t * t + 1, truth=False)) for t in COUNTS]
    assert dead(*ways), "only the squares move, and each is one with its place on the line"
    ways = [Way(claim("eq", -t, 0), claim("lt", 0, t * t + 1, truth=False)) for t in COUNTS]
    assert not dead(*ways)


def test_two_counts_are_no_line() -> None:
    ways = [Way(claim("eq", -t, 0), claim("lt", 0, t + 1, truth=False)) for t in COUNTS]
    assert dead(*ways)
    assert not dead(*ways[:2])


def test_what_no_count_decides_is_asked_as_it_is() -> None:
    small = claim("lt", 0, 7)
    assert dead(Way((), (*small, *claim("lt", 0, 9, truth=False))))
    assert not dead(Way((), (*small, *claim("lt", 0, 5, truth=False))))


def test_every_kind_of_way_has_to_be_dead() -> None:
    ways = [Way(claim("eq", -t, 0), claim("lt", 0, t + 1, truth=False)) for t in COUNTS]
    assert not dead(*ways, Way((), claim("lt", 0, 5)))
    assert not dead()


def test_where_other_ways_go_on_the_rounds_of_a_way_are_all_there_is() -> None:
    """A loop that is not entered leaves n below 1: no side with n of two or more, but for those who did enter it."""
    far = claim("lt", 0, 2, truth=False)
    without = Way(claim("lt", 0, 1), far)
    entered = Way(claim("lt", 0, 2), (*claim("lt", 0, 1, truth=False), *far))
    goes_on = Way((), (*claim("lt", 0, 2, truth=False), *claim("lt", 0, 2)))
    assert dead(without, entered, goes_on)
    assert not dead(without), "nobody has entered it, and with how many rounds n is two is not known"
    assert not dead(without, entered), "nobody has gone round twice: the side itself is no such run"
    assert not dead(without, Way((), (*claim("lt", 0, 1, truth=False), *far)), goes_on), (
        "open for another way"
    )
    reached = Way(claim("lt", 0, 1), claim("lt", 0, 0))
    assert not dead(reached, entered, goes_on), "with no round, n may be below zero"


def test_an_end_that_has_nothing_to_do_with_the_side_need_not_go_on_elsewhere() -> None:
    """Five tiles are the most of any run: a side that no number of tiles leads to is dead all the same."""
    tiles = ((Condition("lt", Form(((Atom(("param", "m", 0, 4)), 1),)), 5), True),)
    impossible = (*claim("lt", 0, 2), *claim("lt", 0, 2, truth=False))
    assert dead(Way(tiles, impossible))
    assert not dead(Way(tiles, claim("lt", 0, 2, truth=False)))
