"""The page of a rule: its texts, and the two kernels of its example as one."""

from __future__ import annotations

from ptxcheck.report.rule_page import markdown_page, text_page
from ptxcheck.rules import Example, info_of
from tests.fakes import rule

INFO = info_of(rule(example=Example("\n  kept\n- wrong  // expect: XX001\n+ right\n")))


def test_the_text_page_shows_what_differs() -> None:
    page = text_page(INFO)
    assert page.startswith("XX001 rule-xx001 (hang)\n\nA summary.\n")
    assert page.endswith("\n\n      kept\n    - wrong  // expect: XX001\n    + right\n")
    assert "`-` marks the lines of the bad kernel alone" in page


def test_the_markdown_page_shows_what_differs() -> None:
    page = markdown_page(INFO)
    assert page.endswith("```diff\n  kept\n- wrong  // expect: XX001\n+ right\n```\n")


def test_both_kernels_are_whole() -> None:
    assert INFO.bad == "\nkept\nwrong  // expect: XX001\n"
    assert INFO.good == "\nkept\nright\n"
