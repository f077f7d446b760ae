"""Loading and launching kernels through the CUDA driver. The only importer of `cuda.bindings`.

Source: CUDA driver API reference, sections on module management, execution control and tensor map objects.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from ..descriptors import spec
from ..descriptors.fields import Kind
from ..descriptors.tensor_map import TensorMap, TiledMap
from .harness import (
    Argument,
    Array,
    HarnessError,
    LaunchPlan,
    MapArgument,
)

_LOG_BYTES = 8192
_STICKY_SAFE = frozenset(
    {
        "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_NOT_FOUND",
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_CLUSTER_SIZE",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_INVALID_SOURCE",
        "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
    }
)  # fmt: skip


class DriverError(RuntimeError):
    """The driver refused a call. `fatal` when the context cannot be used any more."""

    def __init__(self, call: str, name: str, detail: str = "") -> None:
        super().__init__(f"{call}: {name}{': ' + detail if detail else ''}")
        self.name = name
        self.fatal = name not in _STICKY_SAFE


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What a verdict of the hardware names."""

    name: str
    capability: tuple[int, int]
    driver: int
    l2_bytes: int


class Context:
    """The primary context of device 0. Raises DriverError when there is none."""

    def __init__(self) -> None:
        _call("cuInit", cu.cuInit(0))
        self._device = _call("cuDeviceGet", cu.cuDeviceGet(0))
        context = _call("cuDevicePrimaryCtxRetain", cu.cuDevicePrimaryCtxRetain(self._device))
        _call("cuCtxSetCurrent", cu.cuCtxSetCurrent(context))
        self.stream = _call("cuStreamCreate", cu.cuStreamCreate(0))
        self.facts = DeviceFacts(
            _call("cuDeviceGetName", cu.cuDeviceGetName(256, self._device)).split(b"\0")[0].decode(),
            (
                self._attribute(cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                self._attribute(cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
            ),
            int(_call("cuDriverGetVersion", cu.cuDriverGetVersion())),
            self._attribute(cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        )
        self._flush = Memory(np.zeros(2 * self.facts.l2_bytes, np.uint8))

    def _attribute(self, which: Any) -> int:
        return int(_call("cuDeviceGetAttribute", cu.cuDeviceGetAttribute(which, self._device)))

    def stream_beside(self) -> Any:
        """Return a new stream that waits for no other one."""
        flags = cu.CUstream_flags.CU_STREAM_NON_BLOCKING
        return _call("cuStreamCreate", cu.cuStreamCreate(flags))

    def synchronize(self) -> None:
        """Wait for the stream. Raises DriverError when a kernel failed."""
        _call("launch", cu.cuStreamSynchronize(self.stream))

    def flush_l2(self) -> None:
        """Write more than the L2 cache holds."""
        _call("cuMemsetD8Async", cu.cuMemsetD8Async(self._flush.address, 1, self._flush.size, self.stream))


class Memory:
    """A device buffer that starts with the bytes of an array."""

    def __init__(self, array: Array) -> None:
        self.size = max(array.nbytes, 256)
        self._array = np.ascontiguousarray(array)
        self.address = _call("cuMemAlloc", cu.cuMemAlloc(self.size))
        self.reset()

    def reset(self) -> None:
        """Copy the bytes to the device again."""
        if self._array.nbytes:
            _call("cuMemcpyHtoD", cu.cuMemcpyHtoD(self.address, self._array.ctypes.data, self._array.nbytes))

    def read(self) -> Array:
        """Return what the device holds."""
        result = np.empty_like(self._array)
        if result.nbytes:
            _call("cuMemcpyDtoH", cu.cuMemcpyDtoH(result.ctypes.data, self.address, result.nbytes))
        return result

    def free(self) -> None:
        """Release the memory."""
        _call("cuMemFree", cu.cuMemFree(self.address))


class Kernel:
    """A kernel of a loaded PTX text or cubin. Raises DriverError with the assembler's log."""

    def __init__(self, image: bytes, name: str) -> None:
        log = bytes(_LOG_BYTES)  # the driver writes into it
        options = [
            cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
            cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        error, module = cu.cuModuleLoadDataEx(image + b"\0", len(options), options, [log, _LOG_BYTES])
        _check("cuModuleLoadDataEx", error, log.split(b"\0")[0].decode(errors="replace").strip())
        self._module = module
        self.function = _call("cuModuleGetFunction", cu.cuModuleGetFunction(module, name.encode()))

    def unload(self) -> None:
        """Release the module."""
        _call("cuModuleUnload", cu.cuModuleUnload(self._module))


class Prepared:
    """A kernel with its arguments on the device."""

    def __init__(
        self, context: Context, kernel: Kernel, plan: LaunchPlan, *, stream: Any | None = None
    ) -> None:
        self._stream = context.stream if stream is None else stream
        self._kernel = kernel
        self._plan = plan
        self.buffers = {name: Memory(array) for name, array in plan.buffers.items()}
        self._holders = [self._holder(argument, name) for name, argument in plan.arguments.items()]
        pointers = [ctypes.addressof(holder) + offset for holder, offset in self._holders]
        self._pointers = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        self._config = self._configuration()

    def _holder(self, argument: Argument, name: str) -> tuple[Any, int]:
        """Return host memory that holds a parameter, and the offset of the parameter in it."""
        if isinstance(argument, MapArgument):
            if argument.buffer not in self.buffers:
                raise HarnessError(f"argument {name!r} is a map of {argument.buffer!r}, which is no buffer")
            array = self._plan.buffers[argument.buffer]
            return encode(tensor_map_of(argument.fields, array, int(self.buffers[argument.buffer].address)))
        if isinstance(argument, np.ndarray):
            return ctypes.c_uint64(int(self.buffers[name].address)), 0
        return ctypes.create_string_buffer(argument.tobytes(), argument.nbytes), 0

    def _configuration(self) -> Any:
        config = cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = self._plan.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = self._plan.block
        config.sharedMemBytes = self._plan.shared
        config.hStream = self._stream
        attributes = cu.CUfunction_attribute
        _call(
            "cuFuncSetAttribute",
            cu.cuFuncSetAttribute(
                self._kernel.function,
                attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                self._plan.shared,
            ),
        )
        launch_attributes = []
        if self._plan.dependent:
            early = cu.CUlaunchAttribute()
            early.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            early.value.programmaticStreamSerializationAllowed = 1
            launch_attributes.append(early)
        if self._plan.cluster is not None:
            attribute = cu.CUlaunchAttribute()
            attribute.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            shape = attribute.value.clusterDim
            shape.x, shape.y, shape.z = self._plan.cluster
            launch_attributes.append(attribute)
            _call(
                "cuFuncSetAttribute",
                cu.cuFuncSetAttribute(
                    self._kernel.function, attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1
                ),
            )
        config.attrs = launch_attributes
        config.numAttrs = len(launch_attributes)
        return config

    def give(self, name: str, value: np.generic) -> None:
        """Pass another value for a scalar parameter from the next launch on."""
        holder, _ = self._holders[list(self._plan.arguments).index(name)]
        ctypes.memmove(holder, value.tobytes(), value.nbytes)

    def launch(self) -> None:
        """Put a launch into the stream."""
        _call(
            "cuLaunchKernelEx",
            cu.cuLaunchKernelEx(self._config, self._kernel.function, ctypes.addressof(self._pointers), 0),
        )

    def reset(self) -> None:
        """Give every buffer its bytes from before the launch."""
        for buffer in self.buffers.values():
            buffer.reset()

    def results(self) -> Mapping[str, Array]:
        """Return the buffers as they are now."""
        return {name: buffer.read() for name, buffer in self.buffers.items()}

    def free(self) -> None:
        """Release the buffers."""
        for buffer in self.buffers.values():
            buffer.free()


def tensor_map_of(fields: Mapping[str, Any], array: Array, address: int) -> TensorMap:
    """Return the map of a row-major array: dimension 0 is its last axis; `fields` win over what it says.

    Raises `SpecError` for fields that make no map.
    """
    strides = [int(s) for s in array.strides[::-1]][1:]
    given = {
        "type": str(array.dtype), "shape": list(array.shape[::-1]), "strides": strides, "address": address, **fields,
    }  # fmt: skip
    return spec.tensor_map_of(given)


def encode(described: TensorMap) -> tuple[Any, int]:
    """Return memory that holds the encoded map, and the offset of its 128 aligned bytes. Raises DriverError."""
    if not isinstance(described, TiledMap):
        raise HarnessError(f"a harness cannot encode {Kind(described.kind).name} maps yet")
    encoded = _call(
        "cuTensorMapEncodeTiled",
        cu.cuTensorMapEncodeTiled(
            cu.CUtensorMapDataType(described.data_type), described.rank, described.global_address,
            [cu.cuuint64_t(n) for n in described.global_dim], [cu.cuuint64_t(n) for n in described.global_strides],
            [cu.cuuint32_t(n) for n in described.box_dim], [cu.cuuint32_t(n) for n in described.steps],
            cu.CUtensorMapInterleave(described.interleave), cu.CUtensorMapSwizzle(described.swizzle),
            cu.CUtensorMapL2promotion(described.l2_promotion), cu.CUtensorMapFloatOOBfill(described.oob_fill),
        ),
    )  # fmt: skip
    memory = ctypes.create_string_buffer(256)
    offset = -ctypes.addressof(memory) % 128
    ctypes.memmove(ctypes.addressof(memory) + offset, int(encoded.getPtr()), 128)
    return memory, offset


class Stopwatch:
    """Two events around launches."""

    def __init__(self, context: Context) -> None:
        self._stream = context.stream
        self._start = _call("cuEventCreate", cu.cuEventCreate(0))
        self._end = _call("cuEventCreate", cu.cuEventCreate(0))

    def start(self) -> None:
        """Mark the beginning."""
        _call("cuEventRecord", cu.cuEventRecord(self._start, self._stream))

    def stop(self) -> float:
        """Return milliseconds since `start`, after waiting for the stream."""
        _call("cuEventRecord", cu.cuEventRecord(self._end, self._stream))
        _call("launch", cu.cuEventSynchronize(self._end))
        return float(_call("cuEventElapsedTime", cu.cuEventElapsedTime(self._start, self._end)))


def _call(name: str, answer: tuple[Any, ...]) -> Any:
    error, *values = answer
    _check(name, error)
    return values[0] if values else None


def _check(name: str, error: Any, detail: str = "") -> None:
    if error != cu.CUresult.CUDA_SUCCESS:
        raise DriverError(name, error.name, detail)
