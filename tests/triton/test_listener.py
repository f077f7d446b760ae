"""Kernels as Triton compiles them. The listener is tried against Triton where it is installed, and alone."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import ptxcheck.triton as integration
from ptxcheck.results import Report
from tests.fakes import HEADER, KERNEL

BAD = KERNEL.replace("128", "0")
CLEAN = HEADER + ".visible .entry k() { ret; }\n"


@pytest.fixture
def knobs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stand in for `triton.knobs`, which holds the listener."""
    module = types.ModuleType("triton")
    made = types.SimpleNamespace(compilation=types.SimpleNamespace(listener=None))
    module.knobs = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "triton", module)
    return made.compilation


def compiled(knobs: Any, folder: Path, text: str, name: str = "k") -> None:
    """Tell the listener what Triton tells it."""
    (folder / f"{name}.ptx").write_text(text)
    group = {f"{name}.{kind}": str(folder / f"{name}.{kind}") for kind in ("ttir", "ptx", "json")}
    knobs.listener(src=None, metadata={}, metadata_group=group, times=None, cache_hit=False)


def test_warnings(knobs: Any, tmp_path: Path) -> None:
    reports: list[Report] = []
    integration.install(seen=reports.append)
    compiled(knobs, tmp_path, CLEAN)
    with pytest.warns(integration.KernelWarning, match="MB001"):
        compiled(knobs, tmp_path, BAD)
    compiled(knobs, tmp_path, BAD)
    assert [len(report.active) > 0 for report in reports] == [False, True]


def test_errors(knobs: Any, tmp_path: Path) -> None:
    integration.install("error")
    with pytest.raises(integration.KernelError, match="MB001") as caught:
        compiled(knobs, tmp_path, BAD)
    assert caught.value.report.active[0].location.ptx.file == "k.ptx"


def test_what_triton_specialised_for_is_known(knobs: Any, tmp_path: Path) -> None:
    reports: list[Report] = []
    integration.install(seen=reports.append)
    text = HEADER + ".visible .entry k(.param .u32 n) { ret; }\n"
    compiled(knobs, tmp_path, text)
    (tmp_path / "k.ttir").write_text("tt.func public @k(%n: i32 {tt.divisibility = 16 : i32}) {\n}\n")
    compiled(knobs, tmp_path, text)
    facts = [[fact.text for fact in report.kernels[0].launch.facts] for report in reports]
    assert facts == [[], ["n % 16 == 0"]]


def test_other_listeners_stay(knobs: Any, tmp_path: Path) -> None:
    told: list[Any] = []
    knobs.listener = first = lambda **given: told.append(given["cache_hit"])
    remove = integration.install()
    compiled(knobs, tmp_path, CLEAN)
    assert told == [False]
    remove()
    assert knobs.listener is first


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(integration.NotSupportedError, match=r"Triton 3\.4 or newer is needed"):
        integration.install()


def test_an_old_triton(knobs: Any) -> None:
    del knobs.listener
    with pytest.raises(integration.NotSupportedError, match="no compilation listener"):
        integration.install()


def pytest_run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "ptxcheck.triton.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "TRITON_CACHE_DIR": str(folder / "cache"),
    }
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


STAND_IN = """
import pathlib, types
class Compilation:
    listener = None
knobs = types.SimpleNamespace(compilation=Compilation())
def compile(text):
    path = pathlib.Path("k.ptx")
    path.write_text(text)
    if knobs.compilation.listener:
        group = {"k.ptx": str(path)}
        knobs.compilation.listener(src=None, metadata={}, metadata_group=group, times=None, cache_hit=False)
"""


def test_the_pytest_plugin(tmp_path: Path) -> None:
    (tmp_path / "triton.py").write_text(STAND_IN)
    (tmp_path / "conftest.py").write_text("import sys; sys.path.insert(0, '.')")
    (tmp_path / "test_it.py").write_text(
        f"import triton\nBAD = {BAD!r}\nCLEAN = {CLEAN!r}\n"
        "def test_bad(): triton.compile(BAD)\ndef test_clean(): triton.compile(CLEAN)\n"
    )
    environment = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{tmp_path}:{environment}"
    try:
        failing = pytest_run(tmp_path, "--ptxcheck=error")
        assert "1 failed, 1 passed" in failing.stdout, failing.stdout + failing.stderr
        assert "MB001" in failing.stdout
        warned = pytest_run(tmp_path, "--ptxcheck=warn")
        assert "2 passed, 1 warning" in warned.stdout
        assert "2 passed in" in pytest_run(tmp_path).stdout
    finally:
        os.environ["PYTHONPATH"] = environment
    (tmp_path / "triton.py").write_text("raise ImportError('broken')")
    missing = pytest_run(tmp_path, "--ptxcheck=error")
    assert missing.returncode != 0


KERNELS = """
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ASM = tl.constexpr("barrier.cluster.wait.aligned; mov.u32 $0, $1;")

@triton.jit
def bad(p):
    value = tl.inline_asm_elementwise(ASM, "=r,r", [tl.program_id(0)], tl.int32, False, 1)
    tl.store(p, value)

@triton.jit
def good(p):
    tl.store(p, tl.program_id(0))

@triton.jit
def suppressed(p):
    # ptxcheck: ignore[CL] an experiment
    value = tl.inline_asm_elementwise(ASM, "=r,r", [tl.program_id(0)], tl.int32, False, 1)
    tl.store(p, value)

def compile(kernel):
    triton.compile(ASTSource(kernel, {"p": "*i32"}), target=GPUTarget("cuda", 90, 32))
"""


def test_with_triton(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "test_it.py").write_text(
        "import kernels\ndef test_bad(): kernels.compile(kernels.bad)\n"
        "def test_good(): kernels.compile(kernels.good)\n"
        "def test_suppressed(): kernels.compile(kernels.suppressed)\n"
    )
    done = pytest_run(tmp_path, "--ptxcheck=error")
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "kernels.py:12" in done.stdout
    assert "FAILED test_it.py::test_bad" in done.stdout
