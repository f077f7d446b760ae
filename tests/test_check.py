from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Severity
from ptxcheck.launches import LaunchHint
from ptxcheck.op import Op
from ptxcheck.report import Format, render
from ptxcheck.results import NoteKind, ProblemKind, exit_code
from ptxcheck.rules import UnknownSelectorError

from .fakes import HEADER, KERNEL, LOCATED, crash, hits_at, possible, rule, source

INIT = rule("XX001")
SYNC = rule("XX002", hits_at(Op.BAR_SYNC, "sync here"))


def test_findings_are_located_and_sorted() -> None:
    report = ptxcheck.check(source(), rules=(SYNC, INIT))
    assert [(f.rule, f.location.primary.line) for f in report.findings] == [
        ("XX001", 8), ("XX002", 9), ("XX002", 10),
    ]  # fmt: skip
    assert report.inputs == ("k.ptx",)
    assert [kernel.name for kernel in report.kernels] == ["k"]
    assert report.lines["k.ptx", 8] == "  mbarrier.init.shared.b64 [bar], 128;"
    assert [rule.id for rule in report.rules] == ["XX001", "XX002"]


def test_fingerprints_do_not_depend_on_lines_and_registers() -> None:
    before = ptxcheck.check(source(), rules=(INIT, SYNC)).findings
    moved = KERNEL.replace("{\n", "{\n\n  // comment\n").replace("bar.sync 0", "bar.sync   /* c */ 0")
    after = ptxcheck.check(source(moved), rules=(INIT, SYNC)).findings
    assert [f.fingerprint for f in before] == [f.fingerprint for f in after]
    assert len({f.fingerprint for f in before}) == 3


def test_copies_at_one_source_line_are_one_finding() -> None:
    text = LOCATED.replace("  .loc 1 12 3\n", "").replace("bar.sync 0;\n", "bar.sync 0;\n" * 5)
    assert len(ptxcheck.check(source(text), rules=(SYNC,)).findings) == 1
    assert len(ptxcheck.check(source(), rules=(SYNC,)).findings) == 2


def test_hint_when_there_is_no_line_information() -> None:
    assert [n.kind for n in ptxcheck.check(source(), rules=(INIT,)).notes] == [NoteKind.LINE_INFO]
    assert ptxcheck.check(source(LOCATED), rules=(INIT,)).notes == ()


def test_syntax_problems_are_located_and_the_rest_is_checked() -> None:
    report = ptxcheck.check(
        source(KERNEL.replace("  bar.sync 0;\n", "  bar.sync 0 0 ];\n", 1)), rules=(INIT, SYNC)
    )
    (problem,) = report.problems
    assert (problem.kind, problem.position.line, problem.kernel) == (ProblemKind.SYNTAX, 9, "k")
    assert [f.rule for f in report.findings] == ["XX001", "XX002"]
    assert exit_code(report) == 2


def test_file_that_is_not_ptx() -> None:
    report = ptxcheck.check(source("int main() { return 0; }\n"), rules=(INIT,))
    assert len(report.problems) == 1


def test_opaque_instructions_make_a_kernel_incomplete() -> None:
    text = KERNEL.replace("  bar.sync 0;\n", "  frobnicate.b32 %r1, %r2;\n  frobnicate.b32 %r1, %r2;\n", 1)
    report = ptxcheck.check(source(text), rules=())
    (note,) = report.notes
    assert (note.kind, note.position.line) == (NoteKind.OPAQUE, 9)
    assert note.message.startswith("2 instructions are not known to the table (frobnicate.b32 ×2)")
    assert [kernel.name for kernel in report.incomplete] == ["k"]
    assert (exit_code(report), exit_code(report, strict=True)) == (0, 3)


def test_rule_that_fails_is_a_problem_and_the_others_run() -> None:
    report = ptxcheck.check(source(), rules=(rule("XX000", crash), INIT, rule("XX003", crash)))
    (problem,) = report.problems
    assert problem.kind is ProblemKind.TOOL
    assert problem.message.startswith("rules XX000, XX003 failed on this kernel")
    assert "ValueError: cannot do k" in problem.detail
    assert [f.rule for f in report.findings] == ["XX001"]
    assert exit_code(report) == 2


def test_possible_findings_are_off_by_default() -> None:
    perhaps = rule("XX004", possible)
    assert ptxcheck.check(source(), rules=(perhaps,)).findings == ()
    report = ptxcheck.check(source(), rules=(perhaps,), config=Config(possible=True))
    assert [f.message for f in report.findings] == ["perhaps"]


