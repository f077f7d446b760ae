"""What the page shows of one kernel, from the analyses that the check has made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..explain.violations import whole_kernel
from ..protocols.typestate.accumulator_columns import AccumulatorColumns
from ..protocols.typestate.tensor_memory import COLUMNS
from ..resources import Resources, gather
from ..resources.render import as_text
from ..sources.demangled_names import kernel_name
from ..sources.files import Files
from ..sources.positions import Locator
from ..view import KernelView
from .control_flow import control_flow
from .places import Places
from .runs import ShownRun, runs_of, why_no_run

_MOST_RANGES = 64
"""Ranges of tensor-memory columns that are listed."""


@dataclass(frozen=True)
class Picture:
    """One kernel: what is drawn of it, and its runs."""

    name: str
    runs: tuple[ShownRun, ...]
    data: dict[str, Any]


def picture(view: KernelView, locator: Locator, files: Files) -> Picture:
    """Return what is shown of a kernel."""
    places = Places(view.function, locator, files)
    runs = tuple(runs_of(view, places))
    resources = gather(view)
    name = kernel_name(view.function.name)
    data = {
        "name": view.function.name,
        "short": name,
        "why": "" if runs else why_no_run(view.get(whole_kernel)),
        "flow": control_flow(view, places),
        "tensor": _tensor(view, resources, places),
        "placement": as_text(resources, name, lambda point: places.location(point).ptx.line).splitlines()[1:],
        "places": places.table(),
    }
    return Picture(view.function.name, runs, data)


def _tensor(view: KernelView, resources: Resources, places: Places) -> dict[str, Any] | None:
    """Return allocations and uses of tensor-memory columns; None when the kernel has none."""
    if not resources.tensor:
        return None
    ranges: dict[tuple[str, int, int, bool], int] = {}
    for found in view.get(AccumulatorColumns).column_ranges():
        ranges.setdefault((found.what, found.first, found.count, found.is_absolute), found.point)
    return {
        "columns": COLUMNS,
        "allocations": [
            {"least": one.least, "most": one.most, "pair": one.pair, "point": places.note(one.point)}
            for one in resources.tensor
        ],
        "ranges": [
            {"what": what, "first": first, "count": count, "absolute": absolute, "point": places.note(point)}
            for (what, first, count, absolute), point in list(ranges.items())[:_MOST_RANGES]
        ],
    }
