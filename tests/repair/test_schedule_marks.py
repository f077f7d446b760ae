"""Marks of numbers that may be others."""

from __future__ import annotations

import pytest

from ptxcheck.repair.schedule_marks import ScheduleError, schedules_of
from ptxcheck.source import Source

TEXT = """\
constexpr int kStages = 4;  // ptxcheck: schedule kStages = 2..4
constexpr int kTile = 1024;
// ptxcheck: schedule kStages * 1024
__shared__ alignas(128) char buffer[4096];
"""


def test_the_text_as_it_is_comes_first() -> None:
    found = list(schedules_of(Source("ring.cu", TEXT)))
    assert found[0] == ((("kStages", 4),), TEXT)
    assert [setting for setting, _ in found[1:]] == [(("kStages", 2),), (("kStages", 3),)]


def test_numbers_follow_the_chosen_one() -> None:
    three = dict(schedules_of(Source("ring.cu", TEXT)))[("kStages", 3),]
    assert "kStages = 3;" in three
    assert "buffer[3072]" in three
    assert "kTile = 1024" in three


def test_every_combination_of_two_numbers() -> None:
    text = "mov.u32 a, 1;  // ptxcheck: schedule a = 1, 2\nmov.u32 b, 8;  // ptxcheck: schedule b = 8, 16\n"
    settings = [dict(setting) for setting, _ in schedules_of(Source("k.ptx", text))]
    assert settings == [{"a": 1, "b": 8}, {"a": 1, "b": 16}, {"a": 2, "b": 8}, {"a": 2, "b": 16}]


def test_a_text_without_marks_is_its_only_schedule() -> None:
    assert list(schedules_of(Source("k.ptx", "ret;\n"))) == [((), "ret;\n")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int n = x;  // ptxcheck: schedule n = 1..4\n", "ring.cu:1: line 1 has no whole number"),
        ("int n = 4;  // ptxcheck: schedule n = few\n", "neither a range such as 2..6 nor"),
        ("int n = 4;  // ptxcheck: schedule n = 1..900\n", "900 values; 1 to 64 are tried"),
        ("int n = 4;  // ptxcheck: schedule n = 5..4\n", "0 values"),
        (TEXT + "int m = 4;  // ptxcheck: schedule stages + 1\n", "no mark gives stages"),
        (TEXT + "int m = 4;  // ptxcheck: schedule open('x')\n", "only numbers, names of marks"),
        (TEXT + "int m = 4;  // ptxcheck: schedule 1 // 0\n", "cannot compute"),
        (TEXT + "int m = 4;  // ptxcheck: schedule kStages = 1..2\n", "two marks give one name"),
    ],
)
def test_a_mark_that_cannot_be_read_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ScheduleError, match=r"ring\.cu:") as raised:
        list(schedules_of(Source("ring.cu", text)))
    assert words in str(raised.value)
