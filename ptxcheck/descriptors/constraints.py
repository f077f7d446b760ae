"""The constraints of a tensor map, read from `constraints.toml`, and which of them apply where."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib import resources
from typing import Any

from ptxcheck.descriptors.expression import Table, parse
from ptxcheck.descriptors.fields import CONSTANTS, Kind

MAX_RANK = 5
FIRST_DRIVER = 12000
LAST_DRIVER = 13050


class Layer(Enum):
    """Who objects when a constraint does not hold."""

    DRIVER = "driver"
    DOCUMENT = "document"
    REQUEST = "request"


class Evidence(Enum):
    """How a constraint is known."""

    OBSERVED = "observed"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


class Each(Enum):
    """What the index of a constraint runs over."""

    ONCE = "once"
    DIM = "dim"
    STRIDE = "stride"
    CORNER = "corner"

    @property
    def below_rank(self) -> int:
        """Return how much shorter than the rank the indexed array is."""
        return {Each.ONCE: 0, Each.DIM: 0, Each.STRIDE: 1, Each.CORNER: 2}[self]


@dataclass(frozen=True, slots=True)
class Platform:
    """The driver API version (1000·major + 10·minor) and the compute capability that a map is for."""

    capability: tuple[int, int] = (9, 0)
    driver: int = 13000

    @property
    def number(self) -> int:
        """Return the capability as 10·major + minor."""
        return self.capability[0] * 10 + self.capability[1]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One row of the data: `holds` must be true of each index that `each` names."""

    id: str
    kinds: frozenset[Kind]
    field: str
    each: Each
    holds: str
    text: str
    source: str
    layer: Layer
    hopper: Evidence
    blackwell: Evidence
    since: int
    until: int
    min_capability: int
    below_capability: int

    @property
    def expression(self) -> ast.expr:
        """Return the syntax tree of `holds`."""
        return parse(self.holds)

    def applies(self, kind: Kind, platform: Platform) -> bool:
        """Whether the constraint binds maps of `kind` on `platform`."""
        return (
            kind in self.kinds
            and self.since <= platform.driver < self.until
            and self.min_capability <= platform.number < self.below_capability
        )

    def evidence(self, platform: Platform) -> Evidence:
        """Return how the constraint is known for `platform`."""
        return self.blackwell if platform.number >= 100 else self.hopper


@dataclass(frozen=True, slots=True)
class Data:
    """The whole file: constraints, named expressions and tables."""

    constraints: tuple[Constraint, ...]
    lets: Mapping[str, ast.expr]
    tables: Mapping[str, Table]


@lru_cache(maxsize=1)
def load() -> Data:
    """Return the constraint data of the package."""
    text = resources.files("ptxcheck.descriptors").joinpath("constraints.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    return Data(
        constraints=tuple(_row(row) for row in document["constraint"]),
        lets={name: parse(body) for name, body in document["let"].items()},
        tables={name: _table(rows) for name, rows in document["table"].items()},
    )


def _row(row: dict[str, Any]) -> Constraint:
    kinds = row.get("kinds", [kind.value for kind in Kind])
    return Constraint(
        id=row["id"],
        kinds=frozenset(Kind(kind) for kind in kinds),
        field=row["field"],
        each=Each(row.get("each", "once")),
        holds=row["holds"],
        text=row["text"],
        source=row["source"],
        layer=Layer(row["layer"]),
        hopper=Evidence(row["hopper"]),
        blackwell=Evidence(row["blackwell"]),
        since=row.get("since", 0),
        until=row.get("until", 1 << 30),
        min_capability=row.get("min_capability", 0),
        below_capability=row.get("below_capability", 1 << 30),
    )


def _table(rows: dict[str, int]) -> Table:
    entries = {
        CONSTANTS[key] if key in CONSTANTS else int(key): v for key, v in rows.items() if key != "default"
    }
    return Table(tuple(sorted(entries.items())), rows["default"])


@lru_cache(maxsize=256)
def applicable(kind: Kind, platform: Platform, layer: Layer) -> tuple[Constraint, ...]:
    """Return the constraints of `layer` that bind maps of `kind` on `platform`, in the order of the file."""
    rows = load().constraints
    return tuple(row for row in rows if row.layer is layer and row.applies(kind, platform))
