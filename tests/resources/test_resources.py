"""The placement table on kernels whose numbers are computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.resources import Resources, gather
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
