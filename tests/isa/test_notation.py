"""The notation of table rows: what each piece of a syntax line becomes."""

from __future__ import annotations

import pytest

from ptxcheck.isa.lookup import fill_slots
from ptxcheck.isa.row import Row, compile_row, parse_limits
from ptxcheck.op import Op
from ptxcheck.spec import Direction, Form, OperandKind
from ptxcheck.target import Requirement, Target, Version


def _form(line: str, **row: object) -> Form:
    return compile_row(Row("add", Op.ADD, "0", (line,), **row))[0]  # type: ignore[arg-type]


def test_narrowed_slot() -> None:
    form = _form("add.type(.s32,.u32@8.0) d, a", slots={"type": ".s32@7.0 .u32 .u64"})
    (slot,) = form.slots
    assert list(slot.values) == [".s32", ".u32"]
    assert slot.values[".s32"].requirement == Requirement.parse("7.0")
    assert slot.values[".u32"].requirement == Requirement.parse("8.0")


def test_leading_slot_comes_first() -> None:
    form = _form("add.half!.type d, a", slots={"half": ".lo .hi", "type": ".u32 .s32"})
    assert fill_slots(form.slots, (".lo", ".u32")) == {"half": ".lo", "type": ".u32"}
    assert fill_slots(form.slots, (".u32", ".lo")) is None


def test_free_order_and_fixed_order() -> None:
    form = _form("add{.sat}.dtype.atype d, a", slots={"dtype": ".u8 .s8", "atype": ".u16 .u8"})
    assert fill_slots(form.slots, (".u8", ".u16", ".sat")) == {
        ".sat": ".sat",
        "dtype": ".u8",
        "atype": ".u16",
    }
    assert fill_slots(form.slots, (".u16", ".u8")) is None


def test_slots_with_a_common_value_keep_their_order() -> None:
    form = _form("add.first{.second} d", slots={"first": ".x .y", "second": ".y .z"})
    assert fill_slots(form.slots, (".x", ".y")) == {"first": ".x", "second": ".y"}
    assert fill_slots(form.slots, (".z", ".y")) is None


def test_operand_flags() -> None:
    form = _form(
        "add.type(.u8) d|p, a", operands={"d": "w type+*2", "p": "w_ pred", "a": "imm"}, limits={"a": "0..7"}
    )
    result, literal = form.operands
    assert result.wider
    assert result.count == "2"
    assert result.second is not None
    assert result.second.sink
    assert result.second.direction is Direction.WRITE
    assert literal.kind is OperandKind.IMMEDIATE
    assert literal.limits == (range(8),)


def test_limits() -> None:
    assert parse_limits("32, 16..1048560 step 16") == (range(32, 33), range(16, 1048561, 16))
    with pytest.raises(ValueError, match="cannot read limits"):
        parse_limits("16..")


def test_removed_feature() -> None:
    requirement = Requirement.parse("3.0+sm_30+until6.4/sm_70")
    assert requirement.problem(Version(6, 3), Target(75)) is None
    assert requirement.problem(Version(6, 4), Target(61)) is None
    assert requirement.problem(Version(6, 4), Target(75)) is not None
