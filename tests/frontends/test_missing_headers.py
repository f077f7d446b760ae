"""A header that nvcc did not find is told with the package that has it."""

from __future__ import annotations

import pytest

from ptxcheck.frontends.missing_headers import advice_for


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("cuda/barrier", "nvidia-cuda-cccl"),
        ("cub/cub.cuh", "nvidia-cuda-cccl"),
        ("nv/target", "nvidia-cuda-cccl"),
        ("cuda_runtime.h", "nvidia-cuda-runtime"),
        ("cuda.h", "nvidia-cuda-runtime"),
        ("cuda_fp8.h", "nvidia-cuda-runtime"),
        ("cudaTypedefs.h", "nvidia-cuda-runtime"),
        ("cooperative_groups/reduce.h", "nvidia-cuda-runtime"),
        ("crt/host_config.h", "nvidia-cuda-crt"),
        ("cutlass/cutlass.h", "-I cutlass/include"),
        ("torch/extension.h", "include_paths()"),
        ("my/own.h", "-I DIR"),
        ("mycuda.h", "-I DIR"),
    ],
)
@pytest.mark.parametrize(
    "output",
    [
        'k.cu:1:10: fatal error: {}: No such file or directory\n 1 | #include "x"',
        'k.cu(1): catastrophic error: cannot open source file "{}"',
    ],
)
def test_the_package_is_named(header: str, advice: str, output: str) -> None:
    told = advice_for(output.replace("{}", header))
    assert told.startswith(f"{header} is missing: ")
    assert advice in told


@pytest.mark.parametrize("output", ["", "k.cu(3): error: expected a ';'", "error: no such file"])
def test_other_errors_have_no_advice(output: str) -> None:
    assert advice_for(output) == ""
