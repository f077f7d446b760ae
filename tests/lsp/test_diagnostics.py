"""Reports as diagnostics, where a real editor would need an odd situation."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.lsp.diagnostics import (
    WITHOUT_EFFECT,
    Diagnostics,
    Document,
    uri_of,
)
from ptxcheck.lsp.pages import RulePages
from ptxcheck.lsp.text import LARGEST, Lines
from ptxcheck.results import (
    Problem,
    ProblemKind,
    Report,
    RuleInfo,
)
from ptxcheck.rules import RULES, info_of
from ptxcheck.source import Position

from .kernels import BAD


def shown(text: str, report: Report, *, is_ptx: bool = True, name: str = "/folder/k.ptx") -> Diagnostics:
    return Diagnostics(Document(f"file://{name}", name, Lines(text), is_ptx), report)


def test_rules_without_effect_are_rules() -> None:
    assert {rule.name for rule in RULES} >= WITHOUT_EFFECT


def test_line_information_that_no_protocol_can_hold() -> None:
    number = 10**12
    text = BAD.replace("bar.sync 17", f".loc 1 {number} {number}\n  bar.sync 17") + '.file 1 "/folder/k.cu"\n'
    report = ptxcheck.check(ptxcheck.Source("/folder/k.ptx", text))
    found = shown(text, report).by_document()["file:///folder/k.ptx"]
    places = [each.location for shown in found for each in shown.diagnostic.related_information or ()]
    assert places
    assert all(place.uri == "file:///folder/k.cu" for place in places)
    assert {(place.range.start.line, place.range.start.character) for place in places} == {
        (min(number - 1, LARGEST), min(number - 1, LARGEST))
    }


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            '/f/k.cu(3): error: identifier "x" is undefined\n',
            [("/f/k.cu", 2, 'identifier "x" is undefined', 1)],
        ),
        ("/f/k.cu(2): error #20: no such thing\n", [("/f/k.cu", 1, "no such thing", 1)]),
        (
            "/f/k.cu:1:10: fatal error: none.h: No such file or directory\n    1 | #include <none.h>\n",
            [("/f/k.cu", 0, "none.h: No such file or directory", 1)],
        ),
        (
            "/f/part.cuh(1): warning #177-D: variable is never used\n\n/f/k.cu(2): error: bad\n1 error detected\n",
            [("/f/part.cuh", 0, "variable is never used", 2), ("/f/k.cu", 1, "bad", 1)],
        ),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_12'\n", [("/f/k.cu", 0, "nvcc failed", 1)]),
    ],
)
def test_what_the_compiler_says(output: str, expected: list[tuple[str, int, str, int]]) -> None:
    problem = Problem(ProblemKind.COMPILER, "nvcc failed", Position("/f/k.cu", 0), detail=output)
    text = "int a;\nint b;\nint c;\n"
    found = shown(text, Report(problems=(problem,)), is_ptx=False, name="/f/k.cu").by_document()
    made = [(uri, each.diagnostic) for uri, group in found.items() for each in group]
    got = {
        (uri, d.range.start.line, d.message.split("\n")[0], d.severity and d.severity.value)
        for uri, d in made
    }
    assert got == {(f"file://{file}", line, text, severity) for file, line, text, severity in expected}


def test_places_in_files_with_odd_names() -> None:
    assert uri_of("/a b/é#.cu") == "file:///a%20b/%C3%A9%23.cu"


def info() -> RuleInfo:
    return info_of(RULES[0])


def test_pages_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PTXCHECK_CACHE_DIR", str(tmp_path / "file/results"))
    assert RulePages().of([info()]) == {}
    monkeypatch.setenv("PTXCHECK_CACHE_DIR", str(tmp_path / "cache/results"))
    (page,) = RulePages().of([info()]).values()
    assert Path(page.removeprefix("file://")).read_text(encoding="utf-8").startswith(f"# {info().id} ")
    assert RulePages("https://h/r").of([info()]) == {info().id: f"https://h/r/{info().id}/"}


def test_what_follows_from_a_finding_is_a_place_of_its_diagnostic() -> None:
    text = (Path(__file__).parents[1] / "new_user" / "ptx" / "pipe.a_wrong_parity.ptx").read_text(
        encoding="utf-8"
    )
    report = ptxcheck.check(ptxcheck.Source("/folder/k.ptx", text))
    (found,) = (
        [each for each in several if each.finding is not None]
        for several in shown(text, report).by_document().values()
        if several
    )
    assert [each.diagnostic.code for each in found] == ["MB021", "MB021"]
    for each in found:
        said = [place.message for place in each.diagnostic.related_information or ()]
        assert len([message for message in said if message.startswith("so: ")]) == 6
