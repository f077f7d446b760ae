"""The launches that the campaigns over the built corpora take for granted."""

from __future__ import annotations

import pytest

from benchmarks.built_files import host_launch
from ptxcheck.ir import Function
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

KERNEL = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry kernel()
.maxntid {threads}
{{
    ret;
}}
"""


def function(threads: str) -> Function:
    return parse_module(Source("kernel.ptx", KERNEL.format(threads=threads))).functions[0]


@pytest.mark.parametrize(("threads", "count"), [("256, 1, 1", 256), ("384", 384)])
def test_tilelang_launches_as_many_threads_as_it_says_there_are_at_most(threads: str, count: int) -> None:
    launch = host_launch(function(threads), "tilelang/matmul_3_stages.sm_90a")
    assert launch.threads == count


def test_other_hosts_may_launch_fewer() -> None:
    launch = host_launch(function("256, 1, 1"), "cutlass/48_gemm")
    assert launch.threads is None
    assert launch.max_threads == 256
