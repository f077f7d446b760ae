"""Harnesses as they are read from files: a table, Python, or data that was prepared.

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
from pathlib import Path
from typing import Any

import numpy as np

from ..launch import Dim
from .harness import (
    Argument,
    Array,
    Case,
    Harness,
    HarnessError,
    LaunchPlan,
    MapArgument,
    TableFile,
    difference,
    dtype_of,
)
from .prepared import load_prepared

_TOP = frozenset({"kernel", "source", "grid", "block", "cluster", "shared", "cases", "argument", "data"})
_FILLS = frozenset({"random", "zeros", "ones", "range"})
_BUFFER = frozenset({"name", "dtype", "shape", "fill", "seed", "reference", "rtol", "atol"})
_SCALAR = frozenset({"name", "dtype", "value"})


def load_harness(path: Path) -> Harness:
    """Read a harness from a `.toml` or `.py` file, or as it was prepared, `.json`. Raises HarnessError."""
    try:
        if path.suffix == ".json":
            return load_prepared(path)
        return _from_python(path) if path.suffix == ".py" else _from_toml(path)
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror}") from error


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
