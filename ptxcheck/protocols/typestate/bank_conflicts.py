"""Bank conflicts of shared-memory accesses, counted warp by warp from addresses that are known up to a common shift.

Shared memory has 32 banks of 4 bytes. A warp's access is served in parts: 32 lanes at once for up to 4 bytes a
lane, 16 for 8 bytes, 8 for 16 bytes, and one 8x8 matrix (8 rows of 16 bytes) at a time for `ldmatrix` and
`stmatrix`. Each part takes as many wavefronts as some bank has different words in it. Sources: CUDA C++ Programming
Guide, shared memory of compute capability 5.x and later; PTX ISA, ldmatrix.

Property: a `Conflict` has the wavefronts of the worst warp that surely executes the access as a whole. What all
lanes of a warp add alike shifts all banks alike and is left out; alignment to 4 bytes is taken for granted.

Not counted: accesses by parts of warps, guarded ones, addresses from memory that differ in the warp, and conflicts
of the hardware's own copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...cfg import (
    Atom,
    AtomKind,
    Linear,
    Name,
    Uniformity,
)
from ...cfg.special import special_uniformity
from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...ir import Register
from ...opcodes.spec import Trait
from .shared_access import SharedAccess, find_shared_accesses

if TYPE_CHECKING:
    from ...view import KernelView

WARP = 32
BANKS = 32
WORD = 4
_WIDEST = 16
"""Most bytes that a lane accesses by itself; more is a copy or a fill that the hardware makes (`st.bulk`)."""
_SWIZZLES = (SwizzleMode.BYTES_32, SwizzleMode.BYTES_64, SwizzleMode.BYTES_128)
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Conflict:
    """An access that takes more wavefronts than its bytes need."""

    point: int
    wavefronts: int
    needed: int
    """Wavefronts without conflicts."""
    better: tuple[SwizzleMode, int] | None
    """A swizzle of the buffer with fewer wavefronts, and how many it takes."""


def find_conflicts(view: KernelView) -> tuple[Conflict, ...]:
    """Return the accesses of a kernel whose warps surely have bank conflicts."""
    return tuple(_conflicts(view))


def _conflicts(view: KernelView) -> Iterator[Conflict]:
    if view.launch.threads is None or view.launch.block is None:
        return
    for access in view.get(find_shared_accesses):
        traits = view.body.instructions[access.point].operation.traits
        if access.is_async or access.size > _WIDEST or Trait.ATOMIC in traits or access.place is None:
            continue
        offsets = _offsets(view, access)
        if offsets is None:
            continue
        found = _worst(offsets, access)
        if found is not None and found[0] > found[1]:
            yield Conflict(access.point, *found, _better(offsets, access, found[0]))


def wavefronts(offsets: Offsets, size: int, lanes_at_once: int) -> int:
    """Return the wavefronts of one warp's access of `size` bytes a lane at the given offsets."""
    total = 0
    for first in range(0, len(offsets), lanes_at_once):
        part = offsets[first : first + lanes_at_once]
        words = {int(offset) // WORD + step for offset in part for step in range(max(size // WORD, 1))}
        banks = np.bincount(np.array([word % BANKS for word in words]), minlength=BANKS)
        total += int(banks.max())
    return total


def _at_once(access: SharedAccess) -> int:
    """Return how many lanes one wavefront can serve."""
    return 8 if access.is_matrix else min(WARP, WARP * WORD // max(access.size, WORD))


def _worst(offsets: Offsets, access: SharedAccess) -> tuple[int, int] | None:
    """Return the wavefronts of the worst warp, and those that it needs."""
    at_once = _at_once(access)
    counts = [
        wavefronts(warp[: access.lanes], access.size, at_once)
        for first in range(0, len(offsets), WARP)
        if len(warp := offsets[first : first + WARP]) == WARP and (warp[: access.lanes] >= _LEAST).all()
    ]
    return (max(counts), -(-access.lanes // at_once)) if counts else None


_LEAST = -(1 << 40)
"""Offsets below this mark lanes that do not execute the access."""


def _better(offsets: Offsets, access: SharedAccess, current: int) -> tuple[SwizzleMode, int] | None:
    """Return the smallest swizzle with the fewest wavefronts, None when none has fewer than now."""
    best: tuple[SwizzleMode, int] | None = None
    for mode in _SWIZZLES:
        pattern = mode.pattern
        if pattern is None:
            continue
        place = np.vectorize(lambda offset, pattern=pattern: pattern.place(int(offset)), otypes=[np.int64])
        low = int(offsets[offsets >= _LEAST].min(initial=0))
        moved = np.where(offsets >= _LEAST, place(np.maximum(offsets - low, 0)), offsets)
        found = _worst(moved, access)
        if found is not None and found[0] < (current if best is None else best[1]):
            best = (mode, found[0])
    return best


def _offsets(view: KernelView, access: SharedAccess) -> Offsets | None:
    """Return each thread's offset, up to a number that its warp has in common; None when not known."""
    execution = view.facts.execution(access.point)
    instruction = view.body.instructions[access.point]
    assert access.place is not None
    form, threads = access.place.offset.linear, view.launch.threads
    if form is None or threads is None or instruction.guard is not None or execution.elected:
        return None
    if execution.uniformity > Uniformity.WARP:
        return None
    total = _sum(view, form, threads)
    if total is None or execution.threads is None:
        return total
    inside = np.array([thread in execution.threads for thread in range(threads)])
    return np.where(inside, total, _LEAST - 1)


def _sum(view: KernelView, form: Linear, threads: int) -> Offsets | None:
    total = np.full(threads, form.constant, dtype=np.int64)
    for atom, factor in form.terms:
        numbers = _of(view, atom, threads)
        if numbers is None:
            return None
        total = total + factor * numbers
    return total


def _of(view: KernelView, atom: Atom, threads: int) -> Offsets | None:
    index = np.arange(threads, dtype=np.int64)
    assert view.launch.block is not None
    x, y, _ = view.launch.block
    if atom.kind is AtomKind.SPECIAL:
        known = {
            "%tid.x": index % x,
            "%tid.y": index // x % y,
            "%tid.z": index // (x * y),
            "%laneid": index % WARP,
        }
        if atom.name in known:
            return known[atom.name]
        return np.zeros(threads, dtype=np.int64) if special_uniformity(atom.name) <= Uniformity.WARP else None
    if atom.kind in (AtomKind.PARAMETER, AtomKind.ADDRESS):
        return np.zeros(threads, dtype=np.int64)
    register = Register(atom.name, atom.scope)
    if atom.kind is AtomKind.DEFINITION and atom.at >= 0:
        words = view.facts.by_thread(Name(register, atom.at))
        if words is not None:
            return words.astype(np.int64)[:threads]
    return np.zeros(threads, dtype=np.int64) if _agrees(view, atom, register) else None


def _agrees(view: KernelView, atom: Atom, register: Register) -> bool:
    """Tell whether the lanes of a warp agree on a definition."""
    if atom.kind is AtomKind.PHI:
        point = view.cfg.blocks[atom.at].start
        return view.facts.uniform(point, register) <= Uniformity.WARP
    after = atom.at + 1
    block_of = view.cfg.graph.block_of
    if atom.at < 0 or after >= len(block_of) or block_of[after] != block_of[atom.at]:
        return False
    return view.facts.uniform(after, register) <= Uniformity.WARP


__all__ = ["Conflict", "find_conflicts", "wavefronts"]
