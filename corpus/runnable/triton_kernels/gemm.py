"""Harness of a Triton GEMM with tensor descriptors: loads by TMA, products by wgmma, and a store by TMA.

The descriptors of the operands come from the host; that of the result is made in the kernel, in a workspace.
"""
# ruff: noqa: N803 -- constants of Triton kernels are written so

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import triton
import triton.language as tl

from ptxcheck.repair.harness import Array, Case
from ptxcheck.repair.triton_harness import Given, TensorDescriptor, TritonHarness

_TILE = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}


@triton.jit
def descriptor_gemm(
    a, b, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    """Multiply two row-major matrices; one tile of the result a program."""
    c = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        sums = tl.dot(a.load([row, k]), b.load([k, column]), sums)
    c.store([row, column], sums.to(tl.float16))


def arguments(case: Case) -> Mapping[str, Given]:
    """Return the arguments of one case: small integers, so that sums are exact."""
    m, n, k = (case[name] for name in "mnk")
    generator = np.random.default_rng(1)
    a = generator.integers(-2, 3, (m, k)).astype(np.float16)
    b = generator.integers(-2, 3, (k, n)).astype(np.float16)
    return {
        "a": TensorDescriptor(a, [_TILE["BLOCK_M"], _TILE["BLOCK_K"]]),
        "b": TensorDescriptor(b, [_TILE["BLOCK_K"], _TILE["BLOCK_N"]]),
        "c_ptr": np.zeros((m, n), np.float16),
        "M": m,
        "N": n,
        "K": k,
    }


def reference(before: Mapping[str, Any]) -> Mapping[str, Array]:
    """Return the product."""
    product = before["a"].astype(np.float32) @ before["b"].astype(np.float32)
    return {"c_ptr": product.astype(np.float16)}


harness = TritonHarness(
    descriptor_gemm,
    cases=[
        {"m": 1024, "n": 1024, "k": 512},
        {"m": 128, "n": 128, "k": 64},
        {"m": 128, "n": 256, "k": 128},
        {"m": 256, "n": 128, "k": 192},
        {"m": 200, "n": 136, "k": 264},
    ],
    arguments=arguments,
    grid=lambda meta: (triton.cdiv(meta["M"], meta["BLOCK_M"]), triton.cdiv(meta["N"], meta["BLOCK_N"])),
    reference=reference,
    constexprs=_TILE,
    num_warps=4,
    num_stages=3,
    options={"ptx_version": 86},  # what drivers of CUDA 12.7 and later take
)
