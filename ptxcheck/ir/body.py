"""The body of a function: its statements, and what derives from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ..opcodes.spec import Operation
from ..source import SyntaxProblem
from .operands import Operand, Register, registers_of
from .statements import Directive, InlinedCall, Instruction, Label, Loc, Statement, Variable


@dataclass(frozen=True)
class Body:
    """The statements of one function, and what derives from them."""

    statements: tuple[Statement, ...]
    problems: tuple[SyntaxProblem, ...] = field(default=(), compare=False)

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions in order; the index in this tuple is the program point."""
        return tuple(s for s in self.statements if type(s) is Instruction)

    @cached_property
    def labels(self) -> Mapping[tuple[str, int], int]:
        """Point of the instruction after each label (name, scope); may equal the number of instructions."""
        found: dict[tuple[str, int], int] = {}
        point = 0
        for statement in self.statements:
            if type(statement) is Instruction:
                point += 1
            elif isinstance(statement, Label):
                found[(statement.name, statement.scope)] = point
        return found

    @cached_property
    def inlined_calls(self) -> Mapping[int, str]:
        """Callee of each call whose body was put in its place, by the point of the jump into it."""
        found: dict[int, str] = {}
        point = 0
        for statement in self.statements:
            if type(statement) is Instruction:
                point += 1
            elif type(statement) is InlinedCall:
                found[point] = statement.callee
        return found

    @cached_property
    def locs(self) -> tuple[Loc | None, ...]:
        """The `.loc` in force at each point."""
        current: Loc | None = None
        found: list[Loc | None] = []
        for statement in self.statements:
            if type(statement) is Instruction:
                found.append(current)
            elif type(statement) is Loc:
                current = statement
        return tuple(found)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Declarations in the body, registers included."""
        return tuple(s for s in self.statements if isinstance(s, Variable))

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        return tuple(s for s in self.statements if isinstance(s, Directive))

    @cached_property
    def points_by_operation(self) -> Mapping[Operation, tuple[int, ...]]:
        """Points of each operation, operations in order of their first point."""
        found: dict[Operation, list[int]] = {}
        for point, instruction in enumerate(self.instructions):
            points = found.get(instruction.operation)
            if points is None:
                found[instruction.operation] = [point]
            else:
                points.append(point)
        return {operation: tuple(points) for operation, points in found.items()}

    def points_where(self, holds: Callable[[Operation], bool]) -> tuple[int, ...]:
        """Return the points, in order, whose operation passes a test; each operation is tested once."""
        chosen = [points for operation, points in self.points_by_operation.items() if holds(operation)]
        return chosen[0] if len(chosen) == 1 else tuple(sorted(chain.from_iterable(chosen)))

    @cached_property
    def distinct_operands(self) -> tuple[tuple[int, Operand], ...]:
        """Each operand object with the point where it is first used, guards first; the parser shares them."""
        seen: set[int] = set()
        found: list[tuple[int, Operand]] = []
        for point, instruction in enumerate(self.instructions):
            guard = instruction.guard
            if guard is not None and id(guard.register) not in seen:
                seen.add(id(guard.register))
                found.append((point, guard.register))
            for operand in instruction.operands:
                if id(operand) not in seen:
                    seen.add(id(operand))
                    found.append((point, operand))
        return tuple(found)

    @cached_property
    def register_types(self) -> Mapping[Register, str]:
        """Declared type of each register that an instruction names; special registers are not in it."""
        ranges: dict[tuple[str, int], Variable] = {}
        exact: dict[tuple[str, int], Variable] = {}
        for variable in self.variables:
            if variable.space == ".reg":
                table = exact if variable.count is None else ranges
                table[(variable.name, variable.scope)] = variable
        found: dict[Register, str] = {}
        for _, operand in self.distinct_operands:
            for register in registers_of(operand):
                if register not in found:
                    _add_type(register, exact, ranges, found)
        return found


def _add_type(
    register: Register,
    exact: Mapping[tuple[str, int], Variable],
    ranges: Mapping[tuple[str, int], Variable],
    found: dict[Register, str],
) -> None:
    variable = exact.get((register.name, register.scope))
    if variable is None:
        stem = register.name.rstrip("0123456789")
        variable = ranges.get((stem, register.scope))
    if variable is not None:
        found[register] = variable.type
