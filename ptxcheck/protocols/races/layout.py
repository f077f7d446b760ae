"""Where shared variables lie for the race analysis: far apart, so that an address tells its variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...ir import Function, Module, Symbol, Variable

_LOCAL = re.compile(r"_ZZ.*E(\d+)([A-Za-z_]\w*)")
"""A static variable in a function (Itanium C++ ABI, local names)."""
_GAP = 1 << 20
"""More than any shared memory: no index that stays within it leads from one variable into another."""
_ELSEWHERE = 1 << 31
"""Where variables of other state spaces begin."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One shared variable, or all those of open size, which begin together."""

    name: str
    start: int
    size: int | None


@dataclass(frozen=True)
class SharedLayout:
    """Starts of the shared variables of one kernel."""

    starts: Mapping[tuple[str, int], Placed]

    def start(self, symbol: Symbol) -> int:
        placed = self.starts.get((symbol.name, symbol.scope)) or self.starts.get((symbol.name, 0))
        return _ELSEWHERE if placed is None else placed.start

    def at(self, address: int) -> Placed | None:
        """Return the variable that an address belongs to."""
        for placed in self.starts.values():
            if placed.start <= address < placed.start + _GAP:
                return placed
        return None


def layout_of(function: Function, module: Module) -> SharedLayout:
    """Return starts for the shared variables that a kernel can name."""
    local = () if function.body is None else function.body.variables
    found: dict[tuple[str, int], Placed] = {}
    dynamic: Placed | None = None
    variables: tuple[Variable, ...] = (*module.variables.values(), *local)
    for number, variable in enumerate(each for each in variables if each.space == ".shared"):
        start = (number + 1) * _GAP
        if variable.is_sized_elsewhere:
            dynamic = dynamic or Placed("dynamic shared memory", start, None)
            found[variable.name, variable.scope] = dynamic
        else:
            found[variable.name, variable.scope] = Placed(in_source(variable.name), start, variable.size)
    return SharedLayout(found)


def in_source(name: str) -> str:
    """Return a variable of a C++ function by its own name, without that of the function."""
    local = _LOCAL.fullmatch(name)
    if local is None:
        return name
    length = next(
        (n for n in range(1, 4) if local[1][-n:].isdigit() and int(local[1][-n:]) == len(local[2])), 0
    )
    return local[2] if length else name
