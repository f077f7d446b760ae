"""The launches that the campaigns over the built corpora take for granted."""

from __future__ import annotations

import pytest

from benchmarks.built_files import host_launch
from benchmarks.protocols import Row
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


def test_a_bug_of_a_compiler_is_known_in_all_its_kernels_and_nowhere_else() -> None:
    kinds = {"phase-safety": "assumes", "slot-safety": "violated", "exit-safety": "assumes"}
    said = "nothing orders this deallocation after a load"
    reasons = {"slot-safety": f"{said} (column 0 of CTA 0) @9"}
    states = [
        Row(file, "kernel", "", kinds, reasons, 1, 0.1).state
        for file in ("tilelang/matmul_tensor_memory.sm_100a", "triton/matmul_fp16.sm_90a")
    ]
    assert states == ["decided", "violated"]


def test_a_bug_that_a_compiler_does_not_have_is_no_known_one() -> None:
    kinds = {"slot-safety": "violated"}
    reasons = {"slot-safety": "nothing orders this read after an earlier write of the same bytes @9"}
    row = Row("tilelang/matmul_2_stages.sm_90a", "kernel", "", kinds, reasons, 1, 0.1)
    assert row.state == "violated"
