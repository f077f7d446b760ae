"""`ptxcheck fix` on CUDA sources: the change compiles to a kernel that is proved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main

_RUNNABLE = Path(__file__).parents[2] / "corpus" / "runnable"
_RING = (_RUNNABLE / "ring.cu").read_text(encoding="utf-8")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    shutil.copy(_RUNNABLE / "async.cuh", tmp_path)
    return tmp_path / "ring.cu"


@needs_nvcc
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("barrier_init(&empty[stage], 128)", "barrier_init(&empty[stage], 129)"),
        ("  __syncthreads();\n", ""),
    ],
)
def test_the_source_is_as_it_was(source: Path, right: str, wrong: str) -> None:
    source.write_text(_RING.replace(right, wrong, 1), encoding="utf-8")
    result = CliRunner().invoke(main, ["fix", str(source), "--in-place"])
    assert result.exit_code == 0, result.output
    assert source.read_text(encoding="utf-8").split() == _RING.split()
    assert "safe: " in result.output


@needs_nvcc
def test_an_expression_becomes_the_number_that_is_right(source: Path) -> None:
    source.write_text(_RING.replace("(&full[stage], kTile * 4)", "(&full[stage], kTile * 4 + 16)"), "utf-8")
    result = CliRunner().invoke(main, ["fix", str(source), "--format", "json"])
    assert result.exit_code == 0, result.output
    (done,) = json.loads(result.stdout)["repairs"]
    assert (done["safety"], done["rule"]) == ("safe", "TX001")
    assert "4096 instead of 'kTile * 4 + 16', which is 4112" in done["change"]
    assert "kTile * 4 + 16" in source.read_text(encoding="utf-8")


@needs_nvcc
def test_what_does_not_compile_ends_with_2(source: Path) -> None:
    source.write_text("__global__ void k() { x; }\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["fix", str(source)])
    assert result.exit_code == 2
    assert f"{source}(1): error" in result.output


def test_a_missing_source_and_sarif_end_with_2(tmp_path: Path) -> None:
    missing = CliRunner().invoke(main, ["fix", str(tmp_path / "no.cu")])
    sarif = CliRunner().invoke(main, ["fix", str(tmp_path / "no.cu"), "--format", "sarif"])
    assert (missing.exit_code, sarif.exit_code) == (2, 2)
    assert "No such file" in missing.output
    assert "SARIF" in sarif.output
