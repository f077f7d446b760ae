"""What asynchronous matrix multiplication of a warpgroup does (PTX ISA, "wgmma").

It reads shared memory through the async proxy until its group is complete. The fence of the family orders
registers, and nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...opcodes.op import Op
from .actions import (
    Action,
    Commit,
    Transfer,
    WaitGroup,
)
from .lowering import Lower, Occurrence, nothing
from .matrix_operands import WGMMA, operand_spans

PIPELINE = "wgmma"


def _multiply(occurrence: Occurrence) -> Iterator[Action]:
    reads = tuple(operand_spans(occurrence, WGMMA, ("a_desc", "b_desc"), (occurrence.rank,)))
    yield Transfer(occurrence.point, (), PIPELINE, reads=reads)


def _commit(occurrence: Occurrence) -> Iterator[Action]:
    yield Commit(occurrence.point, PIPELINE)


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    yield WaitGroup(occurrence.point, PIPELINE, max(occurrence.number("n"), 0))


MEANINGS: Mapping[Op, Lower] = {
    Op.WGMMA_MMA_ASYNC: _multiply,
    Op.WGMMA_MMA_ASYNC_SP: _multiply,
    Op.WGMMA_COMMIT_GROUP: _commit,
    Op.WGMMA_WAIT_GROUP: _wait,
    Op.WGMMA_FENCE: nothing,
}
