"""The instructions of a kernel made ready for runs of whole blocks: decoded once for all runs.

Property: a `Step` says of an instruction what a run has to do: compute by a meaning, load, store, change, exchange,
meet, or nothing. What is not followed is `UNKNOWN`, and its results are not known to a run.

Argument: by the operation and its slots; meanings are those of `lane_integers` and `lane_floats`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from ...cfg import Cfg, Facts
from ...cfg.addresses import PARAMETER_SPACES
from ...ir import TYPE_BYTES, Address, Function, Guard, Instruction, Module, Operand, Pair, Variable, Vector
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..typestate.member_mask import member_mask
from .accesses import Access
from .block_memory import close_layout
from .lane_exchanges import EXCHANGES
from .lane_floats import float_meaning
from .lane_integers import Meaning, integer_meaning
from .meetings import is_block_barrier

_FENCES = frozenset({Op.FENCE, Op.MEMBAR})
_LOCKING = frozenset({".cas", ".exch"})
_ORDERING = frozenset({".acquire", ".release", ".acq_rel"})


class Task(Enum):
    """What a run does at a step."""

    __hash__ = object.__hash__

    NOTHING = auto()
    COMPUTE = auto()
    PARAMETER = auto()
    LOAD = auto()
    STORE = auto()
    CHANGE = auto()
    """An atomic operation."""
    EXCHANGE = auto()
    MEET_WARP = auto()
    MEET_BLOCK = auto()
    TOUCH = auto()
    """An access of shared memory of which the addresses alone are followed: `ldmatrix`."""
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction."""

    point: int
    instruction: Instruction
    task: Task
    guard: Guard | None
    sources: tuple[Operand, ...] = ()
    meaning: Meaning | None = None
    address: Address | None = None
    space: str = ""
    size: int = 0
    """Bytes of one element."""
    access: Access | None = None
    """Where it may be of shared memory."""
    mask: Operand | None = None
    """Of the lanes that execute it together; None for all."""

    @property
    def elements(self) -> tuple[Operand, ...]:
        """Return the destinations of a load, or the values of a store."""
        operand = self.sources[0] if self.task is Task.STORE else self.instruction.operands[0]
        return operand.elements if isinstance(operand, Vector) else (operand,)


