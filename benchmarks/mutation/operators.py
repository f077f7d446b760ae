"""Operators of mutation: each one breaks one synchronising statement in one way.

A row of `OPERATORS` says which statements it is for and how it changes them. Rows ask for operations, traits and
operands, never for the text of an opcode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ptxcheck.ir import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
)
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Trait
from ptxcheck.parser.show import show_instruction

from .subject import POLLS, SYNCHRONISING, Subject, Unit

BYTES = 8
"""Of an mbarrier."""
GRANULE = 16
"""Bytes of the smallest bulk copy."""
WARP = 32

Chooses: TypeAlias = Callable[[Instruction], bool]
Changes: TypeAlias = Callable[[Subject, int], str | None]
"""Return the text of the mutant, or None when the statement cannot be changed in this way."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to break a kernel."""

    name: str
    what: str
    chooses: Chooses
    changes: Changes
    everywhere: bool = False
    """It is for statements that synchronise nothing, too."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed text, and what was changed where. `line` is that of the statement in the original.

    `occurrence` counts statements that are written the same, from 1.
    """

    operator: str
    what: str
    kernel: str
    point: int
    line: int
    statement: str
    occurrence: int
    text: str


def mutants(subject: Subject, operators: Sequence[Operator] | None = None) -> Iterator[Mutant]:
    """Yield every mutant of a kernel, operator by operator (of `OPERATORS`), each in order of the statements."""
    occurrences = _occurrences(subject)
    for operator in OPERATORS if operators is None else operators:
        for point in range(len(subject.instructions)) if operator.everywhere else subject.sites:
            if operator.chooses(subject.instructions[point]):
                text = operator.changes(subject, point)
                if text is not None:
                    yield Mutant(
                        operator.name, operator.what, subject.function.name, point, subject.line(point),
                        subject.statement(point), occurrences[point], text,
                    )  # fmt: skip


def _occurrences(subject: Subject) -> dict[int, int]:
    seen: Counter[str] = Counter()
    found: dict[int, int] = {}
    for point in range(len(subject.instructions)):
        seen[subject.statement(point)] += 1
        found[point] = seen[subject.statement(point)]
    return found


# ---------------------------------------------------------------- which statements

_ARRIVALS = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP, Op.CP_ASYNC_MBARRIER_ARRIVE})
_GROUP_WAITS = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP, Op.WGMMA_WAIT_GROUP})
_NAMED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
_CLUSTER = frozenset({Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT})
_OTHER_WAITS = frozenset({Op.CP_ASYNC_WAIT_ALL, Op.TCGEN05_WAIT})
_INIT = frozenset({Op.MBARRIER_INIT})
_EXPECT = frozenset({Op.MBARRIER_EXPECT_TX})
_WARP_BARRIER = frozenset({Op.BAR_WARP_SYNC})
_CLUSTER_ARRIVE = frozenset({Op.BARRIER_CLUSTER_ARRIVE})
_INIT_FENCE = frozenset({Op.FENCE_MBARRIER_INIT})


def any_of(ops: frozenset[Op]) -> Chooses:
    return lambda instruction: instruction.operation.op in ops


def _with(ops: frozenset[Op], operand: str) -> Chooses:
    return lambda instruction: instruction.operation.op in ops and instruction.get(operand) is not None


def _is_fence(instruction: Instruction) -> bool:
    return Trait.FENCE in instruction.operation.traits


def _is_other_fence(instruction: Instruction) -> bool:
    return _is_fence(instruction) and instruction.operation.op not in _INIT_FENCE


def _is_commit(instruction: Instruction) -> bool:
    return Trait.COMMIT in instruction.operation.traits and instruction.operation.op not in _OTHER_WAITS


def _expects(instruction: Instruction) -> bool:
    return instruction.get("tx_count") is not None and instruction.operation.op is not Op.MBARRIER_COMPLETE_TX


def _counts(instruction: Instruction) -> bool:
    return instruction.operation.op in _NAMED and instruction.get("threads") is not None


def _only_arrives(instruction: Instruction) -> bool:
    return instruction.operation.op in _ARRIVALS and not _expects(instruction)


def _signals(instruction: Instruction) -> bool:
    return instruction.get("mbar") is not None


def _copies(instruction: Instruction) -> bool:
    return instruction.operation.op is Op.CP_ASYNC_BULK and _signals(instruction)


def _has_scope(instruction: Instruction) -> bool:
    fixed = _CLUSTER | _INIT_FENCE
    return instruction.operation.slots.get("scope") == ".cluster" and instruction.operation.op not in fixed


