"""PTX in objects that nvcc built, and in ones that are damaged."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.frontends.fatbin import FatbinError, embedded_ptx

pytest.importorskip("lz4")
pytest.importorskip("zstandard")

SOURCE = """
__global__ void first(int *p) { p[threadIdx.x] += 1; }
__global__ void second(float *p) {
  __shared__ float s[4];
  unsigned to = (unsigned)__cvta_generic_to_shared(s);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(p));
  p[8] = s[0];
}
"""
TEXT = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { bar.sync 17; ret; }\n"


def fatbin(*payloads: tuple[int, bytes, int, int, int]) -> bytes:
    """Return a fat binary of entries (kind, payload, flags, size before compression, architecture)."""
    body = b""
    for kind, payload, flags, whole, arch in payloads:
        padded = payload + b"\0" * (-len(payload) % 8)
        compressed = len(payload) if flags else 0
        body += struct.pack(
            "<HHIQI4xHHI8xQ8xQ", kind, 0x101, 64, len(padded), compressed, 0, 8, arch, flags, whole
        )
        body += padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def compressed(kind: str) -> tuple[int, bytes, int, int, int]:
    if kind == "lz4":
        import lz4.block

        return 1, lz4.block.compress(TEXT, store_size=False), 0x2011, len(TEXT), 90
    import zstandard

    return 1, zstandard.ZstdCompressor().compress(TEXT), 0x8011, len(TEXT), 90


PLAIN = (1, TEXT, 0, 0, 80)
CUBIN = (2, b"\x7fELF code", 0, 0, 90)


@pytest.mark.parametrize("kind", ["lz4", "zstd"])
def test_compressed_and_plain(kind: str) -> None:
    data = (
        b"\x7fELF something " + fatbin(CUBIN, compressed(kind)) + b"\x50\xed\x55\xba" + b"xx" + fatbin(PLAIN)
    )
    (found,) = embedded_ptx(data)
    assert (found.arch, found.text) == (90, TEXT)


def test_the_same_text_once_and_others_too() -> None:
    other = (1, TEXT.replace(b"sm_90", b"sm_80"), 0, 0, 80)
    assert [found.arch for found in embedded_ptx(fatbin(PLAIN, PLAIN, other) + fatbin(PLAIN))] == [80, 80]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (fatbin((1, b"garbage", 0x8011, 100, 90)), "compressed PTX is damaged"),
        (fatbin((1, b"garbage", 0x2011, 100, 90)), "compressed PTX "),
        (fatbin((*compressed("zstd")[:3], len(TEXT) + 1, 90)), "in place of"),
        (fatbin((1, b"x", 0x2011, 1 << 40, 90)), "larger than 1024 MiB"),
        (fatbin(PLAIN)[:16] + b"\xff" * (len(fatbin(PLAIN)) - 16), "is damaged at byte 16"),
    ],
)
def test_damage(data: bytes, message: str) -> None:
    with pytest.raises(FatbinError, match=message):
        list(embedded_ptx(data))


def test_every_cut_ends() -> None:
    whole = fatbin(CUBIN, compressed("zstd"), PLAIN)
    for end in range(len(whole)):
        assert list(embedded_ptx(whole[:end])) == []


def test_without_the_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.o"
    path.write_bytes(fatbin(compressed("zstd")))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (problem,) = ptxcheck.check(path).problems
    assert "pip install 'ptxcheck[fatbin]'" in problem.message


def test_objects_without_ptx(tmp_path: Path) -> None:
    path = tmp_path / "libm.so"
    path.write_bytes(b"\x7fELF" + bytes(1000))
    (problem,) = ptxcheck.check(path).problems
    assert problem.position.file == str(path)
    assert "has no PTX in it" in problem.message


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("mode", ["none", "size", "speed"])
@pytest.mark.parametrize("kind", ["-c", "-fatbin", "-shared"])
def test_what_nvcc_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)
    name = {"-c": "k.o", "-fatbin": "k.fatbin", "-shared": "k.so"}[kind]
    command = ["nvcc", kind, "k.cu", "-o", name, "-gencode=arch=compute_90,code=[sm_90,compute_90]"]
    command += [f"--compress-mode={mode}", "-Xcompiler", "-fPIC"]
    subprocess.run(command, check=True, capture_output=True)
    report = ptxcheck.check(name, config=ptxcheck.Config(verify=False))
    assert report.problems == ()
    assert report.inputs == (f"{name}/1.sm_90.ptx",)
    assert {kernel.name for kernel in report.kernels} == {"_Z5firstPi", "_Z6secondPf"}
    assert {finding.kernel for finding in report.findings} == {"_Z6secondPf"}
