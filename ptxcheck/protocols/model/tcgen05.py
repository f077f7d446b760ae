"""What tcgen05 instructions do to shared memory and mbarriers (PTX ISA, "TensorCore 5th Generation").

Multiplications and copies read shared memory through the async proxy; a commit arrives when all earlier ones of its
thread are done. Loads and stores of tensor memory are work of a warp, which its waits end; the warp comes together for
them. Deallocation touches all columns at once; for a pair of CTAs, the columns of both: the hardware may wait for the
peer with it, or not (PTX ISA §9.7.17.5). An allocation for a pair is noted, as neither CTA may free before both have
theirs.

Fences around thread synchronisation are noted: mbarriers and barriers order the same in released kernels without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...isa.modifier import Mod
from ...opcodes.op import Op
from . import tensor_columns
from .actions import (
    TENSOR_CORE,
    TENSOR_LOADS,
    TENSOR_STORES,
    Access,
    Action,
    AsyncArrive,
    Barrier,
    Columns,
    Fence,
    TensorAccess,
    TensorFence,
    TensorWait,
    Transfer,
)
from .lowering import Lower, Occurrence, nothing
from .matrix_operands import TCGEN05, operand_spans
from .tensor_columns import Multiplication, ctas_of
from .warp import meeting

_ADDRESS_BYTES = 4


def _read(occurrence: Occurrence) -> Transfer:
    names = ("a_desc", "b_desc", "s_desc")
    reads = tuple(operand_spans(occurrence, TCGEN05, names, ctas_of(occurrence)))
    return Transfer(occurrence.point, (), TENSOR_CORE, reads=reads)


def _multiply(occurrence: Occurrence) -> Iterator[Action]:
    yield _read(occurrence)
    product = Multiplication(occurrence)
    yield TensorAccess(occurrence.point, TENSOR_CORE, product.reads(), product.writes(), product.fault())


def _copy(occurrence: Occurrence) -> Iterator[Action]:
    yield _read(occurrence)
    yield TensorAccess(occurrence.point, TENSOR_CORE, writes=tensor_columns.copied(occurrence))


def _shift(occurrence: Occurrence) -> Iterator[Action]:
    yield TensorAccess(occurrence.point, TENSOR_CORE, writes=tensor_columns.shifted(occurrence))


def _commit(occurrence: Occurrence) -> Iterator[Action]:
    for barrier, threads in occurrence.barriers("mbar"):
        if not occurrence.has("mask"):
            yield AsyncArrive(occurrence.point, barrier, threads, pipeline=TENSOR_CORE)
            continue
        for rank in occurrence.ranks(occurrence.number("mask")):
            yield AsyncArrive(occurrence.point, Barrier(rank, barrier.offset), threads, pipeline=TENSOR_CORE)


def _allocate(occurrence: Occurrence) -> Iterator[Action]:
    """The address is written to shared memory once for the warp, and no lane goes on before."""
    if occurrence.leads:
        yield Access(occurrence.point, writes=occurrence.spans("dst", _ADDRESS_BYTES), blocks=True)
        yield TensorAccess(occurrence.point, "", writes=tensor_columns.made(occurrence), allocates=True)
    yield from _together(occurrence)


def _load(occurrence: Occurrence) -> Iterator[Action]:
    fault = tensor_columns.fault_of_move(occurrence)
    yield from _by_warp(occurrence, TENSOR_LOADS, reads=tensor_columns.moved(occurrence), fault=fault)


def _store(occurrence: Occurrence) -> Iterator[Action]:
    fault = tensor_columns.fault_of_move(occurrence)
    yield from _by_warp(occurrence, TENSOR_STORES, writes=tensor_columns.moved(occurrence), fault=fault)


def _deallocate(occurrence: Occurrence) -> Iterator[Action]:
    fault = tensor_columns.fault_of_free(occurrence)
    yield from _by_warp(occurrence, "", writes=tensor_columns.freed(occurrence), fault=fault)


def _fence(occurrence: Occurrence) -> Iterator[Action]:
    is_before = occurrence.operation.has(Mod.BEFORE_THREAD_SYNC)
    yield Fence(occurrence.point, tensor=TensorFence.BEFORE_SYNC if is_before else TensorFence.AFTER_SYNC)


def _by_warp(
    occurrence: Occurrence,
    pipeline: str,
    reads: tuple[Columns, ...] = (),
    writes: tuple[Columns, ...] = (),
    fault: str = "",
) -> Iterator[Action]:
    """One access of a warp, by the strand of its first lane; the others come together with it."""
    yield from _together(occurrence)
    if occurrence.leads:
        yield TensorAccess(occurrence.point, pipeline, reads, writes, fault)


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    if occurrence.leads:
        pipeline = TENSOR_LOADS if occurrence.operation.has(Mod.WAIT_LD) else TENSOR_STORES
        yield TensorWait(occurrence.point, pipeline)
    yield from _together(occurrence)


def _together(occurrence: Occurrence) -> Iterator[Action]:
    """All lanes execute the instruction together, which orders no memory; nothing for a warp that is one strand."""
    together = meeting(occurrence, orders=False)
    if together.needed > together.threads:
        yield together


MEANINGS: Mapping[Op, Lower] = {
    Op.TCGEN05_MMA: _multiply,
    Op.TCGEN05_MMA_SP: _multiply,
    Op.TCGEN05_MMA_WS: _multiply,
    Op.TCGEN05_MMA_WS_SP: _multiply,
    Op.TCGEN05_CP: _copy,
    Op.TCGEN05_COMMIT: _commit,
    Op.TCGEN05_ALLOC: _allocate,
    Op.TCGEN05_DEALLOC: _deallocate,
    Op.TCGEN05_RELINQUISH_ALLOC_PERMIT: nothing,
    Op.TCGEN05_SHIFT: _shift,
    Op.TCGEN05_LD: _load,
    Op.TCGEN05_LD_RED: _load,
    Op.TCGEN05_ST: _store,
    Op.TCGEN05_WAIT: _wait,
    Op.TCGEN05_FENCE: _fence,
}
