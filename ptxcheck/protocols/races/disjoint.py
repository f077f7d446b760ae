"""Accesses that cannot meet, seen without a solver: what two addresses have in common cancels, and the rest is counted.

Property: `are_apart` is true only where no two threads of the block access a common byte at the two sites,
`are_of_each_cta` only where no two threads do whose CTAs differ along the axes given.

Argument: the difference of the two addresses is a sum. Where both threads have the same factors for their indices,
these give a number of mixed radix that differs between two threads by at least the bytes of an access; what else is
in the sum is a multiple of something larger than all these numbers. Or the conditions let one thread only come to
both sites.

Not covered: everything that needs more of the conditions; the solver is asked then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd
from typing import TypeAlias

from ...terms.bitvectors import Bits, Kind
from .geometry import ThreadIndex

_MODULUS = 1 << 32


Pins: TypeAlias = tuple[Mapping[Bits, int], Mapping[Bits, int]]
"""Variables that the conditions of two sites have only one number for."""


def are_apart(difference: Bits, size: int, pins: Pins, one: ThreadIndex, two: ThreadIndex) -> bool:
    """Tell whether two sites, of at most `size` bytes each, are surely of other bytes, `difference` apart."""
    axes = [(x, y) for x, y in zip(one.axes, two.axes, strict=True) if x.constant is None]
    return _are_one_thread(*pins, one, two) or _is_mixed_radix(difference, size, axes, axes)


def are_of_each_cta(
    difference: Bits,
    size: int,
    threads: tuple[ThreadIndex, ThreadIndex],
    ctas: Sequence[tuple[Bits, Bits]],
) -> bool:
    """Tell whether two sites are surely of other bytes wherever the places of the CTAs differ along some axes."""
    axes = [(x, y) for x, y in zip(threads[0].axes, threads[1].axes, strict=True) if x.constant is None]
    return _is_mixed_radix(difference, size, [*axes, *ctas], ctas)


def _are_one_thread(
    mine: Mapping[Bits, int], its: Mapping[Bits, int], one: ThreadIndex, two: ThreadIndex
) -> bool:
    """Tell whether the conditions of both sites pin all indices to the same numbers."""
    for x, y in zip(one.axes, two.axes, strict=True):
        if x.constant is None and (x not in mine or mine[x] != its.get(y)):
            return False
    return True


def pinned(condition: Bits) -> Iterator[tuple[Bits, int]]:
    """Yield the variables that a condition has only one number for."""
    work = [condition]
    while work:
        claim = work.pop()
        if claim.kind is Kind.AND and claim.width == 1:
            work.extend(claim.parts)
        elif claim.kind is Kind.EQ and claim.parts[1].constant is not None:
            yield claim.parts[0], claim.parts[1].constant


def _is_mixed_radix(
    difference: Bits, size: int, digits: Sequence[tuple[Bits, Bits]], needed: Sequence[tuple[Bits, Bits]]
) -> bool:
    """Tell whether a difference is at least `size` away from 0 wherever a needed digit differs between two numbers."""
    if difference.kind is Kind.SUM:
        factors = dict(zip(difference.parts, difference.factors, strict=True))
        rest = difference.number
    else:
        factors, rest = {difference: 1}, 0
    found: list[tuple[int, int]] = []
    for x, y in digits:
        factor = factors.pop(x, 0)
        if (factor + factors.pop(y, 0)) % _MODULUS or (factor == 0 and (x, y) in needed):
            return False
        if factor:
            found.append((min(factor, _MODULUS - factor), x.high - x.low))
    whole = gcd(_MODULUS, rest)
    for part, factor in factors.items():
        whole = gcd(whole, factor * (part.maybe & -part.maybe))
    reach = 0
    for factor, span in sorted(found):
        if factor < reach + size:
            return False
        reach += factor * span
    return bool(found) and reach + size <= whole
