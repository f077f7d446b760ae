"""The placement table on kernels whose numbers are computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.resources import Resources, gather, occupancy
from ptxcheck.resources.table import Balance
from ptxcheck.source import Source
from ptxcheck.view import KernelView

HOPPER = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry gemm(.param .u32 n) .reqntid 384 .minnctapersm 1
{
    .reg .pred %p<8>;
    .reg .f32 %f<40>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 1024 .b8 a_tile[32768];
    .shared .align 1024 .b8 b_tile[8192];
    .shared .align 8 .b64 full[4];

    ld.param.u32 %r9, [n];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [full], 1;
    @%p1 mbarrier.init.shared::cta.b64 [full+8], 1;
    bar.sync 0;
    shr.u32 %r2, %r1, 7;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra $producer;
    setmaxnreg.inc.sync.aligned.u32 240;
    mov.u32 %r3, a_tile;
    mov.u32 %r4, b_tile;
    mov.u32 %r5, 0;
$loop:
    shl.b32 %r6, %r5, 13;
    add.u32 %r6, %r6, %r3;
    bfe.u32 %r6, %r6, 4, 14;
    cvt.u64.u32 %rd1, %r6;
    or.b64 %rd1, %rd1, 0x4000004000010000;
    bfe.u32 %r7, %r4, 4, 14;
    cvt.u64.u32 %rd2, %r7;
    or.b64 %rd2, %rd2, 0x4000004000010000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10,
        %f11, %f12, %f13, %f14, %f15, %f16, %f17, %f18, %f19, %f20, %f21, %f22, %f23, %f24, %f25, %f26, %f27, %f28,
        %f29, %f30, %f31}, %rd1, %rd2, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, %r9;
    @%p3 bra $loop;
    ret;
$producer:
    setmaxnreg.dec.sync.aligned.u32 24;
    mov.u32 %r5, 0;
$next:
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 4096;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, %r9;
    @%p3 bra $next;
    ret;
}
"""


def resources_of(text: str) -> Resources:
    module = parse_module(Source("k.ptx", text))
    function = module.functions[0]
    return gather(KernelView(module, function, launch_of(function, ())[0]))


def test_main_loop_of_two_warpgroups() -> None:
    loop = resources_of(HOPPER).loop
    assert loop is not None
    assert loop.flops == 2 * 64 * 64 * 16 * 2, "two warpgroups multiply"
    assert loop.operand_bytes == 2 * 64 * 16 * 2, "A and B of f16"
    assert loop.expected_bytes == 4096
    assert loop.intensity == pytest.approx(64.0)


def test_shared_memory_by_use() -> None:
    found = resources_of(HOPPER)
    assert found.shared_bytes == 32768 + 8192 + 32
    assert not found.is_dynamic
    uses = {(use.variable, use.what): use for use in found.shared}
    assert uses["a_tile", "operand A, 128-byte swizzle"].stage_step == 8192
    assert uses["b_tile", "operand B, 128-byte swizzle"].stage_step is None
    assert uses["full", "mbarrier"].count == 2


def test_registers_by_role() -> None:
    found = [(one.count, one.warps) for one in resources_of(HOPPER).registers]
    assert found == [(168, ()), (240, tuple(range(4, 12))), (24, (0, 1, 2, 3))]


def test_balance_by_type() -> None:
    machine = Balance("example", 1e15, 4e12)
    assert machine.of(1) == 250
    assert machine.of(2) == 500


def test_bytes_that_are_not_constant_are_not_known() -> None:
    loop = resources_of(HOPPER.replace("[full], 4096;", "[full], %r9;")).loop
    assert loop is not None
    assert loop.expected_bytes is None
    assert loop.bytes == loop.operand_bytes


