from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxcheck import cli
from ptxcheck.commands.differences import Side, compare_sides
from ptxcheck.launch import Launch
from ptxcheck.results import (
    KernelResult,
    KernelVerdicts,
    PropertyVerdict,
    Report,
)
from ptxcheck.source import Position
from ptxcheck.verdict import Property, VerdictKind
from tests.fakes import HEADER

GOOD = (
    HEADER
    + """.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [bar], 128;
  bar.sync 0;
  ret;
}
"""
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.ptx").write_text(GOOD)


def diff(new: str, *args: str) -> Result:
    Path("new.ptx").write_text(new)
    return CliRunner().invoke(cli.main, ["diff", "old.ptx", "new.ptx", *args])


def changes(new: str) -> dict[str, tuple[str | None, str | None, bool]]:
    value = json.loads(diff(new, "--format", "json").stdout)
    assert value["problems"] == []
    return {
        each["what"]: (each["old"], each["new"], each["worse"])
        for kernel in value["kernels"]
        for each in kernel["changes"]
    }


def test_moved_lines_and_registers_are_no_change() -> None:
    result = diff("// comment\n" + GOOD.replace("%r1", "%r3"))
    assert (result.exit_code, result.stdout) == (0, "1 kernel compared; 0 changed; 0 on one side only\n")


def test_a_new_finding_is_worse() -> None:
    result = diff(GOOD.replace("128", "0"))
    assert result.exit_code == 1
    assert "! + finding MB001 mbarrier-count-out-of-range" in result.stdout
    Path("old.ptx").write_text(GOOD.replace("128", "0"))
    result = diff(GOOD)
    assert result.exit_code == 0
    assert "  - finding MB001 mbarrier-count-out-of-range" in result.stdout


def test_resources() -> None:
    new = GOOD.replace(".b64 bar;", ".b64 bar;\n  .shared .b32 more[10];\n  .local .b8 l[3];")
    new = new.replace("  bar.sync 0;", "  bar.sync 0;\n  bar.sync 0;").replace("param .u64 p", "param .u32 p")
    found = changes(new.replace("sm_90", "sm_90a").replace("(.param .u32 p)", "(.param .u32 p) .reqntid 128"))
    assert found["static shared bytes"] == ("8", "48", False)
    assert found["static local bytes"] == (None, "3", False)
    assert found["operation bar_sync"] == ("1", "2", False)
    assert found["parameter bytes"] == ("8", "4", False)
    assert found["target"] == ("sm_90", "sm_90a", False)
    assert found["launch block"] == (None, "128×1×1", False)
    assert found["instructions"] == ("5", "6", False)


def test_shared_memory_of_the_module_counts_where_it_is_used() -> None:
    declared = HEADER + ".shared .b32 outer[4];\n.shared .b32 other[64];\n"
    new = GOOD.replace(HEADER, declared).replace("  ret;", "  st.shared.u32 [outer], %r1;\n  ret;")
    assert changes(new)["static shared bytes"] == ("8", "24", False)


def test_kernels_on_one_side() -> None:
    result = diff(GOOD + GOOD.removeprefix(HEADER).replace("k(", "l(").replace("128", "0"))
    assert result.exit_code == 1
    assert result.stdout.startswith("l (only new)\n  ! + finding MB001")
    assert diff(HEADER).stdout.startswith("k (only old)\n0 kernels compared")


def test_bad_input() -> None:
    assert diff("").exit_code == 2
    result = CliRunner().invoke(cli.main, ["diff", "old.ptx", "none.ptx"])
    assert (result.exit_code, result.stderr) == (2, "ptxcheck: none.ptx: no such file or folder\n")
    assert CliRunner().invoke(cli.main, ["diff", "old.ptx", "."]).exit_code == 2


def test_a_compiler_that_is_none() -> None:
    Path("k.cu").write_text("__global__ void k() {}\n")
    result = CliRunner().invoke(cli.main, ["diff", "k.cu", "k.cu", "--old-nvcc", "./none"])
    assert result.exit_code == 2
    assert "./none is no program that can be run" in result.stdout


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_two_toolchains() -> None:
    Path("k.cu").write_text("__global__ void k(int *p) { __syncthreads(); *p = 1; }\n")
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    result = CliRunner().invoke(cli.main, ["diff", "k.cu", "k.cu", "--old-nvcc", nvcc, "--new-nvcc", nvcc])
    assert (result.exit_code, result.stdout) == (0, "1 kernel compared; 0 changed; 0 on one side only\n")


@pytest.mark.parametrize(
    ("old", "new", "worse"),
    [
        (VerdictKind.PROVED, VerdictKind.UNKNOWN, True),
        (VerdictKind.UNKNOWN, VerdictKind.VIOLATED, True),
        (VerdictKind.UNKNOWN, VerdictKind.PROVED_BOUNDED, False),
        (VerdictKind.PROVED, None, True),
        (None, VerdictKind.UNKNOWN, False),
    ],
)
def test_verdicts(old: VerdictKind | None, new: VerdictKind | None, worse: bool) -> None:
    def report(kind: VerdictKind | None) -> Report:
        verdicts = None if kind is None else (PropertyVerdict(Property.DEADLOCK_FREEDOM, kind),)
        found = (
            None if verdicts is None else KernelVerdicts(None, None, False, verdicts, equations=("a = b",))
        )
        return Report(kernels=(KernelResult("k", Position("k.ptx", 1), Launch(), 3, verification=found),))

    (kernel,) = compare_sides(Side(report(old), None), Side(report(new), None)).kernels
    (change,) = [each for each in kernel.changes if each.what == "verdict deadlock-freedom"]
    assert change.worse is worse
    assert any(each.what == "host equation a = b" for each in kernel.changes) is (None in (old, new))
