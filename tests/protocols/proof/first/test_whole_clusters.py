"""What CTAs of a cluster have decided where only their places part the questions."""

from __future__ import annotations

from ptxcheck.protocols.proof.first.whole_clusters import Ways
from ptxcheck.protocols.symex.values.symbol import Atom, Condition, Form, atom

N = atom("param", "n", 0, 4)
M = atom("param", "m", 0, 4)


def test_ctas_of_a_cluster_follow_each_other_in_orders_only_where_their_places_differ() -> None:
    place = atom("special", "%clusterid.x").terms[0]
    ways = Ways()
    first = Condition("lt", Form((*N.terms, (place[0], -2))), 1)
    ways.note(7, 0, first, False)
    assert ways.agreed(7, 1, Condition("lt", Form((*N.terms, (place[0], -2)), -1), 1)) is False
    assert ways.agreed(7, 1, Condition("lt", Form((*M.terms, (place[0], -2)), -1), 1)) is None
    assert ways.agreed(8, 1, Condition("lt", Form((*N.terms, (place[0], -2)), -1), 1)) is None


def test_ctas_of_a_cluster_follow_each_other_where_a_division_leaves_out_their_place() -> None:
    place, (count, _) = atom("special", "%clusterid.x").terms[0][0], N.terms[0]

    def tile(rank: int, *, divided: bool = True) -> Form:
        own = Atom(("sum", ((place, 2),), rank))
        high = Atom(("mulhi", own, count, 32, 0)) if divided else Atom(("mul", own, count))
        size = Atom(("load", Atom(("sum", ((high, 4),), 64)), 32))
        return Form(((Atom(("mul", *sorted((size, high), key=lambda each: each.digest))), 1),))

    ways = Ways()
    ways.note(7, 0, Condition("lt", tile(0), 1), False)
    assert ways.agreed(7, 1, Condition("lt", tile(1), 1)) is False
    ways.note(8, 0, Condition("eq", tile(0), 3), True)
    assert ways.agreed(8, 1, Condition("eq", tile(1), 3)) is True
    ways.note(6, 0, Condition("eq", Form(((place, 2),)), 0), True)
    assert ways.agreed(6, 1, Condition("eq", Form(((place, 2),), 1), 0)) is None
    assert ways.agreed(7, 1, Condition("lt", Form(tile(1).terms, 4), 1)) is None
    ways.note(9, 0, Condition("lt", tile(0, divided=False), 1), False)
    assert ways.agreed(9, 1, Condition("lt", tile(1, divided=False), 1)) is None
