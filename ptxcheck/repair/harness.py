"""Harnesses: how to launch a kernel, on which data, and what its result must be. `harness_files` reads them."""

from __future__ import annotations

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
    dependent: bool = False
    """It may begin before the launch in front of it has ended: programmatic stream serialisation."""

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
