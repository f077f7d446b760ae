"""Ask the CUDA driver the pointed questions behind docs/tensor-maps.md. Needs a GPU.

    python -m benchmarks.tensor_maps.questions

Each line is one question: a legal map with some fields changed, and which of the values were encoded.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterable

import numpy as np

from benchmarks.tensor_maps.cuda_driver import Driver
from benchmarks.tensor_maps.samplers import Table

Row = dict[str, int]
SHARED = {"interleave": 0, "swizzle": 0, "l2": 0, "oob": 0, "addr_off": 0, "dtype": 0}


def base(kind: str, rank: int = 3) -> Row:
    """Return a legal map of single bytes."""
    row = SHARED | {"rank": rank} | {f"dim{i}": 1024 for i in range(5)} | {f"es{i}": 1 for i in range(5)}
    row |= {f"stride{i}": 1024 << (10 * i) if i < 3 else (1 << 40) - 32 for i in range(4)}
    if kind == "tiled":
        return row | {"box0": 16} | {f"box{i}": 8 for i in range(1, 5)} | {"map_off": 0}
    row |= {"channels": 16, "pixels": 16}
    if kind == "im2col":
        return row | {f"{side}{i}": 0 for side in ("lower", "upper") for i in range(3)}
    return row | {"lower": 0, "upper": 0, "mode": 0}


def ask(driver: Driver, kind: str, rows: Iterable[Row]) -> list[int]:
    """Return the driver's answers."""
    rows = list(rows)
    table: Table = {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}
    return [int(result) for result in driver.ask(kind, table)]


def sweep(
    driver: Driver, title: str, kind: str, name: str, values: Iterable[int], change: Row, rank: int = 3
) -> None:
    """Print which `values` of field `name` encode, the other fields as in `change`."""
    values = list(values)
    answers = ask(driver, kind, [base(kind, rank) | change | {name: v} for v in values])
    print(
        f"{title}: encoded {ranges([v for v, a in zip(values, answers, strict=True) if a == 0])}"
        f" refused {ranges([v for v, a in zip(values, answers, strict=True) if a])}"
    )


def ranges(values: list[int]) -> str:
    """Return sorted integers as runs with a common step of 1."""
    runs: list[list[int]] = []
    for v in values:
        if runs and runs[-1][1] == v - 1:
            runs[-1][1] = v
        else:
            runs.append([v, v])
    return " ".join(str(a) if a == b else f"{a}..{b}" for a, b in runs[:40]) or "none"


def boxes_near(limit: int) -> list[tuple[int, Row]]:
    """Return boxes of 16 × b1 × b2 bytes (b3 = 1 to 3) around `limit`, by size."""
    found: dict[int, Row] = {}
    for b3 in (1, 2, 3, 5, 7):
        for b1 in range(1, 257):
            for b2 in range(b1, 257):
                size = 16 * b1 * b2 * b3
                if abs(size - limit) <= 1200:
                    found.setdefault(size, {"box1": b1, "box2": b2, "box3": b3})
    return sorted(found.items(), key=lambda item: item[0])


