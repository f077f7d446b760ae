"""Structures whose members are followed one by one: `dim3`, launch configurations and their attributes.

Property: a member that is read is what was last stored to it, by any name; one that may have been changed unseen is
unknown. A pointer to a structure stands for the variable that it is declared as.
"""

from __future__ import annotations

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.branches import Branches
from ptxcheck.hostcode.changes import element_path, path_of
from ptxcheck.hostcode.machine import State
from ptxcheck.hostcode.values import ANYTHING, Array, Extent, Integer, Structure, Value, number


class Structures(Branches):
    """Structures whose members are followed one by one."""

    def _extent_at(self, path: str, state: State) -> Extent:
        """Return the `dim3` that a variable holds."""
        x, y, z = (state.variables.get(f"{path}.{axis}", ANYTHING) for axis in "xyz")
        return Extent(x, y, z)

    def _as_extent(self, value: Value) -> Extent | None:
        """Return a value as a `dim3`; None where it is none."""
        match value:
            case Extent():
                return value
            case Integer(type=type_) if not type_.is_pointer:
                return Extent(value, number(1), number(1))
            case Array(items=items, rest=None) if len(items) <= 3:
                padded = (*items, number(1), number(1), number(1))
                return Extent(padded[0], padded[1], padded[2])
        return None

    def _member_path(self, expr: c.Expr, state: State) -> str | None:
        """Return the variable that a member is: of a structure by its declaration, also through a pointer to it."""
        path = path_of(expr)
        if path is not None and not isinstance(expr, c.Member):
            return path
        match expr:
            case c.Member(object=c.Name(id=name)):
                held = state.variables.get(name)
                is_known = isinstance(held, Structure) and not held.is_extent
                return f"{held.path}.{expr.name}" if is_known else path  # type: ignore[union-attr]
            case c.Member(object=c.Member() as inner):
                owner = self._member_path(inner, state)
                return path if owner is None else f"{owner}.{expr.name}"
            case c.Member(object=c.Item(object=c.Name(id=name), index=index)):
                held = state.variables.get(name)
                at = self._value(index, state)
                number_ = at.constant if isinstance(at, Integer) else None
                if not isinstance(held, Structure) or held.is_extent or number_ is None:
                    return None
                return f"{element_path(held.path, number_)}.{expr.name}"
        return path

    def _coordinate(self, value: Value, name: str) -> Value:
        """Return `.x`, `.y` or `.z` of an extent that no variable holds."""
        if not isinstance(value, Extent):
            return ANYTHING
        return {"x": value.x, "y": value.y, "z": value.z}.get(name, ANYTHING)

    def _structure_address(self, operand: c.Expr, whole: Structure, state: State) -> Value:
        """Return the address of a structure, or of the first of an array; any other one can change it unseen."""
        match operand:
            case c.Name():
                is_first = True
            case c.Item(object=c.Name(), index=index):
                at = self._value(index, state)
                is_first = isinstance(at, Integer) and at.constant == 0
            case _:
                is_first = False
        if is_first and not whole.is_extent:
            return whole
        self._frames[-1].unstable.add(whole.path)
        self._havoc({whole.path}, state)
        return ANYTHING
