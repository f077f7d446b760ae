"""Harnesses: how to launch a kernel, on which data, and what its result must be.

A harness is a TOML file, or a Python file for what TOML cannot say. Both give a `LaunchPlan` for each of their
cases; expressions in a harness are Python and are evaluated, so a harness is code that its user trusts.

kernel = "ring"                       # entry
source = "ring.ptx"                   # beside the harness; also a cubin
grid = ["blocks"]                     # numbers or expressions over the case
block = [160]
cluster = [1]                         # left out: no cluster launch
shared = 0                            # dynamic shared memory, bytes
cases = [{blocks = 4, n = 0}, {blocks = 4, n = 7}]

[[argument]]                          # in the order of the kernel's parameters
name = "input"
dtype = "float32"
shape = ["max(n, 1)", 1024]
fill = "random"                       # random, zeros, ones, range, or an expression over earlier buffers
[[argument]]
name = "output"
dtype = "float32"
shape = ["max(n, 1)", 1024]
reference = "input * 2"               # NumPy expression over the buffers as they were before the launch
rtol = 1e-6                           # tolerances; default: equal
[[argument]]
name = "n"
dtype = "int32"
value = "n"                           # a scalar
[[argument]]
name = "map"
of = "input"                          # a tensor map of this buffer
box = [64, 8]                         # innermost first; also swizzle, interleave, element_strides, type

A buffer that is no parameter itself, but the target of a map, is a `[[data]]` entry with the same keys.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..launch import Dim

Array: TypeAlias = npt.NDArray[Any]
Case: TypeAlias = Mapping[str, int]


class HarnessError(ValueError):
    """A harness that cannot be read or does not fit its kernel: the message names the place."""


@dataclass(frozen=True, slots=True)
class MapArgument:
    """A tensor map of a buffer: fields as in `ptxcheck.descriptors.spec`, address and shape from the buffer."""

    buffer: str
    fields: Mapping[str, Any]


Argument: TypeAlias = Array | np.generic | MapArgument
"""A buffer to copy to the device and back, a scalar, or a tensor map."""


@dataclass(frozen=True)
class LaunchPlan:
    """One launch: shapes in blocks and threads, shared memory in bytes, arguments in parameter order."""

    grid: Dim
    block: Dim
    cluster: Dim | None
    shared: int
    arguments: Mapping[str, Argument] = field(repr=False)
    data: Mapping[str, Array] = field(default_factory=dict, repr=False)
    """Buffers that are no parameters: what tensor maps read and write."""

    @property
    def buffers(self) -> dict[str, Array]:
        """Return every buffer by name."""
        parameters = {n: a for n, a in self.arguments.items() if isinstance(a, np.ndarray)}
        return {**self.data, **parameters}


class Harness(Protocol):
    """What a harness file gives."""

    @property
    def kernel(self) -> str:
        """Name of the entry."""

    @property
    def source(self) -> Path:
        """PTX or cubin to launch when none is given."""

    @property
    def cases(self) -> Sequence[Case]:
        """What to launch with: values of the names in expressions."""

    def plan(self, case: Case) -> LaunchPlan:
        """Return the launch of a case with fresh, reproducible data."""

    def verdict(self, case: Case, before: Mapping[str, Array], after: Mapping[str, Array]) -> str:
        """Return what is wrong with the buffers after the launch, "" when nothing is."""


def load_harness(path: Path) -> Harness:
    """Read a harness from a `.toml` or `.py` file, or as it was prepared, `.json`. Raises HarnessError."""
    try:
        if path.suffix == ".json":
            from .prepared import load_prepared

            return load_prepared(path)
        return _from_python(path) if path.suffix == ".py" else _from_toml(path)
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror}") from error


def plan_of(harness: Harness, case: Case) -> LaunchPlan:
    """Return the launch of a case. Raises HarnessError, also when the harness's own code fails."""
    try:
        return harness.plan(case)
    except HarnessError:
        raise
    except Exception as error:
        shown = ", ".join(f"{name} = {value}" for name, value in case.items())
        raise HarnessError(
            f"the harness of {harness.kernel} fails in plan({shown}): {type(error).__name__}: {error}"
        ) from error


_TOP = frozenset({"kernel", "source", "grid", "block", "cluster", "shared", "cases", "argument", "data"})
_FILLS = frozenset({"random", "zeros", "ones", "range"})
_BUFFER = frozenset({"name", "dtype", "shape", "fill", "seed", "reference", "rtol", "atol"})
_SCALAR = frozenset({"name", "dtype", "value"})


@dataclass(frozen=True)
class TableFile:
    """A file whose table names a kernel and its source."""

    path: Path
    table: Mapping[str, Any]

    @property
    def kernel(self) -> str:
        """Name of the entry."""
        return str(self.table["kernel"])

    @property
    def source(self) -> Path:
        """PTX to launch when none is given."""
        return self.path.parent / str(self.table["source"])


