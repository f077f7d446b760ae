"""Layouts of descriptors: encoding and decoding are inverse, and the tables agree with worked words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.descriptors.matrix import instruction, operand, swizzle_mode
from ptxcheck.descriptors.matrix.bit_fields import FieldRangeError, Layout
from ptxcheck.descriptors.matrix.instruction import Kind, Shape
from ptxcheck.descriptors.matrix.swizzle_mode import SwizzleMode
from ptxcheck.opcodes.target import Target

LAYOUTS = (
    operand.WGMMA,
    operand.TCGEN05,
    instruction.PLAIN,
    instruction.SCALED,
    instruction.SCALED_FOUR_BIT,
)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
class TestLayout:
    def test_fields_tile_the_word(self, layout: Layout) -> None:
        masks = [field.mask for field in layout.fields]
        assert sum(masks) == (1 << layout.width) - 1, "every bit has one field"

    @given(st.data())
    def test_decode_of_encode(self, layout: Layout, data: st.DataObject) -> None:
        numbers = {
            field.name: data.draw(st.integers(0, field.most // field.unit)) * field.unit
            for field in layout.fields
        }
        assert layout.decode(layout.encode(numbers)) == numbers

    @given(st.data())
    def test_encode_of_decode(self, layout: Layout, data: st.DataObject) -> None:
        word = data.draw(st.integers(0, (1 << layout.width) - 1))
        assert layout.encode(layout.decode(word)) == word


def test_what_a_field_cannot_hold() -> None:
    with pytest.raises(FieldRangeError, match="steps of 16"):
        operand.WGMMA.encode({"start": 8})
    with pytest.raises(FieldRangeError, match="holds 0 to 7"):
        operand.WGMMA.encode({"base": 8})


@given(st.integers(0, (1 << 32) - 1))
def test_encoded_address(address: int) -> None:
    """The manual's matrix-descriptor-encode."""
    assert operand.encoded(address) == (address & 0x3FFFF) >> 4


def test_word_of_a_hopper_tile() -> None:
    """K-major bf16 with 128-byte rows at byte 1024: groups of 8 rows are 1024 bytes apart."""
    word = 0x4000_0040_0001_0040
    fields = operand.WGMMA.decode(word)
    assert (fields["start"], fields["leading"], fields["stride"], fields["mode"]) == (1024, 16, 1024, 1)
    assert operand.swizzle(operand.WGMMA, fields["mode"]) is SwizzleMode.BYTES_128
    assert operand.broken(operand.WGMMA, fields, None) == ()


def test_word_of_a_blackwell_tile() -> None:
    word = 0x4000_4040_0001_0040
    fields = operand.TCGEN05.decode(word)
    assert (fields["version"], fields["mode"], fields["stride"]) == (1, 2, 1024)
    assert operand.swizzle(operand.TCGEN05, 2) is SwizzleMode.BYTES_128
    assert operand.broken(operand.TCGEN05, fields, None) == ()
    assert [one.id for one in operand.broken(operand.WGMMA, operand.WGMMA.decode(word), None)] == ["unused46"]


@pytest.mark.parametrize(
    ("fields", "target", "ids"),
    [
        ({"version": 0}, "sm_100a", ["version"]),
        ({"mode": 3}, "sm_100a", ["mode"]),
        ({"unused53": 1}, "sm_100a", ["unused53"]),
        ({"leading_is_address": 1, "mode": 2, "base": 0}, "sm_103a", []),
        ({"leading_is_address": 1, "mode": 2, "base": 0}, "sm_100a", ["leading_is_address"]),
        ({"leading_is_address": 1, "mode": 4, "base": 0}, "sm_103a", ["leading_is_address"]),
        ({"leading_is_address": 1, "mode": 2}, "sm_100a", []),
    ],
)
def test_operand_constraints(fields: dict[str, int], target: str, ids: list[str]) -> None:
    found = operand.broken(operand.TCGEN05, fields, Target.parse(target))
    assert [one.id for one in found] == ids


def test_numberings() -> None:
    """The cross table of the four numberings, row by row."""
    wgmma = {mode: number for number, mode in swizzle_mode.WGMMA.items()}
    tcgen05 = {mode: number for number, mode in swizzle_mode.TCGEN05.items()}
    rows = {
        SwizzleMode.NONE: (0, 0, (0, 0), 0),
        SwizzleMode.BYTES_32: (3, 6, (1, 0), 1),
        SwizzleMode.BYTES_64: (2, 4, (2, 0), 2),
        SwizzleMode.BYTES_128: (1, 2, (3, 0), 3),
        SwizzleMode.BYTES_128_ATOM_32: (None, 1, (3, 1), 4),
    }
    for mode, row in rows.items():
        found = (
            wgmma.get(mode),
            tcgen05.get(mode),
            swizzle_mode.REPLACE[mode],
            swizzle_mode.TENSOR_MAP[mode],
        )
        assert found == row
    assert set(swizzle_mode.TENSOR_MAP) == set(swizzle_mode.REPLACE) == set(SwizzleMode)


