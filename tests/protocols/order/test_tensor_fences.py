"""Fences around the synchronisation of threads: each that is missing is named, and those that are there are seen."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.order.axioms import TENSOR_WITHOUT_FENCES
from ptxcheck.rules.accumulator_kernels import ACCUMULATORS
from ptxcheck.verdict import Property, VerdictKind

from ..verifying import kind, verified

AFTER, BEFORE = "tcgen05.fence::after_thread_sync;", "tcgen05.fence::before_thread_sync;"
HOLDS = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)


def rests_on_barriers(text: str) -> bool:
    """Tell whether slot safety rests on barriers without fences."""
    result = verified(text)
    assert kind(result, Property.SLOT_SAFETY) in HOLDS
    return TENSOR_WITHOUT_FENCES.text in result.tolerated.get(Property.SLOT_SAFETY, {})


def test_all_fences_are_there() -> None:
    assert not rests_on_barriers(ACCUMULATORS)


@pytest.mark.parametrize(("fence", "number"), [(AFTER, 1), (AFTER, 2), (BEFORE, 1)])
@pytest.mark.parametrize("instead", ["", "the other"])
def test_a_fence_is_missing_or_the_other_one(fence: str, number: int, instead: str) -> None:
    parts = ACCUMULATORS.split(fence)
    other = (BEFORE if fence is AFTER else AFTER) if instead else ""
    changed = fence.join(parts[:number]) + other + fence.join(parts[number:])
    assert rests_on_barriers(changed)
