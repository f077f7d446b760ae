"""Derived figures, as measured on an H200 with benchmarks/tensor_maps/copy.cu."""

from __future__ import annotations

import pytest

from ptxcheck.descriptors import (
    DataType,
    Im2colMap,
    TiledMap,
    facts,
)
from ptxcheck.descriptors.swizzle import PATTERNS, alignment


def tiled(box: tuple[int, ...], steps: tuple[int, ...], swizzle: int, interleave: int = 0) -> TiledMap:
    return TiledMap(
        data_type=DataType.UINT16,
        global_dim=(512,) * len(box),
        global_strides=(1024,) * (len(box) - 1),
        box_dim=box,
        element_strides=steps,
        swizzle=swizzle,
        interleave=interleave,
    )


@pytest.mark.parametrize(
    ("box", "steps", "swizzle", "written", "reach"),
    [
        ((16, 64), (1, 1), 0, 2048, 2048),
        ((16, 64), (1, 3), 0, 704, 704),
        ((16, 64), (2, 1), 0, 2048, 2048),
        ((16, 64), (3, 5), 0, 416, 416),
        ((16, 64), (1, 1), 2, 2048, 4096),
        ((16, 64), (1, 1), 3, 2048, 8192),
        ((32, 64), (1, 1), 3, 4096, 8192),
        ((8, 64), (1, 1), 1, 1024, 2048),
        ((64, 64), (1, 1), 3, 8192, 8192),
    ],
)
def test_measured_copies(
    box: tuple[int, ...], steps: tuple[int, ...], swizzle: int, written: int, reach: int
) -> None:
    derived = facts(tiled(box, steps, swizzle))
    assert derived.expect_tx_bytes == written
    assert derived.shared_bytes == reach


def test_im2col() -> None:
    column = Im2colMap(
        data_type=DataType.FLOAT16,
        global_dim=(64, 32, 32, 8),
        global_strides=(128, 4096, 131072),
        lower_corner=(0, 0),
        upper_corner=(0, 0),
        channels_per_pixel=64,
        pixels_per_column=128,
        swizzle=3,
    )
    assert facts(column).expect_tx_bytes == 16384


def test_patterns_permute() -> None:
    for swizzle, known in PATTERNS.items():
        places = [known.place(address) for address in range(0, 2048, 16)]
        assert sorted(places) == list(range(0, 2048, 16))
        assert [known.place(place) for place in places] == list(range(0, 2048, 16))
        assert alignment(swizzle) % 128 == 0


def test_columns_of_a_128_byte_swizzle_spread_over_all_banks() -> None:
    known = PATTERNS[3]
    assert {known.place(row * 128) % 128 for row in range(8)} == set(range(0, 128, 16))
    assert {PATTERNS[0].place(row * 128) % 128 for row in range(8)} == {0}
    assert (known.atom, known.span, known.repeat) == (16, 128, 1024)