def shared_memory(driver: Driver) -> None:
    """Find the largest box and column."""
    print(
        "attribute shared memory per multiprocessor",
        driver.attribute(81),
        "per block, opt in",
        driver.attribute(97),
    )
    for limit in (232448, 233472):
        for interleave in (0, 1, 2):
            boxes = boxes_near(limit)
            answers = ask(
                driver, "tiled", [base("tiled", 4) | box | {"interleave": interleave} for _, box in boxes]
            )
            good = [s for (s, _), a in zip(boxes, answers, strict=True) if a == 0]
            bad = [s for (s, _), a in zip(boxes, answers, strict=True) if a]
            print(
                f"box near {limit}, interleave {interleave}: largest encoded {max(good, default=0)},"
                f" smallest refused {min(bad, default=0)}, sizes asked {len(boxes)}"
            )
    for channels in (224, 228, 240, 256):
        change = {"channels": channels // 16 * 16}
        for kind in ("im2col", "im2col_wide"):
            sweep(driver, f"{kind} pixels at {change} bytes", kind, "pixels", range(890, 1030), change)
    full = {"box0": 256, "box1": 256, "box2": 256, "box3": 256, "box4": 256}
    for dtype in (0, 1, 4):
        sweep(
            driver,
            f"dtype {dtype}, box 256^rank (the product wraps 32 bits)",
            "tiled",
            "rank",
            range(1, 6),
            full | {"dtype": dtype},
        )
    for es in ({"es2": 8}, {"es0": 2}, {"es1": 8, "box1": 7}, {"es1": 8, "box1": 8}, {"es2": 3}):
        change = {"box0": 256, "box1": 64} | es
        sweep(driver, f"box2 at {change}", "tiled", "box2", range(1, 257), change)


def pointers(driver: Driver) -> None:
    """Ask about the addresses of the map and of the tensor."""
    sweep(driver, "map offset", "tiled", "map_off", range(66), {})
    for kind in ("tiled", "im2col", "im2col_wide"):
        rows = [
            base(kind) | {"addr_off": (1 << bit) - 64 * back - driver.base}
            for bit in range(50, 63)
            for back in (0, 1)
        ]
        good = [
            row["addr_off"] + driver.base
            for row, a in zip(rows, ask(driver, kind, rows), strict=True)
            if a == 0
        ]
        print(f"{kind}: highest global address encoded {max(good):#x}")


def raw_pointers(driver: Driver) -> None:
    """Ask about absolute addresses and null pointers, past the table."""
    absolute = [0, 16, *(1 << bit for bit in (46, 47, 48, 49, 52, 56, 57, 62, 63)), (1 << 64) - 16]
    call = driver.cuda.cuTensorMapEncodeTiled
    dims, strides = (c.c_uint64 * 5)(64, 64, 64, 64, 64), (c.c_uint64 * 4)(64, 4096, 1 << 18, 1 << 24)
    box, steps = (c.c_uint32 * 5)(16, 8, 8, 1, 1), (c.c_uint32 * 5)(1, 1, 1, 1, 1)
    address = c.addressof
    for a in absolute:
        result = call(
            driver.map, 0, 2, a, address(dims), address(strides), address(box), address(steps), 0, 0, 0, 0
        )
        print(f"global address {a:#x}: result {result}")
    arrays = [address(array) for array in (dims, strides, box, steps)]
    arguments = [driver.map, 0, 2, driver.base, *arrays, *[0] * 4]
    names = {0: "tensorMap", 4: "globalDim", 5: "globalStrides", 6: "boxDim", 7: "elementStrides"}
    for place, name in names.items():
        for rank in (1, 2):
            changed = [None if i == place else v for i, v in enumerate(arguments)]
            changed[2] = rank
            print(f"null {name} at rank {rank}: result {call(*changed)}")


def corners(driver: Driver) -> None:
    """Ask about the limits of the corners."""
    edges = [s * (1 << b) + d for b in (4, 7, 15) for s in (-1, 1) for d in (-1, 0, 1)]
    for rank in (3, 4, 5):
        big = {f"dim{i}": 1 << 20 for i in range(5)}
        for kind, names in (("im2col", ("lower0", "upper0")), ("im2col_wide", ("lower", "upper"))):
            for name in names:
                sweep(driver, f"{kind} rank {rank} {name}", kind, name, sorted(edges), big, rank)


def sizes_of_the_pixel_box(driver: Driver) -> None:
    """Ask how sizes and corners are compared, and what mode and swizzle a wide map takes."""
    for kind in ("im2col", "im2col_wide"):
        for interleave in (0, 1, 2):
            for rank in (3, 4, 5):
                fine = []
                for i in range(rank):
                    row = base(kind, rank) | {f"dim{i}": 1 << 31, "interleave": interleave}
                    if ask(driver, kind, [row])[0] == 0:
                        fine.append(i)
                print(f"{kind} interleave {interleave} rank {rank}: dims that may be 2^31, corners 0: {fine}")
        for size in ((1 << 31) - 1, 1 << 31, (1 << 31) + 5, (1 << 32) - 1, 1 << 32):
            lower, upper = ("lower", "upper") if kind == "im2col_wide" else ("lower0", "upper0")
            sweep(
                driver, f"{kind} dim1 {size}, {upper} 3", kind, lower, range(-8, 9), {"dim1": size, upper: 3}
            )
            sweep(
                driver,
                f"{kind} dim1 {size}, {upper} -3",
                kind,
                lower,
                range(-8, 9),
                {"dim1": size, upper: -3},
            )
    for mode in (0, 1):
        sweep(
            driver,
            f"wide mode {mode} pixels",
            "im2col_wide",
            "pixels",
            [0, 1, 16, 1023, 1024, 1025, 4096],
            {"mode": mode},
        )
        sweep(driver, f"wide mode {mode} swizzle", "im2col_wide", "swizzle", range(-1, 8), {"mode": mode})


def main() -> None:
    """Ask everything."""
    driver = Driver()
    print(f"{driver.device}, driver {driver.version}")
    shared_memory(driver)
    pointers(driver)
    raw_pointers(driver)
    corners(driver)
    sizes_of_the_pixel_box(driver)


if __name__ == "__main__":
    main()
