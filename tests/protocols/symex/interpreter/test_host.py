"""What the host passes in a run with numbers, and what is computed from numbers that differ between lanes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from ptxcheck.cfg import build
from ptxcheck.cfg.optypes import Typing
from ptxcheck.launches.hints import from_directives
from ptxcheck.opcodes.op import Op
from ptxcheck.parser import parse_module
from ptxcheck.protocols.symex.interpreter.host import Choice, Host
from ptxcheck.protocols.symex.slice.layout import layout_of
from ptxcheck.protocols.symex.slice.parameter_kinds import ParameterKinds, parameter_kinds
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.protocols.symex.values.compute import COMPUTE
from ptxcheck.protocols.symex.values.floating import compared, computed
from ptxcheck.protocols.symex.values.symbol import Form, atom
from ptxcheck.protocols.symex.values.trace import NotFollowedError, Shape
from ptxcheck.source import Source
from tests.protocols.machine_runs import run

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 8 .b8 params[128])
.reqntid 32
{{
.reg .pred %p<9>;
.reg .b32 %r<30>;
.reg .b64 %rd<30>;
.shared .align 8 .b64 bar;
{body}
ret;
}}
"""


def kinds(body: str) -> ParameterKinds:
    """Return what a kernel with 128 bytes of parameters takes them for."""
    module = parse_module(Source("k.ptx", HEAD.format(body=body)))
    assert not module.problems
    (function,) = module.entries
    program = Program(build(function), module, from_directives(function))
    return parameter_kinds(program.cfg, program.facts, layout_of(function, module).starts)


def test_pointers_are_what_addresses_count_from() -> None:
    found = kinds(
        "ld.param.u64 %rd1, [params+8]; ld.param.u64 %rd2, [params+16]; ld.param.u64 %rd3, [params+24];"
        "ld.param.u32 %r1, [params+32]; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4;"
        "ld.global.u64 %rd6, [%rd5]; mul.lo.u64 %rd7, %rd3, 4; add.s64 %rd8, %rd6, %rd7; ld.global.u32 %r2, [%rd8];"
        "setp.eq.u64 %p1, %rd2, 0; selp.b64 %rd9, %rd1, %rd2, %p1; st.global.u32 [%rd9+4], %r2;"
    )
    assert found.pointers == {8, 16}
    assert found.written == {8, 16}
    assert len(found.pointer_loads) == 1
    assert not found.written_loads
    assert found.flags == {16}


def test_divisors_shifts_bytes_and_pairs() -> None:
    found = kinds(
        "ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [params]; mul.hi.u32 %r5, %r4, %r2; shr.u32 %r6, %r5, %r3;"
        "ld.param.u64 %rd1, [params+24]; ld.param.u32 %r7, [params+32]; cvt.u64.u32 %rd2, %r6;"
        "mul.hi.u64 %rd3, %rd2, %rd1; shr.u64 %rd4, %rd3, %r7; ld.param.u32 %r8, [params+40]; shl.b32 %r9, %r6, %r8;"
        "ld.param.u64 %rd5, [params+48]; mov.b64 {%r10, %r11}, %rd5; ld.param.u32 %r12, [params+56];"
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r12;"
    )
    assert [(each.multiplier, each.size, each.shift) for each in found.divisors] == [(4, 4, 8), (24, 8, 32)]
    assert found.shifts == {40}
    assert found.packed == {48}
    assert found.bytes == {56}
    host = Host(found, Choice(1000, 64, 16, (4, 1, 1)), Shape((32, 1, 1)))
    numbers = {at: host.parameter(at, 4, is_float=False) for at in (0, 4, 8, 32, 40, 48, 52, 56, 60)}
    assert numbers == {0: 16, 4: 1 << 31, 8: 3, 32: 4, 40: 0, 48: 1000, 52: 1000, 56: None, 60: 1000}
    assert (host.parameter(16, 8, is_float=False), host.parameter(24, 8, is_float=False)) == (16, 0)


def host_of(body: str) -> Host:
    return Host(kinds(body), Choice(1000, 64, 16, (4, 2, 1)), Shape((32, 1, 1), (2, 1, 1)))


READS = "ld.param.u64 %rd1, [params+8]; ld.global.u32 %r1, [%rd1];"


def test_arrays_lie_apart_and_hold_one_number() -> None:
    host = host_of(READS + "ld.param.u64 %rd2, [params]; ld.global.f32 %r2, [%rd2];")
    first, second = (host.parameter(at, 8, is_float=False) for at in (8, 0))
    assert first is not None
    assert second is not None
    assert abs(first - second) >= 1 << 36
    assert host.load(0, first + 40, 4, is_float=False) == 1000
    assert host.load_anywhere(0, _somewhere(first), 4, is_float=False) == 1000
    assert host.load(0, second, 4, is_float=True) == 0x3F800000
    with pytest.raises(NotFollowedError):
        host.load(0, first, 8, is_float=False)
    with pytest.raises(NotFollowedError):
        host.load(0, 4096, 4, is_float=False)
    assert host.load_anywhere(0, _somewhere(4096), 4, is_float=False) is None
    assert not host.is_overwritten


