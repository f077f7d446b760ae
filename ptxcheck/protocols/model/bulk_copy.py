"""What bulk and tensor copies do (PTX ISA, "Data Movement: Asynchronous copy")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from ...isa.modifier import Mod
from ...opcodes.op import Op
from ..symex.values.known_bits import known_bits
from ..symex.values.symbol import Atom, Form, atom, times
from ..symex.values.trace import PARAM_WINDOW
from .actions import (
    Action,
    Amount,
    Barrier,
    Commit,
    CopyFault,
    Span,
    Transfer,
    WaitGroup,
)
from .async_copy import pending_groups
from .equations import BOX
from .lowering import Lower, Occurrence, nothing
from .mbarrier import scaled

PIPELINE = "bulk"
LEAST_BYTES = 16
"""Bytes that every copy moves at its start: sizes and inner extents of boxes are multiples of this."""
_WHOLE = LEAST_BYTES.bit_length() - 1
_ROWS_OF_A_GATHER = 4
Faults: TypeAlias = "tuple[tuple[CopyFault, str], ...]"


def _copy(occurrence: Occurrence) -> Iterator[Action]:
    """A bulk copy or reduction between memories."""
    amount = occurrence.amount("size")
    if isinstance(amount, int) and amount % LEAST_BYTES:
        text = f"a copy of {amount} bytes, which is no multiple of {LEAST_BYTES}"
        yield from _move(occurrence, amount, ((CopyFault.SIZE, text),))
    else:
        is_open = isinstance(amount, Form) and not _is_whole(amount)
        yield from _move(occurrence, amount, open_size=str(amount) if is_open else "")


def _is_whole(amount: Form) -> bool:
    """Tell whether a symbol is a multiple of 16 whatever its parts are."""
    return not amount.constant % LEAST_BYTES and all(
        _trailing_zeros(name, factor) >= _WHOLE for name, factor in amount.terms
    )


def _trailing_zeros(name: Atom, factor: int) -> int:
    """Return how many low bits of a term are certainly 0."""
    ones, known = known_bits(name)
    open_bits = ~known | ones
    return (open_bits & -open_bits).bit_length() - 1 + (factor & -factor).bit_length() - 1


def _tensor(occurrence: Occurrence) -> Iterator[Action]:
    """A copy or reduction of one box of a tensor map."""
    yield from _move(occurrence, _box(occurrence))


def _box(occurrence: Occurrence) -> Form | int:
    """Return the symbol of the bytes of one box of the tensor map that a copy names."""
    address = occurrence.event.operands["tensor_map"]
    if isinstance(address, Form):
        box = atom(BOX, str(address))
    else:
        place = occurrence.number("tensor_map")
        box = atom(BOX, f"param+{place & 0xFFFF}" if place & PARAM_WINDOW else f"global+{place:#x}")
    gathers = occurrence.operation.slots.get("mode", "") in _MANY_ROWS
    return times(box, _ROWS_OF_A_GATHER) if gathers else box


_MANY_ROWS = frozenset({".tile::gather4", ".tile::scatter4"})


def _move(
    occurrence: Occurrence, amount: Amount, amiss: Faults = (), *, open_size: str = ""
) -> Iterator[Action]:
    """Yield the copies of all threads; `amiss` is what is wrong with each of them."""
    amiss = (*amiss, *_misplaced(_sources(occurrence)))
    copy = Transfer(
        occurrence.point, (), "" if occurrence.has("mbar") else PIPELINE, reads=_source(occurrence, amount),
        faults=amiss, open_size=open_size,
    )  # fmt: skip
    if not occurrence.has("mbar"):
        yield copy
        return
    if isinstance(occurrence.event.operands["dst"], Form):
        yield from _into_unknown_place(occurrence, amount, copy)
        return
    combines = occurrence.operation.op is Op.CP_REDUCE_ASYNC_BULK
    for (target, mbar), threads in occurrence.rows("dst", "mbar"):
        into, barrier = _place(occurrence, target, amount), occurrence.barrier_at(mbar)
        faults = _once((*amiss, *_misplaced((target,)), *_misdirected(occurrence, into, barrier)))
        for rank, signalled in _targets(occurrence, barrier):
            cta = into.cta if rank is None else rank
            span = Span(cta, into.start, into.size, into.exact)
            yield replace(
                copy, completes=((signalled, scaled(amount, threads)),), writes=(span,), combines=combines,
                faults=faults,
            )  # fmt: skip


def _once(faults: Faults) -> Faults:
    return tuple(dict.fromkeys(faults))


def _misplaced(addresses: Iterable[int]) -> Iterator[tuple[CopyFault, str]]:
    """Yield what is wrong with where a copy starts to read or write shared memory."""
    for address in addresses:
        if address % LEAST_BYTES:
            behind = f"{address % LEAST_BYTES} bytes behind a multiple of {LEAST_BYTES}"
            yield CopyFault.ADDRESS, f"a copy from or to shared memory starts {behind}"
            return


def _misdirected(occurrence: Occurrence, into: Span, barrier: Barrier) -> Iterator[tuple[CopyFault, str]]:
    """Yield what is wrong where the mbarrier is not in the CTA that is written, or the sender's own is written.

    With `.cta_group::2` the mbarrier may be in either CTA of the pair.
    """
    operation = occurrence.operation
    together = 1 if operation.has(Mod.CTA_GROUP_2) else 0
    if into.cta | together != barrier.cta | together:
        yield CopyFault.SIGNAL, f"a copy into CTA {into.cta} that signals an mbarrier of CTA {barrier.cta}"
    is_sent = operation.slots.get("src_space", "").startswith(".shared")
    if is_sent and into.cta == occurrence.rank:
        yield CopyFault.OWN_CTA, "a copy from shared memory into that of the same CTA"


def _into_unknown_place(occurrence: Occurrence, amount: Amount, copy: Transfer) -> Iterator[Action]:
    for barrier, threads in occurrence.barriers("mbar"):
        for rank, signalled in _targets(occurrence, barrier):
            cta = occurrence.rank if rank is None else rank
            span = Span(cta, -1, LEAST_BYTES, exact=False)
            yield replace(copy, completes=((signalled, scaled(amount, threads)),), writes=(span,))


def _source(occurrence: Occurrence, amount: Amount) -> tuple[Span, ...]:
    """Return the bytes of shared memory that a copy reads."""
    if _reads_shared(occurrence) and isinstance(occurrence.event.operands["src"], Form):
        return (Span(occurrence.rank, -1, LEAST_BYTES, exact=False),)
    return tuple(_place(occurrence, address, amount) for address in _sources(occurrence))


def _sources(occurrence: Occurrence) -> tuple[int, ...]:
    """Return the addresses of shared memory that a copy reads from, where they are known."""
    if not _reads_shared(occurrence) or isinstance(occurrence.event.operands["src"], Form):
        return ()
    return tuple(address for (address,), _ in occurrence.rows("src"))


def _reads_shared(occurrence: Occurrence) -> bool:
    if not occurrence.operation.slots.get("src_space", ".shared").startswith(".shared"):
        return False
    return occurrence.has("src") and not (occurrence.has("mbar") and occurrence.has("tensor_map"))


def _place(occurrence: Occurrence, address: int, amount: Amount) -> Span:
    """Return the bytes that a copy moves; one at a misaligned address is followed as if it started in front of that."""
    address -= address % LEAST_BYTES
    if isinstance(amount, Form):
        return occurrence.span_at(address, LEAST_BYTES, exact=False)
    return occurrence.span_at(address, amount)


def _targets(occurrence: Occurrence, barrier: Barrier) -> Iterator[tuple[int | None, Barrier]]:
    """Yield each CTA that a multicast writes and the mbarrier it signals there; no CTA when it is no multicast."""
    if not occurrence.has("mask"):
        yield None, barrier
        return
    pair = occurrence.operation.has(Mod.CTA_GROUP_2)
    for rank in occurrence.ranks(occurrence.number("mask")):
        yield rank, Barrier(rank & ~1 | barrier.cta & 1 if pair else rank, barrier.offset)


def _commit(occurrence: Occurrence) -> Iterator[Action]:
    yield Commit(occurrence.point, PIPELINE)


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    """A wait that orders the async proxy alone counts as one for source reads."""
    read = occurrence.operation.has(Mod.READ) or "restrict" in occurrence.operation.slots
    yield WaitGroup(occurrence.point, PIPELINE, pending_groups(occurrence), read)


MEANINGS: Mapping[Op, Lower] = {
    Op.CP_ASYNC_BULK: _copy,
    Op.CP_REDUCE_ASYNC_BULK: _copy,
    Op.MULTIMEM_CP_ASYNC_BULK: _copy,
    Op.MULTIMEM_CP_REDUCE_ASYNC_BULK: _copy,
    Op.CP_ASYNC_BULK_TENSOR: _tensor,
    Op.CP_REDUCE_ASYNC_BULK_TENSOR: _tensor,
    Op.CP_ASYNC_BULK_PREFETCH: nothing,
    Op.CP_ASYNC_BULK_PREFETCH_TENSOR: nothing,
    Op.APPLYPRIORITY_ASYNC_BULK: nothing,
    Op.CP_ASYNC_BULK_COMMIT_GROUP: _commit,
    Op.CP_ASYNC_BULK_WAIT_GROUP: _wait,
}
