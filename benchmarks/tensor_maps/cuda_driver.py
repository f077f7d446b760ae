"""Ask the CUDA driver, through ctypes, whether it encodes the tensor maps of a table."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Table = Mapping[str, npt.NDArray[np.int64]]

POINTER = c.c_void_p
COMMON = [POINTER, c.c_int, c.c_uint32, POINTER, POINTER, POINTER]
ENUMS = [c.c_int] * 4


class Rows:
    """A matrix kept alive together with the address of each of its rows."""

    def __init__(self, matrix: npt.NDArray[Any]) -> None:
        self._matrix = matrix
        self._base = int(matrix.ctypes.data)
        self._step = matrix.strides[0]

    def at(self, i: int) -> int:
        """Return the address of row `i`."""
        return self._base + i * self._step


class Driver:
    """A CUDA context on device 0, an aligned buffer for the map and an aligned device allocation."""

    def __init__(self) -> None:
        self.cuda = c.CDLL("libcuda.so.1")
        device, context, version, pointer = c.c_int(), c.c_void_p(), c.c_int(), c.c_uint64()
        self._check(self.cuda.cuInit(0))
        self._check(self.cuda.cuDeviceGet(c.byref(device), 0))
        self._check(self.cuda.cuDevicePrimaryCtxRetain(c.byref(context), device))
        self._check(self.cuda.cuCtxSetCurrent(context))
        self._check(self.cuda.cuDriverGetVersion(c.byref(version)))
        self._check(self.cuda.cuMemAlloc_v2(c.byref(pointer), c.c_size_t(1 << 20)))
        name = c.create_string_buffer(100)
        self._check(self.cuda.cuDeviceGetName(name, 100, device))
        self.device = name.value.decode()
        self.version = version.value
        self.base = pointer.value
        self._buffer = (c.c_uint8 * 1024)()
        self.map = (c.addressof(self._buffer) + 127) & ~127

    @staticmethod
    def _check(result: int) -> None:
        if result:
            raise RuntimeError(f"CUDA driver call failed with {result}")

    def attribute(self, number: int) -> int:
        """Return CUdevice_attribute `number` of device 0."""
        out = c.c_int()
        self._check(self.cuda.cuDeviceGetAttribute(c.byref(out), number, 0))
        return out.value

    def ask(self, kind: str, table: Table) -> npt.NDArray[np.int64]:
        """Return the CUresult of encoding each row of `table`."""
        return {"tiled": self._tiled, "im2col": self._im2col, "im2col_wide": self._wide}[kind](table)

    def _tiled(self, table: Table) -> npt.NDArray[np.int64]:
        call = self._function("cuTensorMapEncodeTiled", [*COMMON, POINTER, POINTER, *ENUMS])
        box, stride = stacked(table, "box", 5, np.uint32), stacked(table, "es", 5, np.uint32)
        enums = plain(table, "interleave", "swizzle", "l2", "oob")
        return np.array(
            [call(*head, box.at(i), stride.at(i), *enums[i]) for i, head in enumerate(self._heads(table))],
            dtype=np.int64,
        )

    def _im2col(self, table: Table) -> npt.NDArray[np.int64]:
        types = [*COMMON, POINTER, POINTER, c.c_uint32, c.c_uint32, POINTER, *ENUMS]
        call = self._function("cuTensorMapEncodeIm2col", types)
        low, high = stacked(table, "lower", 3, np.int32), stacked(table, "upper", 3, np.int32)
        stride, sizes = stacked(table, "es", 5, np.uint32), plain(table, "channels", "pixels")
        enums = plain(table, "interleave", "swizzle", "l2", "oob")
        return np.array(
            [
                call(*head, low.at(i), high.at(i), *sizes[i], stride.at(i), *enums[i])
                for i, head in enumerate(self._heads(table))
            ],
            dtype=np.int64,
        )

    def _wide(self, table: Table) -> npt.NDArray[np.int64]:
        types = [*COMMON, c.c_int, c.c_int, c.c_uint32, c.c_uint32, POINTER, c.c_int, c.c_int, *ENUMS[:3]]
        call = self._function("cuTensorMapEncodeIm2colWide", types)
        sizes, stride = (
            plain(table, "lower", "upper", "channels", "pixels"),
            stacked(table, "es", 5, np.uint32),
        )
        enums = plain(table, "interleave", "mode", "swizzle", "l2", "oob")
        return np.array(
            [call(*head, *sizes[i], stride.at(i), *enums[i]) for i, head in enumerate(self._heads(table))],
            dtype=np.int64,
        )

    def _function(self, name: str, types: list[Any]) -> Callable[..., int]:
        function = getattr(self.cuda, name)
        function.argtypes = types
        function.restype = c.c_int
        return function  # type: ignore[no-any-return]

    def _heads(self, table: Table) -> list[tuple[int, ...]]:
        """Return map pointer, type, rank, address, and the addresses of sizes and strides of each row."""
        self._dims, self._strides = (
            stacked(table, "dim", 5, np.uint64),
            stacked(table, "stride", 4, np.uint64),
        )
        offsets = table["map_off"].tolist() if "map_off" in table else [0] * len(table["rank"])
        rows = zip(offsets, plain(table, "dtype", "rank", "addr_off"), strict=True)
        return [
            (self.map + off, dtype, rank, self.base + address, self._dims.at(i), self._strides.at(i))
            for i, (off, (dtype, rank, address)) in enumerate(rows)
        ]


def stacked(table: Table, prefix: str, count: int, dtype: Any) -> Rows:
    """Return columns `prefix`0… side by side, with spare rows: the driver reads as far as the rank says."""
    matrix = np.stack([table[f"{prefix}{i}"].astype(dtype) for i in range(count)], axis=1)
    return Rows(np.pad(matrix, ((0, 8), (0, 0))))


def plain(table: Table, *names: str) -> list[list[int]]:
    """Return the named columns as Python integers, row by row."""
    rows: list[list[int]] = np.stack([table[name] for name in names], axis=1).tolist()
    return rows
