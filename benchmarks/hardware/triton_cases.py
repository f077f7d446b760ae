"""Triton's and Gluon's kernels of the corpora with arguments, so that they and their mutants run on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.corpora import gluon_kernels, triton_kernels
from ptxcheck.repair.harness import Array, Case
from ptxcheck.repair.triton_harness import Given, TensorDescriptor, TritonHarness

_DRIVERS = {"ptx_version": 86}
"""The PTX that drivers of CUDA 12.7 and later take."""
_LARGE = 2048
_PATTERN = 128, 320
"""Rows and columns of numbers that are repeated in large matrices, which then take little room in an archive."""
_OF_H100 = 132
_MANY_PROGRAMS = 4
"""Of a persistent kernel: fewer than tiles, so that programs turn."""


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of half-precision matrices of small integers, so that the sums are exact; B is given transposed."""

    tile: tuple[int, int, int]
    """M, N, K."""
    layout: Any = None

    def arguments(self, case: Case, names: tuple[str, ...]) -> Mapping[str, Given]:
        m, n, k = (case[name] for name in "mnk")
        generator = np.random.default_rng(1)
        a, b = (_integers(generator, rows, k) for rows in (m, n))
        tile_m, tile_n, tile_k = self.tile
        c = np.zeros((m, n), np.float16)
        maps = {
            "a_map": TensorDescriptor(a, [tile_m, tile_k], self.layout),
            "b_map": TensorDescriptor(b, [tile_n, tile_k], self.layout),
            "c_map": TensorDescriptor(c, [tile_m, tile_n], self.layout),
        }
        return {**maps, **{name: case[name] for name in names}}

    def reference(self, before: Mapping[str, Any]) -> Mapping[str, Array]:
        product = before["a_map"].astype(np.float32) @ before["b_map"].astype(np.float32).T
        return {"c_map": product.astype(np.float16)}


