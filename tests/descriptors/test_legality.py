"""Violations name argument, index, values and layer; versions and capabilities select rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.descriptors import (
    DataType,
    Im2colWideMap,
    Interleave,
    Kind,
    Layer,
    Platform,
    Swizzle,
    TiledMap,
    is_encoded,
    violations,
)
from ptxcheck.descriptors.constraints import (
    LAST_DRIVER,
    Evidence,
    applicable,
    load,
)
from ptxcheck.descriptors.expression import parse

LEGAL = TiledMap(
    data_type=DataType.FLOAT16, global_dim=(4096, 4096), global_strides=(8192,), box_dim=(64, 128), swizzle=3
)
WIDE = Im2colWideMap(
    data_type=DataType.FLOAT16,
    global_dim=(64, 32, 32, 8),
    global_strides=(128, 4096, 131072),
    swizzle=Swizzle.SWIZZLE_128B,
    lower_corner=-1,
    upper_corner=-1,
    channels_per_pixel=64,
    pixels_per_column=128,
)


def broken(tensor_map: TiledMap | Im2colWideMap, platform: Platform | None = None) -> list[str]:
    return [v.constraint.id for v in violations(tensor_map, platform)]


def test_legal() -> None:
    assert broken(LEGAL) == []


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        ({"box_dim": (64, 257)}, ["box-range"]),
        ({"box_dim": (72, 128)}, ["box-inner-span"]),
        ({"global_strides": (8200,)}, ["stride-aligned"]),
        ({"global_strides": (4096,)}, ["stride-covers-extent"]),
        ({"global_address": 8}, ["address-aligned"]),
        ({"map_address": 32}, ["map-aligned"]),
        ({"element_strides": (0, 1)}, ["element-stride-range"]),
        ({"swizzle": Swizzle.SWIZZLE_128B_ATOM_32B}, ["swizzle-known"]),
        (
            {"data_type": DataType.INT32, "oob_fill": 1, "box_dim": (32, 8)},
            ["oob-nan-needs-float", "stride-covers-extent"],
        ),
        ({"interleave": Interleave.INTERLEAVE_16B}, ["interleave-rank"]),
    ],
)
def test_one_change(change: dict[str, object], ids: list[str]) -> None:
    assert broken(replace(LEGAL, **change)) == ids  # type: ignore[arg-type]


def test_layers_do_not_mix() -> None:
    overlapping = replace(LEGAL, global_strides=(4096,))
    assert is_encoded(overlapping)
    assert [v.constraint.layer for v in violations(overlapping)] == [Layer.DOCUMENT]


def test_message_names_place_and_values() -> None:
    (found,) = violations(replace(LEGAL, box_dim=(64, 300)))
    assert found.place == "boxDim[1]"
    assert "box[1] = 300" in found.message


def test_box_of_228_kib() -> None:
    box3 = TiledMap(
        data_type=DataType.UINT8,
        global_dim=(4096, 4096, 64),
        global_strides=(8192, 1 << 25),
        box_dim=(256, 228, 4),
    )
    assert is_encoded(box3)
    assert broken(replace(box3, box_dim=(256, 229, 4))) == ["box-shared-memory"]


def test_versions() -> None:
    packed = replace(
        LEGAL, data_type=DataType.PACKED_16U4_ALIGN16B, box_dim=(128, 64), global_strides=(2048,), swizzle=3
    )
    assert broken(packed, Platform((10, 0), 12080)) == []
    assert broken(packed, Platform((10, 0), 12060)) == ["data-type-known-before-12.8"]
    assert broken(packed) == ["data-type-known"]
    huge = replace(LEGAL, global_dim=(4096, 1 << 32))
    assert broken(huge) == []
    assert broken(huge, Platform((9, 0), 13050)) == ["dim-addressable"]


def test_wide_needs_capability_10() -> None:
    assert broken(WIDE) == ["wide-capability"]
    assert is_encoded(WIDE)
    assert broken(WIDE, Platform((10, 0))) == []
    assert broken(WIDE, Platform((10, 0), 12040))[0] == "wide-entry-point"


def test_blackwell_is_never_observed() -> None:
    for kind in Kind:
        for layer in Layer:
            for constraint in applicable(kind, Platform((10, 0)), layer):
                assert constraint.evidence(Platform((10, 0))) is not Evidence.OBSERVED


def test_data_is_well_formed() -> None:
    rows = load().constraints
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert row.source
        assert row.text
        assert row.since < row.until
        assert row.since <= LAST_DRIVER
        assert row.expression is not None


def test_expressions_stay_in_the_language() -> None:
    with pytest.raises(ValueError, match="constraint language"):
        parse("[x for x in dim]")
    with pytest.raises(ValueError, match="constraint language"):
        parse("dim.__class__")


def test_lengths_are_required() -> None:
    with pytest.raises(ValueError, match="globalStrides has 2 entries"):
        replace(LEGAL, global_strides=(8192, 8192))
