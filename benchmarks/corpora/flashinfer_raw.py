"""Group `flashinfer_raw`: the free-standing kernel files of the `flashinfer-python` wheel, some hundreds.

They are written with inline assembly throughout (`mbarrier`, TMA, `wgmma`, `tcgen05`), include nothing but
CUDA's own headers, and take about a second each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .environments import packages
from .flashinfer import PACKAGE_FLAGS, include_flags
from .store import Cache, Row
from .toolchain import build_unit

GROUP = "flashinfer_raw"
ASYNCHRONOUS = re.compile(r"mbarrier|cp\.async|wgmma|tcgen05")
FOREIGN_INCLUDE = re.compile(r'#include "(?!\w*_device_common\.cuh)')
COMPILE_LINE_CONSTANT = re.compile(r'#error ".*compile line')
FOLDERS = (
    "cake_vsa_sm90",
    "cake_vsa",
    "cake_kimi_k3_mla",
    "blackwell_msa",
    "cake_grouped_fp8_gemm",
    "cake_dsv4",
    "cake_fmha/cuda",
    "kda",
)


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Build every file that uses the asynchronous machine and needs no header of the wheel."""
    root = packages(cache, "sources") / "flashinfer" / "data" / "csrc"
    flags = [*PACKAGE_FLAGS, *include_flags(cache)]
    listed: set[str] = set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.cu")):
            name = _name(path.relative_to(root))
            if not _is_free_standing(path):
                continue
            listed.add(name)
            if not wanted or name in wanted:
                yield build_unit(cache, GROUP, name, _target(path), path, flags)
    cache.keep_only(GROUP, listed)


def _name(path: Path) -> str:
    """The path as one file name, with hashes cut to six digits."""
    joined = "_".join(path.with_suffix("").parts).replace("cake_fmha_cuda_", "fmha_")
    return re.sub(r"([0-9a-f]{6})[0-9a-f]{14}(_kernel)?", r"\1", joined)


def _is_free_standing(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    if FOREIGN_INCLUDE.search(text) or COMPILE_LINE_CONSTANT.search(text):
        return False
    return "__global__" in text and ASYNCHRONOUS.search(text) is not None


def _target(path: Path) -> str:
    """As the path says; else by the one instruction that sm_100a lacks."""
    named = re.search(r"sm_?(90|100|103|120)", path.as_posix())
    if named:
        return f"sm_{named[1]}a"
    return "sm_103a" if "TmemLoadRed" in path.read_text(encoding="utf-8", errors="replace") else "sm_100a"
