"""Where things lie for the machine: shared variables, parameters, global symbols.

Property: variables of shared memory have offsets that do not overlap, aligned as declared; dynamic ones start
together, behind all others.

Argument: offsets are given in the order of declaration, from the end of what the system keeps.

Not covered: that ptxas gives the same offsets: nothing but their differences inside a variable is used for verdicts.
An index that is not known is taken to stay inside its variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ....cfg.addresses import Pointer
from ....ir import (
    Function,
    Module,
    Symbol,
    Variable,
)
from ....launch import FactOrigin, GivenValue, ParameterFact
from ..values import lane_arithmetic as lanes
from ..values.kinds import Kind
from ..values.symbol import Atom, Condition, Form, Value, atom
from ..values.trace import PARAM_WINDOW, RANK_SHIFT, Bytes
from .dynamic_arrays import Start

_RESERVED = 1024
"""Bytes that the system keeps at the start of shared memory on sm_90 and later."""
_DYNAMIC_ALIGNMENT = 1024
OF_COPIES = 16
"""Alignment of what bulk copies move: a variable that may hold that much is taken to have it."""
SHARED_BYTES = 1 << 18
"""More bytes than any CTA has."""
_FAR = 1 << 62
"""Behind all places, and small enough for numbers of 64 bits."""
_PEER = "cluster"


_MOST_EXCLUDED = 8
"""Numbers below a bound that runs are kept from one by one, where a word may be read as signed or not."""


@dataclass(frozen=True)
class Layout:
    """Offsets of the shared variables and parameters of one kernel."""

    shared: dict[tuple[str, int], int]
    parameters: tuple[tuple[int, int, str], ...]
    """Start, size and name of each parameter."""
    starts: dict[str, int]
    sizes: dict[tuple[str, int], int] = field(default_factory=dict)
    """Bytes of the shared variables whose size is declared."""
    given: dict[int, int] = field(default_factory=dict)
    """Bytes of parameter space that the user gave values for."""
    facts: tuple[ParameterFact, ...] = ()
    """What the user says of parameters besides values."""

    def address(self, symbol: Symbol, rank: int) -> Value:
        """Return the address that a symbol stands for in the CTA of a rank."""
        offset = self.shared.get((symbol.name, symbol.scope))
        if offset is not None:
            return rank << RANK_SHIFT | offset
        start = self.starts.get(symbol.name)
        if start is not None:
            return PARAM_WINDOW + start
        return lanes.opaque(Kind.SYMBOL, symbol.name)

    def within(self, pointer: Pointer, size: int) -> Bytes | None:
        """Return the bytes that an access of `size` bytes may touch.

        An index that is not known is taken to stay inside its variable. None when neither is known.
        """
        base = pointer.base
        start = self.shared.get((base.name, base.scope)) if base is not None else None
        if base is None or start is None or not pointer.is_variable:
            return None
        low, high = pointer.offset.signed_range
        length = self.sizes.get((base.name, base.scope), 0)
        begin, end = start + max(low, 0), start + high + size
        if length:
            end = min(end, start + length)
        return Bytes(begin, end, base.window.startswith(_PEER)) if begin < end <= SHARED_BYTES else None

    def holds(self, places: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.bool_]:
        """Tell of bytes at places of shared memory whether they are in variables; true for a kernel without any."""
        if not self.shared:
            return np.ones(len(places), np.bool_)
        starts, ends = self._extents
        found = np.searchsorted(starts, places, side="right") - 1
        held: npt.NDArray[np.bool_] = (found >= 0) & (places + np.uint64(size) <= ends[found])
        return held

    @cached_property
    def _extents(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """First bytes of variables of shared memory in order, and where each ends."""
        places = sorted((at, at + self.sizes.get(name, SHARED_BYTES)) for name, at in self.shared.items())
        starts, ends = zip(*((min(start, _FAR), min(end, _FAR)) for start, end in places), strict=True)
        return np.array(starts, np.uint64), np.array(ends, np.uint64)

    def open_array(self, start: Start | None) -> int | None:
        """Return where an array starts in a variable of the CTA that has no declared size, None for all others."""
        if start is None or start[0].window:
            return None
        base, offset = start
        variable = base.name, base.scope
        at = None if variable in self.sizes or offset < 0 else self.shared.get(variable)
        return None if at is None or at + offset >= SHARED_BYTES else at + offset

    def parameter(self, offset: int, size: int) -> Form | int:
        """Return the given number or the symbol of a parameter word at an offset of parameter space."""
        if all(at in self.given for at in range(offset, offset + size)):
            return sum(self.given[offset + index] << 8 * index for index in range(size))
        for start, length, name in self.parameters:
            if start <= offset < start + length:
                return atom(Kind.PARAM, name, offset - start, size)
        return atom(Kind.PARAM, "", offset, size)

    def stated(self) -> Iterator[tuple[Condition, bool]]:
        """Yield what the user says of parameters, as decisions that every run starts with."""
        for fact in self.facts:
            form = self.parameter(fact.offset, fact.size)
            if fact.origin is not FactOrigin.GIVEN or not isinstance(form, Form):
                continue
            rest = lanes.remainder(form, fact.modulus, 8 * fact.size, signed_operands=False)
            if fact.modulus > 1 and isinstance(rest, Form):
                yield Condition("eq", rest, fact.residue), True
            most = 1 << 8 * fact.size - 1
            if fact.high is not None and fact.high < most:
                yield Condition("lt", form, fact.low), False
                yield Condition("lt", form, fact.high + 1), True
            else:
                for number in range(min(fact.low or 0, _MOST_EXCLUDED)):
                    yield Condition("eq", form, number), False

    def least(self, name: Atom) -> int:
        """Return the first number from 0 on that what the user says leaves a parameter, among a few."""
        return next((n for n in range(_MOST_EXCLUDED) if self.admits({name: n})), _MOST_EXCLUDED)

    def admits(self, numbers: Mapping[Atom, int]) -> bool:
        """Tell whether what the user says of parameters leaves these numbers."""
        for condition, truth in self.stated():
            terms = condition.form.terms
            if not all(name in numbers for name, _ in terms):
                continue
            number = condition.form.constant + sum(factor * numbers[name] for name, factor in terms)
            if condition.holds(number) is not truth:
                return False
        return all(self._leaves_rest(name, number) for name, number in numbers.items())

    def _leaves_rest(self, name: Atom, number: int) -> bool:
        """Tell whether a number of a parameter has the rest that the user says it has."""
        return all(
            number % fact.modulus == fact.residue
            for fact in self.facts
            if fact.origin is FactOrigin.GIVEN
            and self.parameter(fact.offset, fact.size) == Form(((name, 1),))
        )


def layout_of(
    function: Function,
    module: Module,
    given: Sequence[GivenValue] = (),
    facts: tuple[ParameterFact, ...] = (),
) -> Layout:
    """Lay out shared variables after the reserved bytes, dynamic shared memory last."""
    shared: dict[tuple[str, int], int] = {}
    at = _RESERVED
    dynamic: list[Variable] = []
    for variable in _shared_variables(function, module):
        if variable.size is None:
            dynamic.append(variable)
            continue
        align = variable.align or 8
        if variable.size >= OF_COPIES:
            align = max(align, OF_COPIES)  # what starts elsewhere in it is misaligned wherever it lies
        at = -(-at // align) * align
        shared[(variable.name, variable.scope)] = at
        at += variable.size
    at = -(-at // _DYNAMIC_ALIGNMENT) * _DYNAMIC_ALIGNMENT
    for variable in dynamic:
        shared[(variable.name, variable.scope)] = at
    places = function.parameter_places
    starts = {parameter.name: offset for offset, _, parameter in places}
    sizes = declared_sizes(function, module)
    parameters = tuple((offset, size, parameter.name) for offset, size, parameter in places)
    return Layout(shared, parameters, starts, sizes, _bytes(given), facts)


def declared_sizes(function: Function, module: Module) -> dict[tuple[str, int], int]:
    """Return the bytes of each shared variable whose size is declared, by name and scope."""
    return {(v.name, v.scope): v.size for v in _shared_variables(function, module) if v.size is not None}


def _bytes(given: Sequence[GivenValue]) -> dict[int, int]:
    """Return each byte of parameter space that has a given value."""
    return {
        value.offset + index: value.value >> 8 * index & 0xFF
        for value in given
        if value.offset is not None
        for index in range(value.size)
    }


def _shared_variables(function: Function, module: Module) -> Iterator[Variable]:
    for variable in module.variables.values():
        if variable.space == ".shared":
            yield variable
    if function.body is not None:
        for variable in function.body.variables:
            if variable.space == ".shared":
                yield variable
