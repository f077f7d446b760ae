"""Harnesses as data: the launches of all cases with their arrays and results, for a machine that only runs them.

`prepare` writes a folder: the PTX, a `.json` file that names launches and arguments, and one `.npz` file of arrays a
case. `load_prepared` reads it. Nothing in the folder is code, and reading it needs NumPy alone.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..launch import Dim
from ..runtime.scratch import scratch_folder
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
    plan_of,
)

_FORMAT = 1
_TOP = frozenset({"format", "kernel", "source", "rtol", "atol", "cases"})


@runtime_checkable
class ReferenceHarness(Harness, Protocol):
    """A harness whose results are known before the launch, so that it can be written as data."""

    @property
    def rtol(self) -> float:
        """Tolerance in relation to the expected number."""

    @property
    def atol(self) -> float:
        """Tolerance beside it."""

    def expected(self, case: Case) -> Mapping[str, Array]:
        """Return what buffers have to hold after the launch, by name."""


class PreparedHarness(TableFile):
    """A harness that `prepare` wrote."""

    @property
    def cases(self) -> Sequence[Case]:
        """Names and values of each case."""
        return [entry["case"] for entry in self.table["cases"]]

    def plan(self, case: Case) -> LaunchPlan:
        """Return the launch of a case, with the arrays that were written for it."""
        entry, arrays = self._entry(case)
        cluster = entry["cluster"]
        return LaunchPlan(
            _dim(entry["grid"]), _dim(entry["block"]), None if cluster is None else _dim(cluster), int(entry["shared"]),
            {each["name"]: _argument(each, arrays) for each in entry["arguments"]},
            {name: _stored(arrays, f"data.{name}", dtype) for name, dtype in entry["data"].items()},
        )  # fmt: skip

    def verdict(self, case: Case, before: Mapping[str, Array], after: Mapping[str, Array]) -> str:
        """Compare the buffers after a launch with those that were written."""
        entry, arrays = self._entry(case)
        expected = {
            name: _stored(arrays, f"expected.{name}", dtype) for name, dtype in entry["expected"].items()
        }
        return disagreement(expected, after, self.table["rtol"], self.table["atol"])

    def _entry(self, case: Case) -> tuple[Mapping[str, Any], Mapping[str, Array]]:
        number = list(self.cases).index(case)
        path = _arrays_path(self.path, number)
        try:
            with np.load(path, allow_pickle=False) as stored:
                return self.table["cases"][number], dict(stored)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise HarnessError(f"cannot read {path}: {error}") from error


def prepare(harness: ReferenceHarness, folder: Path) -> Path:
    """Write a harness as data into a folder, and its PTX beside it; return the `.json` file. Raises HarnessError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{harness.kernel}.json"
        source = path.with_suffix(".ptx")
        source.write_bytes(harness.source.read_bytes())
        entries = [_written(harness, case, _arrays_path(path, n)) for n, case in enumerate(harness.cases)]
        table = {
            "format": _FORMAT, "kernel": harness.kernel, "source": source.name, "rtol": harness.rtol,
            "atol": harness.atol, "cases": entries,
        }  # fmt: skip
        path.write_text(
            json.dumps(table, indent=1) + "\n", encoding="utf-8"
        )  # the last one: half a folder has none
    except OSError as error:
        raise HarnessError(f"cannot write to {folder}: {error.strerror}") from error
    return path


def load_prepared(path: Path) -> PreparedHarness:
    """Read what `prepare` wrote. Raises HarnessError."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise HarnessError(f"{path}: {error}") from error
    if not isinstance(table, dict) or set(table) != _TOP or table["format"] != _FORMAT:
        raise HarnessError(f"{path} is no harness that `ptxcheck run --prepare` wrote; prepare it again")
    return PreparedHarness(path, table)


@contextmanager
def worker_file(path: Path, harness: Harness) -> Iterator[Path]:
    """Yield the file from which the process that owns the GPU reads a harness: data, where the harness can be data.

    That process then imports nothing of what the harness was written with.
    """
    if not isinstance(harness, ReferenceHarness):
        yield path
        return
    with scratch_folder() as folder:
        yield prepare(harness, Path(folder))


def disagreement(expected: Mapping[str, Array], after: Mapping[str, Array], rtol: float, atol: float) -> str:
    """Return how buffers differ from what they have to hold, "" when they do not."""
    for name, array in expected.items():
        wrong = difference(after[name], array, rtol, atol)
        if wrong:
            return f"{name}: {wrong}"
    return ""


def _arrays_path(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.{number}.npz")


def _written(harness: ReferenceHarness, case: Case, path: Path) -> dict[str, Any]:
    """Write the arrays of one case; return the rest of it."""
    plan, expected = plan_of(harness, case), harness.expected(case)
    arrays: dict[str, Array] = {f"data.{name}": array for name, array in plan.data.items()}
    arrays |= {f"expected.{name}": array for name, array in expected.items()}
    arrays |= {
        f"argument.{n}": np.asarray(a) for n, a in plan.arguments.items() if not isinstance(a, MapArgument)
    }
    np.savez(path, **{name: _plain(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return {
        "case": dict(case),
        "grid": plan.grid,
        "block": plan.block,
        "cluster": plan.cluster,
        "shared": plan.shared,
        "arguments": [_described(name, argument) for name, argument in plan.arguments.items()],
        "data": {name: str(array.dtype) for name, array in plan.data.items()},
        "expected": {name: str(array.dtype) for name, array in expected.items()},
    }


def _described(name: str, argument: Argument) -> dict[str, Any]:
    if isinstance(argument, MapArgument):
        return {"name": name, "of": argument.buffer, "fields": dict(argument.fields)}
    kind = "buffer" if isinstance(argument, np.ndarray) else "scalar"
    return {"name": name, kind: str(argument.dtype)}


def _argument(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> Argument:
    name = entry["name"]
    if "of" in entry:
        return MapArgument(entry["of"], entry["fields"])
    stored = _stored(arrays, f"argument.{name}", entry["buffer" if "buffer" in entry else "scalar"])
    return stored if "buffer" in entry else stored.dtype.type(stored[()])


def _plain(array: Array) -> Array:
    """Return the bytes of elements as NumPy itself knows them: other types are not stored by name."""
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    return contiguous if array.dtype.isbuiltin == 1 else contiguous.view(f"u{array.dtype.itemsize}")


def _stored(arrays: Mapping[str, Array], key: str, dtype: str) -> Array:
    return arrays[key].view(dtype_of(dtype, key))


def _dim(sizes: Sequence[int]) -> Dim:
    x, y, z = sizes
    return int(x), int(y), int(z)
