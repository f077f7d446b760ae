"""A process that checks one input after the other keeps nothing of the earlier ones."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from ptxcheck import check
from ptxcheck.runtime import collector

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
    gc.unfreeze()  # all that pytest has collected is frozen
    try:
        check(_KERNEL)
        assert gc.isenabled()
        assert gc.get_freeze_count() == 0
    finally:
        gc.freeze()


class _Cycle:
    def __init__(self) -> None:
        self.own = self


@pytest.mark.parametrize(("many", "is_freed"), [(10, True), (10_000_000, False)])
def test_what_a_piece_of_work_left_behind_is_freed_where_it_is_much(
    many: int, is_freed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_MANY_OBJECTS", many)
    with collector.paused() as pause:
        left = [weakref.ref(_Cycle()) for _ in range(100)]
        assert all(each() is not None for each in left), "nobody collects inside the pause"
        pause.relieve()
        assert all((each() is None) is is_freed for each in left)
