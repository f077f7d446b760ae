"""Calls of functions of the module, with the body of the function in their place.

Property: `with_calls_inlined` returns a kernel that does what the given one does, in which each call of a function of
the module that it names is replaced with the function's body.

Argument: each copy of a body has scopes of its own for registers, labels and parameters, so that names of two copies
are never one; variables that live longer than a call (`.shared`, `.global`, `.const`) are the same in all copies. A
return is a jump to the end of the copy. Spans stay those of the callee's text, and lines are those of its source,
inlined at the line of the call.

Not covered: indirect calls, recursion, functions that the module does not have, one variable for an argument and a
result, calls deeper than `_DEEPEST`, and those that make a kernel larger than `_MOST_INSTRUCTIONS`: these stay calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..ir import (
    Arguments,
    Body,
    Function,
    Guard,
    InlinedCall,
    Instruction,
    Label,
    Loc,
    Module,
    Operand,
    Register,
    ScopeBegin,
    ScopeEnd,
    Statement,
    Symbol,
    Variable,
)
from ..isa.lookup import resolve
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from .loops import strong_components
from .optypes import NARROWEST, type_width
from .parameter_registers import with_parameters_in_registers
from .renaming import LASTING, Renaming, scopes_of

_MOST_INSTRUCTIONS = 20_000
_DEEPEST = 64
"""Calls within calls."""


def kernels_of(module: Module) -> tuple[Function, ...]:
    """Return the kernels of a module with the functions that they call inlined."""
    return tuple(with_calls_inlined(each, module) for each in module.entries)


def with_calls_inlined(function: Function, module: Module) -> Function:
    """Return a kernel with the functions that it calls inlined; itself where it calls none of them.

    A device function is itself, too: who calls it decides what is passed.
    """
    body = function.body
    if (
        body is None
        or not function.is_entry
        or not any(Trait.CALL in each.operation.traits for each in body.instructions)
    ):
        return function
    inliner = _Inliner(module, scopes_of(body))
    parameters = {
        Symbol(each.name, each.scope) for each in body.variables if each.space == ".param"
    }  # a kernel's own parameters are passed to no function
    statements = [*inliner.expanded(body.statements, (function.name,), parameters)]
    if not inliner.first_scopes:
        return function
    inlined = Body((*inliner.lasting, *statements), body.problems)
    return replace(function, body=with_parameters_in_registers(inlined, frozenset(inliner.passed)))


@dataclass
class _Inliner:
    module: Module
    next_scope: int
    passed: set[Symbol] = field(default_factory=set)
    """Parameters in the callers of what was inlined."""
    first_scopes: dict[str, int] = field(default_factory=dict)
    """The first scope of the first copy of each function, where its variables that last are."""
    lasting: list[Variable] = field(default_factory=list)
    """Variables of what was inlined that are one for all calls."""
    size: int = 0

    def expanded(
        self, statements: Iterable[Statement], callers: tuple[str, ...], parameters: set[Symbol]
    ) -> Iterator[Statement]:
        """Yield statements with bodies in the place of calls. `parameters`: those that the caller may pass on."""
        loc: Loc | None = None
        for statement in statements:
            if isinstance(statement, Loc):
                loc = statement
            elif isinstance(statement, Instruction) and Trait.CALL in statement.operation.traits:
                copy = self._copy(statement, callers, parameters, loc)
                if copy is not None:
                    yield from copy
                    continue
            yield statement

    def _copy(
        self, call: Instruction, callers: tuple[str, ...], parameters: set[Symbol], loc: Loc | None
    ) -> Iterator[Statement] | None:
        """Return what stands in the place of a call; None if it stays."""
        callee = self._callee(call, callers)
        if callee is None or callee.body is None:
            return None
        passed = _bound(call, callee)
        if passed is None:
            return None
        symbols = [actual for _, actual in passed if isinstance(actual, Symbol)]
        if not parameters.issuperset(symbols) or len(set(symbols)) < len(symbols):
            return None  # one variable for two parameters: its bytes are copied for each
        self.passed.update(symbols)
        self.size += len(callee.body.instructions)
        scope, self.next_scope = self.next_scope, self.next_scope + scopes_of(callee.body)
        if callee.name not in self.first_scopes:
            self.first_scopes[callee.name] = scope
            variables = (each for each in callee.body.variables if each.space in LASTING)
            self.lasting += [replace(each, scope=each.scope + scope) for each in variables]
        actuals = {Symbol(formal.name): actual for formal, actual in passed if isinstance(actual, Symbol)}
        renaming = Renaming(callee, scope, self.first_scopes[callee.name], actuals)
        body = _returning(callee, renaming, _end(scope), loc)
        own = {renaming.symbol(Symbol(each.name, each.scope)) for each in _parameters(callee)}
        inner = self.expanded(body, (*callers, callee.name), own)
        return _framed(call, callee, scope, passed, inner, loc)

    def _callee(self, call: Instruction, callers: tuple[str, ...]) -> Function | None:
        """Return the function that is inlined in the place of a call; None if none is."""
        callee = self.module.bodies.get(call.callee or "")
        if callee is None or callee.body is None or callee.body.problems or len(callers) > _DEEPEST:
            return None
        if self.size + len(callee.body.instructions) > _MOST_INSTRUCTIONS or callee.name in self._recursive:
            return None
        return callee

    @cached_property
    def _recursive(self) -> frozenset[str]:
        """Functions that come to themselves again by the calls in them."""
        bodies = self.module.bodies
        calls, names = [*map(_called_by, bodies.values())], [*bodies]
        number = {name: at for at, name in enumerate(names)}
        after = [[number[name] for name in each if name in number] for each in calls]
        circles = (
            each
            for each in strong_components(range(len(names)), after)
            if len(each) > 1 or each[0] in after[each[0]]
        )
        return frozenset(names[at] for circle in circles for at in circle)


def _called_by(function: Function) -> list[str]:
    """Return the functions that calls in a function name."""
    body = function.body
    calls = () if body is None else (i for i in body.instructions if Trait.CALL in i.operation.traits)
    return [name for name in dict.fromkeys(call.callee for call in calls) if name is not None]


def _parameters(callee: Function) -> Iterator[Variable]:
    assert callee.body is not None
    for each in (*callee.parameters, *callee.returns, *callee.body.variables):
        if each.space == ".param":
            yield each


def _bound(call: Instruction, callee: Function) -> list[tuple[Variable, Operand]] | None:
    """Return parameters and results of a function with what a call passes for them; None if they do not fit."""
    found: list[tuple[Variable, Operand]] = []
    for name, formals in (("arguments", callee.parameters), ("returns", callee.returns)):
        operand = call.get(name)
        items = operand.items if isinstance(operand, Arguments) else ()
        if len(items) != len(formals):
            return None
        for formal, actual in zip(formals, items, strict=True):
            if formal.space == ".param" and not isinstance(actual, Symbol):
                return None
            if formal.space == ".reg" and not isinstance(actual, Register):
                return None
            found.append((formal, actual))
    return found


def _begin(scope: int) -> Symbol:
    """Return the label in front of a copy."""
    return Symbol(f"$call_{scope}", scope)


def _end(scope: int) -> Symbol:
    """Return the label at the end of a copy, named so that it is one of its kind where the body is printed."""
    return Symbol(f"$return_{scope}", scope)


def _behind(scope: int) -> Symbol:
    """Return the label behind a copy."""
    return Symbol(f"$behind_{scope}", scope)


def _returning(callee: Function, renaming: Renaming, end: Symbol, loc: Loc | None) -> Iterator[Statement]:
    """Yield the body of a callee under its new names, with jumps to its end in the place of returns."""
    assert callee.body is not None
    last = callee.body.instructions[-1] if callee.body.instructions else None
    jump = resolve("bra", (end,))
    for statement in callee.body.statements:
        if isinstance(statement, Instruction) and statement.operation.op is Op.RET:
            if statement is not last or statement.guard is not None:
                guard = renaming.guard(statement.guard)
                yield Instruction(jump, guard, (end,), statement.start, statement.end)
        elif isinstance(statement, Loc):
            if loc is not None:  # without a line of the call, one of the callee would stay in force behind it
                yield _inlined_at(statement, callee.name, loc)
        elif not (isinstance(statement, Variable) and statement.space in LASTING):
            yield renaming.statement(statement)


def _inlined_at(own: Loc, callee: str, call: Loc) -> Loc:
    if own.inlined_at is not None:
        return own
    return replace(own, function=callee, function_offset=0, inlined_at=call.place)


def _framed(
    call: Instruction,
    callee: Function,
    scope: int,
    passed: list[tuple[Variable, Operand]],
    body: Iterator[Statement],
    loc: Loc | None,
) -> Iterator[Statement]:
    """Yield a copy of a body with its scope, its labels, and moves of what is passed in registers.

    In the place of the call is a jump, so that it stays a point of the kernel.
    """
    behind, begin = _behind(scope), _begin(scope)
    yield InlinedCall(callee.name, call.span)
    if call.guard is None:
        yield Instruction(resolve("bra", (begin,)), None, (begin,), call.start, call.end)
    else:
        skips = Guard(call.guard.register, not call.guard.negated)
        yield Instruction(resolve("bra", (behind,)), skips, (behind,), call.start, call.end)
    yield Label(begin.name, scope, call.span)
    yield ScopeBegin(scope, call.span)
    in_registers = [
        (formal, Register(formal.name, scope), actual) for formal, actual in passed if formal.space == ".reg"
    ]
    for formal, register, _ in in_registers:
        yield replace(formal, scope=register.scope)
    for formal, register, actual in in_registers:
        if formal in callee.parameters:
            yield _move(formal.type, register, actual, call)
    yield from body
    yield Label(_end(scope).name, scope, call.span)
    for formal, register, actual in in_registers:
        if formal in callee.returns:
            yield _move(formal.type, actual, register, call)
    yield ScopeEnd(scope, call.span)
    yield Label(behind.name, scope, call.span)
    if loc is not None:
        yield loc


def _move(type_: str, target: Operand, value: Operand, call: Instruction) -> Instruction:
    operands = (target, value)
    opcode = "mov.pred" if type_ == ".pred" else f"mov.b{max(type_width(type_), NARROWEST)}"
    return Instruction(resolve(opcode, operands), None, operands, call.start, call.end)
