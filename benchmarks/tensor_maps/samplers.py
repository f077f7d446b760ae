"""Random tensor maps with four different biases; every column is drawn with NumPy, none looks at the model.

`uniform`   mostly legal maps, every field over its whole range, anything at all beyond the rank
`boundary`  the same with one or two fields moved to the edge of what the documents allow
`sizes`     boxes and columns near the size of shared memory, with and without element strides
`integers`  sizes, strides and corners near powers of two where 32- and 64-bit arithmetic wraps
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]
Table = dict[str, Column]
Sampler = Callable[[np.random.Generator, int, str], Table]

ELEMENT_BYTES = np.array([1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1, 1, 1, 1, 1])
SPAN = np.array([1 << 20, 32, 64, 128, 128, 128, 128, 128])
CORNER = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}


def pick(rng: np.random.Generator, n: int, options: Sequence[int]) -> Column:
    """Return `n` draws from `options`."""
    return np.asarray(options, dtype=np.int64)[rng.integers(0, len(options), n)]


def spread(rng: np.random.Generator, n: int, top: float) -> Column:
    """Return `n` integers from 1 to `top`, uniform in their logarithm."""
    drawn: Column = np.exp(rng.random(n) * np.log(top)).astype(np.int64)
    return drawn


def uniform(rng: np.random.Generator, n: int, kind: str) -> Table:
    """Return mostly legal maps; fields beyond the rank hold anything."""
    t = _enums(rng, n, kind)
    unit = np.where(t["interleave"] == 2, 32, 16)
    t["addr_off"] = unit * rng.integers(0, 64, n)
    for i in range(5):
        t[f"dim{i}"] = spread(rng, n, 2.0**32)
        t[f"es{i}"] = np.where(rng.random(n) < 0.5, 1, rng.integers(1, 9, n))
    for i in range(4):
        t[f"stride{i}"] = unit * spread(rng, n, 2.0**35) - unit
    inner = _inner(rng, t)
    if kind == "tiled":
        _boxes(rng, t, inner)
    else:
        _columns(rng, t, inner, kind)
    _garbage(rng, t)
    return t


def _enums(rng: np.random.Generator, n: int, kind: str) -> Table:
    t: Table = {"dtype": rng.integers(0, 13, n)}
    t["interleave"] = pick(rng, n, [0, 0, 0, 1, 2])
    t["swizzle"] = rng.integers(0, 4, n)
    t["l2"] = rng.integers(0, 4, n)
    t["oob"] = np.where((t["dtype"] >= 6) & (rng.random(n) < 0.4), 1, 0)
    low = 3 if kind != "tiled" else 1
    t["rank"] = np.maximum(rng.integers(low, 6, n), np.where(t["interleave"] > 0, 3, 1))
    if kind == "tiled":
        t["map_off"] = pick(rng, n, [0, 0, 0, 8, 16, 32, 64])
    if kind == "im2col_wide":
        t["mode"] = rng.integers(0, 2, n)
    return t


def _inner(rng: np.random.Generator, t: Table) -> Column:
    """Return an innermost extent in elements: a multiple of 16 bytes, mostly within the swizzle span."""
    size = ELEMENT_BYTES[t["dtype"]]
    step = 16 // size
    most = np.where(t["interleave"] == 0, np.minimum(SPAN[t["swizzle"]], 256 * size), 256 * size) // 16
    inner: Column = step * (1 + rng.integers(0, 1 << 30, len(size)) % most)
    return inner


def _boxes(rng: np.random.Generator, t: Table, inner: Column) -> None:
    t["box0"] = inner
    for i in range(1, 5):
        t[f"box{i}"] = spread(rng, len(inner), 24.0)


def _columns(rng: np.random.Generator, t: Table, inner: Column, kind: str) -> None:
    n = len(inner)
    t["channels"] = inner
    t["pixels"] = spread(rng, n, 1025.0)
    limit = np.array([4, 4, 4, 1 << 15, 1 << 7, 1 << 4])[t["rank"]]
    names = [""] if kind == "im2col_wide" else ["0", "1", "2"]
    for name in names:
        wide = rng.random(n) < 0.3
        for side in ("lower", "upper"):
            t[side + name] = np.where(
                wide, rng.integers(0, 1 << 30, n) % (2 * limit) - limit, rng.integers(-4, 5, n)
            )


def _garbage(rng: np.random.Generator, t: Table) -> None:
    """Fill what lies beyond the rank with anything, in half of the rows."""
    n = len(t["rank"])
    some = rng.random(n) < 0.5
    for prefix, count, short in (("dim", 5, 0), ("stride", 4, 1), ("box", 5, 0), ("es", 5, 0)):
        for i in range(count):
            if f"{prefix}{i}" in t:
                beyond = some & (t["rank"] - short <= i)
                anything = pick(rng, n, [0, 1, 3, 7, 17, 300, (1 << 31) - 1, (1 << 32) - 1])
                t[f"{prefix}{i}"] = np.where(beyond, anything, t[f"{prefix}{i}"])
    for i in range(3):
        if f"lower{i}" in t:
            beyond = some & (t["rank"] - 2 <= i)
            t[f"lower{i}"] = np.where(beyond, pick(rng, n, [0, 99999, -99999, 1 << 30]), t[f"lower{i}"])


EDGES: dict[str, list[int]] = {
    "dtype": [*range(19), 255, -1],
    "rank": [0, 1, 2, 3, 4, 5, 6, 7],
    "addr_off": [1, 2, 4, 8, 15, 16, 17, 24, 32, 48, 64, 80],
    "map_off": [1, 2, 4, 8, 16, 32, 48, 64, 65],
    "dim": [
        0,
        1,
        2,
        255,
        257,
        (1 << 31) - 1,
        1 << 31,
        (1 << 31) + 1,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 1,
        1 << 40,
    ],
    "stride": [
        0,
        1,
        8,
        16,
        24,
        32,
        48,
        (1 << 40) - 32,
        (1 << 40) - 16,
        (1 << 40) - 1,
        1 << 40,
        1 << 41,
        1 << 62,
    ],
    "box": [
        0,
        1,
        2,
        3,
        4,
        8,
        12,
        15,
        16,
        24,
        32,
        33,
        64,
        65,
        128,
        129,
        255,
        256,
        257,
        1 << 16,
        (1 << 32) - 1,
    ],
    "es": [0, 1, 2, 7, 8, 9, 256, (1 << 32) - 1],
    "interleave": [-1, 0, 1, 2, 3, 255],
    "swizzle": [-1, 0, 1, 2, 3, 4, 5, 6, 7, 255],
    "l2": [-1, 0, 3, 4, 5],
    "oob": [-1, 0, 1, 2, 3],
    "mode": [-1, 0, 1, 2, 3],
    "channels": [0, 1, 2, 4, 8, 16, 32, 64, 128, 255, 256, 257, 1 << 16, (1 << 32) - 1],
    "pixels": [0, 1, 2, 255, 256, 1023, 1024, 1025, 1 << 16, (1 << 32) - 1],
}
CORNER_EDGES = [s * (1 << b) + d for b in (4, 7, 15) for s in (1, -1) for d in (-1, 0, 1)] + [
    0,
    1 << 30,
    -(1 << 31),
]


def boundary(rng: np.random.Generator, n: int, kind: str) -> Table:
    """Return mostly legal maps with one or two fields moved to an edge value."""
    t = uniform(rng, n, kind)
    names = [name for name in t if name != "mode" or kind == "im2col_wide"]
    for _ in range(2):
        field = rng.integers(0, len(names), n)
        skip = rng.random(n) < 0.4
        for number, name in enumerate(names):
            edges = EDGES.get(name.rstrip("01234"), CORNER_EDGES) if name != "l2" else EDGES["l2"]
            hit = (field == number) & ~skip
            t[name] = np.where(hit, pick(rng, n, edges), t[name])
    return t


def sizes(rng: np.random.Generator, n: int, kind: str) -> Table:
    """Return maps whose box or column is near the size of shared memory, legal otherwise."""
    t = uniform(rng, n, kind)
    size = ELEMENT_BYTES[t["dtype"]]
    target = (np.where(rng.random(n) < 0.5, 232448, 233472) * np.exp(rng.normal(0.03, 0.04, n))).astype(
        np.int64
    )
    exact = rng.random(n) < 0.3
    target = np.where(exact, pick(rng, n, [229376, 232448, 233472, 233472 + 16, 233472 + 512]), target)
    if kind != "tiled":
        t["pixels"] = np.clip(target // np.maximum(1, t["channels"] * size), 1, 1024) + rng.integers(0, 2, n)
        return t
    strided = rng.random(n) < 0.6
    left = target // size
    for i in range(5):
        t[f"es{i}"] = np.where(strided, t[f"es{i}"], 1)
        inside = t["rank"] > i
        step = np.maximum(1, t[f"es{i}"])
        if i > 0:
            t[f"box{i}"] = np.clip(_share(rng, left, t, i) * step + rng.integers(0, 8, n) % step, 1, 256)
        loaded = t[f"box{i}"] // step
        left = np.where(inside, left // np.maximum(1, loaded), left)
    return t


def _share(rng: np.random.Generator, left: Column, t: Table, i: int) -> Column:
    """Return the part of the elements `left` that dimension `i` takes: all of them in the last one."""
    last = t["rank"] == i + 1
    even = left ** (1 / np.maximum(1, t["rank"] - i))
    part = np.maximum(1, even * np.exp(rng.normal(0, 0.5, len(left)))).astype(np.int64)
    return np.where(last, left, np.minimum(part, left))


def integers(rng: np.random.Generator, n: int, kind: str) -> Table:
    """Return maps with sizes, strides, boxes and corners around powers of two."""
    t = uniform(rng, n, kind)
    for i in range(5):
        t[f"dim{i}"] = np.where(
            rng.random(n) < 0.4, _near_power(rng, n, (15, 16, 31, 31, 32, 32)), t[f"dim{i}"]
        )
    for i in range(4):
        power = _near_power(rng, n, (32, 39, 40, 62)) // 16 * 16
        t[f"stride{i}"] = np.where(rng.random(n) < 0.15, power, t[f"stride{i}"])
    if kind == "tiled":
        huge = rng.random(n) < 0.5
        for i in range(1, 5):
            t[f"box{i}"] = np.where(huge, pick(rng, n, [64, 128, 128, 255, 256, 256]), t[f"box{i}"])
        return t
    for name in [name for name in t if name.startswith(("lower", "upper"))]:
        limit = np.array([4, 4, 4, 1 << 15, 1 << 7, 1 << 4, 4, 4])[t["rank"]]
        edge = pick(rng, n, [-1, 1]) * limit + pick(rng, n, [-1, 0, 0, 1])
        t[name] = np.where(rng.random(n) < 0.25, edge, t[name])
    small = rng.random(n) < 0.3
    for i in range(4):
        t[f"dim{i}"] = np.where(small, spread(rng, n, 300.0), t[f"dim{i}"])
    return t


def _near_power(rng: np.random.Generator, n: int, powers: Sequence[int]) -> Column:
    base = np.int64(1) << pick(rng, n, powers)
    off = np.where(rng.random(n) < 0.5, rng.integers(-2, 3, n), rng.integers(-40000, 40000, n))
    result: Column = base + off
    return result


SAMPLERS: dict[str, Sampler] = {
    "uniform": uniform,
    "boundary": boundary,
    "sizes": sizes,
    "integers": integers,
}