@pytest.mark.parametrize("form", ["text", "json"])
def test_command(form: str, tmp_path: Path) -> None:
    file = tmp_path / "gemm.ptx"
    file.write_text(HOPPER, encoding="utf-8")
    result = CliRunner().invoke(main, ["show", "resources", str(file), "--format", form, "--isolated"])
    assert result.exit_code == 0, result.output
    if form == "json":
        found = json.loads(result.stdout)
        assert found["loop"]["intensity"] == 64.0
        assert found["name"] == "gemm"
        assert found["loop"]["line"] > 1
    else:
        assert "limited by" in result.stdout
        assert "2 mbarriers" in result.stdout


def test_a_kernel_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "gemm.ptx"
    file.write_text(HOPPER, encoding="utf-8")
    result = CliRunner().invoke(main, ["show", "resources", str(file), "--kernel", "other", "--isolated"])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("shape", "most", "percent"),
    [
        ((160, 66560 + 64, 58, 1), 3, 23.4375),  # gemm of corpus/runnable, by shared memory
        ((1024, 4224, 16, 1), 2, 100.0),
        ((384, 0, 168, 1), 1, 18.75),  # by registers
        ((128, 512, 20, 16), 4, 25.0),  # hand_over, by named barriers
        ((192, 0, 16, 7), 9, 84.375),
    ],
)
def test_occupancy_is_what_nsight_compute_reports_on_an_h100(
    shape: tuple[int, int, int, int], most: int, percent: float
) -> None:
    found = occupancy(90, *shape)
    assert found is not None
    assert (found.ctas, found.percent) == (most, percent)
    assert occupancy(50, *shape) is None


LOADS = """
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 dynamic[];

.visible .entry loads(.param .u64 from, .param .u32 which) .reqntid 128
{
    .reg .pred p;
    .reg .b32 i, n, a, number;
    .reg .b64 addr, desc;
    .reg .f32 d<4>, f<4>;
    ld.param.u64 addr, [from];
    ld.param.u32 number, [which];
    bar.sync BARRIER, 128;
    mov.u32 a, dynamic;
    mov.u32 i, 0;
LOOP:
    ld.global.v4.f32 {f0, f1, f2, f3}, [addr];
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, desc, desc, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 i, i, 1;
    setp.lt.u32 p, i, 8;
    @p bra LOOP;
    ret;
}
"""


@pytest.mark.parametrize(("barrier", "count", "most"), [("0", 1, 16), ("6", 7, 9), ("number", 16, 4)])
def test_named_barriers_limit_what_an_sm_holds(barrier: str, count: int, most: int) -> None:
    found = resources_of(LOADS.replace("BARRIER", barrier))
    assert found.barriers == count
    assert found.occupancy is not None
    assert found.occupancy.ctas == most


def test_bytes_that_threads_load_count_beside_those_that_copies_bring() -> None:
    found = resources_of(LOADS.replace("BARRIER", "0"))
    assert found.is_dynamic
    assert found.loop is not None
    assert found.loop.loaded_bytes == 128 * 16
    assert found.loop.bytes == 128 * 16


def test_conflicts_and_occupancy_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(LOADS.replace("BARRIER", "number").replace("    mov.u32 i, 0;", CONFLICT))
    shown = CliRunner().invoke(main, ["show", "resources", str(path)]).output
    assert "bank conflicts: 32 wavefronts instead of 1 [line 20]" in shown
    assert "an SM holds 4 CTAs of 4 warps at most, by 16 named barriers: 25 % of its warps" in shown
    assert "threads load 2048 bytes a round from global memory" in shown
    table = json.loads(CliRunner().invoke(main, ["show", "resources", "--format", "json", str(path)]).output)
    assert table["occupancy"]["ctas"] == 4
    assert table["conflicts"] == [{"line": 20, "needed": 1, "wavefronts": 32}]


CONFLICT = """    mov.u32 n, %tid.x;
    shl.b32 n, n, 7;
    add.u32 n, n, a;
    st.shared.u32 [n], i;
    mov.u32 i, 0;"""
