"""Kernels that a reader of the code wrote against single steps of the argument: none broken is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.verdict import Property, VerdictKind

FOLDER = Path(__file__).parent / "read"
NOT_FOUND = {"d_vec", "e_ntid64", "e_ntid96"}
"""One rests on an assumption that is named; two assert to have a block that is not tried."""


def races_of(path: Path) -> VerdictKind:
    (kernel,) = check([str(path)], config=Config()).kernels
    assert kernel.verification is not None
    (verdict,) = (each for each in kernel.verification.verdicts if each.property is Property.DATA_RACE)
    return verdict.kind


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("broken_*.ptx")))
def test_what_is_broken_is_not_shown_to_be_right(name: str) -> None:
    found = races_of(FOLDER / f"{name}.ptx")
    if name.removeprefix("broken_") in NOT_FOUND:
        assert found in (VerdictKind.UNKNOWN, VerdictKind.ASSUMES)
    else:
        assert found is VerdictKind.VIOLATED


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("right_*.ptx")))
def test_what_is_right_is_proved(name: str) -> None:
    assert races_of(FOLDER / f"{name}.ptx") is VerdictKind.PROVED
