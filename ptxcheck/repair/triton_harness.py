"""A harness from a Triton function and its arguments.

    harness = TritonHarness(
        add,                                               # a function with @triton.jit, of Triton or Gluon
        cases=[{"n": 1000}, {"n": 1}],
        arguments=lambda case: {"x": ..., "out": np.zeros(case["n"], np.float32), "n": case["n"]},
        grid=lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),),
        constexprs={"BLOCK": 256},
        num_warps=4,
        reference=lambda before: {"out": before["x"] + 1},
    )

The function is compiled to PTX by Triton, which needs no GPU, and never in the process that owns the GPU: that one
reads the harness as `prepare` writes it. One PTX runs in all cases, so it is specialised for what holds in all of them
by the rules of Triton's JIT (`runtime/jit.py`): an integer that is 1 everywhere is a constant and no parameter; one
that is a multiple of 16 everywhere is known to be one, and so are pointers, because buffers start at multiples of 256.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..ir import Function
from ..launch import Dim
from ..parser import parse_module
from ..source import Source
from .harness import (
    Argument,
    Array,
    Case,
    HarnessError,
    LaunchPlan,
    MapArgument,
    dtype_of,
)
from .prepared import disagreement

Given: TypeAlias = "Array | TensorDescriptor | int | float | None"
"""One argument of a Triton function. An array is a pointer to its copy on the device."""

_SCRATCH = ("global_scratch", "profile_scratch")
"""Workspaces whose addresses Triton appends to the parameters, in order (`CudaLauncher` of its NVIDIA backend)."""
_SPECIALISED_FOR = 16
_ALLOCATED_AT = 256
"""Alignment of a buffer on the device (CUDA programming guide, device memory accesses)."""
_WARP = 32
_MOST_SHOWN = 1200
_TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
"""Triton's names of NumPy's types."""
_DTYPES = {triton: numpy for numpy, triton in _TYPES.items()} | {"u1": "bool"}
_MAP_BYTES = 128


@dataclass(frozen=True, eq=False)
class TensorDescriptor:
    """A tensor descriptor that the host passes, of a whole row-major array; `block_shape` as in Triton, elements."""

    array: Array = field(repr=False)
    block_shape: Sequence[int]
    layout: Any = None
    """For Gluon: the layout in shared memory, `gl.NVMMASharedLayout`."""


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """What the PTX is compiled for in place of one argument."""

    type: str
    """As Triton spells it: `*fp16`, `i32`, `tensordesc<fp16[128,64]>`; `constexpr` for one that is no parameter."""
    multiple: bool = False
    """It is a multiple of 16."""
    value: Any = None
    """Of a constant."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A Triton function as PTX, and what Triton says of its launch."""

    path: Path
    kernel: str
    block: Dim
    ctas: int
    shared: int
    """Dynamic shared memory in bytes."""
    scratch: tuple[tuple[str, int], ...]
    """Workspaces behind the arguments, in order: name, and bytes for each CTA."""
    descriptors: tuple[Mapping[str, Any], ...]
    """Of each tensor descriptor: the box and the swizzle mode that the kernel was compiled for."""


