"""The driver's answers, and rows of them as tensor maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ptxcheck.descriptors import (
    Im2colMap,
    Im2colWideMap,
    Kind,
    TensorMap,
    TiledMap,
)

DATA = Path(__file__).parent / "data"
Table = dict[str, npt.NDArray[np.int64]]


def driver_rows(kind: Kind) -> Table:
    """Return the answers of a driver (API 13000, 580.159.04, H200) to random maps of a kind."""
    with np.load(DATA / f"driver_{kind.value}.npz") as file:
        return {str(name): file["rows"][:, i] for i, name in enumerate(file["columns"])}


def sampled_rows(kind: Kind) -> dict[str, Table]:
    """Return the first rows of each sampler's campaign against the same driver, by sampler."""
    tables: dict[str, Table] = {}
    with np.load(DATA / "driver_samples.npz") as file:
        for key in file.files:
            sampler, of_kind, column = key.split("/")
            if of_kind == kind.value:
                tables.setdefault(sampler, {})[column] = file[key]
    return tables


def tensor_map_of(kind: Kind, table: Table, row: int) -> TensorMap:
    """Return one row as a tensor map."""

    def column(prefix: str, count: int) -> tuple[int, ...]:
        return tuple(int(table[f"{prefix}{i}"][row]) for i in range(count))

    one = {name: int(values[row]) for name, values in table.items()}
    rank = one["rank"]
    common = {
        "data_type": one["dtype"],
        "global_dim": column("dim", rank),
        "global_strides": column("stride", max(0, rank - 1)),
        "element_strides": column("es", rank),
        "interleave": one["interleave"],
        "swizzle": one["swizzle"],
        "l2_promotion": one["l2"],
        "oob_fill": one["oob"],
        "global_address": one["addr_off"],
    }
    if kind is Kind.TILED:
        return TiledMap(**common, map_address=one["map_off"], box_dim=column("box", rank))  # type: ignore[arg-type]
    sizes = {"channels_per_pixel": one["channels"], "pixels_per_column": one["pixels"]}
    if kind is Kind.IM2COL:
        lower, upper = column("lower", max(0, rank - 2)), column("upper", max(0, rank - 2))
        return Im2colMap(**common, **sizes, lower_corner=lower, upper_corner=upper)  # type: ignore[arg-type]
    corners = {"lower_corner": one["lower"], "upper_corner": one["upper"], "mode": one["mode"]}
    return Im2colWideMap(**common, **sizes, **corners)  # type: ignore[arg-type]
