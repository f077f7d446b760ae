"""Legality of operands, one statement a case; what ptxas 13 says of each was tried."""

from __future__ import annotations

import pytest

from benchmarks.ptxas_differential import judge_table
from ptxcheck.isa.types import agrees
from ptxcheck.opcodes.target import Target, Version

_VERSION, _TARGET = Version(9, 0), Target(100, "a")

_LEGAL = (
    "add.u32 %b32_1, %s32_2, -1;",
    "add.f32 %f32_1, %b32_2, 1.5;",
    "and.b32 %f32_1, %u32_2, 0f3F800000;",
    "ld.global.u8 %u64_1, [%b64_1];",
    "ld.global.f32 %b64_1, [%b64_1];",
    "ld.global.v2.u32 {_, %u32_1}, [in_global+8];",
    "cvt.u8.u32 %b64_1, %u32_1;",
    "mov.u32 %u32_1, %tid.x;",
    "mov.u64 %u64_1, in_global;",
    "mov.b64 {%b32_1, _}, %f64_1;",
    "mov.b32 %b32_1, {%b16_1, %u16_2};",
    "mov.v2.f32 {%f32_1, %f32_2}, {%f32_3, %f32_4};",
    "setp.lt.and.s32 %pred_1|_, %s32_1, 4, !%pred_2;",
    "setp.eq.s32 _, %s32_1, 4;",
    "selp.b32 %f32_1, %b32_1, 7, %pred_1;",
    "pmevent 15;",
    "ld.local.u32 %u32_1, [16];",
    "tex.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}|%pred_1, [%u64_1, {%f32_5, %f32_6}];",
    "vadd.s32.u32.s32.sat %s32_1.h0, %u32_1.b2, %s32_3, %s32_4;",
    "ld.global.u32 %u32_1, [%u64_1].unified;",
)

_ILLEGAL = (
    "add.u32 %f32_1, %b32_1, %b32_2;",
    "add.u32 %b64_1, %b32_1, %b32_2;",
    "add.f32 %f32_1, %f32_2, 1;",
    "add.u32 %b32_1, %b32_2, 1.5;",
    "add.f16 %f16_1, %f16_2, 1.5;",
    "add.u32 _, %b32_1, %b32_2;",
    "add.u32 1, %b32_1, %b32_2;",
    "add.u32 %b32_1, in_shared, 1;",
    "add.u32 %b32_1, %tid.x, 1;",
    "and.b32 %b32_1, %b32_2, 1.5;",
    "shl.b64 %b64_1, %b64_2, %b64_3;",
    "ld.global.f32 %u32_1, [%b64_1];",
    "ld.global.u32 %u16_1, [%b64_1];",
    "ld.global.v2.u32 {%u32_1}, [%b64_1];",
    "ld.global.v2.u32 %u32_1, [%b64_1];",
    "ld.shared.u32 %u32_1, [in_global];",
    "ld.global.u32 %u32_1, [%f64_1];",
    "ld.global.u32 %u32_1, [16];",
    "st.global.v2.u32 [%b64_1], {_, %u32_1};",
    "mov.f64 %f64_1, in_global;",
    "mov.f32 %f32_1, %tid.x;",
    "mov.u32 %u32_1, %clock64;",
    "mov.u32 %tid.x, %u32_1;",
    "mov.b32 {%b16_1, %b16_2, %b16_3}, %b32_1;",
    "mov.u32 %u32_1, {%b16_1, %b16_2};",
    "mov.b32 {_, _}, %b32_1;",
    "setp.lt.s32 %b32_1, %s32_1, %s32_2;",
    "selp.b32 %b32_1, %b32_2, %b32_3, %b32_4;",
    "testp.finite.f32 _, %f32_1;",
    "lop3.b32 %b32_1, %b32_2, %b32_3, %b32_4, %b32_5;",
    "pmevent 16;",
    "bfe.u32 %u32_1, %u32_2, 256, 1;",
    "bra %b32_1;",
)


@pytest.mark.parametrize("line", _LEGAL)
def test_legal(line: str) -> None:
    assert judge_table([line], _VERSION, _TARGET) == {}


@pytest.mark.parametrize("line", _ILLEGAL)
def test_illegal(line: str) -> None:
    assert 0 in judge_table([line], _VERSION, _TARGET)


@pytest.mark.parametrize(
    ("register", "needed", "exact", "wider"),
    [
        (".b32", ".f32", True, True),
        (".u32", ".s32", True, True),
        (".f32", ".u32", False, False),
        (".b64", ".f32", False, True),
        (".f64", ".f32", False, False),
        (".f64", ".b32", False, True),
        (".u64", ".b8", False, True),
        (".u16", ".u32", False, False),
        (".b16", ".bf16", True, True),
        (".b32", ".bf16", False, False),
        (".u16", ".bf16", False, False),
        (".pred", ".b8", False, False),
        (".f16x2", ".u32", True, True),
    ],
)
def test_agreement_of_types(register: str, needed: str, exact: bool, wider: bool) -> None:
    assert agrees(register, needed) is exact
    assert agrees(register, needed, wider=True) is wider
