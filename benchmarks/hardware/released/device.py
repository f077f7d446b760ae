"""Functions of the driver on the context of PyTorch: load a kernel, set its delay, time launches."""
# mypy: ignore-errors

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

torch.zeros(1, device="cuda")
DRIVER = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
POINTER = ctypes.c_void_p
_CARVEOUT = 9  # CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT


def succeeds(code: int, what: str) -> None:
    """Raise an error if a call did not succeed."""
    if code:
        raise RuntimeError(f"{what}: CUDA error {code}")


class Kernel:
    """The function of a cubin whose name has a part."""

    def __init__(self, path: Path, part: str) -> None:
        self.function = POINTER()
        self._module = POINTER()
        succeeds(DRIVER.cuModuleLoadData(ctypes.byref(self._module), path.read_bytes()), str(path))
        count = ctypes.c_uint()
        succeeds(DRIVER.cuModuleGetFunctionCount(ctypes.byref(count), self._module), "count")
        functions = (POINTER * count.value)()
        succeeds(DRIVER.cuModuleEnumerateFunctions(functions, count, self._module), "functions")
        for function in functions:
            name = ctypes.c_char_p()
            succeeds(DRIVER.cuFuncGetName(ctypes.byref(name), POINTER(function)), "name")
            if part in name.value.decode():
                self.function = POINTER(function)

    def delay(self, cycles: int, warps: int) -> None:
        """Let these warps, a mask, be so many cycles late at the places of the delay, if the kernel has any."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        found = DRIVER.cuModuleGetGlobal_v2(
            ctypes.byref(address), ctypes.byref(size), self._module, b"ptxcheck_delay"
        )
        if found == 0:
            words = (ctypes.c_uint32 * 4)(cycles, warps)
            succeeds(DRIVER.cuMemcpyHtoD_v2(address, words, 16), "delay")


class Neighbour:
    """A kernel that runs beside others on each SM for a while."""

    def __init__(self, path: Path) -> None:
        self._kernel = Kernel(path, "neighbour")
        succeeds(DRIVER.cuFuncSetAttribute(self._kernel.function, _CARVEOUT, 100), "carve-out")
        self._words = torch.zeros(1 << 26, device="cuda", dtype=torch.int32)
        self._rounds = torch.zeros(1, device="cuda", dtype=torch.int64)
        self._stream = torch.cuda.Stream()

    def run_for(self, seconds: float, mode: int) -> None:
        """Start it."""
        values = (
            ctypes.c_uint64(self._words.data_ptr()),
            ctypes.c_uint64(int(seconds * 1e9)),
            ctypes.c_uint32(mode),
            ctypes.c_uint64(self._rounds.data_ptr()),
        )
        arguments = (POINTER * 4)(*[ctypes.cast(ctypes.pointer(value), POINTER) for value in values])
        stream = POINTER(self._stream.cuda_stream)
        code = DRIVER.cuLaunchKernel(self._kernel.function, 132, 1, 1, 256, 1, 1, 0, stream, arguments, None)
        succeeds(code, "neighbour")


_AT_ONCE = 20
"""Launches between two looks at the clock."""


def launches_beside(neighbour: Neighbour, mode: int | None, seconds: float) -> Iterator[int]:
    """Yield the numbers of launches that fit into a time, from one on, while another kernel runs if `mode` says so."""
    torch.cuda.synchronize()
    start, launches = time.time(), 0
    if mode is not None:
        neighbour.run_for(seconds, mode)
        time.sleep(0.01)
    while time.time() - start < seconds - 0.1:
        yield from range(launches + 1, launches + _AT_ONCE + 1)
        launches += _AT_ONCE
        torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize()


def address(tensor: torch.Tensor) -> ctypes.c_void_p:
    """Return where a tensor is."""
    return POINTER(tensor.data_ptr())


def stream() -> ctypes.c_void_p:
    """Return PyTorch's stream."""
    return POINTER(torch.cuda.current_stream().cuda_stream)


def microseconds(launch: Callable[[], None], launches: int = 200) -> float:
    """Return the time of a launch, the median of nine times of many."""
    for _ in range(20):
        launch()
    times = []
    for _ in range(9):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(launches):
            launch()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / launches * 1000)
    return round(statistics.median(times), 2)
