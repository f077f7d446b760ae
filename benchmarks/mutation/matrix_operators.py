"""Operators of mutation for the matrix units: wgmma, tcgen05, tensor memory and the registers of a warpgroup.

Each one breaks a kernel that is right, or goes against the words of the PTX ISA where released kernels do, too
(`Standing.STRICT`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from ptxcheck.ir import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Vector,
)
from ptxcheck.opcodes.op import Op
from ptxcheck.parser.show import show_instruction

from .operators import (
    Changes,
    Chooses,
    Mutant,
    any_of,
    drop,
    duplicate,
    rewritten,
    shift,
    unguard,
    with_operand,
)
from .subject import Subject

_QUARTER = 32 << 16
_HALF_QUARTER = 16 << 16
_COLUMNS = 512
_MMA = frozenset({Op.WGMMA_MMA_ASYNC, Op.WGMMA_MMA_ASYNC_SP})
_TC_MMA = frozenset({Op.TCGEN05_MMA, Op.TCGEN05_MMA_SP, Op.TCGEN05_MMA_WS, Op.TCGEN05_MMA_WS_SP})
_ISSUED = _TC_MMA | {Op.TCGEN05_CP, Op.TCGEN05_SHIFT}
_COMMIT = frozenset({Op.TCGEN05_COMMIT})
_ALLOC, _DEALLOC = frozenset({Op.TCGEN05_ALLOC}), frozenset({Op.TCGEN05_DEALLOC})
_PERMIT = frozenset({Op.TCGEN05_RELINQUISH_ALLOC_PERMIT})
_LD = frozenset({Op.TCGEN05_LD, Op.TCGEN05_LD_RED})
_ST = frozenset({Op.TCGEN05_ST})
_COLLECTIVE = _ALLOC | _DEALLOC | _PERMIT | _LD | _ST | {Op.TCGEN05_WAIT}
_BARRIERS = frozenset({Op.BAR_SYNC, Op.BARRIER_CLUSTER_WAIT})
_REGISTERS = frozenset({Op.SETMAXNREG})
_FENCE, _CLOSE, _AWAIT = (
    any_of(frozenset({op})) for op in (Op.WGMMA_FENCE, Op.WGMMA_COMMIT_GROUP, Op.WGMMA_WAIT_GROUP)
)
_POLLS = frozenset({Op.MBARRIER_TRY_WAIT, Op.MBARRIER_TEST_WAIT})


class Standing(Enum):
    """How wrong a mutant is."""

    WRONG = "wrong"
    STRICT = "strict"
    """By the words of the PTX ISA; released kernels do the same."""


@dataclass(frozen=True, slots=True)
class MatrixOperator:
    """One way to break a kernel."""

    name: str
    what: str
    chooses: Chooses
    changes: Changes
    standing: Standing = Standing.WRONG


def matrix_mutants(subject: Subject, limit: int | None = None) -> Iterator[tuple[MatrixOperator, Mutant]]:
    """Yield the mutants of a kernel, operator by operator, the first `limit` of each."""
    for operator in MATRIX_OPERATORS:
        made = 0
        for point, instruction in enumerate(subject.instructions):
            if not operator.chooses(instruction) or made == limit:
                continue
            text = operator.changes(subject, point)
            if text is not None:
                made += 1
                yield operator, Mutant(
                    operator.name, operator.what, subject.function.name, point, subject.line(point),
                    subject.statement(point), 1, text,
                )  # fmt: skip


# ---------------------------------------------------------------- which statements


def _waits_for(kind: str) -> Chooses:
    return lambda i: i.operation.op is Op.TCGEN05_WAIT and i.operation.has(kind)


def _fences(side: str) -> Chooses:
    return lambda i: i.operation.op is Op.TCGEN05_FENCE and i.operation.has(side)


def _guarded(ops: frozenset[Op]) -> Chooses:
    return lambda instruction: instruction.operation.op in ops and instruction.guard is not None


def _group_of_one(instruction: Instruction) -> bool:
    return instruction.operation.op in _TC_MMA | _COMMIT and instruction.operation.slots.get("cta_group") == (
        ".cta_group::1"
    )


# ---------------------------------------------------------------- how they change


def _behind(code: str) -> Changes:
    """Put code that names an accumulator behind a multiplication."""

    def changes(subject: Subject, point: int) -> str | None:
        accumulators = subject.instructions[point].get("d")
        if not isinstance(accumulators, Vector) or not isinstance(accumulators.elements[0], Register):
            return None
        added = code.format(accumulators.elements[0].name)
        return subject.replaced(point, f"{subject.statement(point)} {added}")

    return changes


def _alone(special: str, end: int, period: int = 1 << 31) -> Changes:
    """Let only threads take part whose special register is below `end`, counted from multiples of a power of two."""

    def changes(subject: Subject, point: int) -> str | None:
        if subject.instructions[point].guard is not None:
            return None
        code = f"and.b32 mutated, mutated, {period - 1}; setp.lt.u32 mutating, mutated, {end};"
        code = f"mov.u32 mutated, {special}; {code}"
        return subject.replaced(
            point,
            f"{{ .reg .b32 mutated; .reg .pred mutating; {code} @mutating {subject.statement(point)} }}",
        )

    return changes


_one_lane, _half_of_the_lanes = _alone("%laneid", 1), _alone("%laneid", 16)
_one_warp = _alone("%tid.x", 32, period=128)
"""The first warp of each warpgroup."""


def _columns(numerator: int, denominator: int) -> Changes:
    """Multiply the number of columns."""

    def changes(subject: Subject, point: int) -> str | None:
        value = subject.instructions[point]["columns"]
        if not isinstance(value, Immediate):
            return None
        new = value.value * numerator // denominator
        return rewritten(subject, point, "columns", Immediate(new)) if 32 <= new <= _COLUMNS else None

    return changes


def _columns_of(number: int) -> Changes:
    return lambda subject, point: rewritten(subject, point, "columns", Immediate(number))


def _address(change: int | str, operand: str = "taddr") -> Changes:
    """Add a number, or a special register, to an address in tensor memory."""

    def changes(subject: Subject, point: int) -> str | None:
        instruction = subject.instructions[point]
        value: Operand | None = instruction.get(operand)
        base = value.base if isinstance(value, Address) else value
        if not isinstance(base, Register):
            return None
        own = Register("mutated")
        new = replace(value, base=own) if isinstance(value, Address) else own
        if isinstance(change, int):
            code = f"add.s32 mutated, {base.name}, {change};"
        else:
            code = f"mov.u32 mutated, {change}; add.s32 mutated, mutated, {base.name};"
        changed = with_operand(instruction, operand, new)
        return subject.replaced(point, f"{{ .reg .b32 mutated; {code} {changed} }}")

    return changes


def _of_a_pair(subject: Subject, point: int) -> str:
    return subject.replaced(point, subject.statement(point).replace("cta_group::1", "cta_group::2", 1))


def _before_the_allocation(subject: Subject, point: int) -> str | None:
    """Move a statement in front of the last allocation before it."""
    earlier = [p for p in range(point) if subject.instructions[p].operation.op is Op.TCGEN05_ALLOC]
    return subject.moved_before_step(point, earlier[-1]) if earlier else None


def _behind_the_last_load(subject: Subject, point: int) -> str | None:
    """Move a statement in front of the first barrier behind the last load of tensor memory."""
    loads = [p for p in range(point) if subject.instructions[p].operation.op is Op.TCGEN05_LD]
    later = range(loads[-1], point) if loads else range(0)
    barrier = next((p for p in later if subject.instructions[p].operation.op in _BARRIERS), None)
    return None if barrier is None else subject.moved_before_step(point, barrier)


def _next_barrier(subject: Subject, point: int) -> str | None:
    """Leave out the next barrier of the CTA behind a statement."""
    later = range(point + 1, len(subject.instructions))
    found = next((p for p in later if subject.instructions[p].operation.op in _BARRIERS), None)
    return None if found is None else subject.replaced(found, "")


def _next_poll(subject: Subject, point: int) -> str | None:
    """Answer the next poll of an mbarrier behind a statement with yes."""
    later = range(point + 1, len(subject.instructions))
    found = next((p for p in later if subject.instructions[p].operation.op in _POLLS), None)
    return None if found is None else drop(subject, found)


def _other_direction(subject: Subject, point: int) -> str:
    """Take registers in place of giving them up, or the other way round."""
    text = subject.statement(point)
    new = text.replace(".inc.", ".dec.") if ".inc." in text else text.replace(".dec.", ".inc.")
    return subject.replaced(point, new)


def _register_count(number: int) -> Changes:
    def changes(subject: Subject, point: int) -> str | None:
        instruction = subject.instructions[point]
        counts = [each for each in instruction.operands if isinstance(each, Immediate)]
        if len(counts) != 1 or counts[0].value == number:
            return None
        operands = tuple(Immediate(number) if each is counts[0] else each for each in instruction.operands)
        return subject.replaced(point, show_instruction(replace(instruction, operands=operands)))

    return changes


MATRIX_OPERATORS: tuple[MatrixOperator, ...] = (
    MatrixOperator("wgmma-drop-fence", "the fence of registers is left out", _FENCE, drop),
    MatrixOperator("wgmma-drop-commit", "a group is not closed", _CLOSE, drop),
    MatrixOperator("wgmma-drop-wait", "groups are not waited for", _AWAIT, drop),
    MatrixOperator("wgmma-groups+1", "one more group may be pending", _AWAIT, shift("n", 1)),
    MatrixOperator("wgmma-read", "an accumulator is read behind the multiplication",
        any_of(_MMA), _behind("{{ .reg .b32 mutated; xor.b32 mutated, {0}, 1; }}")),
    MatrixOperator("wgmma-write", "an accumulator is written behind the multiplication",
        any_of(_MMA), _behind("mov.b32 {0}, 0;")),
    MatrixOperator("wgmma-one-warp", "one warp multiplies alone", any_of(_MMA), _one_warp),
    MatrixOperator("wgmma-one-lane", "one lane of each warp multiplies", any_of(_MMA), _one_lane),
    MatrixOperator("wgmma-wait-one-warp", "one warp waits alone", _AWAIT, _one_warp),
    MatrixOperator("registers-one-warp", "one warp changes its registers alone", any_of(_REGISTERS), _one_warp),
    MatrixOperator("registers-direction", "registers are taken, not given up, or the other way round",
        any_of(_REGISTERS), _other_direction),
    MatrixOperator("registers-all", "a warpgroup takes 256 registers", any_of(_REGISTERS), _register_count(256)),
    MatrixOperator("alloc-drop", "an allocation is left out", any_of(_ALLOC), drop),
    MatrixOperator("alloc-again", "an allocation is made twice", any_of(_ALLOC), duplicate),
    MatrixOperator("alloc-48", "48 columns are allocated", any_of(_ALLOC), _columns_of(48)),
    MatrixOperator("alloc-16", "16 columns are allocated", any_of(_ALLOC), _columns_of(16)),
    MatrixOperator("alloc-double", "twice the columns are allocated", any_of(_ALLOC), _columns(2, 1)),
    MatrixOperator("alloc-half", "half of the columns are allocated", any_of(_ALLOC), _columns(1, 2)),
    MatrixOperator("alloc-barrier", "the barrier behind an allocation is left out", any_of(_ALLOC), _next_barrier),
    MatrixOperator("dealloc-drop", "a deallocation is left out", any_of(_DEALLOC), drop),
    MatrixOperator("dealloc-again", "a deallocation is made twice", any_of(_DEALLOC), duplicate),
    MatrixOperator("dealloc-double", "twice the columns are freed", any_of(_DEALLOC), _columns(2, 1)),
    MatrixOperator("dealloc-half", "half of the columns are freed", any_of(_DEALLOC), _columns(1, 2)),
    MatrixOperator("dealloc-address", "another address is freed", any_of(_DEALLOC), _address(32)),
    MatrixOperator("dealloc-early", "columns are freed right behind the last load",
        any_of(_DEALLOC), _behind_the_last_load),
    MatrixOperator("relinquish-early", "the permit is given up before an allocation",
        any_of(_PERMIT), _before_the_allocation),
    MatrixOperator("collective-one-lane", "a collective is executed by one lane", any_of(_COLLECTIVE), _one_lane),
    MatrixOperator("collective-half-warp", "a collective is executed by half of the lanes",
        any_of(_COLLECTIVE), _half_of_the_lanes),
    MatrixOperator("ld-next-quarter", "lanes of another warp are loaded", any_of(_LD), _address(_QUARTER)),
    MatrixOperator("st-next-quarter", "lanes of another warp are stored", any_of(_ST), _address(_QUARTER)),
    MatrixOperator("ld-half-quarter", "a load starts between quarters", any_of(_LD), _address(_HALF_QUARTER)),
    MatrixOperator("st-half-quarter", "a store starts between quarters", any_of(_ST), _address(_HALF_QUARTER)),
    MatrixOperator("ld-columns", "a load lies behind the last column", any_of(_LD), _address(_COLUMNS)),
    MatrixOperator("st-columns", "a store lies behind the last column", any_of(_ST), _address(_COLUMNS)),
    MatrixOperator("ld-by-lane", "each lane loads at an address of its own", any_of(_LD), _address("%laneid")),
    MatrixOperator("st-by-lane", "each lane stores at an address of its own", any_of(_ST), _address("%laneid")),
    MatrixOperator("mma-columns", "a product lies behind the last column",
        any_of(_TC_MMA), _address(_COLUMNS, "taddr")),
    MatrixOperator("mma-lane", "a product starts at a lane that no layout has",
        any_of(_TC_MMA), _address(8 << 16, "taddr")),
    MatrixOperator("issue-all-lanes", "every lane issues, not the chosen one", _guarded(_ISSUED), unguard),
    MatrixOperator("commit-all-lanes", "every lane commits, not the chosen one", _guarded(_COMMIT), unguard),
    MatrixOperator("commit-drop", "a commit is left out", any_of(_COMMIT), drop),
    MatrixOperator("pair-of-one", "one operation is of a pair of CTAs", _group_of_one, _of_a_pair),
    MatrixOperator("result-not-awaited", "the wait behind a commit is left out", any_of(_COMMIT), _next_poll),
    MatrixOperator("wait-st-drop", "stores are not waited for", _waits_for(".wait::st"), drop),
    MatrixOperator("wait-ld-drop", "loads are not waited for", _waits_for(".wait::ld"), drop, Standing.STRICT),
    MatrixOperator("fence-before-drop", "the fence before synchronisation is left out",
        _fences(".fence::before_thread_sync"), drop, Standing.STRICT),
    MatrixOperator("fence-after-drop", "the fence behind synchronisation is left out",
        _fences(".fence::after_thread_sync"), drop, Standing.STRICT),
)  # fmt: skip
"""Every operator, in the order of the table."""