class _TableHarness(TableFile):
    @property
    def cases(self) -> Sequence[Case]:
        return list(self.table.get("cases", [{}]))

    def plan(self, case: Case) -> LaunchPlan:
        data: dict[str, Array] = {}
        for entry in self.table.get("data", ()):
            made = self._argument(entry, case, data)
            if not isinstance(made, np.ndarray):
                raise HarnessError(f"{self.path}: data {entry['name']!r} is no buffer")
            data[entry["name"]] = made
        arguments: dict[str, Argument] = {}
        for entry in self.table.get("argument", ()):
            arguments[entry["name"]] = self._argument(entry, case, {**data, **arguments})
        cluster = self.table.get("cluster")
        return LaunchPlan(
            self._dim(self.table.get("grid", [1]), case),
            self._dim(self.table["block"], case),
            None if cluster is None else self._dim(cluster, case),
            int(self._number(self.table.get("shared", 0), case)),
            arguments,
            data,
        )

    def verdict(self, case: Case, before: Mapping[str, Array], after: Mapping[str, Array]) -> str:
        for entry in (*self.table.get("data", ()), *self.table.get("argument", ())):
            if "reference" not in entry:
                continue
            name = entry["name"]
            expected = np.asarray(self._evaluate(entry["reference"], {**case, **before}))
            wrong = difference(after[name], expected, entry.get("rtol", 0.0), entry.get("atol", 0.0))
            if wrong:
                return f"{name}: {wrong}"
        return ""

    def _argument(self, entry: Mapping[str, Any], case: Case, known: Mapping[str, Argument]) -> Argument:
        name = str(entry["name"])
        if "of" in entry:
            fields = {k: v for k, v in entry.items() if k not in ("name", "of")}
            return MapArgument(str(entry["of"]), fields)
        dtype = dtype_of(str(entry.get("dtype", "")), name)
        if "value" in entry:
            _only(entry, _SCALAR, name)
            scalar: np.generic = dtype.type(self._number(entry["value"], case))
            return scalar
        _only(entry, _BUFFER, name)
        if "shape" not in entry:
            raise HarnessError(f"argument {name!r} has neither value, shape nor of")
        shape = tuple(int(self._number(size, case)) for size in entry["shape"])
        return self._filled(entry, shape, dtype, {**case, **known})

    def _filled(
        self, entry: Mapping[str, Any], shape: tuple[int, ...], dtype: np.dtype[Any], known: Mapping[str, Any]
    ) -> Array:
        fill = entry.get("fill", "zeros")
        if fill == "random":
            generator = np.random.default_rng(int(entry.get("seed", 1)))
            if dtype.kind in "iu":
                return generator.integers(0, 100, shape).astype(dtype)
            return generator.standard_normal(shape).astype(dtype)
        if fill == "zeros":
            return np.zeros(shape, dtype)
        if fill == "ones":
            return np.ones(shape, dtype)
        if fill == "range":
            return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        return np.broadcast_to(np.asarray(self._evaluate(fill, known)), shape).astype(dtype)

    def _dim(self, sizes: Any, case: Case) -> Dim:
        given = [int(self._number(size, case)) for size in (sizes if isinstance(sizes, list) else [sizes])]
        if not 1 <= len(given) <= 3 or min(given) < 1:
            raise HarnessError(f"{self.path}: {sizes!r} gives the launch shape {given}")
        x, y, z = (*given, 1, 1)[:3]
        return x, y, z

    def _number(self, value: Any, case: Case) -> Any:
        return self._evaluate(value, case) if isinstance(value, str) else value

    def _evaluate(self, expression: str, names: Mapping[str, Any]) -> Any:
        try:
            return eval(expression, {"np": np}, dict(names))
        except Exception as error:
            raise HarnessError(f"{self.path}: cannot evaluate {expression!r}: {error}") from error


def _from_toml(path: Path) -> Harness:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HarnessError(f"{path}: {error}") from error
    _only(table, _TOP, str(path))
    for name in ("kernel", "source", "block"):
        if name not in table:
            raise HarnessError(f"{path}: '{name}' is missing")
    for kind in ("argument", "data"):
        for number, entry in enumerate(table.get(kind, ())):
            if "name" not in entry:
                raise HarnessError(f"{path}: {kind} {number} has no name")
    return _TableHarness(path, table)


def _from_python(path: Path) -> Harness:
    """Load a module that defines `harness`, or `kernel`, `source`, `cases`, `plan` and `verdict` itself."""
    specification = importlib.util.spec_from_file_location("ptxcheck_harness", path)
    if specification is None or specification.loader is None:
        raise HarnessError(f"cannot load {path}")
    module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise HarnessError(f"{path}: {error}{_where_to_find(error.name)}") from error
    except Exception as error:
        raise HarnessError(f"{path}: {type(error).__name__}: {error}") from error
    made: Any = getattr(module, "harness", module)
    missing = [n for n in ("kernel", "source", "cases", "plan", "verdict") if not hasattr(made, n)]
    if missing:
        raise HarnessError(f"{path} does not define {', '.join(missing)}")
    result: Harness = made
    return result


def _where_to_find(module: str | None) -> str:
    """Return what to do about a module that a harness needs and that is not there."""
    if module is None or module.partition(".")[0] != "triton":
        return ""
    return (
        "; pip install 'ptxcheck[triton]', or prepare the harness where Triton is (`ptxcheck run HARNESS --prepare "
        "FOLDER`) and give the .json file of that folder"
    )


def _only(table: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise HarnessError(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(known))}")


def dtype_of(name: str, argument: str) -> np.dtype[Any]:
    """Return a data type by its name, those of `ml_dtypes` among them. Raises HarnessError."""
    if not name:
        raise HarnessError(f"argument {argument!r} has no dtype")
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))  # type: ignore[no-any-return]
    try:
        return np.dtype(name)
    except TypeError as error:
        raise HarnessError(f"argument {argument!r}: {name!r} is no data type") from error


def difference(found: Array, expected: Array, rtol: float, atol: float) -> str:
    """Return how a buffer differs from what it has to hold, "" when it does not."""
    expected = np.broadcast_to(expected, found.shape)
    a, b = found.astype(np.float64), expected.astype(np.float64)
    wrong = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return ""
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements differ, first at {first}: {a[first]!s} instead of {b[first]!s}"
