"""Symbolic legality agrees with every concrete value of its symbols."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ptxcheck.descriptors import (
    Im2colMap,
    Platform,
    TensorMap,
    TiledMap,
    is_encoded,
)
from ptxcheck.descriptors.ranges import Symbol
from ptxcheck.descriptors.symbolic import Legality, decide

MAP = TiledMap(data_type=6, global_dim=(4096, 64), global_strides=(8192,), box_dim=(64, 64), swizzle=3)
COLUMN = Im2colMap(
    data_type=6,
    global_dim=(64, 32, 32, 8),
    global_strides=(128, 4096, 131072),
    lower_corner=(-1, -1),
    upper_corner=(-1, -1),
    channels_per_pixel=64,
    pixels_per_column=128,
    swizzle=3,
)
PLACES = {
    "dim": "global_dim",
    "stride": "global_strides",
    "box": "box_dim",
    "element_stride": "element_strides",
    "lower": "lower_corner",
    "upper": "upper_corner",
    "address": "global_address",
    "channels": "channels_per_pixel",
    "pixels": "pixels_per_column",
}


def put(tensor_map: TensorMap, key: str, number: int) -> TensorMap:
    """Return the map with one field changed."""
    name, _, rest = key.partition("[")
    place = PLACES.get(name, name)
    if not rest:
        return replace(tensor_map, **{place: number})  # type: ignore[arg-type]
    entries = list(tensor_map.steps if name == "element_stride" else getattr(tensor_map, place))
    entries[int(rest.rstrip("]"))] = number
    return replace(tensor_map, **{place: tuple(entries)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "symbol", "legality", "guard"),
    [
        ("dim[1]", Symbol("m", 1, 1 << 20), Legality.ALWAYS, "true"),
        ("stride[0]", Symbol("pitch", 0, 1 << 30, 16), Legality.ALWAYS, "true"),
        ("stride[0]", Symbol("pitch", 0, 1 << 30, 2), Legality.CONDITIONAL, "((pitch % 16) == 0)"),
        ("address", Symbol("p", 0, 1 << 47), Legality.CONDITIONAL, "((p % 16) == 0)"),
        ("box[1]", Symbol("BM", 257, 600), Legality.NEVER, "(1 <= BM && BM <= 256)"),
        ("box[1]", Symbol("BM", 8, 512, 8), Legality.CONDITIONAL, "(1 <= BM && BM <= 256)"),
        ("swizzle", Symbol("mode", 3, 3), Legality.ALWAYS, "true"),
        ("swizzle", Symbol("mode", 0, 2), Legality.CONDITIONAL, None),
    ],
)
def test_one_symbol(key: str, symbol: Symbol, legality: Legality, guard: str | None) -> None:
    verdict = decide(MAP, {key: symbol})
    assert verdict.legality is legality
    if guard is not None:
        assert verdict.cpp_guard == guard


def test_clauses_that_exclude_each_other() -> None:
    wide = replace(MAP, box_dim=(65, 64))
    assert decide(wide, {"data_type": Symbol("t", 0, 15)}).legality is Legality.NEVER
    clash = {"stride[0]": Symbol("n", 1, 1 << 41, 5), "dim[0]": Symbol("n", 1, 1 << 41, 5)}
    assert decide(MAP, clash).legality is Legality.CONDITIONAL


def random_symbols(rng: random.Random, keys: list[str]) -> dict[str, Symbol]:
    symbols = {}
    for key in rng.sample(keys, rng.choice((1, 1, 2))):
        low = rng.choice((0, 0, 1, 7, 250, -5, 1 << 31)) if "[" in key else 0
        step = rng.choice((1, 1, 2, 3, 8, 16))
        symbols[key] = Symbol(
            key.replace("[", "_").rstrip("]"), low, low + rng.choice((3, 40, 1 << 33)) + step, step
        )
    return symbols


TILED_KEYS = [
    "dim[0]",
    "dim[1]",
    "stride[0]",
    "box[0]",
    "box[1]",
    "element_stride[1]",
    "address",
    "swizzle",
    "oob_fill",
]
IM2COL_KEYS = ["dim[1]", "dim[2]", "lower[0]", "upper[1]", "channels", "pixels", "data_type", "interleave"]


@pytest.mark.parametrize("seed", range(120))
def test_agrees_with_concrete_values(seed: int) -> None:
    rng = random.Random(seed)
    tensor_map: TensorMap = MAP if seed % 2 else COLUMN
    keys = TILED_KEYS if seed % 2 else IM2COL_KEYS
    symbols = random_symbols(rng, keys)
    verdict = decide(tensor_map, symbols)
    for _ in range(60):
        concrete = tensor_map
        names: dict[str, int] = {}
        for key, symbol in symbols.items():
            number = rng.randrange(symbol.first, symbol.last + 1, symbol.multiple_of)
            concrete = put(concrete, key, number)
            names[symbol.name] = number
        encoded = is_encoded(concrete)
        held = bool(eval(verdict.python_guard, {}, names))
        expected = {Legality.ALWAYS: True, Legality.NEVER: False, Legality.CONDITIONAL: held}
        assert encoded == expected[verdict.legality], (names, verdict.python_guard)


def test_platform() -> None:
    symbol = {"swizzle": Symbol("mode", 4, 6)}
    assert decide(MAP, symbol).legality is Legality.NEVER
    assert decide(MAP, symbol, Platform((10, 0))).legality is Legality.ALWAYS


def test_empty_symbols_are_refused() -> None:
    with pytest.raises(ValueError, match="no number is possible"):
        Symbol("n", 5, 6, 8)
