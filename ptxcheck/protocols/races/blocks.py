"""Blocks that hosts may launch a kernel with, where nothing states one.

Property: `candidate_blocks` gives the block of the launch where that is stated. Else each block that it gives is one
in which the accesses of static arrays that all threads make stay inside these arrays; a guess where there are no such
accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from ...cfg import EdgeKind, Uniformity
from ...cfg.special import MAX_THREADS, special_name
from ...ir import Component, Register
from ...launch import Dim
from ...terms.bitvectors import Bits, Kind, variables_of
from ..symex.slice.endless_loops import endless_loops
from ..typestate.block_candidates import suggested_blocks, usual_blocks
from .accesses import Access
from .intervals import TooManyVisitsError, intervals_of
from .kernel import Kernel
from .mirrored import one_thread
from .passages import Context
from .thread_terms import ThreadTerms

if TYPE_CHECKING:
    from ...view import KernelView

_USUAL_LINES = (128, 256, 1024)
_USUAL_PLANES: tuple[Dim, ...] = ((16, 16, 1), (32, 8, 1), (32, 32, 1))
_WARP = 32


def candidate_blocks(
    view: KernelView, kernel: Kernel, accesses: Sequence[Access], excluded: Dim | None = None
) -> tuple[Dim, ...]:
    """Return blocks to confirm a finding with; `excluded` is one that the kernel asserts not to have.

    What `__launch_bounds__` gives is a number of threads, which compilers write as one of x.
    """
    launch = view.launch
    if launch.block is not None and launch.block_is_exact:
        return (launch.block,)
    bound = bound_of(view)
    if bound is not None and bound != excluded:
        return (bound,)
    most = launch.max_threads or MAX_THREADS
    axes = axes_used(view)
    fitting = _fitting(kernel, accesses, axes, most)
    if fitting is not None:
        return (fitting,)
    if axes > 1:
        planes = tuple(each for each in _USUAL_PLANES if each[0] * each[1] <= most)
        return planes or ((min(most, _WARP), max(most // _WARP, 1), 1),)
    suggested = suggested_blocks(view.facts)
    lines = (*suggested, *usual_blocks(suggested)) if suggested else _USUAL_LINES
    return tuple((threads, 1, 1) for threads in lines if threads <= most)[:3] or ((most, 1, 1),)


def possible_blocks(
    view: KernelView, kernel: Kernel, accesses: Sequence[Access], kernel_of: Callable[[Dim], Kernel]
) -> tuple[Dim, ...]:
    """Return candidate blocks that the kernel does not assert not to have; `kernel_of`: the kernel in one."""
    for excluded in (None, bound_of(view)):
        blocks = candidate_blocks(view, kernel, accesses, excluded)
        possible = tuple(each for each in blocks if not is_excluded(kernel_of(each)))
        if possible:
            return possible
    return ()


def is_excluded(kernel: Kernel) -> bool:
    """Tell whether the kernel asserts not to run in its block: no thread comes to a meeting, or to its end."""
    graph = kernel.cfg.graph
    if any(endless_loops(kernel.facts)) or not any(edge.kind is EdgeKind.TRAP for edge in graph.edges):
        return False
    first, *_ = intervals_of(kernel, Uniformity.CTA, frozenset())
    try:
        return not first.may_end(one_thread(kernel))
    except TooManyVisitsError:
        return False


def bound_of(view: KernelView) -> Dim | None:
    """Return the block that `.maxntid` bounds."""
    given = view.function.attributes.get(".maxntid")
    if not given or not 1 <= prod(given) <= MAX_THREADS:
        return None
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def axes_used(view: KernelView) -> int:
    """Return along how many axes a kernel tells threads apart."""
    most = 1
    for instruction in view.body.instructions:
        for operand in instruction.operands:
            if isinstance(operand, Component) or (isinstance(operand, Register) and "." in operand.name):
                stem, _, axis = (special_name(operand) or "").partition(".")
                if stem in ("%tid", "%ntid") and axis in ("y", "z"):
                    most = max(most, "xyz".index(axis) + 1)
    return most


def _fitting(kernel: Kernel, accesses: Sequence[Access], axes: int, most: int) -> Dim | None:
    """Return the largest block with which accesses that all threads make stay inside their arrays."""
    terms = one_thread(kernel)
    limits: dict[int, int] = {}
    for access in accesses:
        block = kernel.cfg.graph.block_of[access.point]
        condition = kernel.pool.both(terms.arrives(block, Context()), terms.guard(access.point, Context()))
        if any(_is_about(claim, terms) for claim in _conjuncts(condition)):
            continue
        for axis, limit in _limits(kernel, terms, access):
            limits[axis] = min(limits.get(axis, MAX_THREADS), limit)
    if any(axis not in limits for axis in range(axes)):
        return None
    extents = [limits.get(axis, 1) for axis in range(3)]
    extents[0] -= extents[0] % _WARP if extents[0] > _WARP else 0
    threads = extents[0] * extents[1] * extents[2]
    return (extents[0], extents[1], extents[2]) if _WARP < threads <= most else None


def _conjuncts(claim: Bits) -> Iterator[Bits]:
    work = [claim]
    while work:
        each = work.pop()
        if each.kind is Kind.AND:
            work.extend(each.parts)
        else:
            yield each


def _is_about(claim: Bits, terms: ThreadTerms) -> bool:
    """Tell whether a claim is about the thread's indices and nothing that the host passes."""
    variables = variables_of(claim)
    return bool(variables) and all(each in terms.index.axes for each in variables)


def _limits(kernel: Kernel, terms: ThreadTerms, access: Access) -> Iterator[tuple[int, int]]:
    """Yield for each index in an address how many numbers it may have."""
    address = terms.address(access.point, access.address, Context())
    factors = dict(_factors(address))
    placed = kernel.layout.at(address.number if address.kind is Kind.SUM else address.low)
    if placed is None or not placed.size:
        return
    for number, axis in enumerate(terms.index.axes):
        factor = factors.get(axis)
        if factor is None or axis.constant is not None:
            continue
        signed = factor - (1 << 32) if factor >> 31 else factor
        start = address.number - placed.start
        room = placed.size - start - access.size if signed > 0 else start
        if 0 <= room // abs(signed) < MAX_THREADS:
            yield number, room // abs(signed) + 1


def _factors(address: Bits) -> Iterator[tuple[Bits, int]]:
    if address.kind is Kind.SUM:
        yield from zip(address.parts, address.factors, strict=True)
