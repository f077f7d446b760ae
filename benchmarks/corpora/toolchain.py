"""The nvcc and ptxas that are there: those on PATH, and those of the wheels."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .environments import packages
from .process import Ran, run
from .store import Cache, Row, digest_of, locked

NVCC_TIMEOUT = 1800.0
KEEP_FREE_MB = 6 * 1024

EXTRA_HEADERS = ("curand*.h", "cublas*.h", "nvblas.h")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One CUDA compiler with the newest PTX version that it writes (94 means 9.4)."""

    name: str
    nvcc: Path
    ptxas: Path
    isa: int
    targets: frozenset[str]
    """Targets without their suffix: `sm_90`, `sm_100`, …"""

    def knows(self, target: str) -> bool:
        return target.rstrip("af") in self.targets

    @property
    def label(self) -> str:
        return f"{self.name} (PTX {self.isa // 10}.{self.isa % 10})"


@functools.cache
def toolchains(cache: Cache) -> tuple[Toolchain, ...]:
    """Every usable compiler, oldest PTX version first."""
    found: list[Toolchain] = []
    on_path = shutil.which("nvcc"), shutil.which("ptxas")
    if on_path[0] and on_path[1]:
        found += _probe(cache, Path(on_path[0]), Path(on_path[1]))
    binaries = packages(cache, "sources") / "nvidia" / "cu13" / "bin"
    found += _probe(cache, binaries / "nvcc", binaries / "ptxas")
    return tuple(sorted(found, key=lambda tool: tool.isa))


def main_toolchain(cache: Cache) -> Toolchain:
    """The compiler for libraries: the one on PATH, else that of the wheels."""
    available = toolchains(cache)
    if not available:
        raise FileNotFoundError("no nvcc: neither on PATH nor from the nvidia-cuda-nvcc wheel")
    return available[0]


def newest_toolchain(cache: Cache) -> Toolchain:
    return toolchains(cache)[-1]


def _probe(cache: Cache, nvcc: Path, ptxas: Path) -> list[Toolchain]:
    folder = cache.sources("probe")
    source = folder / "probe.cu"
    source.write_text("__global__ void probe() {}\n", encoding="ascii")
    output = folder / "probe.ptx"
    ran = run([nvcc, "-ptx", source, "-o", output], timeout=120)
    release = re.search(r"release (\d+\.\d+)", run([nvcc, "--version"], timeout=60).output)
    if not ran.ok or release is None:
        return []
    version = re.search(r"^\.version (\d+)\.(\d+)", output.read_text(encoding="ascii"), re.M)
    if version is None:
        return []
    listed = run([nvcc, "--list-gpu-arch"], timeout=60).output.split()
    targets = frozenset(name.replace("compute_", "sm_") for name in listed)
    isa = int(version[1]) * 10 + int(version[2])
    return [Toolchain(f"nvcc {release[1]}", nvcc, ptxas, isa, targets)]


def extra_headers(cache: Cache) -> Path:
    """A folder with only the cuRAND and cuBLAS headers, so that no other header is shadowed."""
    folder = cache.root / "include"
    folder.mkdir(parents=True, exist_ok=True)
    source = packages(cache, "sources") / "nvidia" / "cu13" / "include"
    for pattern in EXTRA_HEADERS:
        for header in source.glob(pattern):
            link = folder / header.name
            if not link.exists():
                link.symlink_to(header)
    return folder


def to_ptx(
    tool: Toolchain, source: Path, output: Path, target: str, flags: Sequence[str], *, lineinfo: bool = True
) -> tuple[Ran, list[str]]:
    """Compile one CUDA source to PTX; the output appears only when the compiler succeeded.

    One compiler runs at a time, whatever number of builders there is.
    """
    draft = output.with_suffix(f".{os.getpid()}.tmp")
    command = [str(tool.nvcc), "-ptx", f"-arch={target}", "-std=c++17", "--expt-relaxed-constexpr"]
    command += ["-lineinfo"] if lineinfo else []
    command += [*flags, str(source)]
    with locked(output.parents[1] / "nvcc"):
        ran = run([*command, "-o", draft], timeout=NVCC_TIMEOUT, keep_free_mb=KEEP_FREE_MB)
    if ran.ok and draft.is_file():
        draft.replace(output)
    else:
        draft.unlink(missing_ok=True)
    return ran, command


def build_unit(cache: Cache, group: str, name: str, target: str, source: Path, flags: Sequence[str]) -> Row:
    """Compile one unit with the main compiler and record it, unless it is there already."""
    tool = main_toolchain(cache)
    text = source.read_text(encoding="utf-8", errors="replace")
    digest = digest_of(text, target, tool.name, *(cache.relative(flag) for flag in flags))
    known = cache.built(group, name, digest)
    if known:
        return known
    output = cache.ptx(group, name)
    ran, command = to_ptx(tool, source, output, target, flags)
    row = Row(
        group=group,
        name=name,
        target=target,
        built=ran.ok and output.is_file(),
        how=" ".join(["nvcc", *command[1:]]),
        tool=tool.label,
        bytes=output.stat().st_size if output.is_file() else 0,
        seconds=ran.seconds,
        peak_mb=ran.peak_mb,
        message="" if ran.ok else _errors(ran),
        digest=digest,
    )
    cache.record(row)
    return row


def _errors(ran: Ran) -> str:
    """The compiler's errors before its warnings."""
    errors = [line for line in ran.output.splitlines() if "error" in line]
    return "\n".join([*errors[:20], ran.message])
