"""The glossary names modules and types that exist, and the standard term of every private word that is left."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs/glossary.md").read_text(encoding="utf-8")
TERMS, _, REST = PAGE.partition("\n## Words that the project used before\n")
FORMER, _, LITERATURE = REST.partition("\n## Literature\n")
_ROW = re.compile(
    r"^\| (?P<term>.*?) \| (?P<meaning>.*?) \| (?P<code>`.*?) \| (?P<source>.*?) ?\|$", re.MULTILINE
)

FORMER_WORDS = (
    "bystander", "handed numbers", "spare CTAs", "stray strides", "alike", "granted", "tolerances", "stored boxes",
    "partner loops",
)  # fmt: skip


def rows() -> list[re.Match[str]]:
    return list(_ROW.finditer(TERMS))


def places() -> list[str]:
    return sorted({place for row in rows() for place in re.findall(r"`([^`]+)`", row["code"])})


def find(place: str) -> object:
    """Import what a place names, `module` or `module:Type`."""
    module, _, name = place.partition(":")
    found: object = import_module(f"ptxcheck.{module}")
    return getattr(found, name) if name else found


@pytest.mark.parametrize("place", places())
def test_the_code_is_there(place: str) -> None:
    find(place)


@pytest.mark.parametrize("place", ["protocols.no_such_module", "verdict:NoSuchType"])
def test_what_is_not_there_is_noticed(place: str) -> None:
    with pytest.raises((ImportError, AttributeError)):
        find(place)


def test_every_line_of_a_table_is_a_term() -> None:
    lines = [line for line in TERMS.splitlines() if line.startswith("| ")]
    headings = [line for line in lines if line.startswith(("| term |", "| --- |"))]
    assert len(rows()) == len(lines) - len(headings) > 40
    names = [row["term"] for row in rows()]
    assert len(set(names)) == len(names)


def test_sources_are_listed() -> None:
    for row in rows():
        for year in re.findall(r"\b(?:19|20)\d\d\b", row["source"]):
            names = re.findall(r"\b[A-Z][a-z]+\b", row["source"])
            assert any(re.search(rf"{name}\b[^·]*{year}", LITERATURE) for name in names), row["source"]


@pytest.mark.parametrize("word", FORMER_WORDS)
def test_former_words_have_a_standard_term(word: str) -> None:
    assert any(word in line.split("|")[1] for line in FORMER.splitlines() if line.startswith("| "))
