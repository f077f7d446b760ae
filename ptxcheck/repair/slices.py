"""The arithmetic behind synchronisation: what addresses, counts, parities and branches are computed from."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import Instruction, Register
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from ..view import KernelView
from .sites import is_site

_PARAMETER = ".param"
_NOT_ARITHMETIC = frozenset(
    {Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.ASYNC, Trait.CALL, Trait.TERMINATOR, Trait.MATRIX}
)


def is_arithmetic(instruction: Instruction) -> bool:
    """Tell whether an instruction only computes registers from registers and constants."""
    if is_site(instruction) or instruction.operation.traits & (_NOT_ARITHMETIC | {Trait.BRANCH}):
        return False
    return any(True for _ in instruction.writes())


def is_branch(instruction: Instruction) -> bool:
    """Tell whether an instruction is a conditional branch."""
    return Trait.BRANCH in instruction.operation.traits and instruction.guard is not None


def feeding(view: KernelView) -> tuple[int, ...]:
    """Return the points of the arithmetic that synchronising statements and branches depend on, in order."""
    instructions = view.body.instructions
    work = [p for p, each in enumerate(instructions) if is_site(each) or is_branch(each)]
    seen: set[int] = set()
    while work:
        point = work.pop()
        for register in instructions[point].reads():
            for definition in view.facts.definitions(point, register):
                if definition not in seen and is_arithmetic(instructions[definition]):
                    seen.add(definition)
                    work.append(definition)
    return tuple(sorted(seen))


def has_twin(view: KernelView, point: int) -> bool:
    """Tell whether a statement stands elsewhere in the kernel word by word: then roles agree on it."""
    text = view.module.source.text
    own = view.body.instructions[point]
    words = text[own.start : own.end]
    return any(
        text[each.start : each.end] == words
        for p, each in enumerate(view.body.instructions)
        if p != point and each.operation.op is own.operation.op
    )


def exit_test(view: KernelView, branch: int) -> int | None:
    """Return the comparison that a conditional branch depends on, None when it is no single one."""
    instruction = view.body.instructions[branch]
    if not is_branch(instruction) or instruction.guard is None:
        return None
    definitions = view.facts.definitions(branch, instruction.guard.register)
    if len(definitions) != 1 or view.body.instructions[definitions[0]].operation.op is not Op.SETP:
        return None
    return definitions[0]


def loop_tests(view: KernelView) -> Iterator[tuple[int, int]]:
    """Yield the comparison and the branch with which each loop ends, where they stand in one block."""
    for loop in view.cfg.loops:
        for block, _ in loop.exits:
            branch = view.cfg.blocks[block].last
            test = exit_test(view, branch)
            if test is not None and view.cfg.graph.block_of[test] == block:
                yield test, branch


def is_set(view: KernelView, point: int, register: Register) -> bool:
    """Tell whether a register has a value on every way to a point."""
    definitions = view.facts.definitions(point, register)
    return bool(definitions) and all(view.cfg.dominates(each, point) for each in definitions)


def idle(view: KernelView) -> Iterator[tuple[int, Register]]:
    """Yield what is computed for nothing but other such computations, with the points: a use may have got lost.

    What is computed from loaded data, such as a sum, is left out: nothing is counted or addressed by it.
    """
    instructions = view.body.instructions
    work = [(p, r) for p, each in enumerate(instructions) if not is_arithmetic(each) for r in each.reads()]
    used: set[int] = set()
    while work:
        point, register = work.pop()
        for definition in view.facts.definitions(point, register):
            if definition not in used:
                used.add(definition)
                work += [(definition, each) for each in instructions[definition].reads()]
    for point, instruction in enumerate(instructions):
        if point not in used and is_arithmetic(instruction) and not _is_of_data(view, point):
            yield from ((point, register) for register in instruction.writes())


def _is_of_data(view: KernelView, point: int) -> bool:
    """Tell whether a statement computes from what an instruction loads from memory, or from nothing that is set."""
    instructions = view.body.instructions
    for register in instructions[point].reads():
        definitions = view.facts.definitions(point, register)
        loads = (
            instructions[each] for each in definitions if Trait.LOAD in instructions[each].operation.traits
        )
        if any(_PARAMETER not in load.operation.text for load in loads):
            return True
    return False
