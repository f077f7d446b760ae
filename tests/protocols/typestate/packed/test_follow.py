"""Words against a run of the same code: whatever a word says of a register, the register holds that number."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.cfg.linear import Atom
from ptxcheck.launch import Launch
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.matrix_operands import MatrixOperand, MatrixOperands
from ptxcheck.protocols.typestate.packed import Follower, Piece, Sum, Word
from ptxcheck.source import Source
from ptxcheck.view import KernelView

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1


def view_of(body: str, target: str = "sm_90a") -> KernelView:
    text = (
        f".version 8.6\n.target {target}\n.address_size 64\n.visible .entry k(.param .u32 n)\n.reqntid 128\n"
        "{\n.reg .pred %p<8>;\n.reg .b32 %r<99>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<99>;\n"
        f".shared .align 1024 .b8 data[65536];\n{body}\nret;\n}}\n"
    )
    module = parse_module(Source("k.ptx", text))
    assert not module.problems
    assert module.functions[0].body is not None
    assert not module.functions[0].body.problems
    return KernelView(module, module.functions[0], Launch())


def number_of(total: Sum, address: int) -> int:
    value = total.constant
    for symbol, factor in total.terms:
        if isinstance(symbol, Piece):
            inner = number_of(symbol.source, address)
            value += factor * (inner >> symbol.low & ((1 << symbol.length) - 1))
        else:
            assert isinstance(symbol, Atom)
            assert symbol.name == "data"
            value += factor * address
    return value


def evaluated(word: Word, address: int) -> int:
    value = word.constant
    for segment in word.segments:
        part = number_of(segment.sum, address)
        assert 0 <= part < 1 << segment.length
        value += part << segment.shift
    return value


@dataclass
class Machine:
    """Registers as the generated code leaves them."""

    lines: list[str]
    narrow: int
    """Value of the latest 32-bit register."""
    wide: int | None = None
    """Value of the latest 64-bit register."""
    count: int = 0

    def then32(self, text: str, value: int) -> None:
        new = self.count + 1
        self.lines.append(text.format(new=f"%r{new}", old=f"%r{self.count}"))
        self.count, self.narrow = new, value & MASK32

    def then64(self, text: str, value: int) -> None:
        new = self.count + 1
        old = f"%rd{self.count}" if self.wide is not None else f"%r{self.count}"
        self.lines.append(text.format(new=f"%rd{new}", old=old, narrow=f"%r{new}"))
        self.count, self.wide = new, value & MASK64


WIDE_STEPS = ("or mode", "or stride", "add stage", "insert leading", "replace mode", "via halves")


def encode_address(draw: st.DrawFn, m: Machine) -> None:
    """Append one of the ways in which code encodes an address."""
    match draw(st.sampled_from(("mask first", "shift first", "extract"))):
        case "mask first":
            m.then32("and.b32 {new}, {old}, 0x3FFFF;", m.narrow & 0x3FFFF)
            m.then32("shr.u32 {new}, {old}, 4;", m.narrow >> 4)
        case "shift first":
            m.then32("shr.u32 {new}, {old}, 4;", m.narrow >> 4)
            m.then32("and.b32 {new}, {old}, 0x3FFF;", m.narrow & 0x3FFF)
        case "extract":
            length = draw(st.integers(14, 16))
            m.then32(f"bfe.u32 {{new}}, {{old}}, 4, {length};", m.narrow >> 4 & ((1 << length) - 1))


def pack_more(draw: st.DrawFn, m: Machine, wide: int) -> None:
    """Append one step that packs another field into the word."""
    match draw(st.sampled_from(WIDE_STEPS)):
        case "or mode":
            mode = draw(st.integers(1, 3))
            m.then64(f"or.b64 {{new}}, {{old}}, {mode << 62};", wide | mode << 62)
        case "or stride":
            stride = draw(st.integers(0, 127))
            m.then64(f"or.b64 {{new}}, {{old}}, {stride << 32};", wide | stride << 32)
        case "add stage":
            stage = draw(st.integers(0, 64))
            if (wide & 0x3FFF) + stage < 1 << 14:
                m.then64(f"add.s64 {{new}}, {{old}}, {stage};", wide + stage)
        case "insert leading":
            leading = draw(st.integers(0, 127))
            cleared = wide & ~(0x3FFF << 16)
            m.then64(f"bfi.b64 {{new}}, {leading}, {{old}}, 16, 14;", cleared | leading << 16)
        case "replace mode":
            m.then64(f"and.b64 {{new}}, {{old}}, {(1 << 62) - 1};", wide & ((1 << 62) - 1))
        case "via halves":
            if (wide >> 32) + 64 < 1 << 32:
                m.lines.append(f"mov.b64 {{%r90, %r91}}, %rd{m.count};\nadd.s32 %r92, %r91, 64;")
                m.then64("mov.b64 {new}, {{%r90, %r92}};", wide + (64 << 32))


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, int, int]:
    """Return code, the address of `data`, and the number that its last 64-bit register holds."""
    address = draw(st.integers(0, 64)) * 1024
    m = Machine(["mov.u32 %r0, data;"], address)
    offset = draw(st.integers(0, 4000)) * 16
    m.then32(f"add.s32 {{new}}, {{old}}, {offset};", m.narrow + offset)
    encode_address(draw, m)
    for step in draw(st.lists(st.integers(-64, 256), max_size=2)):
        if 0 <= m.narrow + step < 1 << 14:
            m.then32(f"add.s32 {{new}}, {{old}}, {step};", m.narrow + step)
    m.then64("cvt.u64.u32 {new}, {old};", m.narrow)
    for _ in range(draw(st.integers(0, 5))):
        assert m.wide is not None
        pack_more(draw, m, m.wide)
    assert m.wide is not None
    return "\n".join(m.lines) + f"\nmov.b64 %rd98, %rd{m.count};", address, m.wide


@given(programs())
@settings(max_examples=150, deadline=None)
def test_words_agree_with_a_run(program: tuple[str, int, int]) -> None:
    text, address, number = program
    view = view_of(text)
    last = len(view.body.instructions) - 2
    target = view.body.instructions[last].operands[0]
    word = Follower(view).word(last + 1, target)
    assert evaluated(word, address) == number


MULTIPLY = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;\n"
)
START = "mov.u32 %r1, data;\nbfe.u32 %r2, %r1, 4, 14;\ncvt.u64.u32 %rd9, %r2;\n"
FIELDS = "or.b64 %rd1, %rd9, 0x4000004000010000;\n"


def a_of(body: str) -> MatrixOperand:
    found = MatrixOperands(view_of(body)).all
    return next(one for one in found if one.name == "a_desc")


def test_a_stage_chosen_by_a_loop_keeps_its_constant_fields() -> None:
    operand = a_of(
        START + FIELDS + "mov.u64 %rd2, %rd1;\nmov.u32 %r5, 0;\n$loop:\n" + MULTIPLY
        + "add.s64 %rd1, %rd1, 64;\nadd.s32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra $loop;"
    )  # fmt: skip
    assert operand.fields["mode"] == 1
    assert operand.fields["stride"] == 1024
    assert "start" not in operand.fields
    assert operand.start is not None
    assert not operand.start.is_known


def test_a_field_that_a_loop_changes_is_not_known() -> None:
    operand = a_of(
        START + FIELDS + "mov.u64 %rd2, %rd1;\nmov.u32 %r5, 0;\n$loop:\n" + MULTIPLY
        + "add.s64 %rd1, %rd1, 0x100000000;\nadd.s32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra $loop;"
    )  # fmt: skip
    assert "stride" not in operand.fields


@pytest.mark.parametrize("other", ["0x8000004000010000", "0x4000008000010000"])
def test_a_field_on_which_branches_differ_is_not_known(other: str) -> None:
    operand = a_of(
        START + "ld.param.u32 %r6, [n];\nsetp.eq.u32 %p1, %r6, 0;\n" + FIELDS + "@%p1 bra $go;\n"
        + f"or.b64 %rd1, %rd9, {other};\n$go:\nmov.u64 %rd2, %rd1;\n" + MULTIPLY
    )  # fmt: skip
    assert not {"mode", "stride"} <= set(operand.fields)


def test_an_unknown_stride_is_not_known() -> None:
    operand = a_of(
        START + "ld.param.u32 %r6, [n];\ncvt.u64.u32 %rd3, %r6;\nshl.b64 %rd4, %rd3, 32;\n"
        "or.b64 %rd5, %rd9, %rd4;\nmov.u64 %rd1, %rd5;\nmov.u64 %rd2, %rd1;\n" + MULTIPLY
    )  # fmt: skip
    assert "stride" not in operand.fields
    assert operand.fields["leading"] == 0


def test_start_in_bytes() -> None:
    start = a_of(
        "mov.u32 %r1, data;\nadd.s32 %r1, %r1, 2048;\nbfe.u32 %r2, %r1, 4, 14;\nadd.s32 %r2, %r2, 2;\n"
        "cvt.u64.u32 %rd9, %r2;\n" + FIELDS + "mov.u64 %rd2, %rd1;\n" + MULTIPLY
    ).start  # fmt: skip
    assert start is not None
    assert start.symbol is not None
    assert (start.symbol.name, start.offset, start.others) == ("data", 2080, ())


def test_address_bits_that_nobody_masks() -> None:
    masked = a_of(START + FIELDS + "mov.u64 %rd2, %rd1;\n" + MULTIPLY).start_segment
    assert masked is not None
    assert masked.top == 18
    open_ = a_of(
        "mov.u32 %r1, data;\nshr.u32 %r2, %r1, 4;\ncvt.u64.u32 %rd9, %r2;\n"
        + FIELDS + "mov.u64 %rd2, %rd1;\n" + MULTIPLY
    ).start_segment  # fmt: skip
    assert open_ is not None
    assert open_.top == 32
