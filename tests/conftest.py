"""No test reads results that another one, or the user, has left behind."""

from __future__ import annotations

from uuid import uuid4

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.getbasetemp() / "results" / uuid4().hex
    monkeypatch.setenv("PTXCHECK_CACHE_DIR", str(folder))
