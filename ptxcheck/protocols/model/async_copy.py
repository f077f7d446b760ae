"""What `cp.async`, `st.async` and `red.async` do (PTX ISA, "Non-bulk copy", "st.async", "red.async").

All of them write through the generic proxy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...cfg.optypes import typing_of
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ..symex.values.trace import NotFollowedError
from .actions import (
    Action,
    AsyncArrive,
    Commit,
    Proxy,
    Span,
    Transfer,
    WaitGroup,
)
from .lowering import Lower, Occurrence, nothing

PIPELINE = "cp.async"
_MOST_GROUPS = (1 << 31) - 1


def _copy(occurrence: Occurrence) -> Iterator[Action]:
    size = occurrence.number("size")
    writes = occurrence.spans("dst", size)
    if any(span.start % size for span in writes if span.exact):
        raise NotFollowedError(
            f"a copy of {size} bytes at an address that is no multiple of it", occurrence.point
        )
    if not occurrence.event.certain:
        writes = tuple(_possible(span) for span in writes)
    yield Transfer(occurrence.point, (), PIPELINE, writes=writes, proxy=Proxy.GENERIC)


def _possible(span: Span) -> Span:
    """Return bytes that may be written, and no others."""
    return span if span.start < 0 else Span(span.cta, span.start, 0, exact=False, reach=span.size)


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    increments = not occurrence.operation.has(Mod.NOINC)
    for barrier, threads in occurrence.barriers("addr"):
        yield AsyncArrive(occurrence.point, barrier, threads, increments, PIPELINE)


def _commit(occurrence: Occurrence) -> Iterator[Action]:
    yield Commit(occurrence.point, PIPELINE)


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    yield WaitGroup(occurrence.point, PIPELINE, pending_groups(occurrence))


def pending_groups(occurrence: Occurrence) -> int:
    """Return how many groups a wait may leave. Raises NotFollowedError."""
    pending = occurrence.number("n")
    if pending > _MOST_GROUPS:
        raise NotFollowedError("a wait for groups with a negative number of them", occurrence.point)
    return pending


def _wait_all(occurrence: Occurrence) -> Iterator[Action]:
    yield Commit(occurrence.point, PIPELINE)
    yield WaitGroup(occurrence.point, PIPELINE, 0)


def _store(occurrence: Occurrence) -> Iterator[Action]:
    yield from _remote(occurrence, combines=False)


def _reduce(occurrence: Occurrence) -> Iterator[Action]:
    yield from _remote(occurrence, combines=True)


def _remote(occurrence: Occurrence, *, combines: bool) -> Iterator[Action]:
    """Each thread writes its bytes and completes as many; the forms for global memory have no mbarrier."""
    if not occurrence.has("mbar"):
        return
    vector = occurrence.operation.slots.get("vec", "").removeprefix(".v")
    size = typing_of(occurrence.operation).width // 8 * int(vector or 1)
    for (target, mbar), threads in occurrence.rows("dst", "mbar"):
        yield Transfer(
            occurrence.point,
            ((occurrence.barrier_at(mbar), size * threads),),
            writes=(occurrence.span_at(target, size),),
            proxy=Proxy.GENERIC,
            combines=combines,
        )


MEANINGS: Mapping[Op, Lower] = {
    Op.CP_ASYNC: _copy,
    Op.CP_ASYNC_MBARRIER_ARRIVE: _arrive,
    Op.CP_ASYNC_COMMIT_GROUP: _commit,
    Op.CP_ASYNC_WAIT_GROUP: _wait,
    Op.CP_ASYNC_WAIT_ALL: _wait_all,
    Op.ST_ASYNC: _store,
    Op.RED_ASYNC: _reduce,
    Op.MULTIMEM_ST_ASYNC: nothing,
    Op.MULTIMEM_RED_ASYNC: nothing,
}
