"""Operators of mutation that change who does what: branches, chosen threads, bounds of loops, buffers of unrolled code.

They are apart from `OPERATORS`, as they change statements that synchronise nothing themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxcheck.cfg.facts import analyse
from ptxcheck.ir import Address, Immediate, Instruction, Operand, Register
from ptxcheck.launch import Launch
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import OperandKind, Trait
from ptxcheck.protocols.symex.slice.branch_sides import between

from .operators import Operator, any_of, move_earlier, rewritten, shift
from .subject import POLLS, Subject

_LAST_LANE = 31
_USES = frozenset({Trait.LOAD, Trait.STORE, Trait.ASYNC})


def _is_branch(instruction: Instruction) -> bool:
    return Trait.BRANCH in instruction.operation.traits and instruction.guard is not None


def _compares(instruction: Instruction) -> bool:
    return instruction.operation.op is Op.SETP


def _chooses_one(instruction: Instruction) -> bool:
    """Tell whether one number, of all that an operand may have, is told apart from the others."""
    return _compares(instruction) and instruction.operation.slots.get("compare") in (".eq", ".ne")


def _is_32_bits(instruction: Instruction) -> bool:
    return instruction.operation.slots.get("type") in (".u32", ".s32", ".b32")


def _swap_sides(subject: Subject, point: int) -> str | None:
    """Turn the predicate of a branch over, where a side of it synchronises and it is no loop's."""
    block = subject.cfg.graph.block_of[point]
    inside = between(subject.cfg, block)
    loops = subject.cfg.loops_around(block)
    leaves = (
        any(edge.target not in loops[0].blocks for edge in subject.cfg.edges_from(block)) if loops else False
    )
    acts = any(subject.cfg.graph.block_of[site] in inside.blocks for site in subject.sites)
    if (inside.cyclic and block in inside.blocks) or leaves or not acts:
        return None
    statement = subject.statement(point)
    turned = (
        statement.replace("@!", "@", 1) if statement.startswith("@!") else statement.replace("@", "@!", 1)
    )
    return subject.replaced(point, turned)


def _use_before_wait(subject: Subject, point: int) -> str | None:
    """Move the first access of shared memory behind a wait in front of it."""
    for at in range(subject.unit_of[point].last + 1, len(subject.instructions) - 1):
        instruction = subject.instructions[at]
        traits = instruction.operation.traits
        if (
            at in subject.labelled
            or Trait.BRANCH in traits
            or (at in subject.unit_of and not _touches(instruction))
        ):
            return None
        if _touches(instruction):
            return move_earlier(subject, at)
    return None


def _touches(instruction: Instruction) -> bool:
    operation = instruction.operation
    spaces = {value for name, value in operation.slots.items() if name.endswith("space")}
    is_shared = any(space.startswith(".shared") for space in spaces)
    return bool(operation.traits & _USES) and (is_shared or Trait.WARPGROUP in operation.traits)


def _other_lane(subject: Subject, point: int) -> str | None:
    """Choose the next thread, where a comparison chooses one of its warp by its number."""
    instruction = subject.instructions[point]
    chosen, register = instruction["b"], instruction["a"]
    if not isinstance(chosen, Immediate) or not isinstance(register, Register):
        return None
    facts = analyse(subject.cfg, subject.module, Launch(block=(1024, 1, 1)))
    words = facts.by_thread(facts.name(point, register))
    if words is None or int((words[:32] == words[0]).sum()) == 32:  # a warp is chosen, or all of its lanes
        return None
    new = chosen.value + 1 if chosen.value % 32 != _LAST_LANE else chosen.value - 1
    return rewritten(subject, point, "b", Immediate(new))


def _bound_less(subject: Subject, point: int) -> str | None:
    """Compare with one less, where that decides when a loop ends in which something synchronises."""
    loop = subject.cfg.loop_of(point)
    if loop is None or not any(subject.cfg.graph.block_of[site] in loop.blocks for site in subject.sites):
        return None
    if not _ends_loop(subject, point, frozenset(loop.blocks)):
        return None
    bound = subject.instructions[point]["b"]
    is_bound = (isinstance(bound, Immediate) and bound.value > 1) or isinstance(bound, Register)
    return shift("b", -1, 1)(subject, point) if is_bound else None


def _ends_loop(subject: Subject, point: int, blocks: frozenset[int]) -> bool:
    written = set(subject.instructions[point].writes())
    return any(
        subject.cfg.graph.block_of[at] in blocks
        and _is_branch(each)
        and each.guard is not None
        and each.guard.register in written
        and any(e.target not in blocks for e in subject.cfg.edges_from(subject.cfg.graph.block_of[at]))
        for at, each in enumerate(subject.instructions)
    )


def _buffer_of_first_copy(subject: Subject, point: int) -> str | None:
    """Give the second of two statements that are the same but for offsets the address of the first, one of them."""
    for name, address in _addresses(subject.instructions[point]):
        for earlier in range(point - 1, -1, -1):
            other = subject.instructions[earlier]
            if other.operation.text != subject.instructions[point].operation.text:
                continue
            first = dict(_addresses(other)).get(name)
            if first is not None and first.base == address.base and first.offset != address.offset:
                return rewritten(subject, point, name, first)
            break
    return None


def _addresses(instruction: Instruction) -> Iterator[tuple[str, Address]]:
    for spec, operand in _operands(instruction):
        if isinstance(operand, Address):
            yield spec, operand


def _operands(instruction: Instruction) -> Iterator[tuple[str, Operand]]:
    for spec, operand in zip(instruction.operation.operand_specs, instruction.operands, strict=False):
        if spec.kind is OperandKind.ADDRESS:
            yield spec.name, operand


STRUCTURE_OPERATORS: tuple[Operator, ...] = (
    Operator("swap-sides", "the sides of a branch change places", _is_branch, _swap_sides, everywhere=True),
    Operator("use-before-wait", "what is waited for is used before", any_of(POLLS), _use_before_wait),
    Operator("other-lane", "another lane is chosen", _chooses_one, _other_lane, everywhere=True),
    Operator(
        "second-copy", "the second of two copies of code has the address of the first",
        lambda instruction: True, _buffer_of_first_copy,
    ),
    Operator(
        "bound-1", "a loop of one role ends one round early",
        lambda instruction: _compares(instruction) and _is_32_bits(instruction), _bound_less, everywhere=True,
    ),
)  # fmt: skip
"""In the order of the tables."""
