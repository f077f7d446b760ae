"""The corpus: each finding is expected by a comment at its line, and each expectation is met."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import ptxcheck
from benchmarks.consistency import contradicted, untold
from ptxcheck.config import Config
from ptxcheck.rules import RULES
from ptxcheck.source import Source

from .expectations import fired, marks

CORPUS = Path(__file__).parent.parent / "corpus"
KERNELS = sorted(
    path
    for side in ("good", "bad")
    for path in (CORPUS / side).rglob("*")
    if path.suffix in (".ptx", ".cu", ".cpp", ".py")
)
HAS_NVCC = shutil.which("nvcc") is not None


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(CORPUS)))
def test_kernel(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.suffix == ".cu" and not HAS_NVCC:
        pytest.skip("no nvcc")
    monkeypatch.chdir(CORPUS)
    name = str(path.relative_to(CORPUS))
    wanted = marks(Source(name, path.read_text(encoding="utf-8")))
    report = ptxcheck.check(name, config=config(path))
    assert report.problems == ()
    assert fired(report) == wanted
    assert contradicted(report) == []
    assert untold(report) == []


def config(path: Path) -> Config:
    """Kernels of a pedantic or possible rule are checked with it on."""
    rule_id = path.relative_to(CORPUS).parts[1]
    rule = next((rule for rule in RULES if rule.id == rule_id), None)
    if rule is None:
        return Config()
    return Config(pedantic=rule.pedantic, possible=rule.confidence.value == "possible")


def test_bad_kernels_are_filed_under_a_rule_that_they_expect() -> None:
    for path in KERNELS:
        parts = path.relative_to(CORPUS).parts
        found = {rule for rule, _ in marks(Source(path.name, path.read_text(encoding="utf-8")))}
        if parts[0] == "bad":
            assert parts[1] in {rule.id for rule in RULES}, f"{path}: no such rule"
            assert parts[1] in found, f"{path}: expects nothing of {parts[1]}"
        else:
            assert not found, f"{path}: a good kernel expects nothing"


def test_text_is_ascii() -> None:
    for path in KERNELS:
        if path.suffix == ".ptx":
            assert path.read_bytes().isascii(), f"{os.fspath(path)}: ptxas rejects other characters"
