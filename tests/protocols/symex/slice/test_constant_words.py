"""Constant memory that the module initialises: its numbers, and verdicts that go by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.checker import check
from ptxcheck.parser import parse_module
from ptxcheck.protocols.symex.slice.constant_words import INITIALISED, ConstantWords
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

from ....fakes import HEADER

RED_TEAM = Path(__file__).parents[4] / "benchmarks" / "red_team"

VARIABLES = """
.const .align 4 .b8 bytes[8] = {1, 0x2, -1, 017, 100, 0x10, 105, 007};
.const .u32 word = 7;
.const .u32 rows[2][2] = {{1, 2}, {3, 4}};
.const .u32 ragged[2][2] = {{1}, {3, 4}};
.const .u64 pointer[1] = {word};
.const .u32 open[4];
.global .u32 global[2] = {1, 2};
"""


@pytest.fixture
def words() -> ConstantWords:
    return ConstantWords(parse_module(Source("k.ptx", HEADER + VARIABLES)))


@pytest.mark.parametrize(
    ("name", "offset", "size", "number"),
    [
        ("bytes", 0, 1, 1),
        ("bytes", 1, 2, 0xFF02),
        ("bytes", 3, 1, 15),
        ("bytes", 4, 4, 0x07691064),
        ("word", 0, 4, 7),
        ("rows", 8, 4, 3),
    ],
)
def test_numbers(words: ConstantWords, name: str, offset: int, size: int, number: int) -> None:
    assert words.word(name, offset, size) == number


@pytest.mark.parametrize(
    ("name", "offset", "size"),
    [("bytes", 8, 1), ("bytes", 6, 4), ("bytes", -1, 1), ("ragged", 0, 4), ("pointer", 0, 8), ("open", 0, 4),
     ("global", 0, 4), ("absent", 0, 4)],
)  # fmt: skip
def test_what_is_not_known(words: ConstantWords, name: str, offset: int, size: int) -> None:
    assert words.word(name, offset, size) is None


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("116_table300_not_multiple.good.ptx", VerdictKind.ASSUMES),
        ("116_table300_not_multiple.bad.ptx", VerdictKind.VIOLATED),
    ],
)
def test_a_ring_whose_stages_stand_in_a_table(kernel: str, kind: VerdictKind) -> None:
    report = check(str(RED_TEAM / kernel))
    assert bool(report.active) is (kind is VerdictKind.VIOLATED)
    (found,) = report.kernels
    assert found.verification is not None
    verdicts = {each.property: each.kind for each in found.verification.verdicts}
    assert verdicts[Property.DEADLOCK_FREEDOM] is kind
    assert INITIALISED in {each.text for each in found.verification.assumptions}
