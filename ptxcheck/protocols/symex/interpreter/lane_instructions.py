"""What lanes of a warp give each other: elections, shuffles, votes, and who is active.

Property: a number that a lane is given is the one that PTX gives it, when the lanes of `guard` come to the instruction
together.

Argument: lanes of a warp are taken from the thread set; what a lane brings that is a symbol for all is that symbol.

Not covered: lanes that a member mask names and that come at another time: the results are symbols then; and that lanes
which come to `activemask` in the same way are active there together, which is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ....ir import Instruction, Pair, Register
from ....verdict import AssumptionKind
from ..values import lane_arithmetic as lanes
from ..values.kinds import Kind
from ..values.register_file import lanes_of
from ..values.symbol import WARP, Form, Lanes, Value
from ..values.trace import ThreadSet
from .cta import Cta
from .named_results import ANY, opaque_results

_ACTIVE = "lanes of a warp that come to activemask in the same way are active there together"
_MOVES: Mapping[str, Callable[..., npt.NDArray[np.int64]]] = {
    ".up": np.subtract,
    ".down": np.add,
    ".bfly": np.bitwise_xor,
}


def elect(cta: Cta, _: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`elect.sync`: the lowest active lane of each warp leads, or the highest (the ISA only fixes that it is one)."""
    leaders: ThreadSet = 0
    chosen = np.zeros(cta.threads, dtype=np.uint64)
    for warp in range(0, cta.threads, 32):
        active = guard >> warp & 0xFFFFFFFF
        if active:
            lane = active.bit_length() - 1 if cta.options.elects_last else (active & -active).bit_length() - 1
            leaders |= 1 << lane + warp
            chosen[warp : warp + 32] = lane
    result = instruction.operands[0]
    targets = (result.first, result.second) if isinstance(result, Pair) else (result,)
    if isinstance(targets[-1], Register):
        holds = lanes_of(leaders, cta.threads).astype(np.uint64)
        cta.registers.write(targets[-1], guard, holds)
    if len(targets) == 2 and isinstance(targets[0], Register):
        cta.registers.write(targets[0], guard, chosen)