def _guarded_arrival(instruction: Instruction) -> bool:
    return instruction.guard is not None and (
        instruction.operation.op in _ARRIVALS or _is_commit(instruction)
    )


def _moves(instruction: Instruction) -> bool:
    operation = instruction.operation
    return operation.op not in POLLS and bool(operation.traits & SYNCHRONISING)


# ---------------------------------------------------------------- how they change


def drop(subject: Subject, point: int) -> str | None:
    """Leave a statement out; a poll is answered with yes."""
    instruction = subject.instructions[point]
    written = [r for r in instruction.writes()]
    if instruction.operation.op in POLLS:
        guard = "" if instruction.guard is None else subject.statement(point).split()[0] + " "
        return subject.replaced(point, f"{guard}mov.pred {written[0].name}, -1;")
    if any(register in other.reads() for other in subject.instructions for register in written):
        return None
    return subject.replaced(point, "")


def duplicate(subject: Subject, point: int) -> str | None:
    statement = subject.statement(point)
    return subject.replaced(point, f"{statement} {statement}")


def shift(operand: str, change: int, least: int = 0) -> Changes:
    """Add to an integer operand."""

    def changes(subject: Subject, point: int) -> str | None:
        instruction = subject.instructions[point]
        value = instruction[operand]
        if isinstance(value, Immediate):
            new = value.value + change
            return rewritten(subject, point, operand, Immediate(new)) if new >= least else None
        return _computed(subject, point, operand, f"add.s32 {{}}, {{}}, {change};")

    return changes


def _flip(operand: str) -> Changes:
    """Invert the lowest bit of an operand."""

    def changes(subject: Subject, point: int) -> str | None:
        value = subject.instructions[point][operand]
        if isinstance(value, Immediate):
            return rewritten(subject, point, operand, Immediate(value.value ^ 1))
        return _computed(subject, point, operand, "xor.b32 {}, {}, 1;")

    return changes


def _offset(operand: str, change: int) -> Changes:
    """Move an address."""

    def changes(subject: Subject, point: int) -> str | None:
        address = subject.instructions[point][operand]
        assert isinstance(address, Address)
        return rewritten(subject, point, operand, replace(address, offset=address.offset + change))

    return changes


def _next_buffer(subject: Subject, point: int) -> str | None:
    """Copy to the place behind the right one."""
    instruction = subject.instructions[point]
    size, address = instruction["size"], instruction["dst"]
    if not isinstance(size, Immediate) or not isinstance(address, Address):
        return None
    return rewritten(subject, point, "dst", replace(address, offset=address.offset + size.value))


def rewritten(subject: Subject, point: int, operand: str, new: Operand) -> str:
    return subject.replaced(point, with_operand(subject.instructions[point], operand, new))


def with_operand(instruction: Instruction, operand: str, new: Operand) -> str:
    index = instruction.operation.operand_index[operand]
    operands = (*instruction.operands[:index], new, *instruction.operands[index + 1 :])
    return show_instruction(replace(instruction, operands=operands))


def _computed(subject: Subject, point: int, operand: str, compute: str) -> str | None:
    """Compute a 32-bit operand in a scope of its own."""
    instruction = subject.instructions[point]
    value = instruction[operand]
    if not isinstance(value, Register):
        return None
    code = compute.format("mutated", value.name)
    changed = with_operand(instruction, operand, Register("mutated"))
    return subject.replaced(point, f"{{ .reg .b32 mutated; {code} {changed} }}")


def _narrow_scope(subject: Subject, point: int) -> str | None:
    """Give an operation of cluster scope the scope of the CTA."""
    instruction = subject.instructions[point]
    head = instruction.operation.text
    return subject.replaced(point, subject.statement(point).replace(head, _without_cluster(instruction), 1))


def _without_cluster(instruction: Instruction) -> str:
    """The scope is the first of the modifiers that is exactly `.cluster`."""
    parts = instruction.operation.text.split(".")
    parts[parts.index("cluster")] = "cta"
    return ".".join(parts)


def _relax(subject: Subject, point: int) -> str | None:
    """Make an arrival at the cluster barrier relaxed."""
    instruction = subject.instructions[point]
    if instruction.operation.slots.get("sem") == ".relaxed":
        return None
    head = instruction.operation.text
    stem = ".".join(part for part in head.split(".") if part not in ("release", "aligned"))
    aligned = ".aligned" if ".aligned" in instruction.operation.modifiers else ""
    return subject.replaced(point, subject.statement(point).replace(head, f"{stem}.relaxed{aligned}", 1))


def unguard(subject: Subject, point: int) -> str | None:
    return subject.replaced(point, show_instruction(replace(subject.instructions[point], guard=None)))


