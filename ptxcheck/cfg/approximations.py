"""Named traces of what the analyses assume or cannot follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ..opcodes.spec import Trait
from .calls import CallSummary
from .cfg import Cfg
from .threads import Lanes


class ApproximationKind(Enum):
    """What kind of knowledge is missing."""

    CALL = "call"
    """A called function may change anything; its results are unknown."""
    OPAQUE = "opaque-instruction"
    """The instruction table does not know an instruction; its operands count as read and written."""
    UNKNOWN_JUMP = "unknown-jump"
    """A jump whose targets are not known goes to every label."""
    IRREDUCIBLE = "irreducible-loop"
    """A cycle with several entries is no loop to the loop analyses."""
    BLOCK_SHAPE = "block-shape"
    """Thread sets take the block as one row of threads, as long as the launch bounds allow."""
    CALLERS = "callers"
    """A device function's threads are taken to enter together."""


@dataclass(frozen=True, slots=True)
class Approximation:
    """One approximation, with the point that causes it where there is one."""

    kind: ApproximationKind
    point: int | None
    text: str


def find(cfg: Cfg, calls: Mapping[int, CallSummary], lanes: Lanes) -> tuple[Approximation, ...]:
    """Return the approximations that the facts of a function rest on."""
    found: list[Approximation] = []
    if not cfg.function.is_entry:
        found.append(Approximation(ApproximationKind.CALLERS, None, "callers of this function are not known"))
    if lanes.is_assumed:
        text = f"the block is taken to be one row of at most {lanes.size} threads"
        found.append(Approximation(ApproximationKind.BLOCK_SHAPE, None, text))
    for point, summary in calls.items():
        text = f"the call of {summary.callee or 'an unknown function'} is not followed"
        found.append(Approximation(ApproximationKind.CALL, point, text))
    for point, instruction in enumerate(cfg.instructions):
        if Trait.ANYTHING in instruction.operation.traits:
            text = instruction.operation.problem or "unknown instruction"
            found.append(Approximation(ApproximationKind.OPAQUE, point, text))
    for point in cfg.graph.unknown_targets:
        found.append(
            Approximation(ApproximationKind.UNKNOWN_JUMP, point, "the targets of this jump are not known")
        )
    for region in cfg.irreducible:
        first = min(cfg.blocks[block].start for block in region)
        found.append(Approximation(ApproximationKind.IRREDUCIBLE, first, "this cycle has several entries"))
    return tuple(found)
