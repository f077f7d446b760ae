"""Maps of different blocks: the spacing that is shown is the one that running the arithmetic gives."""

from __future__ import annotations

from itertools import product

import pytest

from ptxcheck.descriptors.device.flow import DeviceMaps
from ptxcheck.descriptors.device.place import Key
from ptxcheck.descriptors.device.separate import spacing

from .kernels import PLACE, kernel, view

GRIDS = ((4, 1, 1), (3, 5, 2), (1, 1, 6))


def shown(place: str) -> int | None:
    maps = view(kernel(place=place)).get(DeviceMaps)
    (key,) = [key for key in maps.keys if not key.is_shared]
    assert isinstance(key, Key)
    return spacing(maps.view, key)


def addresses(formula: str, grid: tuple[int, int, int]) -> list[int]:
    """Return the offsets that a formula of x, y, z, nx and ny gives in each block."""
    nx, ny, nz = grid
    return [
        eval(formula, {}, {"x": x, "y": y, "z": z, "nx": nx, "ny": ny})
        for z, y, x in product(range(nz), range(ny), range(nx))
    ]


def test_the_linear_index_is_shown() -> None:
    assert shown(PLACE) == 128
    for grid in GRIDS:
        assert addresses("128 * ((z * ny + y) * nx + x)", grid) == [
            128 * i for i in range(grid[0] * grid[1] * grid[2])
        ]


@pytest.mark.parametrize(
    ("old", "new", "formula"),
    [
        (
            "mad.wide.u32 %rd6, %r6, %r8, %rd5",
            "mad.wide.u32 %rd6, %r6, %r7, %rd5",
            "128 * ((z * nx + y) * nx + x)",
        ),
        (
            "mad.lo.s64 %rd9, %rd6, %rd8, %rd7",
            "mad.lo.s64 %rd9, %rd6, %rd5, %rd7",
            "128 * ((z * ny + y) * y + x)",
        ),
        ("mov.u32 %r6, %ctaid.z", "mov.u32 %r6, 0", "128 * (y * nx + x)"),
        ("cvt.u64.u32 %rd7, %r4", "mov.u64 %rd7, 0", "128 * ((z * ny + y) * nx)"),
    ],
)
def test_what_lets_blocks_collide_is_not_shown(old: str, new: str, formula: str) -> None:
    assert old in PLACE
    collides = any(len(set(addresses(formula, grid))) < len(addresses(formula, grid)) for grid in GRIDS)
    assert collides
    assert shown(PLACE.replace(old, new)) is None


def test_other_spacings() -> None:
    assert shown(PLACE.replace("%rd9, 128", "%rd9, 384")) == 384
    assert shown("") is None