@pytest.mark.parametrize("step", [64, -64])
def test_numbers_that_all_differ(step: int) -> None:
    found = kinds(READS + "ld.param.u64 %rd2, [params]; ld.global.f32 %r2, [%rd2];")
    host = Host(found, Choice(1000, 64, 16, (4, 2, 1), step), Shape((32, 1, 1)))
    second, first = (host.parameter(at, 8, is_float=False) for at in (8, 0))
    assert first is not None
    assert second is not None
    one, next_one = (host.load(0, first + at, 4, is_float=False) for at in (0, 4))
    other = host.load(0, second, 4, is_float=False)
    assert next_one - one == 64
    assert (other - one) * step > 0
    assert host.load_anywhere(0, _somewhere(first), 4, is_float=False) is None
    numbers = [host.parameter(at, 4, is_float=False) or 0 for at in (16, 20, 24)]
    assert numbers == sorted(set(numbers), reverse=step < 0)
    assert [host.number(at, 4) for at in (16, 20, 24)] == numbers


def _somewhere(start: int) -> Form:
    return Form(atom("shared", 64, 32, 0).terms, start)


def test_the_grid_is_of_whole_clusters() -> None:
    host = host_of(READS)
    assert [host.special(name, 0) for name in ("%clusterid", "%nclusterid", "%nctaid")] == [0, 4, 8]
    assert host.special("%nctaid", 1) == 2
    assert host.special("%gridid", 0) is None


@pytest.mark.parametrize(
    ("move", "amount", "clamp", "expected"),
    [
        ("up", 1, 0, lambda lane: lane - 1 if lane else 0),
        ("down", 2, 31, lambda lane: lane + 2 if lane < 30 else lane),
        ("bfly", 5, 31, lambda lane: lane ^ 5),
        ("down", 3, 0x1C1F, lambda lane: lane + 3 if lane % 4 < 1 else lane),
    ],
)
def test_lanes_get_the_numbers_of_others(move: str, amount: int, clamp: int, expected: object) -> None:
    ran = run(
        f"mov.u32 %r1, %tid.x; shfl.sync.{move}.b32 %r2|%p1, %r1, {amount}, {clamp}, -1; selp.b32 %r3, 8, 0, %p1;"
        "shl.b32 %r2, %r2, 4; add.u32 %r2, %r2, %r3; mov.u32 %r4, smem; add.u32 %r4, %r4, %r2;"
        "mbarrier.arrive.shared.b64 _, [%r4];",
        threads=32,
    )
    (places,) = ran.operands("mbarrier.arrive", "addr")
    assert isinstance(places, np.ndarray)
    sources = [expected(lane) for lane in range(32)]  # type: ignore[operator]
    inside = [source != lane or move == "bfly" for lane, source in enumerate(sources)]
    assert [int(place) - 1024 for place in places] == [
        16 * source + 8 * is_inside for source, is_inside in zip(sources, inside, strict=True)
    ]


@pytest.mark.parametrize(
    ("bits", "signed", "shift", "expected"),
    [
        (0x80, False, False, 7),
        (0x80, False, True, 24),
        (0, False, False, 0xFFFFFFFF),
        (0xFFFFFF7F, True, False, 7),
    ],
)
def test_the_highest_bit(bits: int, signed: bool, shift: bool, expected: int) -> None:
    types = Typing((".s32" if signed else ".u32",), frozenset({".shiftamt"} if shift else ()))
    assert COMPUTE[Op.BFIND](types, [bits], 32) == expected


def _bits(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


def test_scales_that_are_known() -> None:
    plain, flushed = (Typing((".f32",), frozenset(each)) for each in ((".f32",), (".f32", ".ftz")))
    nan = _bits(float("nan"))
    assert [compared(each, plain, _bits(1.5), _bits(-0.5)) for each in (".gt", ".eq", ".ne", ".leu")] == [
        1,
        0,
        1,
        0,
    ]
    assert [compared(each, plain, nan, 0) for each in (".eq", ".ne", ".neu", ".equ", ".num", ".nan")] == [
        0,
        0,
        1,
        1,
        0,
        1,
    ]
    assert (compared(".eq", plain, 1000, 0), compared(".eq", flushed, 1000, 0)) == (0, 1)
    assert compared(".eq", plain, atom("param", "a", 0, 4), 0) is None
    assert computed(Op.MUL, plain, [_bits(1.5), _bits(2.0)]) == _bits(3.0)
    assert computed(Op.MUL, Typing((".f32",), frozenset({".f32", ".rz"})), [_bits(1.5), _bits(2.0)]) is None
    assert computed(Op.ADD, plain, [_bits(1.5), atom("param", "a", 0, 4)]) is None
