"""Harness of a Triton function: `out = x + scale * y` where `x` is not negative."""
# ruff: noqa: N803 -- constants of Triton kernels are written so

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import triton
import triton.language as tl

from ptxcheck.repair.harness import Array, Case
from ptxcheck.repair.triton_harness import Given, TritonHarness


@triton.jit
def scaled_add(x_ptr, y_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    """Add vectors, `BLOCK` elements a program."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    x = tl.load(x_ptr + places, mask=inside)
    y = tl.load(y_ptr + places, mask=inside)
    tl.store(out_ptr + places, tl.where(x >= 0, x + scale * y, x), mask=inside)


def arguments(case: Case) -> Mapping[str, Given]:
    """Return the arguments of one case."""
    generator = np.random.default_rng(1)
    x, y = generator.standard_normal((2, case["n"])).astype(np.float32)
    return {"x_ptr": x, "y_ptr": y, "out_ptr": np.zeros_like(x), "n": case["n"], "scale": 0.5}


def reference(before: Mapping[str, Any]) -> Mapping[str, Array]:
    """Return what the kernel has to write."""
    x, y = before["x_ptr"], before["y_ptr"]
    return {"out_ptr": np.where(x >= 0, x + np.float32(before["scale"]) * y, x)}


harness = TritonHarness(
    scaled_add,
    cases=[{"n": 1 << 18}, {"n": 1}, {"n": 255}, {"n": 256}, {"n": 257}],
    arguments=arguments,
    grid=lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),),
    reference=reference,
    constexprs={"BLOCK": 256},
    options={"ptx_version": 86},  # what drivers of CUDA 12.7 and later take
    rtol=1e-6,
)
