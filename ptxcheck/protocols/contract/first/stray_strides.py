"""Strides of arrays that are not there: a host that passes no pointer has no stride to pass.

Roles that ask for themselves whether there is something to read may ask for the pointer in one place and for the stride
in another, and disagree where only the stride is given. CUTLASS has such roles: see `is_zero` of
`Sm90ScalarBroadcast` (include/cutlass/epilogue/fusion/sm90_visitor_load_tma_warpspecialized.hpp).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from ...symex.values.approximated_terms import zeros
from ...symex.values.symbol import Atom, Condition

Decision: TypeAlias = tuple[Condition, bool]
Stride: TypeAlias = tuple[Atom, Atom]
"""A parameter, and the parameter that points to the array whose stride it is."""
_POINTER_BYTES = 8


def strides_in(paths: Iterable[Iterable[Decision]]) -> frozenset[Stride]:
    """Return the strides of arrays that runs have read what they decided about from."""
    names = (name for path in paths for condition, _ in path for name, _ in condition.form.terms)
    return frozenset(stride for load in _loads(names) for stride in _strides_of(load.inner[1]))


def stray_stride(path: Iterable[Decision], strides: AbstractSet[Stride]) -> Stride | None:
    """Return a stride that decisions say is not zero, though its array is not there."""
    is_zero = zeros(path)
    given = (name for name in is_zero if not is_zero[name])
    return next(
        ((name, array) for name in given for array in is_zero if is_zero[array] and (name, array) in strides),
        None,
    )


def _loads(names: Iterable[Atom]) -> Iterator[Atom]:
    """Yield the loads that atoms depend on, each once."""
    waiting: list[object] = list(names)
    seen = set[Atom]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Atom):
            if part in seen:
                continue
            seen.add(part)
            if part.inner[0] == "load":
                yield part
            waiting.extend(part.inner)
        elif isinstance(part, tuple):
            waiting.extend(part)


def _strides_of(address: object) -> Iterator[Stride]:
    """Yield what scales the distance of an address from a pointer, with the pointer."""
    if not isinstance(address, Atom) or address.inner[0] != "sum":
        return
    terms = address.inner[1]
    assert isinstance(terms, tuple)
    arrays = [name for name, factor in terms if factor == 1 and _is_pointer(name)]
    for name, _ in terms:
        yield from ((factor, array) for factor in _factors(name) for array in arrays)


def _factors(product: Atom) -> Iterator[Atom]:
    """Yield the parameters that a product is a multiple of, none of what is no product."""
    for factor in product.inner[1:3] if product.inner[0] == "mul" else ():
        if isinstance(factor, Atom):
            yield from (factor,) if factor[0] == "param" else _factors(factor)


def _is_pointer(name: Atom) -> bool:
    return name[0] == "param" and name[3] == _POINTER_BYTES
