"""Variables: registers whose numbers change from round to round and that nodes do not tell apart.

Property: a value of which `is_of_variables` holds is one number for all threads once its variables are numbers.

Argument: a variable is a symbol for what a register holds where some threads come to a block together; what is computed
from variables alone by operations that are followed is computed again when they are known (`environments`). Threads
that come there apart have variables of their own.

Not covered: which registers are variables: see `loop_heads`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ...ir import Register
from ..symex.values.kinds import Kind
from ..symex.values.substitution import is_number_of
from ..symex.values.symbol import VARYING, Atom, Form, Value
from ..symex.values.trace import Event, ThreadSet
from ..symex.values.traversal import walk

LARGEST = 1 << 31
"""Numbers of variables are below it: it is not known of larger ones whether they stand for negative numbers."""
Env: TypeAlias = tuple[int, ...]
"""Numbers of the variables that are live at a node, in their order."""
Component: TypeAlias = int
"""Variables that are computed from one another, or decide one branch."""
Place: TypeAlias = tuple[int, str, str]
"""A block, and the name and the scope of a register."""


class NumbersNeededError(Exception):
    """Some variables have to be numbers that nodes are told apart by."""

    def __init__(self, names: Iterable[Atom]) -> None:
        super().__init__("variables have to be numbers")
        self.names = frozenset(names)


def variable(block: int, register: Register, threads: ThreadSet) -> Atom:
    """Return the symbol of what a register holds, in some threads that come to a block together."""
    return Atom((Kind.VARIABLE, block, register.name, str(register.scope), hex(threads)), 0)


def register_of(name: Atom) -> Place:
    """Return the block and the register that a variable is of, in whichever threads."""
    return int(str(name[1])), str(name[2]), str(name[3])


def threads_of(name: Atom) -> ThreadSet:
    """Return the threads that a variable is a number of."""
    return int(str(name[4]), 16)


def variables_in(value: Value) -> tuple[Atom, ...]:
    """Return the variables that a value depends on."""
    if not isinstance(value, Form) or not value.origin & VARYING:
        return ()
    return tuple(name for name in walk(value.terms) if name.kind is Kind.VARIABLE)


def values_of(events: Iterable[Event]) -> Iterator[Value]:
    """Yield what some events are about."""
    for event in events:
        yield from event.operands.values()
        if event.access is not None and event.access.address is not None:
            yield event.access.address


def behind(value: int | Form, assigned: Iterable[tuple[Atom, int | Form]]) -> int | Form | None:
    """Return a value in terms of what variables were before some got new numbers; None where that is not simple."""
    own = dict(assigned)
    names = [name for name in variables_in(value) if name in own]
    if not names:
        return value
    return own[names[0]] if value == Form(((names[0], 1),)) else None


def is_of_variables(value: Value) -> bool:
    """Tell whether a value is one number for all threads once variables are numbers."""
    if not isinstance(value, Form):
        return isinstance(value, int)
    return bool(value.origin & VARYING) and not value.differs and is_number_of(value, Kind.VARIABLE)
