from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.frontends.kernel_caches import inductor_cache, triton_cache

from ..fakes import KERNEL


@pytest.mark.parametrize(
    ("word", "variable", "path"),
    [
        ("@triton", "TRITON_CACHE_DIR", "HASH/kernel.ptx"),
        ("@inductor", "TORCHINDUCTOR_CACHE_DIR", "triton/0/HASH/triton_poi_fused_add_0.ptx"),
    ],
)
def test_kernels_of_a_cache(
    word: str, variable: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, str(tmp_path / ".hidden"))
    report = ptxcheck.check(word)
    assert report.problems == ()
    (note,) = report.notes
    assert note.position.file == str(tmp_path / ".hidden")
    kernel = tmp_path / ".hidden" / path
    kernel.parent.mkdir(parents=True)
    kernel.write_text(KERNEL)
    (kernel.parent / "kernel.ttir").write_text("module {}")
    assert ptxcheck.check(word).inputs == (str(kernel),)


def test_a_file_of_that_name_counts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("@triton").write_text(KERNEL)
    assert ptxcheck.check("@triton").inputs == ("@triton",)


def test_default_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRITON_CACHE_DIR", "TRITON_HOME", "TORCHINDUCTOR_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setenv("LOGNAME", "u:v")
    monkeypatch.setenv("TMPDIR", "/tmp")
    assert triton_cache() == "/home/u/.triton/cache"
    assert inductor_cache().endswith("/torchinductor_u_v")
    monkeypatch.setenv("TRITON_HOME", "/data")
    assert triton_cache() == "/data/.triton/cache"
