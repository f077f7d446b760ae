"""Values that differ between threads, in threads between which they do not.

Property: what `narrowed` returns is the value in each of some threads.

Argument: atoms say between which threads they differ; one that differs between all lanes, or warps, is named for the
first thread of those that hold one value.

Not covered: values that are equal in several threads though their atoms differ.
"""

from __future__ import annotations

from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import opaque
from ..symex.values.substitution import at_thread, leaves, with_pins
from ..symex.values.symbol import LANE, Atom, Form, Value, atom
from ..symex.values.thread_sets import is_one_value_in
from ..symex.values.trace import ThreadSet


def narrowed(value: Form, threads: ThreadSet, count: int) -> Value | None:
    """Return a value that is one in some of `count` threads, None when they may hold different ones."""
    if not value.differs:
        return value
    first = (threads & -threads).bit_length() - 1
    if not is_one_value_in(value.differs, threads, first):
        return None
    return at_thread(value, first, count)


def named(value: Form, threads: ThreadSet, count: int) -> Value | None:
    """Return a value that is one in some threads, by a name that no other threads have for theirs; else None."""
    found = narrowed(value, threads, count)
    if not isinstance(found, Form) or not found.differs:
        return found
    first = (threads & -threads).bit_length() - 1
    made = with_pins(found, _of_thread(found, first), count)
    if isinstance(made, Form) and made.differs:
        return opaque(Kind.OF, first, made, differs=0)
    return made


def _of_thread(value: Form, first: int) -> dict[Atom, Form]:
    """Return the names of what threads hold each for themselves, for one of them."""
    return {
        name: atom(Kind.OF, first if name.differs & LANE else first // 32 * 32, name, differs=0)
        for name in leaves(value)
        if name.differs
    }


__all__ = ["named", "narrowed"]