def test_severities_and_fail_on() -> None:
    config = Config(severity={"XX": Severity.SLOW, "XX001": Severity.NOTE})
    report = ptxcheck.check(source(), rules=(INIT, SYNC), config=config)
    assert {f.rule: f.severity for f in report.findings} == {"XX001": Severity.NOTE, "XX002": Severity.SLOW}
    assert (exit_code(report), exit_code(report, Severity.SLOW), exit_code(report, Severity.HANG)) == (
        1,
        1,
        0,
    )


def test_per_file_ignores() -> None:
    config = Config(per_file_ignores={"gen/*.ptx": ("XX001",)})
    for name, count in (("gen/a.ptx", 0), ("/root/gen/a.ptx", 0), ("a.ptx", 1)):
        assert len(ptxcheck.check(source(name=name), rules=(INIT,), config=config).findings) == count


@pytest.mark.parametrize("config", [Config(select=("NO1",)), Config(severity={"NO1": Severity.NOTE})])
def test_unknown_selectors(config: Config) -> None:
    with pytest.raises(UnknownSelectorError, match="NO1"):
        ptxcheck.check(source(), rules=(INIT,), config=config)


def test_launch_from_comments_and_configuration() -> None:
    text = KERNEL.replace(".visible", "// ptxcheck: launch block=384 cluster=2\n.visible")
    config = Config(launch=(LaunchHint("k", (64, 1, 1)),))
    (kernel,) = ptxcheck.check(source(text), rules=()).kernels
    assert (kernel.launch.threads, kernel.launch.cluster_size) == (384, 2)
    (kernel,) = ptxcheck.check(source(), rules=(), config=config).kernels
    assert kernel.launch.threads == 64


def test_launch_comment_is_about_the_kernel_around_or_after_it() -> None:
    second = (
        KERNEL.removeprefix(HEADER)
        .replace("entry k", "entry l")
        .replace("ret;", "ret; // ptxcheck: launch block=9")
    )
    first, last = ptxcheck.check(source(KERNEL + second), rules=()).kernels
    assert (first.launch.threads, last.launch.threads) == (None, 9)


def test_launch_that_contradicts_the_kernel() -> None:
    text = KERNEL.replace("k()\n{", "k()\n.reqntid 32, 1, 1\n{  // ptxcheck: launch block=64")
    (problem,) = ptxcheck.check(source(text), rules=()).problems
    assert problem.kind is ProblemKind.SETTING
    assert problem.message == "k.ptx:6: block 64×1×1 contradicts .reqntid 32×1×1"


def test_other_files_are_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.cu"
    secret.write_text("password\n" * 20)
    report = ptxcheck.check(source(LOCATED.replace("{cu}", str(secret))), rules=(INIT,))
    assert report.findings[0].location.primary.file == str(secret)
    assert "password" not in repr(report.lines)


def test_paths_and_missing_paths(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNEL)
    report = ptxcheck.check([tmp_path, tmp_path / "none.ptx", source(name="t")], rules=(INIT,))
    assert len(report.findings) == 2
    assert [problem.message for problem in report.problems] == ["no such file or folder"]


def test_progress() -> None:
    told: list[tuple[int, int, str]] = []
    ptxcheck.check([source(), source(name="l.ptx")], rules=(), progress=lambda *args: told.append(args))
    assert told == [(0, 2, "k.ptx"), (1, 2, "l.ptx")]


def test_equal_inputs_give_equal_reports() -> None:
    assert ptxcheck.check(source(), rules=(INIT, SYNC)) == ptxcheck.check(source(), rules=(INIT, SYNC))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_cuda_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(
        "// ptxcheck: launch block=64\n__global__ void k() {\n  __syncthreads();\n"
        "  __syncthreads();  // ptxcheck: ignore[XX002] fine\n}\n"
    )
    report = ptxcheck.check("k.cu", rules=(SYNC,))
    assert [(f.location.shown, f.suppressed) for f in report.findings] == [
        (("k.cu", 3, 3), None), (("k.cu", 4, 3), "fine"),
    ]  # fmt: skip
    assert report.lines["k.cu", 3] == "  __syncthreads();"
    assert report.kernels[0].launch.threads == 64


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_give_a_report(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(data)
    report = ptxcheck.check(path, rules=(INIT,))
    assert all(problem.kind is not ProblemKind.TOOL for problem in report.problems)
    for form in Format:
        render(report, form)


@settings(deadline=None, max_examples=200)
@given(
    at=st.integers(0, len(LOCATED)), cut=st.integers(0, 40), new=st.text('{}[];:.,%@/*"\n0aé\x1b', max_size=6)
)
def test_damaged_kernels_give_a_report(at: int, cut: int, new: str) -> None:
    report = ptxcheck.check(source(LOCATED[:at] + new + LOCATED[at + cut :]), rules=(INIT, SYNC))
    assert all(problem.kind is not ProblemKind.TOOL for problem in report.problems)
    for form in Format:
        render(report, form)