class Steps:
    """The steps of one kernel."""

    def __init__(
        self, facts: Facts, module: Module, function: Function, accesses: Mapping[int, Access]
    ) -> None:
        self.facts = facts
        self.cfg: Cfg = facts.cfg
        self._accesses = accesses
        local = () if function.body is None else function.body.variables
        variables: Sequence[Variable] = (*module.variables.values(), *local)
        self.layout = close_layout(
            {(each.name, each.scope): each for each in variables if each.space == ".shared"}
        )
        self.local: dict[tuple[str, int], int] = {
            (each.name, each.scope): each.size or 0 for each in variables if each.space == ".local"
        }

    @cached_property
    def all(self) -> tuple[Step, ...]:
        """Return the steps, by their points."""
        return tuple(self._step(point, each) for point, each in enumerate(self.cfg.instructions))

    @cached_property
    def orders_by_flags(self) -> bool:
        """Tell whether threads may order accesses by other means than barriers: fences, words they wait for."""
        if any(
            each.operation.op in _FENCES or not _ORDERING.isdisjoint(each.operation.modifiers)
            for each in self.cfg.instructions
        ):
            return True
        looping = {block for loop in self.cfg.loops for block in loop.blocks}
        return any(
            self.cfg.graph.block_of[step.point] in looping and (_is_strong_load(step) or _may_lock(step))
            for step in self.all
        )

    @cached_property
    def polls(self) -> bool:
        """Tell whether numbers outside of the block are changed by others meanwhile: flags, locks, counters."""
        return any(
            step.space in (".global", "") and (step.task is Task.CHANGE or _is_strong_load(step))
            for step in self.all
        )

    @cached_property
    def element(self) -> int:
        """Return the smallest bytes of an element that is loaded from memory outside of the block."""
        sizes = (
            step.size for step in self.all
            if step.task in (Task.LOAD, Task.CHANGE) and step.space in (".global", "") and step.size
        )  # fmt: skip
        return min(sizes, default=4)

    @cached_property
    def granule(self) -> int:
        """Return the smallest bytes of an access of shared memory."""
        return min((step.size for step in self.all if step.access is not None and step.size), default=1)

    def _step(self, point: int, instruction: Instruction) -> Step:
        operation, guard = instruction.operation, instruction.guard
        op, traits = operation.op, operation.traits
        access = self._accesses.get(point)
        if Trait.BRANCH in traits or op in (Op.RET, Op.EXIT) or point in self.cfg.traps:
            return Step(point, instruction, Task.NOTHING, guard)
        if op in EXCHANGES:
            mask = member_mask(instruction)
            sources = tuple(each for each in instruction.operands[1:] if each is not mask)
            return Step(point, instruction, Task.EXCHANGE, guard, sources, mask=mask)
        if op is Op.BAR_WARP_SYNC:
            return Step(point, instruction, Task.MEET_WARP, guard, mask=member_mask(instruction))
        if is_block_barrier(instruction) and op is Op.BAR_SYNC:
            return Step(point, instruction, Task.MEET_BLOCK, guard)
        if op is Op.LD and operation.slots.get("space", "") in PARAMETER_SPACES:
            return Step(point, instruction, Task.PARAMETER, guard)
        if traits & {Trait.LOAD, Trait.STORE, Trait.ATOMIC}:
            return self._accessing(point, instruction, access)
        meaning = integer_meaning(instruction) or float_meaning(instruction)
        if meaning is not None and _fits(meaning, instruction):
            return Step(point, instruction, Task.COMPUTE, guard, instruction.operands[1:], meaning)
        is_void = Trait.BARRIER not in traits and next(instruction.writes(), None) is None
        is_void = is_void and Trait.ANYTHING not in traits and Trait.CALL not in traits
        return Step(point, instruction, Task.NOTHING if is_void else Task.UNKNOWN, guard)

    def _accessing(self, point: int, instruction: Instruction, access: Access | None) -> Step:
        operation, guard = instruction.operation, instruction.guard
        space = operation.slots.get("space", "").partition("::")[0]
        address = next((each for each in instruction.operands if isinstance(each, Address)), None)
        size = _element_bytes(instruction)
        task = Task.UNKNOWN
        sources: tuple[Operand, ...] = ()
        if address is None:
            return Step(point, instruction, task, guard)
        if operation.op in (Op.LD, Op.LD_NC):
            task = Task.LOAD
        elif operation.op is Op.ST:
            task, sources = Task.STORE, (instruction["b"],)
        elif operation.op in (Op.ATOM, Op.RED):
            task = Task.CHANGE
            sources = tuple(each for each in (instruction.get("b"), instruction.get("c")) if each is not None)
        elif operation.op is Op.LDMATRIX and access is not None:
            return Step(
                point, instruction, Task.TOUCH, guard, address=address, space=".shared", size=access.size,
                access=access,
            )  # fmt: skip
        if size not in (1, 2, 4, 8):
            task = Task.UNKNOWN
        return Step(
            point, instruction, task, guard, sources, address=address, space=space, size=size, access=access
        )


def _fits(meaning: Meaning, instruction: Instruction) -> bool:
    """Tell whether a meaning speaks of all operands; the second result of a combined comparison is not followed."""
    is_combined_pair = isinstance(instruction.operands[0], Pair) and len(meaning.widths) > 2
    return len(meaning.widths) == len(instruction.operands) - 1 and not is_combined_pair


def _is_strong_load(step: Step) -> bool:
    sem = step.instruction.operation.slots.get("sem", "")
    return step.task is Task.LOAD and sem not in ("", ".weak")


def _may_lock(step: Step) -> bool:
    return step.task is Task.CHANGE and not _LOCKING.isdisjoint(step.instruction.operation.modifiers)


def _element_bytes(instruction: Instruction) -> int:
    return TYPE_BYTES.get(instruction.operation.slots.get("type", ""), 0)


__all__ = ["Step", "Steps", "Task"]
