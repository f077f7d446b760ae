"""How kernels are explored for every count in tests."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.product import for_all


@pytest.fixture
def one_exploration(monkeypatch: pytest.MonkeyPatch) -> None:
    """No residue is explored apart."""
    monkeypatch.setattr(for_all, "_MOST_RESIDUES", 0)
