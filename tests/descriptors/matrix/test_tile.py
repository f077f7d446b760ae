"""Tiles against an element-by-element walk of the canonical layouts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.descriptors.matrix.swizzle_mode import SwizzleMode
from ptxcheck.descriptors.matrix.tile import Tile

NONE, B32, B64, B128 = SwizzleMode.NONE, SwizzleMode.BYTES_32, SwizzleMode.BYTES_64, SwizzleMode.BYTES_128


def walked(tile: Tile, leading: int, stride: int) -> list[int]:
    """Return the place of each 16-byte piece, before the swizzle, straight from the canonical layouts.

    In pieces of 16 bytes: K-major ((8, m), (1, 2k)) : ((1, SBO), (1, LBO)) without swizzle, row pitch one span
    otherwise; MN-major ((1, m), (8, k)) : ((·, SBO), (1, LBO)) and ((span, m), (8, k)) : ((1, LBO), (span, SBO)).
    """
    places = []
    for row in range(tile.others):
        for piece in range(tile.contiguous // 16):
            inner, outer = row % 8, row // 8
            if tile.mode is NONE:
                by_piece, by_group = (leading, stride) if tile.k_major else (stride, leading)
                places.append(inner * 16 + outer * by_group + piece * by_piece)
            else:
                span = tile.mode.span
                repeat, within = divmod(piece * 16, span)
                places.append(inner * span + within + outer * stride + repeat * leading)
    return places


TILES = [
    (Tile(B128, True, 32, 64), 16, 1024),
    (Tile(B64, True, 32, 128), 16, 512),
    (Tile(B32, True, 32, 64), 16, 256),
    (Tile(NONE, True, 32, 64), 128, 256),
    (Tile(NONE, True, 32, 64), 1024, 128),
    (Tile(B128, False, 128, 16), 4096, 1024),
    (Tile(B128, False, 256, 16), 2048, 1024),
    (Tile(B64, False, 256, 16), 1024, 512),
    (Tile(NONE, False, 128, 16), 1024, 128),
]


@pytest.mark.parametrize(("tile", "leading", "stride"), TILES)
def test_end_and_overlap_of_good_tiles(tile: Tile, leading: int, stride: int) -> None:
    places = walked(tile, leading, stride)
    assert len(set(places)) == len(places)
    assert tile.overlap(leading, stride) is None
    assert tile.end(leading, stride) == max(places) + 16


@pytest.mark.parametrize(
    ("tile", "leading", "stride"),
    [
        (Tile(NONE, True, 32, 64), 256, 128),
        (Tile(B128, True, 32, 64), 16, 0),
        (Tile(B128, True, 32, 64), 16, 128),
        (Tile(B64, True, 32, 64), 16, 256),
        (Tile(B64, True, 32, 64), 16, 272),
        (Tile(B128, False, 256, 16), 1024, 1024),
        (Tile(B128, False, 256, 16), 64, 2048),
        (Tile(NONE, False, 128, 16), 128, 128),
    ],
)
def test_overlap(tile: Tile, leading: int, stride: int) -> None:
    places = walked(tile, leading, stride)
    assert len(set(places)) < len(places), "the walk finds it, too"
    assert tile.overlap(leading, stride) is not None


@settings(max_examples=1000, deadline=None)
@given(
    st.sampled_from([NONE, B32, B64, B128]),
    st.booleans(),
    st.sampled_from([16, 32, 64, 128, 256]),
    st.sampled_from([8, 16, 32, 64]),
    st.integers(0, 80),
    st.integers(0, 80),
)
def test_overlap_and_end_against_the_walk(
    mode: SwizzleMode, k_major: bool, contiguous: int, others: int, leading: int, stride: int
) -> None:
    if k_major and mode is not NONE and contiguous > mode.span:
        contiguous = mode.span
    tile = Tile(mode, k_major, contiguous, others)
    places = walked(tile, leading * 16, stride * 16)
    assert (tile.overlap(leading * 16, stride * 16) is not None) == (len(set(places)) < len(places))
    assert tile.end(leading * 16, stride * 16) == max(places) + 16


def test_what_is_read_at_all() -> None:
    assert not Tile(B128, True, 32, 64).uses_leading
    assert Tile(B128, True, 32, 64).uses_stride
    assert not Tile(B128, True, 32, 8).uses_stride
    assert Tile(NONE, True, 32, 8).uses_leading
    assert not Tile(B128, False, 128, 16).uses_leading
    assert Tile(B128, False, 256, 16).uses_leading
    assert not Tile(NONE, False, 16, 16).uses_stride
    assert Tile(NONE, False, 16, 16).uses_leading
