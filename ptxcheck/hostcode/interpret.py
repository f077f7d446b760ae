"""Run host code on abstract values, and note each call that encodes a tensor map with what its arguments are.

Functions are run from each that leads to an encode call, with parameters unknown, and calls of functions of
the same file are followed. Branches that cannot be taken are not followed; where two join, what differs
becomes a choice. A loop with a known number of turns is run turn by turn, any other once, with everything
that it changes unknown. What an unknown function may change is unknown afterwards.

Property: at each noted call the values cover those of every run that reaches it (`values.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, lcm

from ptxcheck.descriptors.fields import Kind
from ptxcheck.descriptors.ranges import Range, Symbol
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.arithmetic import Arithmetic
from ptxcheck.hostcode.changes import (
    READERS,
    assigned_in_lambdas,
    callee_name,
    changed,
    passed,
    path_of,
    variable_of,
    walk,
)
from ptxcheck.hostcode.names import ENUMERATORS, MARKED_EXIT, PARAMETER_COUNT, entry_of
from ptxcheck.hostcode.types import BOOL, INT, UNKNOWN, UNSIGNED_LONG, Type, named
from ptxcheck.hostcode.values import (
    ANYTHING,
    Anything,
    Array,
    Closure,
    Entry,
    Integer,
    NullPointer,
    Step,
    Symbols,
    Value,
    Words,
    as_test,
    bounds,
    is_large,
    is_true,
    joined_steps,
    number,
    type_range,
)
from ptxcheck.source import Span

DEEPEST_CALL = 4
MOST_TURNS = 16
MOST_WORK = 40_000
"""Statements and expressions that are run from one function."""
LONGEST_ARRAY = 64
LONGEST_GETTER = 3
"""Arguments of a function that looks an encode function up; an encode function has 11 at least."""
ALLOCATORS = frozenset(("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cuMemAlloc", "cuMemAlloc_v2"))
ALLOCATION = 256
"""Bytes: the alignment of device memory from an allocator (CUDA programming guide, device memory accesses)."""


class _ExhaustedError(Exception):
    """Too much work from one function."""


@dataclass
class State:
    """Variables by their path, and what is known of the symbols."""

    variables: dict[str, Value] = field(default_factory=dict)
    known: dict[str, Symbol] = field(default_factory=dict)

    def copy(self) -> State:
        """Return a state that changes by itself."""
        return State(dict(self.variables), dict(self.known))


@dataclass(frozen=True)
class Encode:
    """One call of an encode function: arguments in the order of cuda.h, the map itself left out where `bare`."""

    kind: Kind
    call: c.Call
    arguments: tuple[Value, ...]
    known: dict[str, Symbol]
    bare: bool
    frames: tuple[tuple[str, Span], ...]
    """The functions on the way, innermost first: name, and where the encode or the next function is called."""


@dataclass
class _Frame:
    function: c.Function
    types: dict[str, Type]
    unstable: set[str]
    returns: list[tuple[Value, State]] = field(default_factory=list)
    jumps: list[State] = field(default_factory=list)


class Interpreter:
    """Runs the functions of one program."""

    def __init__(self, program: c.Program, text: str) -> None:
        self._program = program
        self._text = text
        self._symbols = Symbols()
        self._arithmetic = Arithmetic(self._symbols)
        self._by_name: dict[str, list[c.Function]] = {}
        for function in program.functions:
            self._by_name.setdefault(function.name, []).append(function)
        self._encodes: list[Encode] = []
        self._frames: list[_Frame] = []
        self._calls: list[Span] = []
        self._work = 0
        self._globals: set[str] = set()
        self._changed_by_lambdas: dict[int, frozenset[str]] = {}

    def encodes(self, roots: Sequence[c.Function]) -> list[Encode]:
        """Run each of `roots` and return the encode calls that were reached."""
        for root in roots:
            self._work = 0
            self._frames, self._calls = [], []
            try:
                self._call_function(root, None, State(), root.span)
            except (_ExhaustedError, RecursionError):
                continue
        return self._encodes

    # ------------------------------------------------------------------------------------------ functions

    def _call_function(
        self,
        function: c.Function,
        call: tuple[Sequence[c.Expr], Sequence[Value], Sequence[Type | c.Expr]] | None,
        outer: State,
        where: Span,
        *,
        closure: bool = False,
    ) -> tuple[Value, State | None]:
        """Run a function and return its value and the caller's state after it; None when it never returns."""
        state = outer.copy() if closure else State({}, dict(outer.known))
        types = dict(self._frames[-1].types) if closure and self._frames else {}
        self._bind_template(function, call[2] if call else (), state, types)
        for position, parameter in enumerate(function.parameters):
            given = call[1][position] if call and position < len(call[1]) else None
            if call and isinstance(given, Integer) and isinstance(call[0][position], c.Number):
                step = Step(f"{parameter.name} = {given.constant}", call[0][position].span)
                given = replace(given, steps=(step, *given.steps))
            state.variables[parameter.name] = self._parameter(
                parameter, given, call is not None, state, types
            )
        frame = _Frame(function, types, set(self._unstable(function)))
        self._frames.append(frame)
        self._calls.append(where)
        try:
            end = self._run(function.body, state)
        finally:
            self._frames.pop()
            self._calls.pop()
        if end is not None:
            frame.returns.append((ANYTHING, end))
        if not frame.returns:
            return ANYTHING, None
        value, final = frame.returns[0]
        for other, after in frame.returns[1:]:
            final, (value,) = self._joined(final, after, None, [(value, other)])
        return value, self._after_call(function, call, outer, final, closure)

    def _unstable(self, function: c.Function) -> frozenset[str]:
        """Return the variables that lambdas in a function change, at any time."""
        known = self._changed_by_lambdas.get(id(function))
        if known is None:
            known = frozenset(assigned_in_lambdas(function.body, self._program.passes_variables))
            self._changed_by_lambdas[id(function)] = known
        return known

    def _bind_template(
        self, function: c.Function, given: Sequence[Type | c.Expr], state: State, types: dict[str, Type]
    ) -> None:
        for position, (name, is_value) in enumerate(function.type_parameters):
            argument = given[position] if position < len(given) else None
            if not is_value:
                types[name] = argument if isinstance(argument, Type) else Type(name)
                if isinstance(argument, Type) and argument.name in self._types():
                    types[name] = self._types()[argument.name]
                continue
            value: Value = ANYTHING
            if isinstance(argument, Type):
                value = self._named(argument.name, state, None)
            elif argument is not None:
                value = self._value(argument, state)
            if isinstance(value, Anything):
                value = self._symbols.of_type(state.known, name, INT)
            state.variables[name] = value

    def _types(self) -> dict[str, Type]:
        return self._frames[-1].types if self._frames else {}

    def _parameter(
        self,
        parameter: c.Parameter,
        given: Value | None,
        is_called: bool,
        state: State,
        types: dict[str, Type],
    ) -> Value:
        type_ = types.get(parameter.type.name, parameter.type)
        if given is None and is_called and parameter.default is not None:
            given = self._value(parameter.default, state)
        kind = entry_of(parameter.type.name)
        if given is None or isinstance(given, Anything):
            return Entry(kind) if kind else self._unknown(parameter.name, type_, state)
        if isinstance(given, Integer) and not parameter.type.is_reference:
            return self._converted(given, type_, state, parameter.name)
        return given

    def _unknown(self, name: str, type_: Type, state: State) -> Value:
        kind = entry_of(type_.name)
        if kind is not None:
            return Entry(kind)
        if type_.is_pointer:
            step = type_.size or 1
            term = self._symbols.fresh(state.known, name, Range(0, (1 << 57) - step, step))
            return Integer(term, type_, (), type_.size)
        if type_.is_integer:
            return self._symbols.of_type(state.known, name, type_)
        return ANYTHING

    def _after_call(
        self,
        function: c.Function,
        call: tuple[Sequence[c.Expr], Sequence[Value], Sequence[Type | c.Expr]] | None,
        outer: State,
        final: State,
        closure: bool,
    ) -> State:
        """Return the caller's state: symbols as known at the end, variables that the function could reach."""
        after = State(dict(outer.variables), dict(final.known))
        if call is not None:
            for parameter, expr in zip(function.parameters, call[0], strict=False):
                name = variable_of(expr)
                if not parameter.changes or name is None or name not in after.variables:
                    continue
                own = isinstance(expr, c.Name) and (parameter.is_array or parameter.type.is_reference)
                after.variables[name] = final.variables.get(parameter.name, ANYTHING) if own else ANYTHING
        if closure:
            for name in changed(function.body, self._program.passes_variables):
                if name in outer.variables:
                    after.variables[name] = ANYTHING
        return after

    # ------------------------------------------------------------------------------------------ statements

    def _spend(self) -> None:
        self._work += 1
        if self._work > MOST_WORK:
            raise _ExhaustedError

    def _run(self, body: Sequence[c.Stmt], state: State) -> State | None:
        """Run statements in order; None when their end is not reached."""
        current: State | None = state
        for statement in body:
            if current is None:
                return None
            self._spend()
            current = self._step(statement, current)
        return current

    def _step(self, statement: c.Stmt, state: State) -> State | None:
        match statement:
            case c.Declare():
                self._declare(statement, state)
            case c.Assign():
                self._assign(statement, state)
            case c.Evaluate(value=value):
                return self._evaluate_statement(value, state)
            case c.If():
                return self._branch(statement, state)
            case c.Loop():
                return self._loop(statement, state)
            case c.Switch():
                return self._switch(statement, state)
            case c.Return(value=result):
                found = ANYTHING if result is None else self._value(result, state)
                self._frames[-1].returns.append((found, state))
                return None
            case c.Leave():
                return None
            case c.Jump():
                self._frames[-1].jumps.append(state)
                return None
            case c.Require(test=test):
                taken = self._test(test, state)
                return state if taken is None or self._assume(taken, state, True) else None
            case c.Block(body=body):
                return self._scoped(body, state)
            case c.Define(name=name, function=function):
                state.variables[name] = Closure(function)
        return state

    def _evaluate_statement(self, value: c.Expr, state: State) -> State | None:
        if isinstance(value, c.Call):
            found, after = self._call(value, state)
            del found
            if after is None:
                return None
            state.variables, state.known = after.variables, after.known
            return state
        self._value(value, state)
        return state

    def _scoped(self, body: Sequence[c.Stmt], state: State) -> State | None:
        """Run a block; what it declares hides a variable of the same name only within it."""
        before = dict(state.variables)
        end = self._run(body, state)
        if end is not None:
            for statement in body:
                if isinstance(statement, (c.Declare, c.Define)):
                    if statement.name in before:
                        end.variables[statement.name] = before[statement.name]
                    else:
                        end.variables.pop(statement.name, None)
        return end

    def _declare(self, statement: c.Declare, state: State) -> None:
        name = statement.name
        type_ = self._types().get(statement.type.name, statement.type)
        value = self._declared(statement, type_, state)
        if isinstance(value, Integer):
            value = replace(value, steps=self._with_step(name, value, statement))
        elif isinstance(value, Array):
            value = replace(value, span=statement.span)
        for key in [key for key in state.variables if key.startswith(name + ".")]:
            del state.variables[key]
        if self._frames and name in self._frames[-1].unstable:
            value = self._unknown(name, type_, state)
        if (
            isinstance(value, Array)
            and (type_.is_pointer or type_.is_reference)
            and statement.value is not None
        ):
            self._alias(statement.value, type_, state)
            value = value if type_.is_const else ANYTHING
        elif type_.is_reference and not type_.is_const and statement.value is not None:
            self._alias(statement.value, type_, state)
        state.variables[name] = value

    def _alias(self, value: c.Expr, type_: Type, state: State) -> None:
        """Give up a variable that can be changed by another name from here on."""
        target = variable_of(value)
        if target is not None and not type_.is_const:
            self._frames[-1].unstable.add(target)
            self._havoc({target}, state)

    def _with_step(self, name: str, value: Integer, statement: c.Declare) -> tuple[Step, ...]:
        if (
            statement.value is None
            or isinstance(statement.value, (c.Number, c.Opaque))
            and value.constant is None
        ):
            return value.steps
        shown = f"{name} = {value.constant}" if value.constant is not None else f"{name} is set here"
        step = Step(shown, statement.span)
        return (step, *(other for other in value.steps if other != step))[:6]

    def _declared(self, statement: c.Declare, type_: Type, state: State) -> Value:
        if statement.lengths:
            return self._array(statement, type_, state)
        if statement.value is None:
            if type_.is_container and statement.is_list:
                return self._container((), type_, state)
            return self._unknown(statement.name, type_, state)
        if type_.is_container:
            return self._container_of(statement, type_, state)
        value = self._value(statement.value, state)
        if isinstance(value, Array) and len(value.items) == 1 and type_.is_integer:
            value = value.items[0]
        if isinstance(value, Array) and not value.items and type_.is_integer:
            value = number(0, type_)
        if isinstance(value, Integer):
            return self._converted(value, type_, state, statement.name)
        if isinstance(value, NullPointer) and type_.is_pointer:
            return Integer(number(0).term, type_, (), type_.size)
        if isinstance(value, Anything):
            return self._unknown(statement.name, type_, state)
        return value

    def _container_of(self, statement: c.Declare, type_: Type, state: State) -> Value:
        assert statement.value is not None
        if not isinstance(statement.value, c.Sequence):
            return self._value(statement.value, state)
        items = tuple(self._value(item, state) for item in statement.value.items)
        if statement.is_list:
            if len(items) == 1 and isinstance(items[0], Array):
                return self._container(items[0].items, type_, state)
            return self._container(items, type_, state)
        if not 1 <= len(items) <= 2:
            return ANYTHING
        filler: Value = items[1] if len(items) == 2 else number(0)
        count = items[0].constant if isinstance(items[0], Integer) else None
        if count is None or not 0 <= count <= LONGEST_ARRAY:
            return Array((), filler) if isinstance(items[0], Integer) else ANYTHING
        return Array((filler,) * count)

    def _container(self, items: Sequence[Value], type_: Type, state: State) -> Value:
        length = None
        if type_.name == "array" and len(type_.arguments) == 2:
            length = self._named(type_.arguments[1], state, None)
            if type_.arguments[1].isdigit():
                length = number(int(type_.arguments[1]))
        element = named(type_.arguments[0], self._program.aliases) if type_.arguments else UNKNOWN
        known = [self._element(item, element, state) for item in items]
        if isinstance(length, Integer) and length.constant is not None and length.constant <= LONGEST_ARRAY:
            known += [number(0, element)] * (length.constant - len(known))
        elif type_.name == "array":
            return Array(tuple(known), ANYTHING)
        return Array(tuple(known))

    def _element(self, item: Value, type_: Type, state: State) -> Value:
        return self._converted(item, type_, state, "") if isinstance(item, Integer) else item

    def _array(self, statement: c.Declare, type_: Type, state: State) -> Value:
        """Return an array as C++ initialises it: what is not listed is zero, unless nothing is."""
        lengths = [None if one is None else self._value(one, state) for one in statement.lengths]
        first = lengths[0]
        if len(lengths) != 1 or isinstance(statement.value, c.Text):
            return ANYTHING
        items: list[Value] = []
        if isinstance(statement.value, c.Sequence):
            items = [self._element(self._value(item, state), type_, state) for item in statement.value.items]
        elif statement.value is not None:
            return ANYTHING
        if first is None:
            return Array(tuple(items))
        if not isinstance(first, Integer) or first.constant is None or first.constant > LONGEST_ARRAY:
            return Array(tuple(items), ANYTHING)
        filler: Value = ANYTHING if statement.value is None else number(0, type_)
        return Array((*items, *[filler] * (first.constant - len(items))))

    def _assign(self, statement: c.Assign, state: State) -> None:
        value = self._value(statement.value, state)
        target = statement.target
        if statement.op and isinstance(target, (c.Name, c.Member)):
            before = self._value(target, state)
            value = self._binary(statement.op, before, value, state, self._text_of(statement.span))
        if isinstance(target, c.Item):
            self._assign_item(target, value, statement, state)
            return
        if isinstance(target, c.Sequence):
            self._unpack(target, value, state)
            return
        path = path_of(target)
        if path is None:
            self._havoc({name for name in (variable_of(target),) if name is not None}, state)
            return
        root = path.split(".")[0]
        for key in [key for key in state.variables if key.startswith(path + ".")]:
            del state.variables[key]
        if self._frames and root in self._frames[-1].unstable:
            self._havoc({path}, state)
            return
        before_value = state.variables.get(path)
        if isinstance(value, Integer) and isinstance(before_value, Integer) and before_value.type.is_integer:
            value = self._converted(value, before_value.type, state, path)
        if isinstance(value, Integer):
            shown = f"{path} = {value.constant}" if value.constant is not None else f"{path} is set here"
            value = replace(value, steps=(Step(shown, statement.span), *value.steps)[:6])
        if isinstance(value, Anything) and isinstance(before_value, Integer):
            value = self._unknown(path, before_value.type, state)
        state.variables[path] = value

    def _unpack(self, target: c.Sequence, value: Value, state: State) -> None:
        for position, part in enumerate(target.items):
            name = variable_of(part)
            if name is None:
                continue
            known = isinstance(value, Array) and position < len(value.items) and isinstance(part, c.Name)
            state.variables[name] = value.items[position] if known and isinstance(value, Array) else ANYTHING

    def _assign_item(self, target: c.Item, value: Value, statement: c.Assign, state: State) -> None:
        name = variable_of(target.object)
        if name is None:
            return
        index = self._value(target.index, state)
        array = state.variables.get(name)
        at = index.constant if isinstance(index, Integer) else None
        simple = (
            isinstance(array, Array) and at is not None and 0 <= at < len(array.items) and not statement.op
        )
        if (
            not simple
            or path_of(target.object) != name
            or (self._frames and name in self._frames[-1].unstable)
        ):
            self._havoc({name}, state)
            return
        assert isinstance(array, Array)
        assert at is not None
        items = list(array.items)
        items[at] = value
        state.variables[name] = replace(array, items=tuple(items))

    def _branch(self, statement: c.If, state: State) -> State | None:
        test = None if statement.test is None else self._test(statement.test, state)
        decided = None if test is None else is_true(test, state.known)
        if decided is not None:
            return self._run_block(statement.body if decided else statement.other, state, statement)
        then, other = state.copy(), state.copy()
        taken: State | None = then
        skipped: State | None = other
        if test is not None:
            taken = then if self._assume(test, then, True) else None
            skipped = other if self._assume(test, other, False) else None
        first = None if taken is None else self._run_block(statement.body, taken, statement)
        second = None if skipped is None else self._run_block(statement.other, skipped, statement)
        if first is None or second is None:
            return second if first is None else first
        return self._joined(first, second, test, [])[0]

    def _run_block(self, body: Sequence[c.Stmt], state: State, statement: c.If) -> State | None:
        return self._run(body, state) if statement.test is None else self._scoped(body, state)

    def _loop(self, statement: c.Loop, state: State) -> State | None:
        before = dict(state.variables)
        end = self._loop_within(statement, state)
        if end is not None:
            for one in statement.first:
                if isinstance(one, c.Declare):
                    end.variables.pop(one.name, None)
                    if one.name in before:
                        end.variables[one.name] = before[one.name]
        return end

    def _loop_within(self, statement: c.Loop, state: State) -> State | None:
        started = self._run(statement.first, state)
        if started is None:
            return None
        jumps = any(isinstance(node, (c.Jump, c.Return, c.Leave)) for node in walk(statement.body))
        if not jumps and statement.test is not None:
            done, turned = self._turns(statement, started)
            if done:
                return turned
        self._havoc(changed((*statement.body, *statement.step), self._program.passes_variables), started)
        inside = started.copy()
        test = None if statement.test is None else self._test(statement.test, inside)
        if test is None or self._assume(test, inside, True):
            outer, self._frames[-1].jumps = self._frames[-1].jumps, []
            self._scoped(statement.body, inside)
            self._frames[-1].jumps = outer
        return started

    def _turns(self, statement: c.Loop, state: State) -> tuple[bool, State | None]:
        """Run a loop whose test is known at each turn; False when it is not."""
        current, noted = state.copy(), len(self._encodes)
        for _ in range(MOST_TURNS + 1):
            assert statement.test is not None
            test = self._test(statement.test, current)
            decided = None if test is None else is_true(test, current.known)
            if decided is None:
                break
            if not decided:
                return True, current
            after = self._scoped(statement.body, current)
            after = None if after is None else self._run(statement.step, after)
            if after is None:
                return True, None
            current = after
        del self._encodes[noted:]
        return False, None

    def _switch(self, statement: c.Switch, state: State) -> State | None:
        subject = self._value(statement.subject, state)
        outer, self._frames[-1].jumps = self._frames[-1].jumps, []
        ends: list[State] = []
        has_default = False
        certain = False
        for position, (label, _) in enumerate(statement.cases):
            entry = state.copy()
            has_default = has_default or label is None
            if label is not None:
                match = self._binary("==", subject, self._value(label, state), entry, "")
                test = as_test(match, entry.known)
                decided = None if test is None else is_true(test, entry.known)
                if decided is False or (test is not None and not self._assume(test, entry, True)):
                    continue
                certain = certain or decided is True
            elif certain:
                continue
            body = [one for _, part in statement.cases[position:] for one in part]
            end = self._scoped(body, entry)
            ends += [] if end is None else [end]
        ends += self._frames[-1].jumps
        self._frames[-1].jumps = outer
        if not has_default and not certain:
            ends.append(state)
        final: State | None = None
        for end in ends:
            final = end if final is None else self._joined(final, end, None, [])[0]
        return final

    def _havoc(self, names: set[str], state: State) -> None:
        """Forget what some variables hold, not of which type they are."""
        for name in names:
            held = state.variables.get(name)
            if isinstance(held, Integer):
                state.variables[name] = self._unknown(name, held.type, state)
            elif name in state.variables and not isinstance(held, (Entry, Closure)):
                state.variables[name] = ANYTHING
            for key in [key for key in state.variables if key.startswith(name + ".")]:
                del state.variables[key]

    # ------------------------------------------------------------------------------------------ branches

    def _test(self, expr: c.Expr, state: State) -> ast.expr | None:
        value = self._value(expr, state)
        return as_test(value, state.known)

    def _assume(self, test: ast.expr, state: State, holds: bool) -> bool:
        """Narrow the symbols by a condition; False when no value is left."""
        decided = is_true(test, state.known)
        if decided is not None:
            return decided is holds
        match test:
            case ast.BoolOp(op=op, values=parts):
                if isinstance(op, ast.And) is holds:
                    return all(self._assume(part, state, holds) for part in parts)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _narrow(left, type(op), right, state.known, holds)
        return True

    def _joined(
        self, a: State, b: State, test: ast.expr | None, values: list[tuple[Value, Value]]
    ) -> tuple[State, list[Value]]:
        """Return one state for two that meet, and values that belong to one of them each."""
        known = dict(a.known)
        for key, symbol in b.known.items():
            known[key] = _hull(known[key], symbol) if key in known else symbol
        if test is None or is_large(test):
            test = ast.Compare(
                left=self._symbols.fresh(known, "", Range(0, 1, 1)),
                ops=[ast.NotEq()],
                comparators=[ast.Constant(value=0)],
            )
        result = State({}, known)
        for name in a.variables.keys() | b.variables.keys():
            left, right = a.variables.get(name, ANYTHING), b.variables.get(name, ANYTHING)
            result.variables[name] = left if left is right else self._either(left, right, test, known)
        return result, [self._either(left, right, test, known) for left, right in values]

    def _either(self, a: Value, b: Value, test: ast.expr, known: dict[str, Symbol]) -> Value:
        if isinstance(a, Integer) and isinstance(b, Integer):
            type_ = a.type if a.type == b.type else UNKNOWN
            steps = joined_steps(a, b)
            if ast.dump(a.term) == ast.dump(b.term):
                return Integer(a.term, type_, steps, a.unit)
            term: ast.expr = ast.IfExp(test=test, body=a.term, orelse=b.term)
            if is_large(term):
                x, y = bounds(a, known), bounds(b, known)
                span = Range(min(x.low, y.low), max(x.high, y.high), gcd(x.step, y.step))
                term = self._symbols.fresh(known, "", span)
            return Integer(term, type_, steps, a.unit if a.unit == b.unit else None)
        if isinstance(a, Array) and isinstance(b, Array):
            if len(a.items) != len(b.items) or a.rest != b.rest:
                return ANYTHING
            pairs = zip(a.items, b.items, strict=True)
            return Array(tuple(self._either(x, y, test, known) for x, y in pairs), a.rest, a.span)
        return a if a == b else ANYTHING

    # ------------------------------------------------------------------------------------------ expressions

    def _value(self, expr: c.Expr, state: State) -> Value:
        self._spend()
        match expr:
            case c.Number(value=value, type=type_):
                return number(value, type_ or UNKNOWN)
            case c.Text(value=text):
                return Words(text)
            case c.Null():
                return NullPointer()
            case c.Name(id=name):
                return self._named(name, state, expr)
            case c.Unary():
                return self._unary(expr, state)
            case c.Binary(op=op, left=left, right=right):
                first = self._value(left, state)
                return self._binary(op, first, self._value(right, state), state, self._text_of(expr.span))
            case c.Choice():
                return self._choice(expr, state)
            case c.Cast(type=type_, operand=operand):
                return self._cast(type_, self._value(operand, state), state, expr)
            case c.SizeOf():
                return self._size_of(expr, state)
            case c.Member():
                return self._member(expr, state)
            case c.Item():
                return self._item(expr, state)
            case c.Sequence(items=items):
                return Array(tuple(self._value(item, state) for item in items), None, expr.span)
            case c.AddressOf(operand=operand):
                return self._address_of(operand, state)
            case c.Lambda(function=function):
                return Closure(function)
            case c.Call():
                value, after = self._call(expr, state)
                if after is not None:
                    state.variables, state.known = after.variables, after.known
                return value
            case c.Opaque(names=names):
                self._havoc(set(names), state)
                return ANYTHING

    def _text_of(self, span: Span) -> str:
        return self._text[span.start : min(span.end, span.start + 80)]

    def _named(self, name: str, state: State, expr: c.Expr | None) -> Value:
        if name in state.variables:
            return state.variables[name]
        if name in ENUMERATORS:
            return number(ENUMERATORS[name], INT)
        kind = entry_of(name)
        if kind is not None:
            return Entry(kind)
        if name in self._program.constants and name not in self._globals:
            return self._global(name, state)
        if expr is not None and name not in self._by_name:
            value = self._symbols.of_type(state.known, name, UNKNOWN)
            state.variables[name] = value
            return value
        return ANYTHING

    def _global(self, name: str, state: State) -> Value:
        type_, expr, declare = self._program.constants[name]
        own = State({}, state.known)
        self._globals.add(name)
        try:
            if declare is not None:
                value = self._declared(declare, type_, own)
                if isinstance(value, Integer):
                    value = replace(value, steps=self._with_step(name, value, declare))
            elif expr is not None:
                value = self._value(expr, own)
                if isinstance(value, Integer) and value.constant is not None:
                    value = replace(value, steps=(Step(f"{name} = {value.constant}", expr.span),))
            else:
                value = ANYTHING
        finally:
            self._globals.discard(name)
        if isinstance(value, Anything):
            value = self._unknown(name, type_, state)
            if isinstance(value, Anything):
                value = self._symbols.of_type(state.known, name, UNKNOWN)
        state.variables[name] = value
        return value

    def _integer(self, value: Value, state: State, text: str) -> Integer | None:
        """Return a value as a number; None where it is none."""
        if isinstance(value, Integer):
            return value
        if isinstance(value, NullPointer):
            return number(0)
        if isinstance(value, Anything):
            return self._symbols.of_type(state.known, text, UNKNOWN)
        return None

    def _unary(self, expr: c.Unary, state: State) -> Value:
        value = self._value(expr.operand, state)
        whole = self._integer(value, state, self._text_of(expr.operand.span))
        if whole is None:
            return ANYTHING
        if expr.op == "!":
            return self._arithmetic.negated(whole, state.known)
        if expr.op == "+":
            return whole
        zero = number(0, whole.type)
        negative = self._arithmetic.binary("-", zero, whole, state.known, self._text_of(expr.span))
        if expr.op == "-":
            return negative
        return self._arithmetic.binary("-", negative, number(1, INT), state.known, self._text_of(expr.span))

    def _binary(self, op: str, a: Value, b: Value, state: State, text: str) -> Value:
        if op == "*" and isinstance(a, Array) and isinstance(b, Integer):
            times = b.constant
            if times is not None and 0 <= times * len(a.items) <= LONGEST_ARRAY:
                return Array(a.items * times)
            return Array((), a.items[0]) if len(a.items) == 1 else ANYTHING
        if op == "+" and isinstance(a, Array) and isinstance(b, Array):
            return Array(a.items + b.items, b.rest) if a.rest is None else ANYTHING
        if isinstance(a, Array) or isinstance(b, Array) or isinstance(a, Words) or isinstance(b, Words):
            return ANYTHING
        x, y = self._integer(a, state, ""), self._integer(b, state, "")
        if x is None or y is None:
            return ANYTHING
        return self._arithmetic.binary(op, x, y, state.known, text)

    def _choice(self, expr: c.Choice, state: State) -> Value:
        test = self._test(expr.test, state)
        decided = None if test is None else is_true(test, state.known)
        if decided is not None:
            return self._value(expr.body if decided else expr.other, state)
        then, other = state.copy(), state.copy()
        if test is not None and not self._assume(test, then, True):
            return self._value(expr.other, state)
        if test is not None and not self._assume(test, other, False):
            return self._value(expr.body, state)
        a, b = self._value(expr.body, then), self._value(expr.other, other)
        joined, (value,) = self._joined(then, other, test, [(a, b)])
        state.variables, state.known = joined.variables, joined.known
        return value

    def _cast(self, type_: Type, value: Value, state: State, expr: c.Expr) -> Value:
        type_ = self._types().get(type_.name, type_)
        kind = entry_of(type_.name)
        if kind is not None:
            return Entry(kind)
        if isinstance(value, Array) and len(value.items) == 1 and type_.is_integer:
            value = value.items[0]
        if isinstance(value, Array) and not value.items and type_.is_integer:
            return number(0, type_)
        if isinstance(value, Integer):
            return self._converted(value, type_, state, self._text_of(expr.span))
        if isinstance(value, Anything) and type_.is_integer:
            return self._symbols.of_type(state.known, self._text_of(expr.span), type_)
        return value

    def _converted(self, value: Integer, type_: Type, state: State, text: str) -> Integer:
        if type_.is_pointer:
            return replace(value, type=type_, unit=type_.size)
        if not type_.is_integer:
            return value if not type_.name or type_.name == "auto" else replace(value, type=UNKNOWN)
        return self._arithmetic.convert(value, type_, state.known, text)

    def _size_of(self, expr: c.SizeOf, state: State) -> Value:
        type_ = expr.type or UNKNOWN
        if type_.name in state.variables:
            held = state.variables[type_.name]
            type_ = held.type if isinstance(held, Integer) else UNKNOWN
            if type_.is_pointer:
                return number(8, UNSIGNED_LONG)
        else:
            type_ = self._types().get(type_.name, type_)
            type_ = self._program.aliases.get(type_.name, type_) if type_.size is None else type_
            if (expr.type or UNKNOWN).is_pointer:
                return number(8, UNSIGNED_LONG)
        if type_.size is not None:
            return number(type_.size, UNSIGNED_LONG)
        key = f"sizeof {type_.name}"
        if not type_.name or key not in state.variables:
            term = self._symbols.fresh(state.known, f"sizeof({type_.name})", Range(1, 1 << 20, 1))
            state.variables[key] = Integer(term, UNSIGNED_LONG)
        return state.variables[key]

    def _member(self, expr: c.Member, state: State) -> Value:
        if expr.name in ENUMERATORS:
            return number(ENUMERATORS[expr.name], INT)
        kind = entry_of(expr.name)
        if kind is not None:
            return Entry(kind)
        path = path_of(expr)
        if path is None:
            self._value(expr.object, state)
            return ANYTHING
        if path in state.variables:
            return state.variables[path]
        if (
            isinstance(expr.object, c.Name)
            and expr.object.id in ("self", "this")
            and expr.name in self._program.constants
        ):
            return self._global(expr.name, state)
        value = self._symbols.of_type(state.known, path, UNKNOWN)
        state.variables[path] = value
        return value

    def _item(self, expr: c.Item, state: State) -> Value:
        held, index = self._value(expr.object, state), self._value(expr.index, state)
        at = index.constant if isinstance(index, Integer) else None
        if not isinstance(held, Array) or at is None:
            return ANYTHING
        if -len(held.items) <= at < 0 and not self._program.passes_variables:
            at += len(held.items)
        if 0 <= at < len(held.items):
            return held.items[at]
        return held.rest if held.rest is not None and at >= 0 else ANYTHING

    def _address_of(self, operand: c.Expr, state: State) -> Value:
        if isinstance(operand, c.Item):
            held, index = self._value(operand.object, state), self._value(operand.index, state)
            at = index.constant if isinstance(index, Integer) else None
            if isinstance(held, Array) and at is not None and 0 <= at <= len(held.items):
                return replace(held, items=held.items[at:])
            if isinstance(held, Integer) and held.unit and isinstance(index, Integer):
                return self._arithmetic.binary("+", held, index, state.known, self._text_of(operand.span))
            return ANYTHING
        if isinstance(operand, c.Name):
            kind = entry_of(operand.id)
            if kind is not None and operand.id not in state.variables:
                return Entry(kind)
            held = state.variables.get(operand.id, ANYTHING)
            if isinstance(held, Integer) and not held.type.is_pointer:
                return Array((held,))
        return ANYTHING

    # ------------------------------------------------------------------------------------------ calls

    def _call(self, call: c.Call, state: State) -> tuple[Value, State | None]:
        """Return the value of a call and the state after it; None when it does not return."""
        name = callee_name(call.callee)
        callee = self._callee(call, name, state)
        values = [self._value(argument, state) for argument in call.arguments]
        if isinstance(callee, Entry) and len(call.arguments) <= LONGEST_GETTER:
            return callee, state
        if isinstance(callee, Entry):
            self._note(callee.kind, call, values, state)
            self._havoc(set(passed(c.Call(call.callee, (), call.arguments[:1], call.span), False)), state)
            return ANYTHING, state
        words = next((value.text for value in values if isinstance(value, Words)), "")
        kind = entry_of(words)
        if kind is not None:
            for argument in call.arguments:
                self._set_address(argument, Entry(kind), state)
            return Entry(kind), state
        if name is not None:
            known = self._library(name, call, values, state)
            if known is not None:
                return known, state
        function = self._function(callee, name, call)
        if function is not None and len(self._frames) <= DEEPEST_CALL:
            arguments = (call.arguments, values, call.types)
            return self._call_function(
                function, arguments, state, call.span, closure=isinstance(callee, Closure)
            )
        if name is not None and MARKED_EXIT.fullmatch(name):
            return ANYTHING, None
        self._allocate(name, call, state)
        return self._result(function, state, call), state

    def _result(self, function: c.Function | None, state: State, call: c.Call) -> Value:
        if function is None or isinstance(function.result, Type) and not function.result.is_integer:
            return ANYTHING if function is None else self._unknown("", function.result, state)
        return self._symbols.of_type(state.known, self._text_of(call.span), function.result)

    def _callee(self, call: c.Call, name: str | None, state: State) -> Value:
        if name is not None and name in state.variables:
            return state.variables[name]
        if name is not None:
            kind = None if name in self._by_name else entry_of(name)
            return ANYTHING if kind is None else Entry(kind)
        if isinstance(call.callee, c.Call):
            inner = [self._named(a.id, state, None) for a in call.callee.arguments if isinstance(a, c.Name)]
            for value in inner:
                if isinstance(value, Entry):
                    return value
        return self._value(call.callee, state)

    def _function(self, callee: Value, name: str | None, call: c.Call) -> c.Function | None:
        if isinstance(callee, Closure):
            return callee.function
        owner = call.callee.object if isinstance(call.callee, c.Member) else None
        if name is None or (
            owner is not None and not (isinstance(owner, c.Name) and owner.id in ("self", "this"))
        ):
            return None
        count = len(call.arguments)
        fitting = [
            one
            for one in self._by_name.get(name, [])
            if count <= len(one.parameters)
            and all(parameter.default is not None for parameter in one.parameters[count:])
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _allocate(self, name: str | None, call: c.Call, state: State) -> None:
        """Forget what an unknown function may change; memory from an allocator is aligned."""
        before = {argument: variable_of(argument) for argument in call.arguments}
        self._havoc(set(passed(call, self._program.passes_variables)), state)
        if name in ALLOCATORS and call.arguments:
            target = before[call.arguments[0]]
            held = state.variables.get(target) if target is not None else None
            if target is not None and isinstance(held, Integer) and held.type.is_pointer:
                span = Range(ALLOCATION, (1 << 57) - ALLOCATION, ALLOCATION)
                term = self._symbols.fresh(state.known, target, span)
                step = Step(f"{target} is a multiple of {ALLOCATION} from {name}", call.span)
                state.variables[target] = Integer(term, held.type, (step,), held.unit)

    def _set_address(self, argument: c.Expr, value: Value, state: State) -> None:
        while isinstance(argument, c.Cast):
            argument = argument.operand
        if isinstance(argument, c.AddressOf) and isinstance(argument.operand, c.Name):
            state.variables[argument.operand.id] = value

    def _library(self, name: str, call: c.Call, values: list[Value], state: State) -> Value | None:
        """Return the value of a well-known function, or None."""
        text = self._text_of(call.span)
        if isinstance(call.callee, c.Member):
            return self._method(call.callee, name, values, state)
        whole = [self._integer(value, state, text) for value in values]
        numbers = [value for value in whole if value is not None]
        if name in ("min", "max") and len(numbers) == len(values) >= 2:
            extreme = self._arithmetic.least if name == "min" else self._arithmetic.greatest
            return extreme(numbers, state.known, text)
        if name in ("size", "len") and len(values) == 1 and isinstance(values[0], Array):
            return self._length(values[0])
        if name in ("tuple", "list") and len(values) == 1 and isinstance(values[0], Array):
            return values[0]
        if name in ("move", "forward") and len(values) == 1:
            return values[0]
        if name in ("int", "Int", "Constant") and len(values) == 1 and isinstance(values[0], Integer):
            return values[0]
        return None

    def _length(self, array: Array) -> Value:
        return ANYTHING if array.rest is not None else number(len(array.items), UNSIGNED_LONG)

    def _method(self, callee: c.Member, name: str, values: list[Value], state: State) -> Value | None:
        owner = path_of(callee.object)
        held = state.variables.get(owner) if owner is not None else None
        if name in ("data", "begin", "getPtr") and isinstance(held, (Array, Integer)):
            return held
        if name == "size" and isinstance(held, Array) and not values:
            return self._length(held)
        if name in ("push_back", "emplace_back", "append") and owner is not None and len(values) == 1:
            if isinstance(held, Array) and held.rest is None and len(held.items) < LONGEST_ARRAY:
                state.variables[owner] = replace(held, items=(*held.items, values[0]))
                return ANYTHING
            self._havoc({owner}, state)
            return ANYTHING
        return ANYTHING if name in READERS and held is not None else None

    def _note(self, kind: Kind, call: c.Call, values: list[Value], state: State) -> None:
        count = PARAMETER_COUNT[kind]
        if any(isinstance(argument, c.Opaque) for argument in call.arguments):
            return
        if (
            len(values) not in (count, count - 1)
            or (len(values) == count - 1) is self._program.passes_variables
        ):
            return
        frames = tuple(
            (frame.function.name, where)
            for frame, where in zip(
                reversed(self._frames), (call.span, *reversed(self._calls[1:])), strict=True
            )
        )
        bare = len(values) == count - 1
        self._encodes.append(Encode(kind, call, tuple(values), dict(state.known), bare, frames))


def _hull(a: Symbol, b: Symbol) -> Symbol:
    if a == b:
        return a
    return Symbol(a.name, min(a.low, b.low), max(a.high, b.high), gcd(a.multiple_of, b.multiple_of))


def _narrow(
    left: ast.expr, op: type[ast.cmpop], right: ast.expr, known: dict[str, Symbol], holds: bool
) -> bool:
    """Narrow a symbol that is compared with a number; False when no value is left."""
    if not holds:
        op = _OPPOSITE[op]
    if isinstance(left, ast.Constant) and isinstance(right, ast.Name):
        left, right, op = right, left, _MIRRORED[op]
    if not isinstance(right, ast.Constant) or not isinstance(right.value, int):
        return True
    bound = int(right.value)
    multiple = 1
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) and bound == 0 and op is ast.Eq:
        if isinstance(left.right, ast.Constant) and isinstance(left.right.value, int):
            multiple, left = left.right.value, left.left
    if not isinstance(left, ast.Name) or left.id not in known:
        return True
    symbol = known[left.id]
    low, high = symbol.low, symbol.high
    if multiple == 1:
        low = max(low, bound + (op is ast.Gt)) if op in (ast.Gt, ast.GtE, ast.Eq) else low
        high = min(high, bound - (op is ast.Lt)) if op in (ast.Lt, ast.LtE, ast.Eq) else high
        if op is ast.NotEq:
            low, high = low + (low == bound), high - (high == bound)
    try:
        known[left.id] = Symbol(symbol.name, low, high, lcm(symbol.multiple_of, max(multiple, 1)))
    except ValueError:
        return False
    return True


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
}

__all__ = ["BOOL", "Callable", "Encode", "Interpreter", "State", "type_range"]
