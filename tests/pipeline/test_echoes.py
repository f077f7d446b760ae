"""What a whole run shows is left out where the code of one thread shows the same, and only there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ptxcheck.finding import Confidence, Severity
from ptxcheck.pipeline.rules_on_kernels import _without_echoes


def finding(rule: str, severity: Severity, *, whole: bool = False, sure: bool = True, at: int = 0) -> Any:
    return SimpleNamespace(
        rule=rule,
        severity=severity,
        confidence=Confidence.PROVED if sure else Confidence.POSSIBLE,
        counterexample=object() if whole else None,
        location=SimpleNamespace(span=(at, at + 1)),
    )


@pytest.mark.parametrize(
    ("plain", "whole", "kept"),
    [
        (finding("NB008", Severity.HANG), "NB020", False),
        (finding("CL004", Severity.UNDEFINED), "MB025", False),
        (finding("BG001", Severity.WRONG_RESULT), "SM021", False),
        (finding("MB001", Severity.UNDEFINED), "TX001", False),
        (finding("MB001", Severity.UNDEFINED, at=9), "MB020", True),
        (finding("MB001", Severity.UNDEFINED, sure=False), "MB020", True),
        (finding("SM001", Severity.UNDEFINED), "MB020", True),
        (finding("PT011", Severity.WRONG_RESULT), "SM020", True),
        (finding("SM008", Severity.SLOW), "SM020", True),
        (finding("SM008", Severity.NOTE), "SM020", True),
    ],
)
def test_only_the_same_cause_is_told_once(plain: Any, whole: str, kept: bool) -> None:
    run = finding(whole, Severity.HANG, whole=True)
    assert list(_without_echoes([plain, run])) == [plain, *([run] if kept else [])]
    assert list(_without_echoes([run, plain])) == [*([run] if kept else []), plain]
