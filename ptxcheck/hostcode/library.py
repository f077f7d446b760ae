"""Calls of well-known functions and methods, and of allocators."""

from __future__ import annotations

from dataclasses import replace

from ptxcheck.descriptors.ranges import Range
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import READERS, passed, path_of, variable_of
from ptxcheck.hostcode.launch_calls import LaunchCalls
from ptxcheck.hostcode.machine import ALLOCATION, ALLOCATORS, LONGEST_ARRAY, State
from ptxcheck.hostcode.types import UNSIGNED_LONG
from ptxcheck.hostcode.values import ANYTHING, Array, Integer, Step, Value, number


class Library(LaunchCalls):
    """Calls of well-known functions and methods, and of allocators."""

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
        if name in ("move", "forward", "raw_pointer_cast") and len(values) == 1:
            return values[0]
        if name in ("int", "Int", "Constant") and len(values) == 1 and isinstance(values[0], Integer):
            return values[0]
        return None

    def _length(self, array: Array) -> Value:
        return ANYTHING if array.rest is not None else number(len(array.items), UNSIGNED_LONG)

    def _method(self, callee: c.Member, name: str, values: list[Value], state: State) -> Value | None:
        owner = path_of(callee.object)
        held = state.variables.get(owner) if owner is not None else None
        if name == "get" and owner is None and not values:
            inner = self._value(callee.object, state)
            return inner if isinstance(inner, Integer) and inner.type.is_pointer else ANYTHING
        if name == "get" and isinstance(held, Integer) and held.type.is_pointer and not values:
            return held
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
