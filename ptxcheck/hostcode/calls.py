"""Calls: of encode functions, of functions of the file, of well-known and of unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptxcheck.descriptors.fields import Kind
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import (
    assigned_in_lambdas,
    callee_name,
    changed,
    passed,
    variable_of,
)
from ptxcheck.hostcode.library import Library
from ptxcheck.hostcode.machine import (
    DEEPEST_CALL,
    LONGEST_GETTER,
    LONGEST_LOOKUP,
    Encode,
    Frame,
    State,
)
from ptxcheck.hostcode.names import (
    LOADERS,
    MAKERS,
    MARKED_EXIT,
    PARAMETER_COUNT,
    PARAMETERS,
    entry_of,
)
from ptxcheck.hostcode.types import INT, Type
from ptxcheck.hostcode.values import (
    ANYTHING,
    Anything,
    Closure,
    Entry,
    Extent,
    Integer,
    Layout,
    Step,
    Structure,
    Value,
    Words,
)
from ptxcheck.source import Span


class Calls(Library):
    """Calls: of encode functions, of functions of the file, of well-known and of unknown ones."""

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
        self._bind_template(function, call[2] if call else (), call[1] if call else (), state, types)
        for position, parameter in enumerate(function.parameters):
            given = call[1][position] if call and position < len(call[1]) else None
            if call and isinstance(given, Integer) and isinstance(call[0][position], c.Number):
                step = Step(f"{parameter.name} = {given.constant}", call[0][position].span)
                given = replace(given, steps=(step, *given.steps))
            state.variables[parameter.name] = self._parameter(
                parameter, given, call is not None, state, types
            )
        frame = Frame(function, types, set(self._unstable(function)))
        self._frames.append(frame)
        self._calls.append(where)
        for parameter in function.parameters:
            held = state.variables[parameter.name]
            if isinstance(held, Structure):
                state.variables[parameter.name] = ANYTHING  # its members are the caller's
            elif not self._store_extent(
                parameter.name, parameter.type, held, function.span, state
            ) and isinstance(held, Extent):
                state.variables[parameter.name] = ANYTHING
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
        self,
        function: c.Function,
        given: Sequence[Type | c.Expr],
        values: Sequence[Value],
        state: State,
        types: dict[str, Type],
    ) -> None:
        for position, (name, is_value) in enumerate(function.type_parameters):
            argument = given[position] if position < len(given) else None
            if not is_value:
                types[name] = argument if isinstance(argument, Type) else _deduced(name, function, values)
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

    def _parameter(
        self,
        parameter: c.Parameter,
        given: Value | None,
        is_called: bool,
        state: State,
        types: dict[str, Type],
    ) -> Value:
        type_ = parameter.type
        if type_.name in types:
            type_ = replace(types[type_.name], is_pointer=types[type_.name].is_pointer or type_.is_pointer)
        if given is None and is_called and parameter.default is not None:
            given = self._value(parameter.default, state)
        kind = entry_of(parameter.type.name)
        if given is None or isinstance(given, Anything):
            return Entry(kind) if kind else self._unknown(parameter.name, type_, state)
        if isinstance(given, Integer) and not parameter.type.is_reference:
            return self._converted(given, type_, state, parameter.name)
        return given

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
                if not parameter.changes or name is None:
                    continue
                after.forget_members(name)
                if name not in after.variables:
                    continue
                own = isinstance(expr, c.Name) and (parameter.is_array or parameter.type.is_reference)
                after.variables[name] = final.variables.get(parameter.name, ANYTHING) if own else ANYTHING
        if closure:
            for name in changed(function.body, self._program.passes_variables):
                if name in outer.variables:
                    after.variables[name] = ANYTHING
        return after

    def _call(self, call: c.Call, state: State) -> tuple[Value, State | None]:
        """Return the value of a call and the state after it; None when it does not return."""
        name = callee_name(call.callee)
        launched = self._launch(name, call, state)
        if launched is not None:
            return launched, state
        callee = self._callee(call, name, state)
        call = self._in_order(call, callee, name)
        values = [self._value(argument, state) for argument in call.arguments]
        if isinstance(callee, Entry) and len(call.arguments) <= LONGEST_GETTER:
            return callee, state
        if isinstance(callee, Entry):
            self._note(callee.kind, call, values, state)
            self._havoc(set(passed(c.Call(call.callee, (), call.arguments[:1], call.span), False)), state)
            return ANYTHING, state
        if isinstance(callee, Layout):
            return self._sliced(callee, call, values), state
        if name is not None and name not in self._by_name and self._makes(name, call, values, state):
            return ANYTHING, state
        words = next((value.text for value in values if isinstance(value, Words)), "")
        wrapped = next((value for value in values if isinstance(value, Entry)), None)
        kind = entry_of(words) if wrapped is None else wrapped.kind
        if kind is not None and len(call.arguments) <= LONGEST_LOOKUP:
            for argument in call.arguments:
                self._set_address(argument, Entry(kind), state)
            return Entry(kind), state
        if name is not None:
            known = None if name in self._by_name else self._cute(name, call, values, state)
            known = self._library(name, call, values, state) if known is None else known
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

    def _makes(self, name: str, call: c.Call, values: Sequence[Value], state: State) -> bool:
        """Note a map of CuTe or the handle of a kernel; False for another function."""
        if name in MAKERS:
            self._make_map(name, call, values, state)
        elif name in LOADERS:
            self._load_kernel(name, call, values, state)
        else:
            return False
        return True

    def _in_order(self, call: c.Call, callee: Value, name: str | None) -> c.Call:
        """Return a call with its arguments in the place of their parameters, where they are passed by name."""
        opened = any(isinstance(one, c.Opaque) and c.UNORDERED in one.names for one in call.arguments)
        if not opened and not any(isinstance(argument, c.Keyword) for argument in call.arguments):
            return call
        if isinstance(callee, Entry):
            arguments = None if opened else _ordered(call, PARAMETERS[callee.kind][1:])
            return call if arguments is None else replace(call, arguments=arguments)
        function = self._function(callee, name, call)
        if function is None:
            return call
        names = [parameter.name for parameter in function.parameters]
        unknown = tuple(c.Opaque(frozenset(), call.span) for _ in names)
        arguments = None if opened else _ordered(call, names)
        return replace(call, arguments=unknown if arguments is None else arguments)

    def _result(self, function: c.Function | None, state: State, call: c.Call) -> Value:
        if function is None or (isinstance(function.result, Type) and not function.result.is_integer):
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

    def _set_address(self, argument: c.Expr, value: Value, state: State) -> None:
        while isinstance(argument, c.Cast):
            argument = argument.operand
        if isinstance(argument, c.AddressOf) and isinstance(argument.operand, c.Name):
            state.variables[argument.operand.id] = value

    def _note(self, kind: Kind, call: c.Call, values: list[Value], state: State) -> None:
        count = PARAMETER_COUNT[kind]
        if any(
            isinstance(argument, c.Opaque) and c.UNORDERED in argument.names for argument in call.arguments
        ):
            return
        if (
            len(values) not in (count, count - 1)
            or (len(values) == count - 1) is self._program.passes_variables
        ):
            return
        bare = len(values) == count - 1
        self._note_encode(Encode(kind, call, tuple(values), dict(state.known), bare, self._way(call.span)))


def _deduced(name: str, function: c.Function, values: Sequence[Value]) -> Type:
    """Return what a template parameter stands for by a pointer that is passed for `T *`."""
    for parameter, value in zip(function.parameters, values, strict=False):
        if parameter.type.name != name or not parameter.type.is_pointer or not isinstance(value, Integer):
            continue
        if value.type.is_pointer and value.type.name:
            return replace(value.type, is_pointer=False, is_const=False, is_reference=False)
    return Type(name)


def _ordered(call: c.Call, names: Sequence[str]) -> tuple[c.Expr, ...] | None:
    """Return arguments in the order of their parameters, those left out as unknown; None where one fits none."""
    found: dict[str, c.Expr] = {}
    for position, one in enumerate(call.arguments):
        name = one.name if isinstance(one, c.Keyword) else "".join(names[position : position + 1])
        if name not in names or name in found:
            return None
        found[name] = one.value if isinstance(one, c.Keyword) else one
    return tuple(found.get(name, c.Opaque(frozenset(), call.span)) for name in names)
