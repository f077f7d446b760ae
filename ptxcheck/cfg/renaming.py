"""A body under new names: registers, labels and variables of one copy of a function in scopes of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..ir import (
    Address,
    Arguments,
    Body,
    Component,
    Function,
    Guard,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    ScopeBegin,
    ScopeEnd,
    Statement,
    Symbol,
    SymbolOffset,
    Variable,
    Vector,
)
from ..isa.lookup import of_call
from ..opcodes.spec import Operation

LASTING = frozenset({".shared", ".global", ".const"})
"""State spaces of variables that are one for all calls of a function."""


def scopes_of(body: Body) -> int:
    """Return a number that is greater than that of any scope of a body."""
    scopes = (each.scope for each in body.statements if isinstance(each, ScopeBegin | Label | Variable))
    return 1 + max(scopes, default=0)


class Renaming:
    """New names for one copy of a function: scope `n` of it becomes `first + n`.

    Variables that last go to `lasting + n`; `actuals` says what is passed for parameters.
    """

    def __init__(self, callee: Function, first: int, lasting: int, actuals: Mapping[Symbol, Symbol]) -> None:
        body = callee.body
        assert body is not None
        self._first = first
        self._actuals = actuals
        formals = (*callee.parameters, *callee.returns)
        self._registers = {
            *body.register_types, *(Register(each.name) for each in formals if each.space == ".reg")
        }  # fmt: skip
        self._lasting = {
            Symbol(each.name, each.scope): Symbol(each.name, each.scope + lasting)
            for each in body.variables
            if each.space in LASTING
        }
        self._own = {
            *(Symbol(name, scope) for name, scope in body.labels),
            *(Symbol(each.name, each.scope) for each in (*body.variables, *formals)),
            *(Symbol(each.label) for each in body.directives if each.label is not None),
        }
        self._known: dict[int, Operand] = {}

    def statement(self, statement: Statement) -> Statement:
        """Return a statement under the new names."""
        match statement:
            case Instruction():
                operands = tuple(self.operand(each) for each in statement.operands)
                guard = self.guard(statement.guard)
                operation = self._operation(statement)
                return Instruction(operation, guard, operands, statement.start, statement.end)
            case Variable():
                named = self.symbol(Symbol(statement.name, statement.scope))
                return replace(statement, scope=named.scope)
            case Label() | ScopeBegin() | ScopeEnd():
                return replace(statement, scope=statement.scope + self._first)
            case _:
                return statement

    def _operation(self, instruction: Instruction) -> Operation:
        """Return an access of what is passed as one of a parameter of a call, which it is in the caller."""
        operation = instruction.operation
        if operation.slots.get("space") != ".param":
            return operation
        bases = (each.base for each in instruction.operands if isinstance(each, Address))
        is_passed = any(isinstance(base, Symbol) and base in self._actuals for base in bases)
        return of_call(operation) if is_passed else operation

    def guard(self, guard: Guard | None) -> Guard | None:
        """Return a guard under the new names."""
        return None if guard is None else Guard(self._register(guard.register), guard.negated)

    def symbol(self, symbol: Symbol) -> Symbol:
        """Return the new name of a variable, parameter or label; names of the module stay."""
        known = self._actuals.get(symbol) or self._lasting.get(symbol)
        if known is not None:
            return known
        is_own = symbol.scope > 0 or symbol in self._own
        return Symbol(symbol.name, symbol.scope + self._first) if is_own else symbol

    def operand(self, operand: Operand) -> Operand:
        """Return an operand under the new names; operands are shared by many instructions."""
        known = self._known.get(id(operand))
        if known is None:
            known = self._known[id(operand)] = self._renamed(operand)
        return known

    def _register(self, register: Register) -> Register:
        is_own = register.scope > 0 or register in self._registers
        return Register(register.name, register.scope + self._first) if is_own else register

    def _renamed(self, operand: Operand) -> Operand:
        match operand:
            case Register():
                return self._register(operand)
            case Symbol():
                return self.symbol(operand)
            case SymbolOffset(symbol=symbol):
                return replace(operand, symbol=self.symbol(symbol))
            case Component(base=base):
                return replace(operand, base=self._register(base))
            case Negated(operand=inner):
                return Negated(self._register(inner))
            case Pair(first=first, second=second):
                return Pair(self.operand(first), self.operand(second))
            case Vector(elements=items):
                return Vector(tuple(self.operand(each) for each in items))
            case Arguments(items=items):
                return Arguments(tuple(self.operand(each) for each in items))
            case Address(base=base, extra=extra):
                others = tuple(self.operand(each) for each in extra)
                return replace(operand, base=self._base(base), extra=others)
            case _:
                return operand

    def _base(self, base: Register | Symbol | Component | None) -> Register | Symbol | Component | None:
        match base:
            case Register():
                return self._register(base)
            case Symbol():
                return self.symbol(base)
            case Component():
                return replace(base, base=self._register(base.base))
            case None:
                return None
