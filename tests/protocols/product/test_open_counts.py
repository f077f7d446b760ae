"""Random rings whose counts the host passes: nothing is shown that a run with some count finds broken."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from benchmarks.open_counts import SLIP_OF_UNROLLED, Judged, Ring, judge, product_of, ring, runs_of
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.verdict import AssumptionKind

SEEDS = range(12)


def judged(seed: int) -> Judged:
    return judge(ring(Random(seed)), range(4))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_shown_holds_for_each_count(seed: int) -> None:
    how = ring(Random(seed))
    product = product_of(how)
    wrong = runs_of(how, range(4))[0] if isinstance(product, Shown) else ()
    with_work = isinstance(product, Shown) and product.not_empty
    assert not [count for count in wrong if count or not with_work], (how, product)


def test_the_family_has_right_and_broken_kernels() -> None:
    """Else the test above could not fail."""
    products = [judged(seed) for seed in (2, 5)]
    assert isinstance(products[0].product, Open)
    assert products[0].wrong
    assert isinstance(products[1].product, Shown)


def ring_of_elements(*, consumer_counts_elements: bool) -> Ring:
    return Ring(2, 16, True, consumer_counts_elements, True, False, 0, False, "")


@pytest.mark.parametrize("clears_sign", [False, True])
@pytest.mark.parametrize("elements", [1, 16])
def test_loops_that_measure_their_rounds_in_other_units_agree(elements: int, clears_sign: bool) -> None:
    """One role counts single rounds, the other four at once, and a rest; both ask about elements."""
    how = Ring(3, elements, True, True, True, False, 0, False, "", 4, clears_sign)
    assert isinstance(judge(how, range(1)).product, Shown)
    broken = judge(replace(how, slip=SLIP_OF_UNROLLED), range(4))
    assert isinstance(broken.product, Open)
    assert broken.wrong


@pytest.mark.parametrize("counts_elements", [False, True])
def test_only_what_is_compared_with_its_parts_must_not_wrap_around(counts_elements: bool) -> None:
    """Roles that ask of one quotient agree, whatever that is; one that counts elements agrees if sums do not wrap."""
    found = judge(ring_of_elements(consumer_counts_elements=counts_elements), range(1)).product
    assert isinstance(found, Shown), found
    wraps = [each for each in found.assumptions if each.kind is AssumptionKind.CUT]
    assert bool(wraps) is counts_elements
