"""Blocks of a tile hold every byte that the canonical layouts give, and nothing of what lies between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.descriptors.matrix.swizzle_mode import SwizzleMode
from ptxcheck.descriptors.matrix.tile import Tile

SWIZZLED = (SwizzleMode.BYTES_32, SwizzleMode.BYTES_64, SwizzleMode.BYTES_128)


def touched(tile: Tile, start: int, leading: int, stride: int) -> Iterator[int]:
    """Yield the places of all 16-byte pieces of a K-major tile, row by row (PTX ISA §9.7.16.5.1)."""
    for row in range(tile.others):
        for piece in range(tile.contiguous // 16):
            if tile.mode is SwizzleMode.NONE:
                yield start + row // 8 * stride + row % 8 * 16 + piece * leading
            else:
                place = start + row // 8 * stride + row % 8 * tile.mode.span + piece * 16
                assert tile.mode.pattern is not None
                yield tile.mode.pattern.place(place)


@given(
    mode=st.sampled_from((SwizzleMode.NONE, *SWIZZLED)),
    groups=st.integers(1, 8),
    slice_of_k=st.integers(0, 3),
    gap=st.integers(0, 3),
    slot=st.integers(0, 5),
)
def test_every_piece_lies_in_a_block(
    mode: SwizzleMode, groups: int, slice_of_k: int, gap: int, slot: int
) -> None:
    tile = Tile(mode, True, 32, 8 * groups)
    stride, leading = 8 * mode.span * (1 + gap), 8 * mode.span * (1 + gap) * groups
    start = slot * 4096 + (slice_of_k * 32 % mode.span if mode is not SwizzleMode.NONE else 0)
    assert tile.has_blocks(start)
    blocks = list(tile.blocks(start, leading, stride))
    for place in touched(tile, start, leading, stride):
        assert any(begin <= place and place + 16 <= end for begin, end in blocks)
    assert sum(end - begin for begin, end in blocks) == tile.groups * tile.repeats * 8 * mode.span


def test_groups_of_one_warp() -> None:
    tile = Tile(SwizzleMode.BYTES_128, True, 32, 64)
    assert list(tile.blocks(1056, 16, 1024, range(2, 4))) == [(3072, 5120)]
    assert list(tile.blocks(1024, 16, 2048)) == [(1024 + 2048 * i, 2048 + 2048 * i) for i in range(8)]


@pytest.mark.parametrize(("start", "known"), [(0, True), (96, True), (112, False)])
def test_rows_that_go_on_behind_the_span_are_not_known(start: int, known: bool) -> None:
    assert Tile(SwizzleMode.BYTES_128, True, 32, 8).has_blocks(start) is known


def test_larger_atoms_are_not_known() -> None:
    assert not Tile(SwizzleMode.BYTES_128_ATOM_32, True, 32, 8).has_blocks(0)
