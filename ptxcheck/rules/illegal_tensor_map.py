"""Host code that encodes a tensor map which the driver refuses or the documents forbid.

Checks: the arguments of cuTensorMapEncodeTiled, …Im2col and …Im2colWide in C++, CUDA and Python sources, as far as
constants, conditions and calls within the file say what they are.
Why: the driver answers CUDA_ERROR_INVALID_VALUE at run time and does not say which argument it means. Source:
`descriptors/constraints.toml`, which names one for each constraint.
Not checked: what only some values of unknown parts would break; with --possible that is reported too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..descriptors.constraints import load
from .rule import Confidence, Example, Hits, HostHit, KernelView, Rule, Severity

if TYPE_CHECKING:
    from ..hostcode.encode import Issue
    from ..hostcode.view import HostView

_SEVERITIES = {"driver": Severity.LAUNCH_ERROR, "document": Severity.UNDEFINED}
_CONSEQUENCES = {
    "driver": "The driver refuses the map with CUDA_ERROR_INVALID_VALUE and no reason, or the copy faults.",
    "document": "The driver encodes the map; what a copy through it does is undefined.",
}
_FAULT_SOURCES = {
    "null-array": "observed: driver API 13000 refuses it",
    "short-array": "cuda.h, cuTensorMapEncodeTiled: the arrays have tensorRank entries",
}
_LEGAL = {
    "type": "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16",
    "rank": "2",
    "address": "data",
    "dims": "{4096, 4096}",
    "strides": "{8192}",
    "box": "{64, 128}",
    "steps": "{1, 1}",
    "interleave": "CU_TENSOR_MAP_INTERLEAVE_NONE",
    "swizzle": "CU_TENSOR_MAP_SWIZZLE_128B",
    "promotion": "CU_TENSOR_MAP_L2_PROMOTION_NONE",
    "fill": "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
    "before": "",
}
_LEGAL_COLUMN = {
    "rank": "4",
    "dims": "{64, 56, 56, 8}",
    "strides": "{128, 7168, 401408}",
    "steps": "{1, 1, 1, 1}",
    "lower": "{-1, -1}",
    "upper": "{-1, -1}",
    "channels": "64",
    "pixels": "128",
}
_CALLS = {
    "tiled": (
        "cuTensorMapEncodeTiled",
        "type rank address dims strides box steps interleave swizzle promotion fill",
    ),
    "im2col": (
        "cuTensorMapEncodeIm2col",
        "type rank address dims strides lower upper channels pixels steps interleave swizzle promotion fill",
    ),
    "im2col_wide": (
        "cuTensorMapEncodeIm2colWide",
        "type rank address dims strides lower upper channels pixels steps interleave mode swizzle promotion fill",
    ),
}
_ELEMENTS = {
    "dims": "cuuint64_t",
    "strides": "cuuint64_t",
    "box": "cuuint32_t",
    "steps": "cuuint32_t",
    "lower": "int",
    "upper": "int",
}
_PARAMETERS = {
    "tensorMap": "map",
    "tensorRank": "rank",
    "globalAddress": "address",
    "globalDim": "dims",
    "globalStrides": "strides",
    "boxDim": "box",
    "elementStrides": "steps",
    "oobFill": "fill",
    "pixelBoxUpperCorner": "upper",
    "pixelsPerColumn": "pixels",
}


def example(row: Mapping[str, Any], changes: Mapping[str, str], *, marked: bool) -> str:
    """Return a function that encodes a legal map with some changes, with the expected finding marked."""
    kind = row.get("kind", "tiled")
    values = _LEGAL | (_LEGAL_COLUMN if kind != "tiled" else {})
    if kind == "im2col_wide":
        values |= {"lower": "-1", "upper": "-1", "mode": "CU_TENSOR_MAP_IM2COL_WIDE_MODE_W"}
    values |= changes
    call, names = _CALLS[kind]
    place = _PARAMETERS.get(row["at"], row["at"])
    arguments = [("map", "map"), *((name, values[name]) for name in names.split())]
    arrays = [name for name, value in arguments if value.startswith("{")]
    lines = [f"// ptxcheck: arch {values.get('arch', row['arch'])}"] if "arch" in row else []
    own = values["before"]
    lines += ["#include <cuda.h>", "", f"CUresult encode(CUtensorMap *map{'' if own else ', void *data'}) {{"]
    lines += [f"  {own.rstrip()}"] if own else []
    for name in arrays:
        lines.append(f"  const {_ELEMENTS[name]} {name}[] = {values[name]};")
    lines.append(f"  return {call}(")
    for position, (name, value) in enumerate(arguments):
        end = ");" if position == len(arguments) - 1 else ","
        mark = f"  // expect: {row['id']}" if marked and name == place else ""
        lines.append(f"      {name if name in arrays else value}{end}{mark}")
    return "\n".join(["", *lines, "}", ""])


def _nothing(_view: KernelView) -> Hits:
    return iter(())


def _rules() -> Iterator[Rule]:
    text = resources.files("ptxcheck.descriptors").joinpath("rules.toml").read_text(encoding="utf-8")
    sources = {constraint.id: constraint.source for constraint in load().constraints}
    for row in tomllib.loads(text)["rule"]:
        named = row.get("constraints", [])
        section = "; ".join(dict.fromkeys(sources[one] for one in named)) or _FAULT_SOURCES[row["fault"]]
        yield Rule(
            id=row["id"],
            name=row["name"],
            severity=_SEVERITIES[row["layer"]],
            section=section,
            summary=row["summary"],
            consequence=_CONSEQUENCES[row["layer"]],
            advice=row["advice"],
            example=Example.between(
                example(row, row["bad"], marked=True), example(row, row.get("good", {}), marked=False), "cpp"
            ),
            check=_nothing,
            pedantic=row.get("pedantic", False),
            host=partial(_hits, frozenset(named), row.get("fault")),
        )


def _hits(constraints: frozenset[str], fault: str | None, view: HostView) -> Iterator[HostHit]:
    from ..hostcode.encode import Broken, NullArray

    for issue in view.issues:
        if isinstance(issue.fault, Broken):
            if issue.fault.constraint.id in constraints:
                yield _hit(issue, _broken(issue.fault), issue.fault.condition is not None)
        elif isinstance(issue.fault, NullArray) and fault == "null-array":
            yield _hit(issue, f"{issue.fault.argument} is a null pointer, which the driver refuses", False)
        elif not isinstance(issue.fault, NullArray) and fault == "short-array":
            found = issue.fault
            message = f"{found.argument} has {found.length} entries, the call reads {found.needed}"
            yield _hit(issue, message, False)


def _broken(fault: Any) -> str:
    place = fault.constraint.field if fault.index is None else f"{fault.constraint.field}[{fault.index}]"
    values = ", ".join(f"{name} = {text}" for name, text in fault.values)
    message = f"{place}: {fault.constraint.text}" + (f" ({values})" if values else "")
    return message if fault.condition is None else f"{message}; legal if {fault.condition}"


def _hit(issue: Issue, message: str, is_possible: bool) -> HostHit:
    frames = issue.encode.frames
    return HostHit(
        message,
        issue.span,
        related=tuple((step.span, step.text) for step in issue.steps),
        frames=tuple((name, issue.span if place == 0 else span) for place, (name, span) in enumerate(frames)),
        confidence=Confidence.POSSIBLE if is_possible else Confidence.PROVED,
    )


RULES = tuple(_rules())