@pytest.mark.parametrize(
    ("mode", "repeat"),
    [(SwizzleMode.BYTES_128, 1024), (SwizzleMode.BYTES_64, 512), (SwizzleMode.BYTES_32, 256)],
)
def test_repeat_agrees_with_the_pattern(mode: SwizzleMode, repeat: int) -> None:
    assert mode.repeat == repeat
    assert mode.pattern is not None
    assert mode.pattern.repeat == repeat
    assert mode.pattern.span == mode.span


F16 = Shape(Kind.F16)


def ids(shape: Shape, **fields: int) -> list[str]:
    return [one.id for one in instruction.broken(shape, fields)]


def test_instruction_word_of_triton() -> None:
    """135266320: f32 += bf16 x bf16, M 128, N 64, B transposed."""
    fields = instruction.PLAIN.decode(135266320)
    assert (fields["d_type"], fields["a_type"], fields["b_type"]) == (1, 0, 0)
    assert (fields["m"], fields["n"]) == (128, 64)
    assert ids(F16, **fields) == []


@pytest.mark.parametrize(
    ("shape", "fields", "wanted"),
    [
        (F16, {"m": 64, "n": 8}, []),
        (F16, {"m": 128, "n": 8}, []),
        (Shape(Kind.F16, pair=True), {"m": 256, "n": 24}, ["columns"]),
        (F16, {"m": 128, "n": 0}, ["columns"]),
        (F16, {"m": 128, "n": 264}, ["columns"]),
        (F16, {"m": 256, "n": 16}, ["rows"]),
        (Shape(Kind.F16, pair=True), {"m": 256, "n": 256}, []),
        (Shape(Kind.F16, pair=True), {"m": 64, "n": 16}, ["rows"]),
        (F16, {"d_type": 2}, ["d-type"]),
        (Shape(Kind.TF32), {"d_type": 0}, ["d-type"]),
        (F16, {"a_type": 0, "b_type": 1}, ["same-type"]),
        (Shape(Kind.F8F6F4), {"a_type": 0, "b_type": 1}, []),
        (Shape(Kind.F8F6F4), {"a_type": 2}, ["a-type"]),
        (F16, {"sparse": 1}, ["sparse"]),
        (Shape(Kind.F16, sparse=True), {"sparse": 0}, ["sparse"]),
        (Shape(Kind.I8), {"m": 128, "n": 40}, ["columns"]),
        (Shape(Kind.I8), {"negate_a": 1, "negate_b": 0}, ["integer-negation"]),
        (Shape(Kind.F16, weight_stationary=True), {"m": 32, "n": 64}, []),
        (Shape(Kind.F16, weight_stationary=True), {"m": 32, "n": 32}, ["columns"]),
        (Shape(Kind.MXF8F6F4), {"scale_type": 0}, ["scale-type"]),
        (Shape(Kind.MXF8F6F4), {"m": 128, "n": 8}, []),
        (Shape(Kind.MXF8F6F4, sparse=True, pair=True), {"m": 128}, ["rows"]),
        (Shape(Kind.MXF4NVF4), {"scale_type": 0}, []),
        (Shape(Kind.MXF4), {"transpose_a": 1, "transpose_b": 0}, ["four-bit-transposition"]),
        (Shape(Kind.MXF4), {"scale_a_id": 1, "scale_b_id": 0}, ["scale-ids"]),
        (Shape(Kind.MXF4, target=Target.parse("sm_103a")), {"k_96": 1}, []),
        (Shape(Kind.MXF4, target=Target.parse("sm_100a")), {"k_96": 1}, ["k-96"]),
        (F16, {"reserved6": 1}, ["reserved6"]),
        (F16, {"b_shift": 1}, ["b-shift"]),
        (Shape(Kind.F16, shifted=True), {"m": 64}, ["a-shift"]),
        (Shape(Kind.F16, shifted=True), {"m": 128}, []),
    ],
)  # fmt: skip
def test_instruction_constraints(shape: Shape, fields: dict[str, int], wanted: list[str]) -> None:
    assert ids(shape, **fields) == wanted


@pytest.mark.parametrize("kind", list(Kind))
def test_constraints_name_fields_of_the_layout(kind: Kind) -> None:
    for one in instruction.CONSTRAINTS:
        if kind in one.kinds:
            assert set(one.fields) <= set(kind.layout.by_name)
    for layout in (operand.WGMMA, operand.TCGEN05):
        for constraint in operand.CONSTRAINTS[layout.name]:
            assert set(constraint.fields) <= set(layout.by_name)
