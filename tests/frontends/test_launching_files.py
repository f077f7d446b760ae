"""Launches in other files: of the folder, of a compilation database, and whose kernels they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.frontends import NvccOptions, launching_files
from ptxcheck.launch import Dim
from ptxcheck.runtime.cache import Cache
from tests.fakes import HEADER

ENTRY = ".visible .entry _Z4ringi(.param .u32 _Z4ringi_param_0)\n{\n  bar.sync 0;\n  ret;\n}\n"
DECLARED = "extern __global__ void ring(int n);\n"
MAIN = "int main() {{ ring<<<1, {}>>>(n); }}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("ring.ptx").write_text(HEADER + ENTRY)


def launched(config: Config | None = None, cache: Cache | None = None) -> tuple[Dim | None, str]:
    (kernel,) = ptxcheck.check("ring.ptx", config=config, cache=cache).kernels
    return kernel.launch.block, kernel.launch.block_from


def test_a_launch_in_a_file_beside() -> None:
    assert launched() == (None, "")
    Path("main.cu").write_text(DECLARED + MAIN.format(96))
    assert launched() == ((96, 1, 1), "<<<>>> at main.cu:2")


def test_a_kernel_that_the_other_file_defines_is_another_one() -> None:
    Path("main.cu").write_text("__global__ void ring(int n) {}\n" + MAIN.format(96))
    assert launched() == (None, "")


def test_a_kernel_of_two_files_is_not_told_apart_unless_one_is_named() -> None:
    Path("main.cu").write_text(DECLARED + MAIN.format(96))
    Path("other.cu").write_text("__global__ void ring(int n) { n = 1; }\n")
    assert launched() == (None, "")
    Path("main.cu").write_text('// loads "ring.ptx"\n' + DECLARED + MAIN.format(96))
    assert launched() == ((96, 1, 1), "<<<>>> at main.cu:3")
    Path("other.cu").unlink()
    Path("ring.cu").write_text("__global__ void ring(int n) { n = 1; }\n")
    assert launched()[0] == (96, 1, 1), "the source of this PTX"


def test_a_kernel_by_its_symbol() -> None:
    call = 'cuModuleGetFunction(&f, m, "_Z4ringi"); cuLaunchKernel(f, 1, 1, 1, 64, 2, 1, 0, 0, a, 0);'
    Path("main.cpp").write_text(f"void run(void **a) {{ CUfunction f; {call} }}\n")
    assert launched() == ((64, 2, 1), "cuLaunchKernel at main.cpp:1")


def test_a_unit_of_a_compilation_database(tmp_path: Path) -> None:
    unit = tmp_path / "app" / "main.cu"
    unit.parent.mkdir()
    unit.write_text(DECLARED + MAIN.format(96))
    entries = [{"directory": str(unit.parent), "file": "main.cu", "command": "nvcc main.cu"}]
    Path("compile_commands.json").write_text(json.dumps(entries))
    config = Config(nvcc=NvccOptions(compile_commands="compile_commands.json"))
    assert launched(config) == ((96, 1, 1), f"<<<>>> at {unit}:2")


def test_results_are_kept_as_long_as_the_launch_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    main = Path("main.cu")
    main.write_text(DECLARED + MAIN.format(96))
    assert launched(cache=cache)[0] == (96, 1, 1)
    main.write_text(DECLARED + MAIN.format(128))
    assert launched(cache=cache)[0] == (128, 1, 1)
    main.unlink()
    assert launched(cache=cache)[0] is None


def test_what_is_no_host_is_not_read() -> None:
    Path("notes.txt").write_text(MAIN.format(96))
    Path("plain.cpp").write_text("int x;\n")
    Path("large.cu").write_text(MAIN.format(96) + " " * (1 << 20))
    assert launching_files("ring.ptx", None) == ()
    assert launching_files("ring.ptx", "missing.json") == ()
    for number in range(70):
        Path(f"many{number}.cu").write_text(MAIN.format(96))
    assert launching_files("ring.ptx", None) == ()
