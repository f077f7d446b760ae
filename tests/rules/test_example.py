"""The example of a rule: one text with margins, and kernels that examples vary."""

from __future__ import annotations

import pytest

from ptxcheck.rules.example import Base, Example, sm_90a

BAD = "a\nold  // expect: XX001\n\nlast  // expect: XX001\n"
GOOD = "a\nnew\nmore\n\nlast\n"
BASE = Base("first\nsame\nsecond\nsame\n")


def test_two_kernels_in_one_text() -> None:
    example = Example("  a\n- old  // expect: XX001\n+ new\n\n  last  // expect: XX001\n")
    assert example.bad == "a\nold  // expect: XX001\n\nlast  // expect: XX001\n"
    assert example.good == "a\nnew\n\nlast\n"


def test_a_line_without_its_margin_is_refused() -> None:
    with pytest.raises(ValueError, match="without its margin: a"):
        Example("  fine\na")


def test_the_text_of_two_kernels() -> None:
    example = Example.between(BAD, GOOD)
    assert (example.bad, example.good) == (BAD, GOOD)
    assert example.text == "  a\n- old  // expect: XX001\n+ new\n+ more\n\n  last  // expect: XX001\n"


@pytest.mark.parametrize(
    ("place", "bad", "good"),
    [
        ("- bad\n+ second", "first\nsame\nbad\nsame\n", BASE),
        ("  second\n- bad\n  same", "first\nsame\nsecond\nbad\nsame\n", BASE),
        ("  first  // expect: XX001", "first  // expect: XX001\nsame\nsecond\nsame\n", BASE),
        ("  second\n+ good", BASE, "first\nsame\nsecond\ngood\nsame\n"),
        ("= second\n- bad\n+ good", "first\nsame\nbad\nsame\n", "first\nsame\ngood\nsame\n"),
        ("- bad\n+ first\n\n- worse\n+ second", "bad\nsame\nworse\nsame\n", BASE),
    ],
)
def test_a_kernel_changed_in_places(place: str, bad: str, good: str) -> None:
    example = BASE.variant(place)
    assert (example.bad, example.good) == (bad, good)


@pytest.mark.parametrize("place", ["- bad\n+ same", "- bad\n+ third", "= third\n- bad", "- bad"])
def test_a_place_that_is_not_there_once_is_refused(place: str) -> None:
    with pytest.raises(ValueError, match="do not stand in the kernel once"):
        BASE.variant(place)


def test_a_whole_kernel_has_the_common_head() -> None:
    example = sm_90a("""
- () .reqntid 32
+ () .reqntid 64
      ret;
""")
    lines = example.good.split("\n")
    assert lines[1:4] == [".version 8.6", ".target sm_90a", ".address_size 64"]
    assert lines[5] == ".visible .entry kernel() .reqntid 64"
    assert lines[-3:] == ["    ret;", "}", ""]
    assert ".reqntid 32" in example.bad
    assert example.base == example.good
