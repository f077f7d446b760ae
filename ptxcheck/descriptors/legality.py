"""Whether one tensor map is legal, and which constraints it breaks, at which index and with which values."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, assert_never

from ptxcheck.descriptors.constraints import (
    Constraint,
    Each,
    Evidence,
    Layer,
    Platform,
    applicable,
    load,
)
from ptxcheck.descriptors.expression import Scope, value
from ptxcheck.descriptors.fields import (
    CONSTANTS,
    DataType,
    Interleave,
    Swizzle,
)
from ptxcheck.descriptors.tensor_map import (
    Im2colMap,
    Im2colWideMap,
    TensorMap,
    TiledMap,
)


@dataclass(frozen=True, slots=True)
class Violation:
    """One constraint that a map breaks: `index` is the dimension, where the constraint has one."""

    constraint: Constraint
    index: int | None
    values: tuple[tuple[str, int], ...]
    evidence: Evidence

    @property
    def place(self) -> str:
        """Return the argument of the encode call, with its index."""
        return self.constraint.field if self.index is None else f"{self.constraint.field}[{self.index}]"

    @property
    def message(self) -> str:
        """Return one line: what is wrong, with which values."""
        values = ", ".join(f"{name} = {shown(name, number)}" for name, number in self.values)
        return f"{self.place}: {self.constraint.text}" + (f" ({values})" if values else "")


ENUMERATIONS: dict[str, type[IntEnum]] = {"data_type": DataType, "swizzle": Swizzle, "interleave": Interleave}


def shown(name: str, number: int) -> str:
    """Return a field's value as the header calls it."""
    names = {int(member): member.name for member in ENUMERATIONS.get(name, ())}
    return names.get(number, str(number))


def violations(tensor_map: TensorMap, platform: Platform | None = None) -> tuple[Violation, ...]:
    """Return everything wrong with the map: what the driver refuses first, then what the documents forbid."""
    platform = platform or Platform()
    scope = map_scope(tensor_map)
    found: list[Violation] = []
    for layer in Layer.DRIVER, Layer.DOCUMENT:
        for constraint in applicable(tensor_map.kind, platform, layer):
            found.extend(_breaks(constraint, scope, platform))
    return tuple(found)


def is_encoded(tensor_map: TensorMap, platform: Platform | None = None) -> bool:
    """Whether the driver encodes the map."""
    return not any(v.constraint.layer is Layer.DRIVER for v in violations(tensor_map, platform))


def indices(constraint: Constraint, rank: int) -> list[int | None]:
    """Return the indices at which a constraint is asked of a map of this rank."""
    if constraint.each is Each.ONCE:
        return [None]
    return list(range(rank - constraint.each.below_rank))


def map_scope(tensor_map: TensorMap) -> Scope:
    """Return the meaning of the constraint language's names for one map."""
    data = load()
    fields: dict[str, Any] = CONSTANTS | {
        "data_type": tensor_map.data_type,
        "rank": tensor_map.rank,
        "address": tensor_map.global_address,
        "map_address": tensor_map.map_address,
        "dim": tensor_map.global_dim,
        "stride": tensor_map.global_strides,
        "element_stride": tensor_map.steps,
        "interleave": tensor_map.interleave,
        "swizzle": tensor_map.swizzle,
        "l2_promotion": tensor_map.l2_promotion,
        "oob_fill": tensor_map.oob_fill,
    }
    return Scope(fields | _own(tensor_map), data.lets, data.tables)


def _own(tensor_map: TensorMap) -> dict[str, Any]:
    match tensor_map:
        case TiledMap():
            # an empty tensor has no innermost box; zero keeps the expressions defined
            return {"box": tensor_map.box_dim or (0,)}
        case Im2colMap():
            corners = {"lower": tensor_map.lower_corner, "upper": tensor_map.upper_corner}
            return corners | _column(tensor_map)
        case Im2colWideMap():
            zeros = (0,) * 3
            corners = {"lower": (tensor_map.lower_corner, *zeros), "upper": (tensor_map.upper_corner, *zeros)}
            return corners | _column(tensor_map) | {"mode": tensor_map.mode}
        case _:
            assert_never(tensor_map)


def _column(tensor_map: Im2colMap | Im2colWideMap) -> dict[str, Any]:
    return {"channels": tensor_map.channels_per_pixel, "pixels": tensor_map.pixels_per_column}


def _breaks(constraint: Constraint, scope: Scope, platform: Platform) -> list[Violation]:
    return [
        Violation(constraint, i, _values(constraint.expression, scope, i), constraint.evidence(platform))
        for i in indices(constraint, scope.fields["rank"])
        if not value(constraint.expression, scope, i)
    ]


def _values(expression: ast.expr, scope: Scope, i: int | None) -> tuple[tuple[str, int], ...]:
    """Return the fields that an expression reads, with their values."""
    read: dict[str, int] = {}
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id in scope.lets:
            read |= dict(_values(scope.lets[node.id], scope, i))
        elif (
            isinstance(node, ast.Name)
            and isinstance(scope.fields.get(node.id), int)
            and not node.id.isupper()
        ):
            read.setdefault(node.id, scope.fields[node.id])
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            entries = scope.fields[node.value.id]
            for at in _subscripts(node.slice, scope, i, len(entries)):
                read[f"{node.value.id}[{at}]"] = entries[at]
    constants = {name for name in read if name in CONSTANTS}
    return tuple((name, number) for name, number in read.items() if name not in constants)


def _subscripts(index: ast.expr, scope: Scope, i: int | None, count: int) -> list[int]:
    """Return the entries that a subscript reads: all of them under a product."""
    loose = i is None and any(isinstance(node, ast.Name) for node in ast.walk(index))
    if loose:
        return list(range(count))
    at = value(index, scope, i)
    return [at] if 0 <= at < count else []
