"""Which stores write where loads read, both at bounded places of one variable.

Property: `stores_meeting` leaves out a store only where its place, or that of every load, is of another variable, is
not bounded, or is apart from the other by more than an access is long.

Argument: bounds of offsets hold in every run (`cfg.values`); where the size of the variable is known, places are taken
to stay inside it.

Not covered: places that are not bounded: a ring of more than `LONGEST` bytes is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....cfg.addresses import Pointer

LONGEST = 1024
"""Most bytes from the first stage of a ring to its last one."""
_WORDS = 15
"""Bytes that an access of four words reaches beyond its first one."""


def meet(one: Pointer, other: Pointer, size: int = 0) -> bool:
    """Tell whether two places with bounded offsets lie in one variable, and in the same bytes of it or so.

    Both stay inside the variable if its size is known, else their offsets have to be bounded.
    """
    if one.base is None or one.base != other.base:
        return False
    ends, others = _ends(one, size), _ends(other, size)
    if ends is None or others is None:
        return False
    return ends[0] <= others[1] + _WORDS and others[0] <= ends[1] + _WORDS


def _ends(pointer: Pointer, size: int) -> tuple[int, int] | None:
    """Return the least and the greatest offset of a place, None when it is not bounded."""
    low, high = pointer.offset.signed_range
    if size:
        low, high = max(low, 0), min(high, size - 1)
    return (low, high) if pointer.is_variable and 0 <= low <= high <= low + LONGEST else None


def stores_meeting(
    loads: Sequence[Pointer],
    stores: Iterable[tuple[int, Pointer | None]],
    sizes: Mapping[tuple[str, int], int],
) -> frozenset[int]:
    """Return the stores that write where some loads read, both at bounded places of one variable.

    `sizes` has those variables, by name and scope, outside which no place is taken to lie.
    """

    def size_of(pointer: Pointer) -> int:
        return 0 if pointer.base is None else sizes.get((pointer.base.name, pointer.base.scope), 0)

    return frozenset(
        point
        for point, pointer in stores
        if pointer is not None and any(meet(pointer, each, size_of(pointer)) for each in loads)
    )
