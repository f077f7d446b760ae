"""The synchronising statements of a kernel: where they are, which belong together, and where others may go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..cfg.graph import EdgeKind
from ..ir import Instruction, Register
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from ..protocols.symex.slice.polling import POLLS
from ..view import KernelView

_SYNCHRONISING = frozenset({Trait.MBARRIER, Trait.BARRIER, Trait.WAIT, Trait.COMMIT, Trait.FENCE})
_LONGEST_POLL_LOOP = 12


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """Points of one synchronising step: an instruction, or a poll with the loop around it."""

    first: int
    last: int


def is_site(instruction: Instruction) -> bool:
    """Tell whether an instruction synchronises, or signals an mbarrier."""
    return bool(instruction.operation.traits & _SYNCHRONISING) or instruction.get("mbar") is not None


def sites_of(view: KernelView) -> tuple[int, ...]:
    """Return the points of all synchronising instructions, in order."""
    return tuple(p for p, instruction in enumerate(view.body.instructions) if is_site(instruction))


def step_at(view: KernelView, point: int) -> Step:
    """Return the step that a point belongs to."""
    own = view.cfg.graph.block_of[point]
    if view.body.instructions[point].operation.op in POLLS and own in view.cfg.successors[own]:
        return Step(view.cfg.blocks[own].points[0], view.cfg.blocks[own].last)
    loop = view.cfg.loop_of(point)
    if view.body.instructions[point].operation.op in POLLS and loop is not None:
        points = [p for block in loop.blocks for p in view.cfg.blocks[block].points]
        if max(points) - min(points) < _LONGEST_POLL_LOOP:
            return Step(min(points), max(points))
    return Step(point, point)


def steps_of(view: KernelView) -> tuple[Step, ...]:
    """Return every synchronising step, in order."""
    return tuple(sorted({step_at(view, point) for point in sites_of(view)}))


def nearest(points: tuple[int, ...], around: tuple[int, ...]) -> list[int]:
    """Return points, the nearest to any of some places first; in order when there are no places."""
    return sorted(points, key=lambda p: (min((abs(p - q) for q in around), default=0), p))


def unread(view: KernelView) -> Iterator[tuple[int, Register]]:
    """Yield each register that is computed and never read, with the point that writes it: a use may have got lost."""
    instructions = view.body.instructions
    seen = {
        definition
        for point, instruction in enumerate(instructions)
        for register in instruction.reads()
        for definition in view.facts.definitions(point, register)
    }
    for point, instruction in enumerate(instructions):
        if point in seen or is_site(instruction):
            continue
        yield from ((point, register) for register in instruction.writes())


def toggled(view: KernelView) -> Iterator[Register]:
    """Yield registers that carry a bit which a loop flips: parities of phases."""
    seen: set[str] = set()
    for instruction in view.body.instructions:
        written = list(instruction.writes())
        if instruction.operation.op is not Op.XOR or len(written) != 1 or written[0].name in seen:
            continue
        if any(register.name == written[0].name for register in instruction.reads()):
            seen.add(written[0].name)
            yield written[0]


def points_of(view: KernelView, *ops: Op) -> tuple[int, ...]:
    """Return the points of the instructions of some operations, in order."""
    return tuple(p for p, instruction in enumerate(view.body.instructions) if instruction.operation.op in ops)


def guard_text(instruction: Instruction) -> str:
    """Return the guard of an instruction as it is written in front of it, "" for none."""
    guard = instruction.guard
    return "" if guard is None else f"@{'!' if guard.negated else ''}{guard.register.name} "


def ways_out(view: KernelView) -> tuple[int, ...]:
    """Return the instructions with which the kernel ends, in order."""
    exits = {
        view.cfg.blocks[edge.source].last
        for block in range(len(view.cfg.blocks))
        for edge in view.cfg.graph.outgoing[block]
        if edge.kind is EdgeKind.EXIT
    }
    return tuple(sorted(exits))


def expected_bytes(view: KernelView) -> list[int]:
    """Return the numbers of bytes that the kernel expects somewhere, what most places expect first."""
    values = [
        amount
        for point, instruction in enumerate(view.body.instructions)
        if (amount := view.facts.constant(point, instruction.get("tx_count"))) is not None
    ]
    return sorted(set(values), key=lambda value: (-values.count(value), value))


def branches_around(view: KernelView, point: int) -> list[int]:
    """Return the branches in front of a point that lead around it, the nearest first."""
    control = view.cfg.control[view.cfg.graph.block_of[point]]
    branches = {view.cfg.blocks[each.branch].last for each in control}
    return sorted((branch for branch in branches if branch < point), reverse=True)