@dataclass(frozen=True)
class TritonHarness:
    """A Triton function with its arguments; module docstring for an example."""

    function: Any
    """A function with `@triton.jit`. Of an autotuned one its `.fn`, with the constants of one configuration."""
    cases: Sequence[Case]
    arguments: Callable[[Case], Mapping[str, Given]]
    """Arguments of a case by the names of the parameters, without constants. The same data whenever it is called."""
    grid: Callable[[Mapping[str, Any]], Sequence[int]] | Sequence[int]
    """Programs, or a function of arguments and constants, as in `function[grid](...)`."""
    reference: Callable[[Mapping[str, Any]], Mapping[str, Array]]
    """From the arguments as they were before the launch to what arrays have to hold after it."""
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    signature: Mapping[str, str] = field(default_factory=dict)
    """Types that arguments do not tell: `i64`; `i32:16` for multiples of 16; `i32` for one that is not specialised."""
    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    """Other options of Triton's compiler: `maxnreg`, `enable_fp_fusion`."""
    target: str = "sm_90a"
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def kernel(self) -> str:
        """Name of the entry."""
        return self.compiled.kernel

    @property
    def source(self) -> Path:
        """The PTX, in Triton's cache."""
        return self.compiled.path

    def plan(self, case: Case) -> LaunchPlan:
        """Return the launch of a case. Raises HarnessError."""
        given, compiled = self._given(case), self.compiled
        grid = self._grid(given)
        descriptors = iter(compiled.descriptors)
        arguments: dict[str, Argument] = {}
        for name, kind in self.types.items():
            if kind.type != "constexpr":
                arguments |= _passed(name, kind, given[name], descriptors)
        for name, size in compiled.scratch:
            arguments[name] = np.zeros(math.prod(grid) * size, np.uint8) if size else np.uint64(0)
        cluster = None if compiled.ctas == 1 else (compiled.ctas, 1, 1)
        behind_maps = {name: a.array for name, a in given.items() if isinstance(a, TensorDescriptor)}
        return LaunchPlan(grid, compiled.block, cluster, compiled.shared, arguments, behind_maps)

    def expected(self, case: Case) -> Mapping[str, Array]:
        """Return what arrays have to hold after the launch of a case."""
        given = self._given(case)
        before = {n: a.array if isinstance(a, TensorDescriptor) else a for n, a in given.items()}
        result: dict[str, Array] = {}
        for name, array in self.reference(before).items():
            was = before.get(name)
            if not isinstance(was, np.ndarray):
                raise HarnessError(
                    f"the reference of {self._name} has {name!r}, which is no array of its arguments"
                )
            result[name] = np.broadcast_to(np.asarray(array), was.shape)
        if not result:
            raise HarnessError(f"the reference of {self._name} says nothing of any array")
        return result

    def verdict(self, case: Case, before: Mapping[str, Array], after: Mapping[str, Array]) -> str:
        """Return what is wrong with the buffers after the launch."""
        return disagreement(self.expected(case), after, self.rtol, self.atol)

    @cached_property
    def types(self) -> Mapping[str, ArgumentType]:
        """What the PTX is compiled for, by parameter, in order. Raises HarnessError."""
        given = [self._given(case) for case in self.cases]
        if not given:
            raise HarnessError(f"{self._name} has no cases")
        return {name: self._type(name, [each.get(name) for each in given]) for name in self._parameters}

    @cached_property
    def compiled(self) -> Compiled:
        """The PTX. Raises HarnessError."""
        made = self._compile()
        path = next(Path(path) for name, path in made.metadata_group.items() if name.endswith(".ptx"))
        metadata = made.metadata
        function = _entry(path, metadata.name)
        descriptors = tuple(getattr(metadata, "tensordesc_meta", None) or ())
        if any(each.get("is_im2col") or each.get("fp4_padded") for each in descriptors):
            raise HarnessError(f"{self._name}: tensor descriptors of im2col or padded fp4 are not passed yet")
        if getattr(metadata, "launch_cooperative_grid", False):
            raise HarnessError(f"{self._name}: a cooperative launch is not made yet")
        threads = (*function.attributes.get(".reqntid", (_WARP * metadata.num_warps,)), 1, 1)[:3]
        scratch = tuple(
            (name, int(getattr(metadata, f"{name}_size", 0)))
            for name in _SCRATCH[: self._appended(function, len(descriptors))]
        )
        for name in _SCRATCH:
            if getattr(metadata, f"{name}_align", 1) > _ALLOCATED_AT:
                raise HarnessError(f"{self._name}: {name} is aligned to more than {_ALLOCATED_AT} bytes")
        block = threads[0], threads[1], threads[2]
        return Compiled(path, metadata.name, block, metadata.num_ctas, metadata.shared, scratch, descriptors)

    # -- the arguments

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__name__", self.function))

    @cached_property
    def _parameters(self) -> Mapping[str, Any]:
        """Triton's description of each parameter."""
        if not hasattr(self.function, "params"):
            kind = type(self.function).__name__
            raise HarnessError(
                f"a Triton function is needed, and {self._name} is of type {kind}; of an autotuned one give `.fn`, and "
                "the constants of one configuration"
            )
        return {parameter.name: parameter for parameter in self.function.params}

    def _given(self, case: Case) -> dict[str, Given]:
        """Return the arguments of a case in the order of the parameters, with defaults, without constants."""
        given, known = dict(self.arguments(case)), self._parameters
        for name in (*given, *self.constexprs, *self.signature):
            if name not in known:
                raise HarnessError(f"{self._name} has no parameter {name!r}; it has {', '.join(known)}")
        result: dict[str, Given] = {}
        for name, parameter in known.items():
            if name in self.constexprs:
                if name in given:
                    raise HarnessError(f"{name!r} of {self._name} is given as a constant and as an argument")
            elif parameter.is_constexpr:
                if name in given:
                    raise HarnessError(f"{name!r} of {self._name} is a tl.constexpr: give it in `constexprs`")
                if not parameter.has_default:
                    raise HarnessError(f"the constant {name!r} of {self._name} is not given")
            elif name in given:
                result[name] = given[name]
            elif parameter.has_default:
                result[name] = parameter.default
            else:
                raise HarnessError(f"the argument {name!r} of {self._name} is not given")
        arrays = [
            id(a.array if isinstance(a, TensorDescriptor) else a) for a in result.values() if _is_data(a)
        ]
        if len(set(arrays)) < len(arrays):
            raise HarnessError(f"{self._name} is given one array twice, which is not passed yet: copy it")
        return result

    def _constants(self) -> dict[str, Any]:
        """Return the value of each parameter that is a constant whatever the arguments are."""
        return {
            name: self.constexprs.get(name, parameter.default)
            for name, parameter in self._parameters.items()
            if name in self.constexprs or parameter.is_constexpr
        }

    def _type(self, name: str, values: Sequence[Given]) -> ArgumentType:
        constants, parameter = self._constants(), self._parameters[name]
        if name in constants:
            return ArgumentType("constexpr", value=constants[name])
        if name in self.signature:
            return self._stated(name, values)
        first = values[0]
        if isinstance(first, TensorDescriptor):
            return ArgumentType(self._only(name, {_descriptor_type(name, value) for value in values}))
        if isinstance(first, np.ndarray):
            pointer = "*k" if parameter.is_const else "*"
            kind = self._only(name, {pointer + _type_name(name, value) for value in values})
            return ArgumentType(parameter.annotation_type or kind, multiple=True)
        if all(value is None for value in values):
            return ArgumentType("constexpr")
        kind = parameter.annotation_type or self._only(name, {_kind(name, value) for value in values})
        numbers = [value for value in values if isinstance(value, int | np.integer)]
        if kind == "integer":
            kind = _integer_type(name, [int(number) for number in numbers])
        if kind[0] not in "iu" or kind in ("i1", "u1") or parameter.do_not_specialize:
            return ArgumentType(kind)
        if not parameter.annotation_type and all(number == 1 for number in numbers):
            return ArgumentType("constexpr", value=1)
        aligned = not parameter.do_not_specialize_on_alignment
        return ArgumentType(kind, multiple=aligned and all(n % _SPECIALISED_FOR == 0 for n in numbers))

    def _stated(self, name: str, values: Sequence[Given]) -> ArgumentType:
        """Return the type that the harness states, as `triton.tools.compile` reads it."""
        kind, colon, multiple = self.signature[name].partition(":")
        if multiple not in ("", str(_SPECIALISED_FOR)) or (colon and not multiple):
            raise HarnessError(
                f"{name!r} of {self._name}: {self.signature[name]!r} is no type; `{kind}:16` at most"
            )
        numbers = [value for value in values if isinstance(value, int | np.integer)]
        if multiple and any(number % _SPECIALISED_FOR for number in numbers):
            raise HarnessError(
                f"{name!r} of {self._name} is stated to be a multiple of 16, which it is not in every case"
            )
        return ArgumentType(kind, multiple=bool(multiple))

    def _only(self, name: str, kinds: set[str]) -> str:
        if len(kinds) > 1:
            raise HarnessError(
                f"{name!r} of {self._name} has several types: {', '.join(sorted(kinds))}; one PTX has one"
            )
        return next(iter(kinds))

    def _grid(self, given: Mapping[str, Given]) -> Dim:
        """Return the CTAs of a launch: a program of several takes them from the first dimension."""
        shape = self.grid({**given, **self._constants()}) if callable(self.grid) else self.grid
        sizes = [int(size) for size in shape]
        if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
            raise HarnessError(f"{self._name}: the grid is {tuple(sizes)}")
        x, y, z = (*sizes, 1, 1)[:3]
        return x * self.compiled.ctas, y, z

    # -- the compiler

    def _compile(self) -> Any:
        try:
            import triton
            from triton.backends.compiler import GPUTarget
        except ImportError as error:
            raise HarnessError(
                f"{self._name} needs Triton: {error}; pip install 'ptxcheck[triton]'"
            ) from error
        places = {name: (number,) for number, name in enumerate(self._parameters)}
        kinds = self.types
        source = self._source_class()(
            self.function,
            {name: kind.type for name, kind in kinds.items()},
            {places[name]: kind.value for name, kind in kinds.items() if kind.type == "constexpr"},
            {
                places[name]: [["tt.divisibility", _SPECIALISED_FOR]]
                for name, kind in kinds.items()
                if kind.multiple
            },
        )
        options = {
            "num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas, **self.options
        }  # fmt: skip
        capability = self.target.removeprefix("sm_").rstrip("af")
        if not capability.isdecimal():
            raise HarnessError(f"{self._name}: {self.target!r} is no target; sm_90a is one")
        try:
            return triton.compile(source, target=GPUTarget("cuda", int(capability), _WARP), options=options)
        except Exception as error:  # Triton's passes raise what they like
            shown = str(error).strip()[:_MOST_SHOWN]
            raise HarnessError(
                f"Triton does not compile {self._name}: {type(error).__name__}: {shown}"
            ) from error

    def _source_class(self) -> Any:
        if getattr(self.function, "is_gluon", lambda: False)():
            from triton.experimental.gluon._runtime import GluonASTSource

            return GluonASTSource
        from triton.compiler import ASTSource

        return ASTSource

    def _appended(self, function: Function, descriptors: int) -> int:
        """Return how many parameters are behind those of the arguments. Raises HarnessError where these do not fit."""
        sizes = [size for kind in self.types.values() for size in _parameter_sizes(kind.type)]
        found = [size for _, size, _ in function.parameter_places]
        appended = found[len(sizes) :]
        passed = sum(kind.type.startswith("tensordesc") for kind in self.types.values())
        if (
            found[: len(sizes)] != sizes
            or len(appended) > len(_SCRATCH)
            or any(size != 8 for size in appended)
        ):
            raise HarnessError(
                f"{self._name}: its arguments have {sizes} bytes, and its PTX has parameters of {found}: this version "
                "of Triton passes them in a way that is not known here"
            )
        if passed != descriptors:
            raise HarnessError(
                f"{self._name}: Triton does not say how its {passed} tensor descriptors are encoded"
            )
        return len(appended)


