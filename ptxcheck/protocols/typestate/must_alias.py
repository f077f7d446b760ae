"""Whether two accesses of one thread surely share a byte, wherever the rest of them lies.

Property: `meeting` answers with what a path from the first access to the second must keep to so that both
touch one byte: points that it must not pass, because they compute the address anew, and threads that may
take it. None: they may well be apart. Sizes are lower bounds, so that more can only overlap more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...cfg import (
    Atom,
    AtomKind,
    Linear,
    Name,
    ThreadSet,
    Value,
)
from ...cfg.linear import plus
from ...cfg.special import MAX_THREADS
from ...ir import Operand, Register
from .places import Owner, Place, Places

if TYPE_CHECKING:
    from ...view import KernelView

_STABLE = frozenset({AtomKind.SPECIAL, AtomKind.PARAMETER, AtomKind.ADDRESS})
_WARP = 32
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bytes:
    """At least `size` bytes from the address that an operand of a point names."""

    point: int
    value: Value
    place: Place | None
    size: int

    @property
    def own(self) -> Place | None:
        """The place, when it is one of the executing CTA."""
        return self.place if self.place is not None and self.place.owner is Owner.OWN else None


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a path must keep to for two accesses to share a byte."""

    barred: frozenset[int] = frozenset()
    threads: int | None = None
    """Threads, as bits; None: all."""


def bytes_at(view: KernelView, point: int, operand: Operand | None, space: str, size: int) -> Bytes:
    place = view.get(Places).of(point, operand, space) if space.startswith(".shared") or not space else None
    return Bytes(point, view.facts.value(point, operand), place, size)


def meeting(view: KernelView, first: Bytes, then: Bytes) -> Meeting | None:
    """Return what makes two accesses, in this order, share a byte; None when that is not sure."""
    if not (first.size and then.size):
        return None
    a, b = first.own, then.own
    if a is not None and b is not None:
        if a.symbol != b.symbol or not _may_meet(a, first.size, b, then.size):
            return None
        if _always_meet(a, first.size, b, then.size):
            return Meeting()
    apart = _distance(first, then)
    if apart is not None:
        return _stable(view, first, then) if -then.size < apart < first.size else None
    if a is not None and b is not None:
        return _by_thread(view, first, a, then, b)
    return _apart_by_thread(view, first, then)


def _may_meet(a: Place, size: int, b: Place, other: int) -> bool:
    (low, high), (start, end) = a.span, b.span
    return low < end + other and start < high + size


def _always_meet(a: Place, size: int, b: Place, other: int) -> bool:
    """Tell whether all offsets that two places can have overlap."""
    (low, high), (start, end) = a.span, b.span
    return high < start + other and end < low + size


def _distance(first: Bytes, then: Bytes) -> int | None:
    """Return how far the second address lies behind the first, when that is one number."""
    a, b = _plain(first.value.linear), _plain(then.value.linear)
    if a is None or b is None or not a.terms:
        return None
    apart = plus(b, a, min(first.value.width, then.value.width), -1)
    return None if apart is None or apart.terms else apart.constant


def _stable(view: KernelView, first: Bytes, then: Bytes) -> Meeting | None:
    """Return the points that change an address; None when a path cannot be kept from them."""
    form = _plain(first.value.linear)
    barred: set[int] = set()
    for atom, _ in form.terms if form is not None else ():
        again = _computed_anew(view, atom, first.point, then.point)
        if again is None:
            return None
        barred |= again
    return Meeting(frozenset(barred))


def _plain(form: Linear | None) -> Linear | None:
    """Return an expression in which a generic address of a shared variable is its shared address."""
    if form is None or not any(atom.window == "generic" for atom, _ in form.addresses):
        return form
    terms = ((atom._replace(window="") if atom.window == "generic" else atom, n) for atom, n in form.terms)
    return Linear(tuple(sorted(terms)), form.constant)


