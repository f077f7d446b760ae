"""Addresses of generic space and offsets in shared memory: neither stands for the other, and both are of a variable.

Property: after `check_generic`, every thread of `guard` has an address in the shared window, or one that is not known.
After `check_offset`, no thread of `guard` has one. Where `is_inside`, numbers that threads of `guard` have are in
variables of shared memory.

Argument: numbers are looked at thread by thread. The name of a variable stands for its address in the space that is
wanted. `cvta.shared` adds the window and `cvta.to.shared` takes it away, and a register of 32 bits does not hold it.
A sum of symbols and a number has the window where its number does, as no symbol has it. Where variables lie is up to
ptxas: a number that is in none of them here may be in one of them there, and is nothing to go by.

Not covered: a kernel without variables of shared memory; the bytes of a copy behind its first; symbols that stand for
a whole address; which memory they are in is told by how the text computes them.
"""

from __future__ import annotations

import numpy as np

from ....cfg.special import MAX_CLUSTER
from ....ir import Address, Register
from ..slice.layout import Layout
from ..values import lane_arithmetic as lanes
from ..values.register_file import lanes_of
from ..values.symbol import VARYING, Form, Value
from ..values.trace import OFFSET_MASK, RANK_SHIFT, SHARED_WINDOW, NotFollowedError, ThreadSet
from ..values.traversal import walk

_MOST_BYTES = 1 << 32
"""More than shared memory has, in all CTAs of a cluster."""


def check_generic(operand: Address, address: Value, guard: ThreadSet, threads: int, point: int) -> None:
    """Raise NotFollowedError for an offset of shared memory where an address of generic space is wanted."""
    if not isinstance(operand.base, Register):
        return
    if isinstance(address, Form):
        if address.origin & VARYING and not _is_in_window(address):
            raise NotFollowedError("whether this is a generic address of shared memory is not known", point)
        return
    held = lanes.as_lanes(address, threads)[lanes_of(guard, threads)]
    if not (held & np.uint64(SHARED_WINDOW)).all():
        text = "a generic address that is none of shared memory: cvta.shared makes one, or .shared is missing"
        raise NotFollowedError(text, point)


def check_offset(operand: Address, address: Value, guard: ThreadSet, threads: int, point: int) -> None:
    """Raise NotFollowedError for an address of generic space where an offset of shared memory is wanted."""
    if not isinstance(operand.base, Register):
        return
    if isinstance(address, Form):
        is_generic = _is_in_window(address) or bool(address.origin & VARYING and _names_window(address))
    else:
        held = lanes.as_lanes(address, threads)[lanes_of(guard, threads)]
        is_generic = bool((held // np.uint64(SHARED_WINDOW) == 1).any())
    if is_generic:
        text = "a generic address where .shared wants an offset: cvta.to.shared makes one, or .shared is too much"
        raise NotFollowedError(text, point)


def is_inside(
    layout: Layout, address: Value, size: int, guard: ThreadSet, threads: int, *, certain: bool = True
) -> bool:
    """Tell whether threads reach variables of shared memory; a place in none is not known.

    Of threads that may not come there (`certain` is false) one that does is enough: the guard may be what keeps the
    others from it. True for what is in no CTA that a cluster could have: the lowering says so.
    """
    if isinstance(address, Form) or not guard:
        return True
    places = lanes.as_lanes(address, threads)[lanes_of(guard, threads)] & ~np.uint64(SHARED_WINDOW)
    if (places >> np.uint64(RANK_SHIFT) >= MAX_CLUSTER).any():
        return True
    held = layout.holds(places & np.uint64(OFFSET_MASK), size)
    return bool(held.all() if certain else held.any())


def _is_in_window(address: Form) -> bool:
    return abs(address.constant - SHARED_WINDOW) < _MOST_BYTES


def _names_window(address: Form) -> bool:
    """Tell whether a number that a form is computed from is a generic address of shared memory."""
    return any(
        isinstance(part, int) and part // SHARED_WINDOW == 1
        for name in walk(address.terms)
        for part in name.inner
    )
