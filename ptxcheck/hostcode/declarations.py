"""Declarations and assignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import element_path, path_of, root_of, variable_of
from ptxcheck.hostcode.expressions import Expressions
from ptxcheck.hostcode.machine import LONGEST_ARRAY, State
from ptxcheck.hostcode.names import ATTRIBUTES, CONFIGURATIONS, EXTENTS
from ptxcheck.hostcode.types import UNKNOWN, Type, named
from ptxcheck.hostcode.values import (
    ANYTHING,
    Anything,
    Array,
    Extent,
    Integer,
    NullPointer,
    Step,
    Structure,
    Value,
    number,
)
from ptxcheck.source import Span

_EXTENT_MEMBERS = frozenset(("gridDim", "blockDim", "clusterDim"))


class Declarations(Expressions):
    """Declarations and assignments."""

    def _declare(self, statement: c.Declare, state: State) -> None:
        name = statement.name
        type_ = self._resolved(statement.type)
        value = self._declared(statement, type_, state)
        if isinstance(value, Integer):
            value = replace(value, steps=self._with_step(name, value, statement))
        elif isinstance(value, Array):
            value = replace(value, span=statement.span)
        state.forget_members(name)
        is_own = not (type_.is_pointer or type_.is_reference)
        if is_own and (type_.name in CONFIGURATIONS or type_.name in ATTRIBUTES):
            self._declare_structure(statement, type_.name, state)
            return
        if type_.name == "dim3" and is_own and statement.value is None and not statement.lengths:
            value = Extent(number(1), number(1), number(1))
        is_alias = type_.is_pointer or (type_.is_reference and not type_.is_const)
        if not is_alias and self._store_extent(name, type_, value, statement.span, state):
            return
        if isinstance(value, Extent):
            value = ANYTHING
        if (
            isinstance(value, Structure)
            and not type_.is_pointer
            and not isinstance(statement.value, c.AddressOf)
        ):
            value = ANYTHING  # a copy
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

    def _store_extent(self, name: str, type_: Type, value: Value, span: Span, state: State) -> bool:
        """Keep a `dim3` by its coordinates; False for another variable."""
        is_extent = type_.name in EXTENTS and not type_.is_pointer
        extent = self._as_extent(value) if is_extent else value if isinstance(value, Extent) else None
        if extent is None:
            return False
        root = name.split(".")[0]
        if not self._frames or root not in self._frames[-1].unstable:
            state.variables[name] = Structure(name, span, is_extent=True)
            state.variables.update({f"{name}.x": extent.x, f"{name}.y": extent.y, f"{name}.z": extent.z})
        else:
            state.variables[name] = ANYTHING
        return True

    def _declare_structure(self, statement: c.Declare, type_name: str, state: State) -> None:
        """Declare a launch configuration or its attributes: what an initializer leaves out is zero."""
        name, value = statement.name, statement.value
        if name in self._frames[-1].unstable or not (value is None or isinstance(value, c.Sequence)):
            state.variables[name] = ANYTHING
            return
        state.variables[name] = Structure(name, statement.span)
        members = CONFIGURATIONS.get(type_name, ("id",))
        items = value.items if isinstance(value, c.Sequence) else ()
        if statement.lengths and any(isinstance(item, c.Sequence) for item in items):
            for position, item in enumerate(items):
                if isinstance(item, c.Sequence):
                    self._fill(element_path(name, position), members, item, state)
        elif isinstance(value, c.Sequence):
            self._fill(name, members, value, state)

    def _fill(self, path: str, members: Sequence[str], value: c.Sequence, state: State) -> None:
        for member in members:
            is_extent = member in _EXTENT_MEMBERS
            zero = Extent(number(1), number(1), number(1)) if is_extent else number(0)
            self._set_member(f"{path}.{member}", zero, value.span, state)
        names = iter(members)
        for item in value.items:
            member = item.name if isinstance(item, c.Keyword) else next(names, "")
            written = item.value if isinstance(item, c.Keyword) else item
            if isinstance(written, c.Sequence) and any(isinstance(one, c.Keyword) for one in written.items):
                self._fill(f"{path}.{member}", (), written, state)
            else:
                self._set_member(f"{path}.{member}", self._value(written, state), value.span, state)

    def _set_member(self, path: str, value: Value, span: Span, state: State) -> None:
        """Set a member of a structure; those that are extents are kept by their coordinates."""
        state.forget_members(path)
        type_ = Type("dim3") if path.rsplit(".", 1)[-1] in _EXTENT_MEMBERS else UNKNOWN
        if not self._store_extent(path, type_, value, span, state):
            state.variables[path] = value

    def _alias(self, value: c.Expr, type_: Type, state: State) -> None:
        """Give up a variable that can be changed by another name from here on."""
        target = variable_of(value)
        if target is not None and not type_.is_const:
            self._frames[-1].unstable.add(target)
            self._havoc({target}, state)

    def _with_step(self, name: str, value: Integer, statement: c.Declare) -> tuple[Step, ...]:
        if statement.value is None or (
            isinstance(statement.value, (c.Number, c.Opaque)) and value.constant is None
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
        path = self._member_path(target, state) if isinstance(target, c.Member) else path_of(target)
        if path is None:
            lost = (variable_of(target), root_of(target))
            self._havoc({name for name in lost if name is not None}, state)
            return
        root = path.split(".")[0]
        state.forget_members(path)
        if self._frames and root in self._frames[-1].unstable:
            self._havoc({path}, state)
            return
        before_value = state.variables.get(path)
        whole = state.variables.get(root)
        is_member = isinstance(whole, Structure) and not whole.is_extent and path != root
        if (
            is_member
            or isinstance(value, Extent)
            or (isinstance(before_value, Structure) and before_value.is_extent)
        ):
            was_extent = isinstance(before_value, Structure) and before_value.is_extent
            kept = (self._as_extent(value) or ANYTHING) if was_extent else value
            self._set_member(path, kept, statement.span, state)
            return
        if isinstance(value, Structure) and not isinstance(statement.value, c.AddressOf):
            value = ANYTHING  # a copy
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