def _computed_anew(view: KernelView, atom: Atom, first: int, then: int) -> frozenset[int] | None:
    """Return the points that give an atom another number; None when a path cannot be kept from them."""
    cfg = view.cfg
    if atom.kind in _STABLE or (atom.kind is AtomKind.DEFINITION and atom.at < 0):
        return frozenset()
    point = atom.at if atom.kind is AtomKind.DEFINITION else cfg.blocks[atom.at].start
    if cfg.loop_of(point) is None and not cfg.irreducible:
        return frozenset()
    is_in_path = point == then if atom.kind is AtomKind.PHI else point == first
    return None if is_in_path or cfg.instructions[point].guard is not None else frozenset({point})


def _by_thread(view: KernelView, first: Bytes, a: Place, then: Bytes, b: Place) -> Meeting | None:
    """Compare offsets in one variable for each thread that gets to both."""
    threads = view.facts.execution(then.point).threads
    mine = None if threads is None else view.get(ThreadOffsets).of(a)
    its = None if mine is None else view.get(ThreadOffsets).of(b)
    if threads is None or mine is None or its is None:
        return None
    bits = _meeting_threads(view, first, then, threads, its - mine)
    return Meeting(threads=bits) if bits else None


def _apart_by_thread(view: KernelView, first: Bytes, then: Bytes) -> Meeting | None:
    """Compare addresses in each thread, where nothing else decides how far they are apart: of one array, say."""
    threads = view.facts.execution(then.point).threads
    a, b = _plain(first.value.linear), _plain(then.value.linear)
    if threads is None or a is None or b is None or not a.terms:
        return None
    difference = plus(b, a, min(first.value.width, then.value.width), -1)
    apart = None if difference is None else view.get(ThreadOffsets).of_form(difference)
    stable = None if apart is None else _stable(view, first, then)
    if apart is None or stable is None:
        return None
    bits = _meeting_threads(view, first, then, threads, apart)
    return Meeting(stable.barred, bits) if bits else None


def _meeting_threads(view: KernelView, first: Bytes, then: Bytes, threads: ThreadSet, apart: Offsets) -> int:
    """Return the threads in which two accesses share a byte, as bits."""
    most = threads.size if view.launch.block_is_exact else _WARP
    near = apart[:most]
    met = (near > -then.size) & (near < first.size)
    return threads.bits & sum(1 << int(thread) for thread in np.flatnonzero(met))


class ThreadOffsets:
    """Offsets of places that depend on the thread index and literals alone, for each thread of the block."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._known: dict[Linear, Offsets | None] = {}

    def of(self, place: Place) -> Offsets | None:
        """Return the offset of a place in each thread; None when something else decides."""
        return None if place.offset.linear is None else self.of_form(place.offset.linear)

    def of_form(self, form: Linear) -> Offsets | None:
        """Return a sum of numbers in each thread; None when it depends on more than the thread."""
        if form not in self._known:
            self._known[form] = self._sum(form)
        return self._known[form]

    def _sum(self, form: Linear) -> Offsets | None:
        launch = self._view.launch
        x, y, z = launch.block or (launch.max_threads or MAX_THREADS, 1, 1)
        count = x * y * z
        total = np.full(count, form.constant, dtype=np.int64)
        for atom, factor in form.terms:
            numbers = self._of(atom, count)
            if numbers is None or len(numbers) != count:
                return None
            total = total + factor * numbers
        return total

    def _of(self, atom: Atom, count: int) -> Offsets | None:
        threads = np.arange(count, dtype=np.int64)
        x, y = self._view.launch.block[:2] if self._view.launch.block is not None else (count, 1)
        match atom.name:
            case "%tid.x":
                return threads % x
            case "%tid.y":
                return threads // x % y
            case "%tid.z":
                return threads // (x * y)
            case "%laneid":
                return threads % _WARP
        if atom.kind is not AtomKind.DEFINITION or atom.at < 0:
            return None
        words = self._view.facts.by_thread(Name(Register(atom.name, atom.scope), atom.at))
        return None if words is None else words.astype(np.int64)


__all__ = ["Bytes", "Meeting", "ThreadOffsets", "bytes_at", "meeting"]