def _is_parted(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> bool:
    """Tell whether lanes get what others bring that are not there: no number is known then."""
    if point not in cta.program.member_masks or not cta.parted.threads(point, guard):
        return False
    _write_parted(cta, point, instruction, guard)
    return True


def _write_parted(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    cta.write_opaque(instruction, guard, Kind.PARTED, point, cta.visits.count(("parted", point)), differs=ANY)


def shuffle(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    if _is_parted(cta, point, instruction, guard):
        return
    target, source, lane, *rest = instruction.operands
    value, index = cta.operands.value(source, guard), cta.operands.value(lane, guard)
    result: Value
    if isinstance(value, int) or (isinstance(value, Form) and not value.differs):
        result = value
    elif instruction.operation.has(".idx") and not isinstance(index, Form):
        result = _from_lane(cta, value, index, cta.operands.value(rest[0], guard) if rest else 31)
    else:
        result = lanes.opaque(Kind.SHFL, *instruction.operation.modifiers, value, index, differs=ANY)
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    inside: Value = (
        1 if instruction.operation.has(".idx") else lanes.opaque(Kind.IN_RANGE, value, differs=ANY)
    )
    source_lanes = _source_lanes(cta, instruction, index, cta.operands.value(rest[0], guard) if rest else 31)
    if source_lanes is not None and not isinstance(value, Form):
        result = lanes.as_lanes(value, cta.threads)[source_lanes[0]]
        inside = lanes.settle(source_lanes[1])
    for each, held in zip(targets, (lanes.settle(result), inside), strict=False):
        if isinstance(each, Register):
            cta.registers.write(each, guard, held)


def _from_lane(cta: Cta, value: Value, index: Value, clamp: Value) -> Value:
    """The value of a lane of the same warp, or of the same segment of it."""
    if isinstance(value, Form):
        if isinstance(index, int) and clamp == 31:
            return lanes.opaque(Kind.LANE, index & 31, value, differs=value.differs & WARP)
        return lanes.opaque(Kind.SHFL, value, index, clamp, differs=ANY)
    if not isinstance(clamp, int) or clamp & 31 != 31 or isinstance(index, Form):
        return lanes.opaque(Kind.SHFL, value, index, clamp, differs=ANY)
    segment = clamp >> 8 & 31
    every = np.arange(cta.threads, dtype=np.int64)
    wanted = lanes.as_lanes(index, cta.threads).astype(np.int64) & 31
    source = every // 32 * 32 + (every % 32 & segment) + (wanted & (31 & ~segment))
    held: Lanes = lanes.as_lanes(value, cta.threads)[np.minimum(source, cta.threads - 1)]
    return held


def _source_lanes(
    cta: Cta, instruction: Instruction, index: Value, clamp: Value
) -> tuple[npt.NDArray[np.int64], Lanes] | None:
    """Return the threads that lanes get numbers from, and whether each is in range (PTX ISA §9.7.9.6, "shfl.sync")."""
    move = _MOVES.get(next((each for each in instruction.operation.modifiers if each in _MOVES), ""))
    if move is None or not isinstance(clamp, int) or isinstance(index, Form):
        return None
    every = np.arange(cta.threads, dtype=np.int64)
    lane, by = every % 32, lanes.as_lanes(index, cta.threads).astype(np.int64) & 31
    segment = clamp >> 8 & 31
    last = (lane & segment) | (clamp & 31 & ~segment)
    wanted = move(lane, by)
    inside = wanted >= last if move is np.subtract else wanted <= last
    source = every - lane + np.where(inside, wanted, lane)
    return np.clip(source, 0, cta.threads - 1), inside.astype(np.uint64)


def vote(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`vote`: what the active lanes of a warp say together."""
    target, source, *_ = instruction.operands
    if not isinstance(target, Register):
        opaque_results(cta, point, instruction, guard)
        return
    if _is_parted(cta, point, instruction, guard):
        return
    value = cta.operands.value(source, guard)
    operation = instruction.operation
    if isinstance(value, Form):
        kind = next((m for m in (".any", ".all", ".uni", ".ballot") if operation.has(m)), "")
        uniform = not value.differs and kind in (".any", ".all")
        result: Value = (
            value if uniform else lanes.opaque(Kind.VOTE, kind, value, differs=value.differs & WARP)
        )
        if not uniform and not value.differs and kind == ".uni":
            result = 1
        cta.registers.write(target, guard, result)
        return
    holds = lanes.as_lanes(value, cta.threads)
    answers = np.zeros(cta.threads, dtype=np.uint64)
    for warp in range(0, cta.threads, 32):
        active = guard >> warp & 0xFFFFFFFF
        said = sum(1 << n for n, each in enumerate(holds[warp : warp + 32].tolist()) if each & 1) & active
        if operation.has(".ballot"):
            answer = said
        elif operation.has(".any"):
            answer = int(said != 0)
        elif operation.has(".all"):
            answer = int(said == active)
        else:
            answer = int(said in (0, active))
        answers[warp : warp + 32] = answer
    cta.registers.write(target, guard, lanes.settle(answers))


def active_mask(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`activemask`: the lanes that are here together are taken to be active together, which PTX does not promise.

    Where they have been on different sides of a branch, and have met nowhere since, that is not taken.
    """
    if point in cta.program.lanes_apart:
        _write_parted(cta, point, instruction, guard)
        return
    cta.assume(AssumptionKind.ACTIVE_LANES, _ACTIVE, point)
    masks = np.zeros(cta.threads, dtype=np.uint64)
    for warp in range(0, cta.threads, 32):
        masks[warp : warp + 32] = guard >> warp & 0xFFFFFFFF
    target = instruction.operands[0]
    if isinstance(target, Register):
        cta.registers.write(target, guard, lanes.settle(masks))
