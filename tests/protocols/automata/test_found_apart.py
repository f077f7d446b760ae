"""What threads of a group find apart: symbols that differ in a later round, at joins, and in single threads."""

from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.ir import Register
from ptxcheck.protocols.automata.joins import with_others
from ptxcheck.protocols.automata.kept_loops import Kept, RestartError
from ptxcheck.protocols.automata.naming_decider import NamingDecider
from ptxcheck.protocols.automata.parted_names import Parting, told_apart
from ptxcheck.protocols.automata.round_names import ordinal
from ptxcheck.protocols.automata.valuations import Valuation, decided, united
from ptxcheck.protocols.automata.variables import variable
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import add, compare
from ptxcheck.protocols.symex.values.symbol import LANE, WARP, Form, Value, atom
from ptxcheck.protocols.symex.values.trace import NotFollowedError

from ..corpus_runs import view_of

TURN = Register("turn")
HEAD = 3
WARPS = 0xFFFFFFFF, 0xFFFFFFFF << 32
LANES = np.arange(64, dtype=np.uint64)
CFG = view_of("roles/rounds_of_two_warps").cfg
LOOP = next(iter(CFG.loops))
BEHIND = next(block for block in CFG.successors[LOOP.header] if block not in LOOP.blocks)


def test_a_symbol_differs_wherever_it_did_once() -> None:
    kept = Kept()
    assert kept.differs(HEAD, TURN, [(WARPS[0], 0)]) == 0
    before = kept.size
    with pytest.raises(RestartError):
        kept.differs(HEAD, TURN, [(WARPS[0], LANES)])
    assert kept.size != before, "automata of other CTAs are built anew, too"
    assert kept.differs(HEAD, TURN, [(WARPS[0], 0)]) == LANE | WARP
    assert kept.differs(HEAD + 1, TURN, [(WARPS[0], 0)]) == 0


def test_several_values_at_once_differ() -> None:
    assert Kept().differs(HEAD, TURN, [(WARPS[0], 0), (WARPS[1], 1)]) == WARP
    assert Kept().differs(HEAD, TURN, [(1, 0), (WARPS[0] - 1, 1)]) & LANE
    assert Kept().differs(HEAD, TURN, [(WARPS[0], LANES), (WARPS[1], 1)]) == LANE | WARP


def _met(left: Value, right: Value, passed: frozenset[int], held: Valuation) -> list[Value]:
    groups = [(WARPS[0], {TURN: [(WARPS[0], left)]}), (WARPS[1], {TURN: [(WARPS[1], right)]})]
    parting = Parting(CFG, LOOP.header, BEHIND, held, passed)
    return [value for _, value in united(told_apart(groups, parting))[TURN]]


def test_rounds_that_threads_made_apart_are_two_numbers() -> None:
    one, other = _met(ordinal(LOOP.header), ordinal(LOOP.header), frozenset({LOOP.header}), {})
    assert one != other
    again = _met(ordinal(LOOP.header), ordinal(LOOP.header), frozenset(), {})
    assert again == [ordinal(LOOP.header)] * 2, "nobody began a further round"


def test_what_was_found_before_threads_parted_is_one_number() -> None:
    found = atom(Kind.RESULT, 5, 5, differs=0)
    held: Valuation = {TURN: [(WARPS[0] | WARPS[1], found)]}
    assert _met(found, found, frozenset(), held) == [found] * 2
    for passed, before in ((frozenset[int](), {}), (frozenset({LOOP.header}), held)):
        one, other = _met(found, found, passed, before)
        assert one != other


def test_a_number_of_threads_that_do_not_come_by_an_edge_is_that_of_the_others() -> None:
    """A phase that is one for a warp stays so where one of its lanes has arrived by itself."""
    other, ring = Register("other"), Register("ring")
    lane, rest = variable(HEAD, TURN, 1), variable(HEAD, TURN, WARPS[0] - 1)
    unknown = variable(HEAD, other, WARPS[0] - 1)
    own = {lane: Form(((variable(1, ring, 1), 1),))}
    found = dict(with_others(own, [lane, rest, unknown]))
    assert found == {lane: own[lane], rest: own[lane], unknown: 0}


def test_who_begins_a_further_round_does_not_meet_the_others_in_it() -> None:
    inside = next(iter(LOOP.blocks - {LOOP.header}))
    with pytest.raises(NotFollowedError):
        Parting(CFG, inside, inside, {}, frozenset({LOOP.header})).check()
    Parting(CFG, inside, BEHIND, {}, frozenset({LOOP.header})).check()


def test_a_predicate_of_one_thread_says_nothing_of_another() -> None:
    """Each thread has read a number of its own; all have one text for it."""
    number = atom(Kind.STRONG, 8, 32, differs=LANE | WARP)
    truth = compare(".eq", number, 1, 32, signed_operands=True)
    assert isinstance(truth, Form)
    decider = NamingDecider(64)
    first = decider.named(truth, 1)
    assert isinstance(first, Form)
    assert not first.differs
    assert decider.named(truth, 3) is None
    decider.answers = {first: True}
    assert decider.known(truth, 1) == 1
    assert decider.known(truth, 2) is None
    registers: Valuation = {TURN: [(1, truth), (2, truth), (12, truth)]}
    after = decided(registers, first, True, 64, decider.named)
    assert after[TURN] == [(1, 1), (2, truth), (12, truth)]


def test_lanes_of_a_warp_have_one_name_for_what_differs_between_warps_alone() -> None:
    number = add(atom(Kind.LOAD, 8, 32), atom(Kind.SHARED, 4, 32, differs=WARP), 32)
    assert isinstance(number, Form)
    decider = NamingDecider(64)
    assert decider.named(number, WARPS[0]) == decider.named(number, 4)
    assert decider.named(number, WARPS[0]) != decider.named(number, WARPS[1])
