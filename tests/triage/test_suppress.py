from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.opcodes.op import Op
from ptxcheck.results import Report
from ptxcheck.source import Source
from ptxcheck.sources.comments import Verb, comments
from tests.fakes import KERNEL, LOCATED, hits_at, rule, source

RULE = rule("XX001")
OTHER = rule("XX002", hits_at(Op.TRAP))
INIT = "  mbarrier.init.shared.b64 [bar], 128;"


def run(text: str) -> Report:
    return ptxcheck.check(source(text), rules=(RULE, OTHER))


def notes(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind.value == "suppression"]


@pytest.mark.parametrize(
    "line",
    [
        f"{INIT} // ptxcheck: ignore[XX001] known",
        f"  // ptxcheck: ignore[XX001] known\n{INIT}",
        f"  // ptxcheck: ignore[XX001] known\n  // more\n{INIT}",
        f"  // ptxcheck: ignore[XX001] known\n  /* more\n   * of it */\n{INIT}",
        f"  // ptxcheck: ignore[XX001] known\n  /* here */ {INIT}",
        f"{INIT} /* ptxcheck: ignore[rule-xx001] known */",
        f"{INIT} // ptxcheck: ignore[YY, XX] known",
        f"{INIT}\n  // ptxcheck: ignore-file[XX001] known",
    ],
)
def test_suppressed_with_a_reason(line: str) -> None:
    report = run(KERNEL.replace(INIT, line))
    assert [finding.suppressed for finding in report.findings] == ["known"]
    assert report.active == ()
    assert notes(report) == []


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (f"{INIT} // ptxcheck: ignore[XX001]", "suppression of XX001 has no reason"),
        (f"{INIT} // ptxcheck: ignore[] why", "suppression names no rule"),
        (f"{INIT} // ptxcheck: ignore[XX002] why", "unused suppression of XX002"),
        (
            f"{INIT} // ptxcheck: ignore[missed-phase, unbalanced-bytes] why",
            "the rule unbalanced-bytes was renamed to tx-count-mismatch",
        ),
        (f"{INIT} // ptxcheck: ignroe[XX001] why", "comment not understood"),
        (f"{INIT} // ptxcheck: ignore XX001 why", "comment not understood"),
        (f"{INIT}\n\n  // ptxcheck: ignore[XX001] why", "unused suppression of XX001"),
        (f"{INIT} // ptxcheck: launch blok=3", "launch comment: 'blok=3' is not a launch"),
        (f"{INIT} // ptxcheck: arch hopper", "'hopper' is not a target architecture"),
    ],
)
def test_not_suppressed(line: str, note: str) -> None:
    report = run(KERNEL.replace(INIT, line))
    assert len(report.active) == 1
    assert [message[: len(note)] for message in notes(report)] == [note]


def test_suppression_of_a_rule_that_did_not_run_is_not_called_unused() -> None:
    assert notes(run(f"// ptxcheck: ignore-file[ZZ001] later\n{KERNEL}")) == []


def test_comment_in_the_cuda_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["x;"] * 20
    lines[8] = "// ptxcheck: ignore[XX001] on purpose"
    Path("a.cu").write_text("\n".join(lines))
    Path("k.ptx").write_text(LOCATED.replace("{cu}", str(tmp_path / "a.cu")))
    closed = ptxcheck.check("k.ptx", rules=(RULE,))
    assert closed.findings[0].suppressed is None, "files outside the source roots are not read"
    opened = ptxcheck.check("k.ptx", rules=(RULE,), config=ptxcheck.Config(source_roots=(".",)))
    assert opened.findings[0].suppressed == "on purpose"
    assert opened.lines[("a.cu", 10)] == "x;"


def test_code_that_begins_like_a_comment() -> None:
    (comment,) = comments(Source("k.cu", "// ptxcheck: ignore[XX001] known\n*data = 1;\nreturn;\n"))
    assert comment.target_line == 2


def test_comments_are_located() -> None:
    text = "a\nb; // ptxcheck: launch block=4\n# ptxcheck: ignore[A,B] r\n#include <x>\n"
    first, second = comments(Source("k.cu", text))
    assert (first.verb, first.text, first.target_line) == (Verb.LAUNCH, "block=4", 2)
    assert (second.rules, second.text, second.target_line) == (("A", "B"), "r", 4)