def _integers(generator: np.random.Generator, rows: int, columns: int) -> Array:
    """Return small integers; no step of a large matrix has those of the step before."""
    if columns < _LARGE:
        return generator.integers(-2, 3, (rows, columns)).astype(np.float16)
    pattern = generator.integers(-2, 3, _PATTERN).astype(np.float16)
    times = -(-rows // _PATTERN[0]), -(-columns // _PATTERN[1])
    return np.tile(pattern, times)[:rows, :columns].copy()


def _sizes(tile: tuple[int, int, int], tiles: tuple[int, int], *steps: int) -> list[Case]:
    """Return cases of as many tiles and, one after the other, as many steps."""
    m, n, k = tile
    return [{"m": tiles[0] * m, "n": tiles[1] * n, "k": k * count} for count in steps]


def _product(
    kernel: Any,
    tile: tuple[int, int, int],
    cases: list[Case],
    *,
    names: tuple[str, ...] = ("k",),
    layout: Any = None,
    programs: int = 0,
    **given: Any,
) -> TritonHarness:
    product = _Product(tile, layout)
    grid = [programs] if programs else (cases[0]["m"] // tile[0], cases[0]["n"] // tile[1])
    return TritonHarness(
        kernel, cases, partial(product.arguments, names=names), grid, product.reference,
        signature=dict.fromkeys(names, "i32"), options=_DRIVERS, **given,
    )  # fmt: skip


def _persistent(tile: tuple[int, int, int], **constants: Any) -> TritonHarness:
    m, n, k = tile
    return _product(
        triton_kernels.matmul_persistent, tile,
        [*_sizes(tile, (3, 3), 1, 2, 5, 8), *_sizes(tile, (1, 1), 3)],
        names=("m", "n", "k"), programs=_MANY_PROGRAMS, num_warps=4,
        constexprs={"BM": m, "BN": n, "BK": k, "PROGRAMS": _MANY_PROGRAMS, "HALVES": False, **constants},
    )  # fmt: skip


def _attention(lengths: tuple[int, ...] = (64, 128, 448)) -> TritonHarness:
    block_m, block_n, width, heads = 64, 64, 64, 2

    def arguments(case: Case) -> Mapping[str, Given]:
        rows = heads * case["length"]
        generator = np.random.default_rng(2)
        q, k, v = (generator.standard_normal((rows, width)).astype(np.float16) for _ in range(3))
        return {
            "q_map": TensorDescriptor(q, [block_m, width]),
            "k_map": TensorDescriptor(k, [block_n, width]),
            "v_map": TensorDescriptor(v, [block_n, width]),
            "out_map": TensorDescriptor(np.zeros_like(q), [block_m, width]),
            "lse_ptr": np.zeros(rows, np.float32),
            "length": case["length"],
            "scale": 0.125,
        }

    def reference(before: Mapping[str, Any]) -> Mapping[str, Array]:
        split = (heads, -1, width)
        q, k, v = (before[name].astype(np.float32).reshape(split) for name in ("q_map", "k_map", "v_map"))
        weights = np.exp2(np.einsum("hid,hjd->hij", q, k) * np.float32(before["scale"]))
        out = np.einsum("hij,hjd->hid", weights / weights.sum(-1, keepdims=True), v)
        return {"out_map": out.reshape(-1, width).astype(np.float16)}

    return TritonHarness(
        triton_kernels.attention_descriptors, [{"length": n} for n in lengths], arguments,
        lambda meta: (meta["length"] // block_m, heads), reference,
        signature={"length": "i32"}, options=_DRIVERS, num_warps=4,
        constexprs={"BM": block_m, "BN": block_n, "D": width, "SPECIALISE": True}, rtol=2e-2, atol=2e-3,
    )  # fmt: skip


def _ring() -> TritonHarness:
    rows, columns = 64, 64

    def arguments(case: Case) -> Mapping[str, Given]:
        x = np.random.default_rng(3).integers(-9, 9, (2 * rows, columns * case["steps"])).astype(np.float32)
        layout = gluon_kernels.SINGLE
        block = [rows, columns // 2]
        return {
            "x_map": TensorDescriptor(x, block, layout),
            "y_map": TensorDescriptor(np.zeros_like(x), block, layout),
            "steps": 2 * case["steps"],
        }

    return TritonHarness(
        gluon_kernels.tma_ring, [{"steps": n} for n in (1, 2, 3, 8)], arguments, (2,),
        lambda before: {"y_map": 2 * before["x_map"]}, signature={"steps": "i32"}, options=_DRIVERS, num_warps=4,
        constexprs={"M": rows, "N": columns // 2, "STAGES": 3},
    )  # fmt: skip


def _multicast() -> TritonHarness:
    rows = 64

    def arguments(case: Case) -> Mapping[str, Given]:
        x = np.random.default_rng(4).integers(-9, 9, (rows * case["steps"], 64)).astype(np.float16)
        layout = gluon_kernels.SHARED_BY_BOTH
        return {
            "x_map": TensorDescriptor(x, [rows, 64], layout),
            "y_map": TensorDescriptor(np.zeros_like(x), [rows, 64], layout),
            "steps": case["steps"],
        }

    return TritonHarness(
        gluon_kernels.cluster_multicast, [{"steps": n} for n in (1, 2, 5)], arguments, (4,),
        lambda before: {"y_map": before["x_map"]}, signature={"steps": "i32"}, options=_DRIVERS, num_warps=4,
        num_ctas=2,
    )  # fmt: skip


def _device_descriptors() -> TritonHarness:
    """The kernel makes the descriptors itself, in its workspace."""
    tile = (128, 128, 64)
    product = _Product(tile)

    def arguments(case: Case) -> Mapping[str, Given]:
        given = product.arguments(case, ("m", "n", "k"))
        return {
            name.replace("_map", "_ptr"): value.array if isinstance(value, TensorDescriptor) else value
            for name, value in given.items()
        }

    def reference(before: Mapping[str, Any]) -> Mapping[str, Array]:
        found = product.reference({name.replace("_ptr", "_map"): value for name, value in before.items()})
        return {"c_ptr": found["c_map"]}

    return TritonHarness(
        triton_kernels.matmul_persistent_device_descriptors,
        [*_sizes(tile, (3, 3), 1, 2, 5, 8), *_sizes(tile, (1, 1), 3)], arguments, (_MANY_PROGRAMS,), reference,
        options=_DRIVERS, num_warps=8,
        constexprs={"BM": 128, "BN": 128, "BK": 64, "PROGRAMS": _MANY_PROGRAMS, "STATED": False},
    )  # fmt: skip


def _copies_on_a_barrier() -> TritonHarness:
    block = 512

    def arguments(case: Case) -> Mapping[str, Given]:
        x = np.random.default_rng(5).integers(-9, 9, block * case["steps"]).astype(np.float32)
        return {"x_ptr": x, "y_ptr": np.zeros_like(x), "steps": case["steps"]}

    return TritonHarness(
        gluon_kernels.async_copy_barrier, [{"steps": n} for n in (1, 2, 9)], arguments, (2,),
        lambda before: {"y_ptr": before["x_ptr"]}, signature={"steps": "i32"}, options=_DRIVERS, num_warps=4,
        constexprs={"BLOCK": block},
    )  # fmt: skip


def _left_in_registers() -> TritonHarness:
    rows, columns, depth = 64, 128, 64

    def arguments(case: Case) -> Mapping[str, Given]:
        generator = np.random.default_rng(6)
        a = generator.integers(-2, 3, (rows, depth * case["steps"])).astype(np.float32)
        b = generator.integers(-2, 3, (depth * case["steps"], columns)).astype(np.float16)
        return {
            "a_ptr": a,
            "b_map": TensorDescriptor(b, [depth, columns], gluon_kernels.HALF),
            "c_ptr": np.zeros((rows, columns), np.float32),
            "steps": case["steps"],
        }

    return TritonHarness(
        gluon_kernels.wgmma_left_in_registers, [{"steps": n} for n in (1, 2, 7)], arguments, (2,),
        lambda before: {"c_ptr": before["a_ptr"] @ before["b_map"].astype(np.float32)},
        signature={"steps": "i32"}, options=_DRIVERS, num_warps=4,
        constexprs={"M": rows, "N": columns, "K": depth},
    )  # fmt: skip


def _pair_of_ctas() -> TritonHarness:
    """Two CTAs share the tiles of a product; each of them loads its part."""
    tile = (128, 128, 64)
    return _product(
        triton_kernels.matmul_host_descriptors, tile, _sizes(tile, (2, 2), 1, 2, 3, 4, 7), num_warps=4, num_ctas=2,
        constexprs={"BM": 128, "BN": 128, "BK": 64},
    )  # fmt: skip


def _all_large(tile: tuple[int, int, int]) -> list[Case]:
    return _sizes(tile, (_LARGE // tile[0], _LARGE // tile[1]), _LARGE // tile[2])


def large_harnesses() -> Mapping[str, TritonHarness]:
    """Return harnesses of products on matrices that keep a GPU busy, for times and counters."""
    tile, small, half = (128, 128, 64), (64, 128, 64), gluon_kernels.HALF
    persistent = partial(
        _product, triton_kernels.matmul_persistent, names=("m", "n", "k"), programs=_OF_H100, num_warps=4
    )
    constants = {"BK": 64, "PROGRAMS": _OF_H100, "HALVES": False}
    return {
        "matmul_pair_large": _product(
            triton_kernels.matmul_host_descriptors, tile, _all_large(tile), num_warps=4, num_ctas=2,
            constexprs={"BM": 128, "BN": 128, "BK": 64},
        ),
        "matmul_host_descriptors_large": _product(
            triton_kernels.matmul_host_descriptors, tile, _all_large(tile), num_warps=8,
            constexprs={"BM": 128, "BN": 128, "BK": 64},
        ),
        "matmul_persistent_large": persistent(
            tile, _all_large(tile),
            constexprs={**constants, "BM": 128, "BN": 128, "FLATTEN": True, "SPECIALISE": False},
        ),
        "matmul_specialised_large": persistent(
            small, _all_large(small),
            constexprs={**constants, "BM": 64, "BN": 128, "FLATTEN": False, "SPECIALISE": True},
        ),
        "wgmma_pipelined_large": _product(
            gluon_kernels.wgmma_pipelined, tile, _all_large(tile), layout=half, num_warps=4,
            constexprs={"STAGES": 3},
        ),
        "wgmma_specialised_large": _product(
            gluon_kernels.wgmma_specialised, tile, _all_large(tile), layout=half, num_warps=4,
            constexprs={"STAGES": 3},
        ),
        "attention_specialised_large": _attention((2048,)),
    }  # fmt: skip


def harnesses() -> Mapping[str, TritonHarness]:
    """Return the harnesses by name."""
    tile, half = (128, 128, 64), gluon_kernels.HALF
    steps = _sizes(tile, (2, 2), 1, 2, 3, 4, 7)
    return {
        "async_copy_barrier": _copies_on_a_barrier(),
        "attention_specialised": _attention(),
        "cluster_multicast": _multicast(),
        "matmul_device_descriptors": _device_descriptors(),
        "matmul_pair": _pair_of_ctas(),
        "matmul_persistent": _persistent(tile, FLATTEN=True, SPECIALISE=False),
        "matmul_specialised": _persistent((64, 128, 64), FLATTEN=False, SPECIALISE=True),
        "tma_ring": _ring(),
        "wgmma_left_in_registers": _left_in_registers(),
        "wgmma_pipelined": _product(
            gluon_kernels.wgmma_pipelined, tile, steps, layout=half, num_warps=4, constexprs={"STAGES": 3}
        ),
        "wgmma_specialised": _product(
            gluon_kernels.wgmma_specialised, tile, steps, layout=half, num_warps=4, constexprs={"STAGES": 3}
        ),
    }
