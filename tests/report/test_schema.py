"""The published schema of the JSON report fits real reports, names every field of them, and knows every word."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Confidence, Severity
from ptxcheck.report import Format, render
from ptxcheck.report.json import SCHEMA_VERSION
from ptxcheck.results import NoteKind, ProblemKind
from ptxcheck.verdict import Openness, Property, VerdictKind

ROOT = Path(__file__).parent.parent.parent
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
CORPUS = ROOT / "corpus" / "protocols"
KERNELS = [
    CORPUS / "ring" / "three_stages.consumer_stops_early.ptx",
    CORPUS / "ring" / "three_stages.ptx",
    CORPUS / "init" / "one_thread_then_barrier.count_of_zero.ptx",
    ROOT / "tests" / "new_user" / "ptx" / "bounds.nothing.ptx",
    ROOT / "tests" / "new_user" / "ptx" / "bounds.a_wrong_parity.ptx",
    ROOT / "no such file.ptx",
]


def closed(schema: Any) -> Any:
    """Return a schema that takes no field beyond those it names."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        made["additionalProperties"] = False
    return made


STRICT = Draft202012Validator(closed(SCHEMA))


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    made = [ptxcheck.check(path, config=Config(possible=True)) for path in KERNELS]
    return [json.loads(render(report, Format.JSON)) for report in made]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"] == {"const": SCHEMA_VERSION}


def test_reports_fit(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        STRICT.validate(report)
    assert any(each["counterexample"] for report in reports for each in report["findings"])
    assert any(report["problems"] for report in reports)


@pytest.mark.parametrize("name", ["rule", "location", "fingerprint"])
def test_a_field_that_is_missing_or_new_is_seen(reports: list[dict[str, Any]], name: str) -> None:
    report = copy.deepcopy(reports[0])
    del report["findings"][0][name]
    assert not Draft202012Validator(SCHEMA).is_valid(report)
    report = copy.deepcopy(reports[0])
    report["findings"][0]["location"]["shade"] = 1
    assert not STRICT.is_valid(report)
    assert Draft202012Validator(SCHEMA).is_valid(report)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("finding", "severity"), Severity),
        (("finding", "confidence"), Confidence),
        (("problem", "kind"), ProblemKind),
        (("note", "kind"), NoteKind),
        (("verification", "verdict"), VerdictKind),
    ],
)
def test_every_word_is_known(place: tuple[str, str], words: type[Enum]) -> None:
    kind, field = place
    told = SCHEMA["$defs"][kind]["properties"][field]["enum"]
    assert set(told) == {word.value for word in words}


def test_every_property_and_openness_is_known() -> None:
    fields = SCHEMA["$defs"]["verification"]["properties"]["properties"]["items"]["properties"]
    assert set(fields["property"]["enum"]) == {each.value for each in Property}
    assert set(fields["open"]["enum"]) == {None, *(each.value for each in Openness)}


def test_the_page_speaks_of_every_field() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")

    def names(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from schema.get("properties", {}) if "type" in schema else ()
            for value in schema.values():
                yield from names(value)
        elif isinstance(schema, list):
            for item in schema:
                yield from names(item)

    assert [name for name in dict.fromkeys(names(SCHEMA)) if f"`{name}`" not in page] == []
    assert "report.schema.json" in page
