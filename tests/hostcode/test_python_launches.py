"""Launches in Python: Numba, CuPy, cuda.core and cuda-python."""

from __future__ import annotations

import pytest

from ptxcheck.hostcode.launches import HostLaunch, launches_in
from ptxcheck.launch import Dim
from ptxcheck.source import Source


def found(text: str) -> tuple[HostLaunch, ...]:
    return launches_in(Source("run.py", text)).launches


NUMBA = "from numba import cuda\n@cuda.jit\ndef ring(a): pass\nN = 128\n"
CUPY = "import cupy as cp\nring = cp.RawKernel(code, 'ring')\n"
CORE = "from cuda.core import LaunchConfig, launch\nring = module.get_kernel('ns::ring<2>')\n"
DRIVER = "from cuda.bindings import driver\nerror, ring = driver.cuModuleGetFunction(module, b'_Z4ringi')\n"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (NUMBA + "ring[n, N](a)\n", (128, 1, 1)),
        (NUMBA + "def run(a, n):\n  threads = (32, 4)\n  ring[n, threads, stream](a)\n", (32, 4, 1)),
        (NUMBA + "def run(a, n):\n  ring[1, n](a)\n", None),
        (CUPY + "ring((n,), (160,), (a, n))\n", (160, 1, 1)),
        (CUPY + "def run(a):\n  ring((1,), (32, 4), (a,), shared_mem=99)\n", (32, 4, 1)),
        (CUPY + "def run(a, n):\n  ring((1,), (n,), (a,))\n", None),
        (CUPY + "def run(a):\n  ring(grid=(1,), block=(64,), args=(a,))\n", (64, 1, 1)),
        (CORE + "config = LaunchConfig(grid=n, block=256)\nlaunch(s, config, ring, a)\n", (256, 1, 1)),
        (DRIVER + "driver.cuLaunchKernel(ring, n, 1, 1, 320, 1, 1, 0, s, a, 0)\n", (320, 1, 1)),
        (DRIVER.replace("driver.cuM", "check(driver.cuM").replace("error, ", "").replace("')", "'))")
         + "check(driver.cuLaunchKernel(ring, n, 1, 1, 320, 1, 1, 0, s, a, 0))\n", (320, 1, 1)),
    ],
)  # fmt: skip
def test_blocks(text: str, block: Dim | None) -> None:
    (launch,) = found(text)
    assert launch.block == block
    assert launch.kernel.name in ("ring", "_Z4ringi")


def test_names() -> None:
    (launch,) = found(CORE + "launch(s, LaunchConfig(grid=n, block=32, cluster=2), ring, a)\n")
    assert (launch.kernel.scope, launch.cluster, launch.states_cluster) == ("ns", (2, 1, 1), True)
    (launch,) = found(DRIVER + "driver.cuLaunchKernel(ring, n, 1, 1, 320, 1, 1, 0, s, a, 0)\n")
    assert launch.kernel.is_symbol


def test_what_is_no_launch() -> None:
    assert found("import triton\nkernel[(4, 8)](a)\n") == ()
    assert found("numba = 1\ndef ring(a, b): pass\nring((1,), (32,))\n") == ()
    assert found("def run(kernel):\n  driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, s, a, 0)\n") == ()
    assert found(CUPY + "ring = other\nring((1,), (32,), (a,))\n") == ()
