"""Which files of the built corpora (`python -m benchmarks.corpora build`) a campaign looks at, by its arguments."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.corpora.store import default_root
from ptxcheck.ir import Function
from ptxcheck.launch import Launch
from ptxcheck.launches.hints import launch_of

_BLOCKS = {"cute_0": 128, "gemm_low_latency": 256, "fmha_sm100": 512}
"""Threads that the host launches: `dimBlock` of the CuTe tutorials, `config.blockDim`, `get_block_shape`."""
_CLUSTERS = {
    "cute_03": (4, 4, 1), "cute_04": (4, 4, 1), "cute_05": (4, 4, 1), "77_mla": (2, 1, 1), "mla_sm100": (2, 1, 1),
    "77_fmha_fp16": (1, 1, 1), "77_fmha_gen": (1, 1, 1),
}  # fmt: skip
"""Clusters that the host launches: `dimCluster` of the tutorials, `Kernel::ClusterShape` of `sm100_mla.hpp`, and
`ClusterShape` of the main loops of CUTLASS 77."""

_NAMED_CLUSTER = re.compile(r"\.cluster(\d+)x(\d+)x(\d+)\.")
"""How units of the CuTe DSL are named, whose PTX does not say the cluster."""
_WHOLE_BLOCKS = ("tilelang/",)
"""Compilers whose hosts launch as many threads as `.maxntid` allows: TileLang writes both from one number."""


def add_arguments(parser: argparse.ArgumentParser, groups: Sequence[str]) -> None:
    """Add `--cache`, `--group` (of `groups`, all of them by default), `--only` and `--first`."""
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--group", action="append", choices=groups, help="may be given more than once")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="TEXT", help="files with one of these in the name"
    )
    parser.add_argument("--first", type=int, metavar="N", help="the first kernels of each file alone")


def built_files(options: argparse.Namespace, groups: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield group and path of each file that the arguments choose, in order."""
    for group in options.group or groups:
        for path in sorted((options.cache / "ptx" / group).glob("*.ptx")):
            if not options.only or any(text in path.name for text in options.only):
                yield group, path


def host_launch(function: Function, file: str) -> Launch:
    """Return the launch of a kernel, with the block and cluster that the host code of its file is known to use."""
    launch, _ = launch_of(function, [])
    threads = next((count for name, count in _BLOCKS.items() if name in file), None)
    cluster = next((shape for name, shape in _CLUSTERS.items() if name in file), None)
    if named := _NAMED_CLUSTER.search(file):
        cluster = (int(named[1]), int(named[2]), int(named[3]))
    if threads is None and any(name in file for name in _WHOLE_BLOCKS):
        threads = launch.max_threads
    if threads is not None:
        launch = replace(launch, block=(threads, 1, 1), block_is_exact=True, max_threads=threads)
    return launch if cluster is None else replace(launch, cluster=cluster)


__all__ = ["add_arguments", "built_files", "host_launch"]
