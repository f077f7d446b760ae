"""A process that checks one input after the other keeps nothing of the earlier ones."""

from __future__ import annotations

import gc
from pathlib import Path

from ptxcheck import check

_KERNEL = Path(__file__).parents[2] / "corpus" / "bad" / "NB004" / "barrier_copied_into_both_arms.ptx"


def test_what_a_check_of_a_small_input_made_is_young_garbage() -> None:
    check(_KERNEL)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(5):
        check(_KERNEL)
    gc.collect(1)
    assert len(gc.get_objects()) - before < 100


def test_the_collector_is_on_again_and_nothing_stays_frozen() -> None:
    check(_KERNEL)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
