"""Numbers of which the low bit matters alone: phases of mbarriers.

Property: `low_bit` gives the low bit of a number.

Argument: modulo 2 the exclusive or of numbers is their sum, and what is multiplied by an even number falls out.

Not covered: phases that are given by anything but sums and exclusive ors: these stay symbols that are masked.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....opcodes.op import Op
from .exclusive_or import parts_of
from .lane_arithmetic import bitwise, key_of
from .recurrent_arithmetic import bits_kept, form_of
from .symbol import Atom, Form, Value

_MOST_NESTED = 80


def low_bit(number: Form) -> Value:
    """Return the low bit of a number, a symbol where that is not known."""
    odd: dict[Atom, None] = {}
    constant = 0
    waiting: list[Form] = [number]
    while waiting:
        form = waiting.pop()
        constant ^= form.constant & 1
        for name in (name for name, factor in form.terms if factor & 1):
            if name in odd:
                del odd[name]
                continue
            parts = [name] if name.nesting > _MOST_NESTED else list(_added(name))
            if parts == [name]:
                odd[name] = None
                continue
            constant ^= sum(part for part in parts if isinstance(part, int)) & 1
            waiting.extend(each for part in parts if (each := form_of(part)) is not None)
    terms = tuple(sorted(((name, 1) for name in odd), key=lambda term: term[0].digest))
    return bitwise(Op.AND, Form(terms, constant), 1) if terms else constant


def _added(name: Atom) -> Iterator[object]:
    """Yield what an atom is the sum of modulo 2: itself, if nothing else."""
    kept = bits_kept(name)
    if kept is not None and kept[1] & 1:
        yield key_of(kept[0])
    else:
        yield from parts_of(name)
