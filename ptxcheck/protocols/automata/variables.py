"""Variables: registers whose numbers change from round to round and that nodes do not tell apart.

Property: a value of which `is_of_variables` holds is one number for all threads once its variables are numbers.

Argument: a variable is a symbol for what a register holds at the header of a loop; what is computed from variables
alone by operations that are followed is computed again when they are known (`environments`).

Not covered: which registers are variables: see `loop_heads`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir import Register
from ..symex.values.kinds import Kind
from ..symex.values.substitution import is_number_of
from ..symex.values.symbol import VARYING, Atom, Form, Value, atom
from ..symex.values.traversal import walk


class NumbersNeededError(Exception):
    """Some variables have to be numbers that nodes are told apart by."""

    def __init__(self, names: Iterable[Atom]) -> None:
        super().__init__("variables have to be numbers")
        self.names = frozenset(names)


def variable(header: int, register: Register) -> Form:
    """Return the symbol of what a register holds at the header of a loop."""
    return atom(Kind.VARIABLE, header, register.name, str(register.scope), differs=0)


def variables_in(value: Value) -> tuple[Atom, ...]:
    """Return the variables that a value depends on."""
    if not isinstance(value, Form) or not value.origin & VARYING:
        return ()
    return tuple(name for name in walk(value.terms) if name.kind is Kind.VARIABLE)


def header_of(name: Atom) -> int:
    """Return the header of the loop that a variable belongs to."""
    return int(str(name[1]))


def is_of_variables(value: Value) -> bool:
    """Tell whether a value is one number for all threads once variables are numbers."""
    if not isinstance(value, Form):
        return isinstance(value, int)
    return bool(value.origin & VARYING) and not value.differs and is_number_of(value, Kind.VARIABLE)
