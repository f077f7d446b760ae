"""Whether what a kernel reads from global memory is in order behind what others write there, and what is open of that.

Property: `global-order` is proved where no thread can be told of what another CTA has written, no copy out is read
back while it may be under way, and nothing is read in front of `griddepcontrol.wait`. Where arrays are handed over in
order, it assumes that the word tells of all that is read; where something is read in front of the wait, that the kernel
in front does not write it. It is violated where something is certainly missing on the way (`global_handover`).

Argument: CTAs start in any order, and nothing but a word in global memory tells one what another has done. So order
among CTAs matters where a word is observed that some thread of the grid writes, and some array is written in front of
such a write and read behind such an observation.

Not covered: arrays that are read and written with no such word, but for those that all CTAs read alike; weak loads that
are repeated until a word changes; two pointers into one memory; copies that are read back in another role than the one
that copies out, as maps that roles choose in loops are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...verdict import AssumptionSource, Property, Reason, Verdict, VerdictKind
from .dependent_launch import DependentLaunch
from .global_arrays import ANYWHERE, GlobalAccess, GlobalArrays
from .global_handover import Gap, GlobalHandovers, Missing
from .global_ways import GlobalWays

if TYPE_CHECKING:
    from ...view import KernelView


def global_order_verdict(view: KernelView) -> Verdict | None:
    """Return the verdict; None for a kernel in which nothing could be out of order."""
    return GlobalOrder(view).verdict()


class GlobalOrder:
    """What is read from global memory behind writes of others, in one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._accesses = view.get(GlobalArrays).accesses
        self._dependent = view.get(DependentLaunch)

    def verdict(self) -> Verdict | None:
        """Return the verdict; None for a kernel in which nothing could be out of order."""
        is_asked = self._dependent.waits or any(map(_is_copy_out, self._accesses))
        handovers = self._view.get(GlobalHandovers)
        if not (is_asked or handovers.words or handovers.all):
            return None
        wrong, open_, taken = self._handed_over()
        if wrong:
            return Verdict(Property.GLOBAL_ORDER, VerdictKind.VIOLATED, tuple(dict.fromkeys(wrong)))
        open_ += self._read_back()
        if open_:
            return Verdict(Property.GLOBAL_ORDER, VerdictKind.UNKNOWN, tuple(dict.fromkeys(open_)))
        taken += self._early() if self._dependent.waits else ()
        kind = VerdictKind.ASSUMES if taken else VerdictKind.PROVED
        return Verdict(Property.GLOBAL_ORDER, kind, tuple(dict.fromkeys(taken)))

    def _handed_over(self) -> tuple[list[Reason], list[Reason], list[Reason]]:
        """Return what is wrong, what is open, and what is taken for granted, of what is handed to other CTAs."""
        wrong: list[Reason] = []
        open_: list[Reason] = []
        taken: list[Reason] = []
        for each in self._view.get(GlobalHandovers).all:
            for gap in each.gaps:
                (wrong if gap.certain else open_).append(Reason(gap_text(gap), gap_point(gap)))
            if not each.gaps:
                text = f"who reads {names(each.read)} knows by {names(each.word)} that all of it has been written"
                taken.append(Reason(text, each.read.point, source=AssumptionSource.ENVIRONMENT))
        return wrong, open_, taken

    def _read_back(self) -> Iterator[Reason]:
        """Yield reads of arrays to which copies may be under way, or of which other threads may not know the end."""
        ways = self._view.get(GlobalWays)
        for copy in filter(_is_copy_out, self._accesses):
            for read in self._accesses:
                if not read.reads or read.is_atomic or not copy.may_meet(read):
                    continue
                if not self._view.cfg.reaches(copy.point, read.point):
                    continue
                if not ways.is_awaited(copy.point, read.point):
                    text = f"a copy to {names(copy)} may be under way when this reads it: its writing is not waited for"
                    yield Reason(text, read.point)
                elif not self._is_met(copy.point, read.point, ways):
                    text = f"other threads than the one that waits for the copy to {names(copy)} read it here"
                    yield Reason(text, read.point)

    def _is_met(self, copy: int, read: int, ways: GlobalWays) -> bool:
        """Tell whether who reads has waited for a copy itself, or has met who has."""
        if ways.are_of_one_thread(copy, read):
            return True
        behind = frozenset(
            point for point in ways.meetings_of(copy, read) if self._view.cfg.reaches(copy, point)
        )
        return not ways.is_open(None, read, behind) and not ways.is_open(copy, read, behind)

    def _early(self) -> Iterator[Reason]:
        """Yield what is taken of the kernel in front, which may not have ended when this accesses global memory."""
        ways = self._view.get(GlobalWays)
        for each in self._accesses:
            if not ways.is_open(None, each.point, self._dependent.waits):
                continue
            other, this = ("use", "written") if each.writes else ("write", "read")
            text = f"the kernel in front does not {other} {names(each)}, which is {this} with no "
            yield Reason(f"{text}griddepcontrol.wait before", each.point, source=AssumptionSource.HOST)


def gap_point(gap: Gap) -> int:
    """Return where a gap is told: at the word, or at the read, in front of which something is missing."""
    return gap.data.point if gap.missing in _IN_FRONT_OF_READS else gap.word.point


def gap_text(gap: Gap) -> str:
    """Say what is missing on the way from a write to its word, or from a word to what is read behind it."""
    data, word = names(gap.data), names(gap.word)
    match gap.missing:
        case Missing.WRITERS_BARRIER:
            return f"{word} tells other CTAs that {data} is written, with no barrier behind the writes of other threads"
        case Missing.RELEASE:
            return f"{word} tells other CTAs that {data} is written, with no release or fence of the scope of the GPU"
        case Missing.WRITING_WAIT:
            return f"{word} tells other CTAs that {data} is written, with no wait for the writing of the copy to it"
        case Missing.READERS_BARRIER:
            return (
                f"threads read {data} that do not observe {word}, with no barrier behind the thread that does"
            )
        case Missing.ACQUIRE:
            return f"{data} is read behind {word} with no acquire or fence of the scope of the GPU between"
        case Missing.WORD:
            return f"{data} is written here, and nothing behind tells other CTAs, which read it"
        case Missing.OBSERVATION:
            return f"{data} is read here, which other CTAs write, and nothing in front tells of that"
        case Missing.COHERENCE:
            return f"{data} is read by ld.global.nc, which may give old data, and written in the same kernel"
        case Missing.EFFORT:
            return f"{data} is handed to other CTAs on more ways than are looked at"
        case Missing.ROLES if gap.data.writes:
            return f"{data} is written and {word} tells of it in different roles, whose order is not followed"
        case _:
            return f"{data} is read and {word} is observed in different roles, whose order is not followed"


def names(*accesses: GlobalAccess) -> str:
    """Return the arrays of some accesses as they are written in messages."""
    arrays = sorted({array for access in accesses for array in access.arrays})
    written = [str(each) if each == ANYWHERE else f"`{each}`" for each in arrays]
    return " or ".join(written) or str(ANYWHERE)


_IN_FRONT_OF_READS = frozenset({Missing.READERS_BARRIER, Missing.ACQUIRE})


def _is_copy_out(access: GlobalAccess) -> bool:
    return access.is_asynchronous and access.writes