def _by_one_lane(subject: Subject, point: int) -> str | None:
    """Let only lane 0 of each warp take part."""
    instruction = subject.instructions[point]
    if instruction.guard is not None or any(True for _ in instruction.writes()):
        return None
    code = "mov.u32 mutated, %laneid; setp.eq.u32 mutating, mutated, 0;"
    return subject.replaced(
        point, f"{{ .reg .b32 mutated; .reg .pred mutating; {code} @mutating {subject.statement(point)} }}"
    )


def _move_later(subject: Subject, point: int) -> str | None:
    """Move a statement behind the next synchronising step of its straight line."""
    step = next_step(subject, point)
    if step is None:
        return None
    between = range(point + 1, step.last + 1)
    behind_is_alone = step.last + 1 not in subject.labelled or step.first != step.last
    free = behind_is_alone and _independent(subject, point, between)
    return subject.moved_after(point, step.last) if free else None


def next_step(subject: Subject, point: int) -> Unit | None:
    """Return the synchronising step behind a statement on its straight line."""
    at = point + 1
    while at < len(subject.instructions) - 1:
        step = _step_at(subject, at)
        if step is not None:
            return step
        if at in subject.labelled or Trait.BRANCH in subject.instructions[at].operation.traits:
            return None
        at += 1
    return None


def move_earlier(subject: Subject, point: int) -> str | None:
    """Move a statement in front of the synchronising step before it on its straight line."""
    step = last_step(subject, point)
    if step is None or not _independent(subject, point, range(step.first, point)):
        return None
    return subject.moved_before_step(point, step.first)


def last_step(subject: Subject, point: int) -> Unit | None:
    """Return the synchronising step before a statement on its straight line."""
    ends = {unit.last: unit for unit in subject.unit_of.values()}
    at = point - 1
    while at >= 0:
        step = ends.get(at)
        polls = step is not None and step.first != step.last
        if at + 1 in subject.labelled and not polls:
            return None
        if step is not None:
            return step
        if Trait.BRANCH in subject.instructions[at].operation.traits:
            return None
        at -= 1
    return None


def _step_at(subject: Subject, point: int) -> Unit | None:
    unit = subject.unit_of.get(point)
    if unit is not None:
        return unit if unit.first == point or unit.first == unit.last else None
    return next((each for each in subject.unit_of.values() if each.first == point), None)


def _independent(subject: Subject, point: int, others: range) -> bool:
    """Tell whether a statement reads nothing that others write, nor the other way round."""
    moved = subject.instructions[point]
    reads, writes = set(moved.reads()), set(moved.writes())
    return not any(
        reads & set(subject.instructions[p].writes()) or writes & set(subject.instructions[p].reads())
        for p in others
    )


def _out_of_loop(subject: Subject, point: int) -> str | None:
    """Move a statement in front of the loop around it, where the loop is entered from above."""
    head = entered_at(subject, point)
    loop = subject.cfg.loop_of(point)
    if head is None or loop is None:
        return None
    last = max(p for block in loop.blocks for p in subject.cfg.blocks[block].points)
    free = _independent(subject, point, range(head, last + 1))
    return subject.moved_before_step(point, head) if free else None


def entered_at(subject: Subject, point: int) -> int | None:
    """Return the first point of the loop around a statement, where control comes in from above."""
    loop = subject.cfg.loop_of(point)
    if loop is None:
        return None
    head = subject.cfg.blocks[loop.header].start
    first = min(p for block in loop.blocks for p in subject.cfg.blocks[block].points)
    if head != first or head == 0:
        return None
    before = subject.instructions[head - 1]
    jumps = Trait.BRANCH in before.operation.traits or Trait.TERMINATOR in before.operation.traits
    return None if jumps and before.guard is None else head


_MOVED = (
    ("arrive", "an arrival", any_of(_ARRIVALS)),
    ("commit", "a commit", _is_commit),
    ("group-wait", "a wait for groups", any_of(_GROUP_WAITS | _OTHER_WAITS)),
    ("fence", "a fence", _is_fence),
    ("barrier", "a barrier", any_of(_NAMED | _CLUSTER)),
)


def _both_ways() -> Iterator[Operator]:
    for name, what, chooses in _MOVED:
        yield Operator(
            f"later-{name}", f"{what} is moved behind the next synchronising step", chooses, _move_later
        )
        yield Operator(
            f"earlier-{name}", f"{what} is moved before the last synchronising step", chooses, move_earlier
        )


