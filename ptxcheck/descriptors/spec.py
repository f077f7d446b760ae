"""Read the description of a tensor map or of a request from TOML, JSON or `name=value` words.

type = "bfloat16"      # a name of CUtensorMapDataType, or fp16, bf16, fp32, tf32, fp64, fp8, int8 …
shape = [4096, 4096]   # elements, innermost first; also: dims
strides = [8192]       # bytes, from dimension 1 on; packed where left out
box = [64, 128]        # a map to check; `tile` instead makes it a request to solve
swizzle = "128B"
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from enum import IntEnum
from math import prod
from pathlib import Path
from typing import Any, TypeVar

from ptxcheck.descriptors.constraints import Platform
from ptxcheck.descriptors.facts import element_bits
from ptxcheck.descriptors.fields import (
    DataType,
    Interleave,
    Kind,
    L2Promotion,
    OobFill,
    Swizzle,
    WideMode,
)
from ptxcheck.descriptors.request import Request, Use
from ptxcheck.descriptors.tensor_map import (
    Im2colMap,
    Im2colWideMap,
    TensorMap,
    TiledMap,
)

Table = dict[str, Any]
Choice = TypeVar("Choice", bound=IntEnum)
Built = TypeVar("Built")

TYPE_ALIASES = {
    "fp16": DataType.FLOAT16,
    "half": DataType.FLOAT16,
    "bf16": DataType.BFLOAT16,
    "fp32": DataType.FLOAT32,
    "float": DataType.FLOAT32,
    "tf32": DataType.TFLOAT32,
    "fp64": DataType.FLOAT64,
    "double": DataType.FLOAT64,
    "fp8": DataType.UINT8,
    "int8": DataType.UINT8,
}
SHAPE_FIELDS = frozenset({"kind", "type", "shape", "dims", "strides", "address", "capability", "driver"})
MODE_FIELDS = frozenset({"swizzle", "interleave", "l2", "oob", "element_strides", "map_address", "mode"})
BOX_FIELDS = frozenset({"box", "lower", "upper", "channels", "pixels"})
REQUEST_FIELDS = frozenset({"tile", "pad", "use"})
KNOWN = SHAPE_FIELDS | MODE_FIELDS | BOX_FIELDS | REQUEST_FIELDS


class SpecError(ValueError):
    """A description that cannot be read: the message names the field."""


def read(source: str) -> Table:
    """Return the fields of a description: a .toml or .json path, its text, or `name=value` words."""
    text = _text(source) if source.endswith((".toml", ".json")) else source
    try:
        if text.lstrip().startswith("{"):
            table: Table = json.loads(text)
        elif source.endswith(".toml") or "\n" in text:
            table = tomllib.loads(text)
        else:
            table = dict(_word(word) for word in text.split())
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpecError(f"cannot read the description: {error}") from error
    unknown = sorted(set(table) - KNOWN)
    if unknown:
        raise SpecError(f"unknown field {unknown[0]!r}; known: {', '.join(sorted(KNOWN))}")
    return table


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not text"
        raise SpecError(f"{path} cannot be read: {reason}") from error


def _word(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not equals:
        raise SpecError(f"{word!r} is not name=value")
    parts = [_scalar(part) for part in text.split(",")]
    return name, parts if len(parts) > 1 else parts[0]


def _scalar(text: str) -> Any:
    try:
        return int(text, 0)
    except ValueError:
        return {"true": True, "false": False}.get(text, text)


def tensor_map_of(table: Table) -> TensorMap:
    """Return the map that a description means."""
    kind = _kind(table)
    shape = _integers(table, "shape" if "shape" in table else "dims")
    data_type = _data_type(table)
    common: Table = {
        "data_type": data_type,
        "global_dim": shape,
        "global_strides": _integers(table, "strides") if "strides" in table else _packed(shape, data_type),
        "element_strides": _integers(table, "element_strides") if "element_strides" in table else (),
        "interleave": _choice(table, "interleave", Interleave, "INTERLEAVE_"),
        "swizzle": _choice(table, "swizzle", Swizzle, "SWIZZLE_"),
        "l2_promotion": _choice(table, "l2", L2Promotion, "L2_"),
        "oob_fill": _choice(table, "oob", OobFill, ""),
        "global_address": _integer(table, "address", 0),
        "map_address": _integer(table, "map_address", 0),
    }
    if kind is Kind.TILED:
        return _built(TiledMap, common | {"box_dim": _integers(table, "box")})
    column = {
        "channels_per_pixel": _integer(table, "channels"),
        "pixels_per_column": _integer(table, "pixels"),
    }
    if kind is Kind.IM2COL:
        corners: Table = {
            "lower_corner": _integers(table, "lower"),
            "upper_corner": _integers(table, "upper"),
        }
        return _built(Im2colMap, common | column | corners)
    corners = {"lower_corner": _integer(table, "lower"), "upper_corner": _integer(table, "upper")}
    return _built(Im2colWideMap, common | column | corners | {"mode": _choice(table, "mode", WideMode, "")})


def request_of(table: Table) -> Request:
    """Return the request that a description means."""
    use = str(table.get("use", "copy")).upper()
    if use not in Use.__members__:
        raise SpecError(f"use: {use.lower()!r} is not one of copy, wgmma, tcgen05")
    return _built(
        Request,
        {
            "data_type": _data_type(table),
            "shape": _integers(table, "shape" if "shape" in table else "dims"),
            "tile": _integers(table, "tile"),
            "strides": _integers(table, "strides") if "strides" in table else None,
            "may_pad": bool(table.get("pad", False)),
            "swizzle": Swizzle(_choice(table, "swizzle", Swizzle, "SWIZZLE_"))
            if "swizzle" in table
            else None,
            "use": Use[use],
            "platform": platform_of(table),
        },
    )


def platform_of(table: Table) -> Platform:
    """Return the capability (`"9.0"`) and driver version (`13000` or `"13.0"`) of a description."""
    capability = str(table.get("capability", "9.0")).partition(".")
    driver = str(table.get("driver", 13000))
    try:
        version = int(driver) if "." not in driver else _api_version(driver)
        return Platform((int(capability[0]), int(capability[2] or 0)), version)
    except ValueError as error:
        raise SpecError(f"capability or driver: {error}") from error


def _api_version(text: str) -> int:
    major, _, minor = text.partition(".")
    return int(major) * 1000 + int(minor) * 10


def _built(build: Callable[..., Built], arguments: Table) -> Built:
    try:
        return build(**arguments)
    except ValueError as error:
        raise SpecError(str(error)) from error


def _kind(table: Table) -> Kind:
    given = table.get("kind", "tiled")
    if given not in [kind.value for kind in Kind]:
        raise SpecError(f"kind: {given!r} is not one of {', '.join(kind.value for kind in Kind)}")
    return Kind(given)


def _data_type(table: Table) -> int:
    name = table.get("type")
    if isinstance(name, int):
        return name
    if name is None:
        raise SpecError("type is missing")
    text = str(name).lower()
    if text in TYPE_ALIASES:
        return TYPE_ALIASES[text]
    for candidate in (text.upper(), f"PACKED_{text.upper()}"):
        if candidate in DataType.__members__:
            return DataType[candidate]
    raise SpecError(f"type: {name!r} is not an element type")


def _choice(table: Table, name: str, choices: type[Choice], prefix: str) -> int:
    given = table.get(name, 0)
    if isinstance(given, int):
        return int(given)
    key = prefix + str(given).upper()
    if key not in choices.__members__:
        known = ", ".join(member.removeprefix(prefix) for member in choices.__members__)
        raise SpecError(f"{name}: {given!r} is not one of {known}")
    return int(choices[key])


def _integers(table: Table, name: str) -> tuple[int, ...]:
    given = table.get(name)
    if given is None:
        raise SpecError(f"{name} is missing")
    entries: Sequence[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(entry, int) for entry in entries):
        raise SpecError(f"{name}: {given!r} is not a list of integers")
    return tuple(entries)


def _integer(table: Table, name: str, default: int | None = None) -> int:
    given = table.get(name, default)
    if not isinstance(given, int):
        raise SpecError(f"{name} is missing" if given is None else f"{name}: {given!r} is not an integer")
    return given


def _packed(shape: tuple[int, ...], data_type: int) -> tuple[int, ...]:
    row = -(-shape[0] * element_bits(data_type) // 8)
    return tuple(row * prod(shape[1 : i + 1]) for i in range(len(shape) - 1))
