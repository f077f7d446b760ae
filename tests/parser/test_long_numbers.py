"""Numbers of thousands of digits are errors with a place, and names that end in such are names."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.results import Report

DIGITS = "9" * 6000
KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    mov.u32 %r1, 1;
    ld.shared.b32 %r2, [%d1+8];
    .loc 1 2 3
    ret;
}
"""


def _checked(text: str, folder: Path) -> Report:
    path = folder / "k.ptx"
    path.write_text(text)
    return ptxcheck.check(str(path), config=Config(verify=False))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("%r<4>", f"%r<{DIGITS}>"),
        ("%r1, 1", f"%r1, {DIGITS}"),
        ("%r1, 1", f"%r1, 1+{DIGITS}"),
        ("%d1+8", f"%d1+{DIGITS}"),
        (".loc 1", f".loc {DIGITS}"),
        ("version 8", f"version {DIGITS}"),
        ("size 64", f"size {DIGITS}"),
        ("ret;", f".shared .b32 words[{DIGITS}]; ret;"),
        ("k()\n", f"k()\n.reqntid {DIGITS}\n"),
        (".target", f'.file {DIGITS} "k.cu"\n.target'),
    ],
)
def test_a_long_number_is_no_crash(text: str, other: str, tmp_path: Path) -> None:
    assert text in KERNEL
    report = _checked(KERNEL.replace(text, other), tmp_path)
    assert not any("bug of ptxcheck" in problem.message for problem in report.problems), report.problems


def test_a_register_whose_name_ends_in_a_long_number_is_not_declared(tmp_path: Path) -> None:
    report = _checked(KERNEL.replace("%r1, 1", f"%r{DIGITS}, 1"), tmp_path)
    assert [finding.rule for finding in report.findings] == ["PT006"]