OPERATORS: tuple[Operator, ...] = (
    Operator("drop-arrive", "an arrival is left out", any_of(_ARRIVALS), drop),
    Operator("drop-wait", "a wait for a phase is left out", any_of(POLLS), drop),
    Operator("drop-group-wait", "a wait for groups is left out", any_of(_GROUP_WAITS | _OTHER_WAITS), drop),
    Operator("drop-commit", "a commit is left out", _is_commit, drop),
    Operator("drop-fence", "a fence is left out", _is_other_fence, drop),
    Operator("drop-init-fence", "the fence of the initialisation is left out", any_of(_INIT_FENCE), drop),
    Operator("drop-init", "the initialisation of a barrier is left out", any_of(_INIT), drop),
    Operator("drop-expect", "expected bytes are left out", any_of(_EXPECT), drop),
    Operator("drop-barrier", "a barrier of the CTA is left out", any_of(_NAMED), drop),
    Operator("drop-warp-barrier", "a meeting of a warp is left out", any_of(_WARP_BARRIER), drop),
    Operator("drop-cluster-barrier", "half of a cluster barrier is left out", any_of(_CLUSTER), drop),
    Operator("duplicate-arrive", "an arrival is made twice", any_of(_ARRIVALS), duplicate),
    Operator("duplicate-commit", "a commit is made twice", _is_commit, duplicate),
    Operator("duplicate-fence", "a fence is made twice", _is_fence, duplicate),
    Operator("duplicate-group-wait", "groups are waited for twice", any_of(_GROUP_WAITS | _OTHER_WAITS), duplicate),
    Operator("duplicate-init", "a barrier is initialised twice", any_of(_INIT), duplicate),
    Operator("duplicate-barrier", "a barrier of the CTA is met twice", any_of(_NAMED), duplicate),
    *_both_ways(),
    Operator("out-of-loop", "a statement is moved in front of its loop", _moves, _out_of_loop),
    Operator("init-count+1", "a barrier counts one arrival more", _with(_INIT, "count"), shift("count", 1, 1)),
    Operator("init-count-1", "a barrier counts one arrival less", _with(_INIT, "count"), shift("count", -1, 1)),
    Operator("arrive-count+1", "an arrival counts for one more", _with(_ARRIVALS, "count"), shift("count", 1, 1)),
    Operator("arrive-count-1", "an arrival counts for one less", _with(_ARRIVALS, "count"), shift("count", -1, 1)),
    Operator("bytes+16", "16 bytes more are expected", _expects, shift("tx_count", GRANULE)),
    Operator("bytes-16", "16 bytes less are expected", _expects, shift("tx_count", -GRANULE)),
    Operator("parity", "a wait takes the other parity", _with(POLLS, "parity"), _flip("parity")),
    Operator("wait-next-barrier", "a wait is for the barrier behind", any_of(POLLS), _offset("addr", BYTES)),
    Operator("wait-last-barrier", "a wait is for the barrier before", any_of(POLLS), _offset("addr", -BYTES)),
    Operator("arrive-next-barrier", "an arrival is at the barrier behind", _only_arrives, _offset("addr", BYTES)),
    Operator("arrive-last-barrier", "an arrival is at the barrier before", _only_arrives, _offset("addr", -BYTES)),
    Operator("expect-other-barrier", "bytes are expected at the barrier behind", _expects, _offset("addr", BYTES)),
    Operator("signal-next-barrier", "a copy signals the barrier behind", _signals, _offset("mbar", BYTES)),
    Operator("signal-last-barrier", "a copy signals the barrier before", _signals, _offset("mbar", -BYTES)),
    Operator("next-buffer", "a copy goes to the place behind", _copies, _next_buffer),
    Operator("scope", "an operation of cluster scope has the scope of the CTA", _has_scope, _narrow_scope),
    Operator("relaxed", "the cluster barrier is arrived at relaxed", any_of(_CLUSTER_ARRIVE), _relax),
    Operator("by-all-lanes", "every lane arrives or commits, not the chosen one", _guarded_arrival, unguard),
    Operator("by-one-lane", "lane 0 arrives alone", any_of(_ARRIVALS), _by_one_lane),
    Operator("groups+1", "one more group may be pending", _with(_GROUP_WAITS, "n"), shift("n", 1)),
    Operator("groups-1", "one group less may be pending", _with(_GROUP_WAITS, "n"), shift("n", -1)),
    Operator("threads+32", "a named barrier counts a warp more", _counts, shift("threads", WARP, WARP)),
    Operator("threads-32", "a named barrier counts a warp less", _counts, shift("threads", -WARP, WARP)),
    Operator("next-number", "a named barrier has the next number", _counts, shift("barrier", 1)),
)  # fmt: skip
"""Every operator, in the order of the tables."""
