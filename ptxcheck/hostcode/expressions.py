"""Values of expressions."""

from __future__ import annotations

from dataclasses import replace

from ptxcheck.descriptors.ranges import Range
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import root_of
from ptxcheck.hostcode.machine import LONGEST_ARRAY, State
from ptxcheck.hostcode.names import ENUMERATORS, EXTENTS, entry_of
from ptxcheck.hostcode.structures import Structures
from ptxcheck.hostcode.types import (
    INT,
    UNKNOWN,
    UNSIGNED_LONG,
    Type,
)
from ptxcheck.hostcode.values import (
    ANYTHING,
    Anything,
    Array,
    Closure,
    Entry,
    Integer,
    Kernel,
    NullPointer,
    Step,
    Structure,
    Value,
    Words,
    is_true,
    number,
)


class Expressions(Structures):
    """Values of expressions."""

    def _value(self, expr: c.Expr, state: State) -> Value:  # noqa: C901 one case a form
        self._spend()
        match expr:
            case c.Number(value=value, type=type_):
                return number(value, type_ or UNKNOWN)
            case c.Text(value=text):
                return Words(text)
            case c.Null():
                return NullPointer()
            case c.Name(id=name, types=types):
                return self._with_template_arguments(self._named(name, state, expr), expr, types, state)
            case c.Unary():
                return self._unary(expr, state)
            case c.Binary(op=op, left=left, right=right):
                first = self._value(left, state)
                streams = op == ">>" and self._program.passes_variables
                if streams and isinstance(right, c.Name) and not _is_number(first):
                    self._havoc({right.id}, state)  # a stream that is read from
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
            case c.Keyword(value=value_of_keyword):
                self._value(value_of_keyword, state)
                return ANYTHING
            case c.Lambda(function=function):
                return Closure(function)
            case c.Call():
                result, after = self._call(expr, state)
                if after is not None:
                    state.variables, state.known = after.variables, after.known
                return result
            case c.Opaque(names=names):
                self._havoc(set(names), state)
                return ANYTHING

    def _with_template_arguments(
        self, value: Value, name: c.Name, types: tuple[Type | c.Expr, ...], state: State
    ) -> Value:
        """Return a kernel as it is written here: its qualifiers, and the numbers among its template arguments."""
        if not isinstance(value, Kernel) or not (types or name.scope):
            return value
        return replace(value, scope=name.scope, template_arguments=self._template_numbers(types, state))

    def _template_numbers(self, types: tuple[Type | c.Expr, ...], state: State) -> tuple[int | None, ...]:
        """Return template arguments that are known numbers; None for others."""
        found: list[int | None] = []
        for one in types:
            is_name = isinstance(one, Type) and bool(one.name) and not one.arguments
            if isinstance(one, Type):
                value = self._named(one.name, state, None) if is_name and not one.is_integer else ANYTHING
            else:
                value = self._value(one, state)
            found.append(value.constant if isinstance(value, Integer) else None)
        return tuple(found)

    def _named(self, name: str, state: State, expr: c.Expr | None) -> Value:
        if name in state.variables:
            held = state.variables[name]
            is_extent = isinstance(held, Structure) and held.is_extent
            return self._extent_at(name, state) if is_extent else held
        if name in ENUMERATORS:
            return number(ENUMERATORS[name], INT)
        kind = entry_of(name)
        if kind is not None:
            return Entry(kind)
        if name in self._program.constants and name not in self._globals:
            return self._global(name, state)
        if name in self._program.kernels:
            return Kernel(name)
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
        type_ = self._resolved(type_)
        kind = entry_of(type_.name)
        if kind is not None:
            return Entry(kind)
        if type_.name in EXTENTS and not type_.is_pointer:
            return self._as_extent(value) or ANYTHING
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
        path = self._member_path(expr, state)
        if path is None:
            owner = self._value(expr.object, state)
            return self._coordinate(owner, expr.name)
        if path in state.variables:
            return self._named(path, state, None)
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
        root = root_of(operand)
        whole = state.variables.get(root) if root is not None else None
        if isinstance(whole, Structure):
            return self._structure_address(operand, whole, state)
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
            if operand.id not in state.variables and operand.id in self._program.kernels:
                return self._value(operand, state)
            if self._frames and any(key.startswith(operand.id + ".") for key in state.variables):
                self._frames[-1].unstable.add(operand.id)
                state.forget_members(operand.id)
            held = state.variables.get(operand.id, ANYTHING)
            if isinstance(held, Integer) and not held.type.is_pointer:
                return Array((held,))
        return ANYTHING


def _is_number(value: Value) -> bool:
    return isinstance(value, Integer) and (value.type.is_integer or value.constant is not None)
