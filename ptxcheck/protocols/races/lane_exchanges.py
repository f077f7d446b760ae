"""What lanes of a warp give each other: shuffles, votes, matches and reductions of registers.

Property: `exchanged` gives in each lane of `active` what the PTX ISA says (9.7.9.6, 9.7.14.10, 9.7.14.11, 9.7.14.13)
where the lanes of `active` that a mask names execute the instruction together.

Argument: the definitions, on arrays of 32 lanes a row. A lane that reads from one which is not active gets its own
number: the ISA leaves it open.

Not covered: `elect`, `activemask`, floating-point reductions: None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ...cfg.optypes import typing_of
from ...ir import Instruction
from ...opcodes.op import Op
from .lane_integers import Lanes, number, signed, truth, unsigned

WARP = 32
Active = npt.NDArray[np.bool_]
EXCHANGES = frozenset({Op.SHFL_SYNC, Op.VOTE_SYNC, Op.MATCH_SYNC, Op.REDUX_SYNC})
_LANE = np.arange(WARP, dtype=np.int64)


def exchanged(
    instruction: Instruction, sources: Sequence[Lanes], mask: Lanes, active: Active
) -> tuple[Lanes, Lanes] | None:
    """Return what each lane gets, and the second destination (a predicate); None where that is not known."""
    match instruction.operation.op:
        case Op.SHFL_SYNC:
            return _shuffled(instruction, sources, active)
        case Op.VOTE_SYNC:
            return _voted(instruction, sources[0], mask, active)
        case Op.MATCH_SYNC:
            return _matched(instruction, sources[0], mask, active)
        case Op.REDUX_SYNC:
            return _reduced(instruction, sources[0], mask, active)
        case _:
            return None


def _shuffled(instruction: Instruction, sources: Sequence[Lanes], active: Active) -> tuple[Lanes, Lanes]:
    value, offset, bounds = (np.asarray(each).reshape(-1, WARP) for each in sources)
    lane = np.broadcast_to(_LANE, value.shape)
    by = (offset & number(31)).view(np.int64)
    clamp, segment = (bounds & number(31)).view(np.int64), (bounds >> number(8) & number(31)).view(np.int64)
    most, least = (lane & segment) | (clamp & ~segment), lane & segment
    match instruction.operation.slots["mode"]:
        case ".up":
            source = lane - by
            there = source >= most
        case ".down":
            source = lane + by
            there = source <= most
        case ".bfly":
            source = lane ^ by
            there = source <= most
        case _:
            source = least | (by & ~segment)
            there = source <= most
    source = np.where(there, source, lane)
    running = np.take_along_axis(active.reshape(-1, WARP), source, axis=1)
    source = np.where(running, source, lane)
    return np.take_along_axis(value, source, axis=1).reshape(-1), truth(there).reshape(-1)


def _members(mask: Lanes, active: Active) -> Active:
    """Return for each lane which of its warp take part with it."""
    named = (np.asarray(mask).reshape(-1, WARP, 1) >> _LANE.astype(np.uint64)) & number(1) != number(0)
    found: Active = named & active.reshape(-1, 1, WARP)
    return found


def _bits(chosen: Active) -> Lanes:
    found: Lanes = (
        (chosen.astype(np.uint64) << _LANE.astype(np.uint64)).sum(axis=2, dtype=np.uint64).reshape(-1)
    )
    return found


def _voted(instruction: Instruction, value: Lanes, mask: Lanes, active: Active) -> tuple[Lanes, Lanes]:
    typing, members = typing_of(instruction.operation), _members(mask, active)
    ayes = members & (np.asarray(value).reshape(-1, 1, WARP) != number(0))
    if typing.has(".ballot"):
        found = _bits(ayes)
    else:
        any_, all_ = ayes.any(axis=2).reshape(-1), (ayes == members).all(axis=2).reshape(-1)
        found = truth(any_ if typing.has(".any") else all_ if typing.has(".all") else all_ | ~any_)
    return found, found


def _matched(instruction: Instruction, value: Lanes, mask: Lanes, active: Active) -> tuple[Lanes, Lanes]:
    members = _members(mask, active)
    rows = np.asarray(value).reshape(-1, WARP)
    alike = members & (rows[:, :, None] == rows[:, None, :])
    if typing_of(instruction.operation).has(".any"):
        return _bits(alike), truth(active)
    all_ = (alike == members).all(axis=2).reshape(-1)
    return np.where(all_, _bits(members), number(0)), truth(all_)


def _reduced(
    instruction: Instruction, value: Lanes, mask: Lanes, active: Active
) -> tuple[Lanes, Lanes] | None:
    typing = typing_of(instruction.operation)
    if not typing.is_integer:
        return None
    members = _members(mask, active)
    wide = signed(value, typing.width) if typing.signed else np.asarray(value).view(np.int64)
    rows = np.broadcast_to(wide.reshape(-1, 1, WARP), members.shape)
    functions: dict[str, tuple[Callable[..., npt.NDArray[np.int64]], int]] = {
        ".add": (np.add.reduce, 0), ".or": (np.bitwise_or.reduce, 0), ".xor": (np.bitwise_xor.reduce, 0),
        ".and": (np.bitwise_and.reduce, -1), ".min": (np.minimum.reduce, (1 << 62)),
        ".max": (np.maximum.reduce, -(1 << 62)),
    }  # fmt: skip
    function, neutral = next(found for name, found in functions.items() if typing.has(name))
    total = function(np.where(members, rows, np.int64(neutral)), axis=2).reshape(-1)
    found = unsigned(np.ascontiguousarray(total), typing.width)
    return found, found
