"""The demo of the README: one kernel, its finding and its page, in a few seconds and without a compiler."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .rings import FOLDER, ROOT_DEMO

ROOT = Path(__file__).parent.parent.parent
SECONDS = 5.0
"""Of processor time, for each command."""


def commands() -> list[list[str]]:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- demo -->\n```sh\n(.*?)```", page, re.DOTALL)
    return [line.split()[1:] for line in block.splitlines() if line.startswith(".venv/bin/ptxcheck ")]


def test_the_demo_checks_and_shows(tmp_path: Path) -> None:
    check, view = commands()
    assert (check[0], view[0]) == ("check", "view")
    assert "report.html" in view
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    for words in (check, view):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(
            [sys.executable, "-m", "ptxcheck", *words],
            cwd=tmp_path,
            env={**os.environ, "PATH": str(tmp_path), "PTXCHECK_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < SECONDS
        assert "1 finding (1 hang)" in done.stdout + done.stderr
    assert "corpus/demo/ring.cu" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_source_of_the_demo_is_the_ring_with_a_wrong_parity() -> None:
    right = (FOLDER / "ring.cu").read_text(encoding="utf-8")
    wrong = right.replace("wait(&empty[stage], (round & 1) ^ 1);", "wait(&empty[stage], round & 1);")
    assert wrong != right
    assert (ROOT_DEMO / "ring.cu").read_text(encoding="utf-8") == wrong


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_the_ptx_of_the_demo_has_what_nvcc_makes_of_it(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    made = tmp_path / "ring.ptx"
    source = ROOT_DEMO / "ring.cu"
    subprocess.run([str(nvcc), "-arch=sm_90a", "-ptx", "-lineinfo", "-o", str(made), str(source)], check=True)
    release = re.compile(r"^// Cuda compilation tools.*$", re.MULTILINE)
    stored = (ROOT_DEMO / "ring.ptx").read_text(encoding="utf-8")
    text = made.read_text(encoding="utf-8").replace(str(source), "corpus/demo/ring.cu")
    if release.findall(text) != release.findall(stored):
        pytest.skip("stored by another release")
    text = re.sub(r'"/[^"]*/(\w+\.hpp)"', r'"/cuda/include/\1"', text)
    assert _without_digests(text) == _without_digests(stored)


def _without_digests(text: str) -> list[str]:
    """Return lines without debug strings, which have a digest of the path."""
    return [line for line in text.splitlines() if not line.startswith(".b8")]
