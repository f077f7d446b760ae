"""Names in nested blocks: which declaration a name in an operand means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..ir import TYPE_BYTES, Register, Symbol, Variable


@dataclass(slots=True)
class _Frame:
    scope: int
    hidden: list[tuple[str, tuple[bool, int] | None]] = field(default_factory=list)
    declares: bool = False
    hidden_arrays: list[tuple[str, int | None]] = field(default_factory=list)


class Names:
    """The names in force while a body is read: registers by declaration, everything else a symbol.

    A name with `%` that nothing declares is a register of the function (special registers among them).
    """

    def __init__(self, arrays: Mapping[str, int] | None = None) -> None:
        """`arrays`: bytes of an element of each array of the module (see `element_bytes`)."""
        self._arrays = dict(arrays or {})
        self._declared: dict[str, tuple[bool, int]] = {}
        self._stems: dict[str, int] = {}
        self._frames: list[_Frame] = [_Frame(0)]
        self._next_scope = 1

    @property
    def scope(self) -> int:
        """Return the number of the innermost open block; 0 is the function's own."""
        return self._frames[-1].scope

    @property
    def depth(self) -> int:
        """Return how many nested blocks are open."""
        return len(self._frames) - 1

    def open(self) -> int:
        """Enter a block and return its number."""
        scope = self._next_scope
        self._next_scope += 1
        self._frames.append(_Frame(scope))
        return scope

    def close(self) -> tuple[int, bool]:
        """Leave the innermost block; return its number and whether it declared any name."""
        frame = self._frames.pop()
        for name, previous in reversed(frame.hidden):
            if previous is None:
                self._declared.pop(name, None)
            else:
                self._declared[name] = previous
        for name, size in reversed(frame.hidden_arrays):
            self._set_array(name, size)
        return frame.scope, frame.declares

    def declare(self, name: str, *, register: bool, count: int | None = None) -> None:
        """Declare a name, or `name0 … name{count-1}`, in the innermost block."""
        frame = self._frames[-1]
        frame.declares = True
        if count is not None and frame.scope == 0:
            self._stems[name] = count
            return
        for each in [name] if count is None else [f"{name}{i}" for i in range(min(count, 4096))]:
            frame.hidden.append((each, self._declared.get(each)))
            self._declared[each] = (register, frame.scope)

    def declare_arrays(self, variables: Iterable[Variable]) -> None:
        """Remember of what size elements of arrays are, and which names are none, in the innermost block."""
        variables = tuple(variables)
        sizes = element_sizes(variables)
        for each in variables:
            self._frames[-1].hidden_arrays.append((each.name, self._arrays.get(each.name)))
            self._set_array(each.name, sizes.get(each.name))

    def _set_array(self, name: str, size: int | None) -> None:
        if size is None:
            self._arrays.pop(name, None)
        else:
            self._arrays[name] = size

    def element_bytes(self, name: str) -> int | None:
        """Return the bytes that `name[1]` lies behind `name`; None where no array has the name."""
        return self._arrays.get(name)

    def resolve(self, name: str) -> Register | Symbol:
        """Return what a name in an operand stands for."""
        declared = self._declared.get(name)
        if declared is not None:
            return Register(name, declared[1]) if declared[0] else Symbol(name, declared[1])
        if name[0] == "%" or name.rstrip("0123456789") in self._stems:
            return Register(name)
        return Symbol(name)


def element_sizes(variables: Iterable[Variable]) -> dict[str, int]:
    """Return the size of what an index of each array counts, in bytes.

    `ptxas` counts numbers, also in arrays of vectors and of rows.
    """
    return {each.name: TYPE_BYTES[each.type] for each in variables if each.dims and each.type in TYPE_BYTES}
