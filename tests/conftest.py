"""No test reads results that another one, or the user, has left behind, and none runs out of time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from uuid import uuid4

import pytest
from hypothesis import settings

from ptxcheck.terms import effort
from tests.limits import SlowClock

settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")  # an example that waits for a processor is none that takes long


def pytest_collection_finish() -> None:
    """Keep the collector from looking at thousands of tests again and again: a tenth of the processor time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.getbasetemp() / "results" / uuid4().hex
    monkeypatch.setenv("PTXCHECK_CACHE_DIR", str(folder))


@pytest.fixture(autouse=True, scope="session")
def _time_enough() -> Iterator[None]:
    """Let no verification be braked, on a busy machine either: its effort is counted, and that is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effort, "time", SlowClock)
        yield
