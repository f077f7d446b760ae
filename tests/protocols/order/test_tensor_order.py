"""Order of accesses of tensor memory: commits, waits, releases, allocations; addresses, shapes and layouts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.descriptors.matrix.accumulator import Accumulator, accumulator
from ptxcheck.descriptors.matrix.instruction import Kind, Shape
from ptxcheck.protocols.model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Columns,
    Rendezvous,
    TensorAccess,
    TensorWait,
    Wait,
)
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, WarpBarrier
from ptxcheck.protocols.model.tensor_address import (
    ABSOLUTE,
    ALL_COLUMNS,
    Allocation,
    TensorPlace,
    place_of,
)
from ptxcheck.protocols.order.axioms import PEER_RUNS
from ptxcheck.protocols.proof.search import examine
from ptxcheck.protocols.symex.values.known_bits import known_bits
from ptxcheck.protocols.symex.values.lane_arithmetic import (
    bitwise,
    opaque,
    pack,
    shift_left,
)
from ptxcheck.protocols.symex.values.symbol import Atom, Form, atom
from tests.protocols.building import EMPTY, FULL, flaws_of, meeting, protocol

ALL = 0xFF
D = Columns(0, 0, ALL, 0, 16)
OTHER = Columns(0, 0, ALL, 16, 16)
QUARTER = Columns(0, 0, 0b11, 0, 16)
NEXT_QUARTER = Columns(0, 0, 0b1100, 0, 16)
MULTIPLY = TensorAccess(0, "tcgen05", writes=(D,))
COMMIT = AsyncArrive(0, FULL, 1)
LOAD = TensorAccess(0, "tcgen05.ld", reads=(QUARTER,))
STORE = TensorAccess(0, "tcgen05.st", writes=(QUARTER,))
LOADED, STORED = TensorWait(0, "tcgen05.ld"), TensorWait(0, "tcgen05.st")
OWN = Allocation(0, 32)
WHOLE = Columns(0, 0, ALL, 0, 32)
COUNTS = {FULL: 1, EMPTY: 1}


def handed_over(epilogue: list[Action], *first: Action) -> set[Flaw]:
    """Multiply, commit, and multiply again into the same columns when they are handed back."""
    multiplier = [*(first or (MULTIPLY, COMMIT)), Wait(0, EMPTY, 0), MULTIPLY]
    return flaws_of(COUNTS, multiplier, epilogue)


def test_an_accumulator_is_handed_over_and_back() -> None:
    assert handed_over([Wait(0, FULL, 0), LOAD, LOADED, Arrive(0, EMPTY, 1)]) == set()


def test_an_accumulator_is_read_before_it_is_complete() -> None:
    found = handed_over([LOAD, LOADED, Wait(0, FULL, 0), Arrive(0, EMPTY, 1)])
    assert found
    assert found <= {Flaw.READ_TOO_EARLY, Flaw.OVERWRITE}


def test_a_commit_covers_what_was_issued_before_it() -> None:
    epilogue: list[Action] = [Wait(0, FULL, 0), LOAD, LOADED, Arrive(0, EMPTY, 1)]
    assert handed_over(epilogue, COMMIT, MULTIPLY) == {Flaw.READ_TOO_EARLY}


@pytest.mark.parametrize(
    "late", [[Arrive(0, EMPTY, 1), LOADED], [Arrive(0, EMPTY, 1)]], ids=["late", "never"]
)
def test_an_accumulator_is_handed_back_before_it_was_read(late: list[Action]) -> None:
    assert handed_over([Wait(0, FULL, 0), LOAD, *late]) == {Flaw.OVERWRITE}


def test_loads_that_are_waited_for_but_the_newest() -> None:
    older, newer = LOAD, TensorAccess(0, "tcgen05.ld", reads=(OTHER,))
    one_left = TensorWait(0, "tcgen05.ld", pending=1)
    assert handed_over([Wait(0, FULL, 0), older, newer, one_left, Arrive(0, EMPTY, 1)]) == set()
    assert handed_over([Wait(0, FULL, 0), newer, older, one_left, Arrive(0, EMPTY, 1)]) == {Flaw.OVERWRITE}


def test_other_columns_lanes_allocations_and_ctas_are_apart() -> None:
    for apart in (OTHER, Columns(0, 1, ALL, 0, 16), Columns(1, 0, ALL, 0, 16)):
        assert flaws_of({}, [MULTIPLY], [TensorAccess(0, "tcgen05.ld", reads=(apart,))]) == set()
    assert flaws_of({}, [STORE], [TensorAccess(0, "tcgen05.st", writes=(NEXT_QUARTER,))]) == set()
    assert flaws_of({}, [STORE], [STORE]) == {Flaw.WRITES_COLLIDE}


def test_a_thread_has_its_multiplications_in_order_and_another_does_not() -> None:
    assert flaws_of({}, [MULTIPLY, MULTIPLY]) == set()
    assert flaws_of({}, [MULTIPLY], [MULTIPLY]) == {Flaw.WRITES_COLLIDE}


def test_stores_are_over_when_they_were_waited_for() -> None:
    reads = TensorAccess(0, "tcgen05", reads=(D,))
    assert flaws_of({}, [STORE, STORED, meeting(2)], [meeting(2), reads]) == set()
    assert flaws_of({}, [STORE, meeting(2)], [meeting(2), reads]) == {Flaw.READ_TOO_EARLY}
    assert flaws_of({}, [STORE, STORED, LOAD]) == set()
    assert flaws_of({}, [STORE, LOAD]) == {Flaw.READ_TOO_EARLY}
    assert flaws_of({}, [LOAD, STORE]) == set()


def test_columns_are_freed_behind_their_readers() -> None:
    free = TensorAccess(0, "", writes=(D,))
    assert flaws_of({}, [LOAD, LOADED, meeting(2)], [meeting(2), free]) == set()
    assert flaws_of({}, [LOAD, meeting(2)], [meeting(2), free]) == {Flaw.OVERWRITE}
    assert flaws_of({}, [LOAD, LOADED], [free]) <= {Flaw.OVERWRITE, Flaw.READ_TOO_EARLY}


def test_lanes_that_come_together_for_a_load_share_what_they_waited_for() -> None:
    together = Rendezvous(0, WarpBarrier(0, 1, 0), 1, 2, True, orders=False)
    waiting: list[Action] = [Wait(0, FULL, 0), together]
    assert flaws_of({FULL: 1}, [MULTIPLY, COMMIT], waiting, [together, LOAD]) == set()


def test_what_is_not_known_is_taken_for_granted_and_said() -> None:
    nowhere = TensorAccess(0, "tcgen05.ld", reads=(Columns(0, 0, 0, -1, 0, exact=False),))
    outcome = examine(protocol({}, [MULTIPLY], [nowhere]))
    assert outcome.problems == ()
    (proviso,) = outcome.provisos
    assert "address is not known" in proviso.text
    part = TensorAccess(0, "tcgen05", reads=(Columns(0, 0, 1, 0, 1, exact=False),))
    assert examine(protocol({}, [part])).provisos
    fixed = TensorAccess(0, "tcgen05", reads=(Columns(0, ABSOLUTE, ALL, 0, 1),))
    assert any("fixed addresses" in each.text for each in examine(protocol({}, [MULTIPLY, fixed])).provisos)
    assert examine(protocol({}, [MULTIPLY])).provisos == ()


# -- addresses and descriptors


def read_from(place: int) -> Form:
    return atom("shared", place, 32, 0)


def test_an_address_counts_from_what_an_allocation_wrote() -> None:
    base = read_from(0x400)
    assert place_of(Form(base.terms, (32 << 16) + 8), {0x400: OWN}) == TensorPlace(OWN, 32, 8)
    assert place_of(Form(base.terms, 0x80), {0x400: ALL_COLUMNS}) == TensorPlace(ALL_COLUMNS, 0, 0x80)
    assert place_of(0x0060_0010, {}) == TensorPlace(ALL_COLUMNS, 0x60, 0x10)
    assert place_of(base, {0x404: OWN}) is None
    assert place_of(atom("param", "n", 0, 4), {0x400: OWN}) is None
    assert place_of(Form((*base.terms, *read_from(0x408).terms), 0), {0x400: OWN, 0x408: OWN}) is None


def test_the_id_of_scale_factors_is_no_part_of_the_place() -> None:
    address = Form(read_from(0x400).terms, -(1 << 31) + 0x108)
    assert place_of(address, {0x400: OWN}) == TensorPlace(OWN, 0, 0x108)


def test_bits_that_are_certain_whatever_a_symbol_is() -> None:
    from ptxcheck.opcodes.op import Op

    symbol = opaque("load", 0, 32)
    masked = bitwise(Op.AND, symbol, 0x30)
    assert known_bits(masked) == (0, ~0x30 & (1 << 64) - 1)
    ones, known = known_bits(bitwise(Op.OR, masked, 0x480))
    assert (ones, known & 0xFFF) == (0x480, 0xFCF)
    ones, known = known_bits(pack(16, [masked, 0x820]))
    assert (ones >> 16, known >> 16 & 0xFFFF) == (0x820, 0xFFFF)
    ones, known = known_bits(shift_left(masked, 4, 32))
    assert (ones, known & 0xFFF) == (0, 0xCFF)
    assert known_bits(symbol) == (0, 0)
    assert known_bits(Atom(("deep", "and"))) == (0, 0)


@pytest.mark.parametrize(
    ("shape", "m", "n", "wanted"),
    [
        (Shape(Kind.F16), 128, 256, Accumulator(256, True)),
        (Shape(Kind.F16), 64, 128, Accumulator(128, False)),
        (Shape(Kind.F16, pair=True), 256, 128, Accumulator(128, True)),
        (Shape(Kind.F16, pair=True), 128, 128, Accumulator(64, True)),
        (Shape(Kind.F16, pair=True, sparse=True), 128, 128, Accumulator(128, False)),
        (Shape(Kind.F16, weight_stationary=True), 32, 128, Accumulator(32, True)),
        (Shape(Kind.F16, weight_stationary=True), 64, 128, Accumulator(64, True)),
        (Shape(Kind.F16), 256, 128, None),
    ],
)
def test_layouts_of_accumulators(shape: Shape, m: int, n: int, wanted: Accumulator | None) -> None:
    assert accumulator(shape, m, n) == wanted


# -- places that a kernel does not have


def test_a_fault_of_an_access_is_reported_with_its_kind() -> None:
    assert flaws_of({}, [TensorAccess(0, "tcgen05.ld", reads=(D,), fault="behind")]) == {
        Flaw.OUTSIDE_ALLOCATION
    }
    assert flaws_of({}, [TensorAccess(0, "", writes=(D,), fault="a part")]) == {Flaw.FREED_AMISS}


def test_an_allocation_is_freed_once() -> None:
    free = TensorAccess(0, "", writes=(D,))
    take = TensorAccess(0, "", allocates=True)
    assert flaws_of({}, [free]) == set()
    assert flaws_of({}, [take, free]) == set()
    assert flaws_of({}, [take]) == {Flaw.FREED_AMISS}
    assert flaws_of({}, [take, take, free]) == {Flaw.FREED_AMISS}
    assert Flaw.FREED_AMISS in flaws_of({}, [free, free])
    fixed = TensorAccess(0, "", writes=(Columns(0, ABSOLUTE, ALL, 0, 32),))
    assert Flaw.FREED_AMISS not in flaws_of({}, [fixed, fixed])


FREE_BOTH = {
    cta: TensorAccess(0, "", writes=(replace(WHOLE, cta=cta), replace(WHOLE, cta=1 - cta))) for cta in (0, 1)
}
MADE = {cta: TensorAccess(0, "", writes=(replace(WHOLE, cta=cta),), allocates=True) for cta in (0, 1)}
THEIRS = TensorAccess(0, "tcgen05.ld", reads=(replace(QUARTER, cta=1),))


def of_a_pair(first: list[Action], second: list[Action]) -> set[Flaw]:
    """Return what goes wrong with what a thread of each CTA does."""
    meets: list[Action] = [Rendezvous(0, ClusterBarrier(), 1, 2, waits=True)]
    return flaws_of({}, [MADE[0], *meets, *first], [MADE[1], *meets, *second], ctas=(0, 1))


PAIR_MEETS = Rendezvous(0, ClusterBarrier(), 1, 2, waits=True)


def test_the_ctas_of_a_pair_free_in_any_order_behind_all_that_both_do() -> None:
    assert of_a_pair([PAIR_MEETS, FREE_BOTH[0]], [THEIRS, LOADED, PAIR_MEETS, FREE_BOTH[1]]) == set()


def test_a_cta_of_a_pair_frees_while_its_peer_loads() -> None:
    assert of_a_pair([FREE_BOTH[0], PAIR_MEETS], [THEIRS, LOADED, PAIR_MEETS, FREE_BOTH[1]]) == {
        Flaw.OVERWRITE
    }
    assert of_a_pair([FREE_BOTH[0], PAIR_MEETS], [PAIR_MEETS, THEIRS, LOADED, FREE_BOTH[1]]) == {
        Flaw.OUTSIDE_ALLOCATION
    }


def test_a_cta_of_a_pair_frees_before_its_peer_has_allocated() -> None:
    assert flaws_of({}, [MADE[0], FREE_BOTH[0]], [MADE[1], FREE_BOTH[1]], ctas=(0, 1)) == {Flaw.FREED_AMISS}


@pytest.mark.parametrize("meets", [True, False])
def test_an_allocation_for_a_pair_rests_on_an_axiom_where_nothing_tells_that_the_peer_runs(
    meets: bool,
) -> None:
    ends: list[list[Action]] = [[MADE[cta], PAIR_MEETS, FREE_BOTH[cta]] for cta in (0, 1)]
    built = protocol({}, *ends, ctas=(0, 1))
    if not meets:  # at the barrier that all threads of such a protocol start with
        built = replace(built, strands=tuple(replace(s, actions=s.actions[1:]) for s in built.strands))
    outcome = examine(built)
    assert outcome.problems == ()
    assert {problem.axiom for problem in outcome.strict} == (set() if meets else {PEER_RUNS})


def test_what_is_freed_is_gone_until_all_columns_are_allocated_anew() -> None:
    fixed = TensorAccess(0, "", writes=(replace(WHOLE, origin=ABSOLUTE),))
    load = TensorAccess(0, "tcgen05.ld", reads=(replace(QUARTER, origin=ABSOLUTE),))
    make = TensorAccess(0, "", allocates=True)
    assert flaws_of({}, [make, fixed, load, LOADED]) == {Flaw.OUTSIDE_ALLOCATION}
    assert flaws_of({}, [make, fixed, make, load, LOADED, fixed]) == set()