def _entry(path: Path, name: str) -> Function:
    module = parse_module(Source(str(path), path.read_text(encoding="utf-8")))
    found = next((f for f in module.functions if f.is_entry and f.name == name), None)
    if found is None:
        raise HarnessError(f"{path} has no entry {name!r}")
    return found


def _is_data(value: Given) -> bool:
    return isinstance(value, np.ndarray | TensorDescriptor)


def _kind(name: str, value: Given) -> str:
    """Return the type of a scalar as the JIT takes it; `integer` for one whose size its numbers tell."""
    if isinstance(value, bool | np.bool_):
        return "i1"
    if isinstance(value, int | np.integer):
        return "integer"
    if isinstance(value, float | np.floating):
        return "fp32"
    raise HarnessError(
        f"{name!r} is of type {type(value).__name__} in a case: a number, an array or a descriptor is needed"
    )


def _integer_type(name: str, numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    for kind, first, last in (
        ("i32", -(1 << 31), 1 << 31),
        ("i64", -(1 << 63), 1 << 63),
        ("u64", 0, 1 << 64),
    ):
        if first <= low and high < last:
            return kind
    raise HarnessError(f"{name!r} is {low if low < 0 else high}, which no integer type holds")


def _type_name(name: str, value: Given) -> str:
    if not isinstance(value, np.ndarray):
        raise HarnessError(f"{name!r} is an array in one case, and {type(value).__name__} in another one")
    if str(value.dtype) not in _TYPES:
        raise HarnessError(f"{name!r}: Triton has no pointer to {value.dtype}")
    return _TYPES[str(value.dtype)]


def _descriptor_type(name: str, value: Given) -> str:
    if not isinstance(value, TensorDescriptor):
        raise HarnessError(
            f"{name!r} is a tensor descriptor in one case, and {type(value).__name__} in another one"
        )
    block = tuple(value.block_shape)
    if len(block) != value.array.ndim or not value.array.flags.c_contiguous:
        raise HarnessError(
            f"{name!r}: a block of shape {block} is not one of a row-major array {value.array.shape}"
        )
    layout = "" if value.layout is None else f",{value.layout!r}"
    return f"tensordesc<{_type_name(name, value.array)}[{', '.join(map(str, block))}]{layout}>"


def _parameter_sizes(kind: str) -> list[int]:
    """Return the bytes of the parameters that stand for one argument.

    A tensor descriptor is its map, then sizes of 4 bytes, then strides of 8 (`make_tensordesc_arg` of Triton's driver).
    """
    if kind == "constexpr":
        return []
    if kind.startswith("tensordesc"):
        rank = kind.partition("]")[0].count(",") + 1
        return [_MAP_BYTES, *[4] * rank, *[8] * rank]
    return [8 if kind.startswith("*") else _scalar_dtype(kind).itemsize]


def _scalar_dtype(kind: str) -> np.dtype[Any]:
    if kind not in _DTYPES:
        raise HarnessError(f"{kind!r} is no type of an argument")
    return dtype_of(_DTYPES[kind], kind)


def _passed(name: str, kind: ArgumentType, value: Given, descriptors: Any) -> dict[str, Argument]:
    """Return the parameters that stand for one argument, by name."""
    if isinstance(value, TensorDescriptor):
        return _described(name, value, next(descriptors))
    if isinstance(value, np.ndarray):
        return {name: value}
    scalar: np.generic = _scalar_dtype(kind.type).type(value)
    return {name: scalar}


def _described(name: str, value: TensorDescriptor, compiled_for: Mapping[str, Any]) -> dict[str, Argument]:
    """Return the parameters of a tensor descriptor: 64 bits a stride, in elements, outermost first as the sizes."""
    array = value.array
    dtype = str(array.dtype)
    fields = {
        "type": "uint8" if array.dtype.itemsize == 1 else dtype,
        "box": [int(size) for size in compiled_for["block_size"]][::-1],
        "swizzle": int(compiled_for["swizzle"]),
        "l2": "128B",
    }
    result: dict[str, Argument] = {name: MapArgument(name, fields)}
    result |= {f"{name}.shape{n}": np.int32(size) for n, size in enumerate(array.shape)}
    result |= {f"{name}.stride{n}": np.int64(s // array.itemsize) for n, s in enumerate(array.strides)}
    return result
