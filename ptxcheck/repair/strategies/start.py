"""Start where the rank of a warp or of a CTA says, or at no more than there is to do: all roles start at one place."""

from __future__ import annotations

from collections.abc import Iterator

from ...cfg.uniform import Uniformity
from ...ir import Immediate, Register
from ...opcodes.op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest
from ..slices import feeding, is_set, loop_tests
from ..subject import Subject

_RANKED = frozenset({Uniformity.CLUSTER, Uniformity.CTA, Uniformity.WARPGROUP, Uniformity.WARP})
_MOST_RANK = 32
"""Warps of a CTA; CTAs of a cluster are fewer."""
_MOST = 3
"""Registers with a rank, or with a bound, that are tried for one start."""
_WIDTH = 32


def change_start(subject: Subject) -> Iterator[Patch]:
    """Yield, for each constant that a register starts with, the rank of the own warp or CTA, and a bound of a loop."""
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    for far, point in enumerate(nearest(_starts(subject), subject.around)):
        instruction = view.body.instructions[point]
        (register,) = instruction.writes()
        value = instruction.operands[-1]
        assert isinstance(value, Immediate)
        texts = [
            text
            for rank in _ranks(subject, point)
            for text in _from_rank(register.name, rank.name, value.value)
        ]
        texts += [
            f"min.u32 {register.name}, {bound.name}, {value.value};"
            for bound in (_bounds(subject, point) if value.value > 1 else ())
        ]
        for more, text in enumerate(texts):
            cost = 4 + min(far // 4, 3) + more // 2
            edits = [writer.rewritten(point, text)]
            yield combined("start", f"start with '{text}'", cost, edits, needs_proof=True)


def _starts(subject: Subject) -> tuple[int, ...]:
    """Return where a register that synchronisation depends on is set to a constant."""
    instructions = subject.view.body.instructions
    return tuple(
        point
        for point in feeding(subject.view)
        if instructions[point].operation.op is Op.MOV
        and instructions[point].guard is None
        and isinstance(instructions[point].operands[-1], Immediate)
    )


def _from_rank(register: str, rank: str, value: int) -> Iterator[str]:
    if value in (0, 1):
        yield f"xor.b32 {register}, {rank}, 1;"
        yield f"sub.u32 {register}, {rank}, 1;"
        yield f"mov.u32 {register}, {rank};"
    else:
        yield f"mov.u32 {register}, {value}; shl.b32 {register}, {register}, {rank};"


def _ranks(subject: Subject, point: int) -> list[Register]:
    """Return registers that tell warps, or the CTAs of a cluster, apart at a point; those nearest above it first."""
    view = subject.view
    found: dict[Register, None] = {}
    for place in range(point - 1, -1, -1):
        for register in view.body.instructions[place].writes():
            if place in view.facts.definitions(point, register) and view.cfg.dominates(place, point):
                low, high = view.facts.range(point, register)
                is_number = 0 <= low < high < _MOST_RANK
                if is_number and view.facts.uniform(point, register) in _RANKED:
                    found[register] = None
    return [register for register in found if _width(subject, point, register) == _WIDTH][:_MOST]


def _width(subject: Subject, point: int, register: Register) -> int:
    return subject.view.facts.value(point, register).width


def _bounds(subject: Subject, point: int) -> list[Register]:
    """Return what loops of the kernel count up to, where it has its value at a point."""
    view = subject.view
    found: dict[Register, None] = {}
    for test, _ in loop_tests(view):
        bound = view.body.instructions[test].operands[-1]
        if isinstance(bound, Register) and is_set(view, point, bound):
            found[bound] = None
    return list(found)[:_MOST]
