"""Where things lie for the machine: shared variables, parameters, global symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ir import Function, Module, Symbol, Variable
from . import lanes
from .symbol import Form, Value
from .trace import PARAM_WINDOW, RANK_SHIFT

_RESERVED = 1024
"""Bytes that the system keeps at the start of shared memory on sm_90 and later."""
_DYNAMIC_ALIGNMENT = 1024


@dataclass(frozen=True)
class Layout:
    """Offsets of the shared variables and parameters of one kernel."""

    shared: dict[tuple[str, int], int]
    parameters: tuple[tuple[int, int, str], ...]
    """Start, size and name of each parameter."""
    starts: dict[str, int]

    def address(self, symbol: Symbol, rank: int) -> Value:
        """Return the address that a symbol stands for in the CTA of a rank."""
        offset = self.shared.get((symbol.name, symbol.scope))
        if offset is not None:
            return rank << RANK_SHIFT | offset
        start = self.starts.get(symbol.name)
        if start is not None:
            return PARAM_WINDOW + start
        return lanes.opaque("symbol", symbol.name)

    def parameter(self, offset: int, size: int) -> Form:
        """Return the symbol of a parameter word at an offset of parameter space."""
        for start, length, name in self.parameters:
            if start <= offset < start + length:
                return Form(((("param", name, offset - start, size), 1),))
        return Form(((("param", "", offset, size), 1),))


def layout_of(function: Function, module: Module) -> Layout:
    """Lay out shared variables after the reserved bytes, dynamic shared memory last."""
    shared: dict[tuple[str, int], int] = {}
    at = _RESERVED
    dynamic: list[Variable] = []
    for variable in _shared_variables(function, module):
        if variable.size is None:
            dynamic.append(variable)
            continue
        align = variable.align or 8
        at = -(-at // align) * align
        shared[(variable.name, variable.scope)] = at
        at += variable.size
    at = -(-at // _DYNAMIC_ALIGNMENT) * _DYNAMIC_ALIGNMENT
    for variable in dynamic:
        shared[(variable.name, variable.scope)] = at
    starts: dict[str, int] = {}
    parameters: list[tuple[int, int, str]] = []
    offset = 0
    for parameter in function.parameters:
        size = parameter.size or 8
        align = parameter.align or min(size, 8)
        offset = -(-offset // align) * align
        starts[parameter.name] = offset
        parameters.append((offset, size, parameter.name))
        offset += size
    return Layout(shared, tuple(parameters), starts)


def _shared_variables(function: Function, module: Module) -> Iterator[Variable]:
    for variable in module.variables.values():
        if variable.space == ".shared":
            yield variable
    if function.body is not None:
        for variable in function.body.variables:
            if variable.space == ".shared":
                yield variable
