"""Addresses of variables and kernel parameters, and the instructions that turn one kind into another.

Property: an address atom stands for the first byte of one variable of the executing thread's CTA (or, with
window `cluster:…`, of another CTA of the cluster). Generic addresses of shared and local variables are atoms
of their own, because the window's base is not known; generic addresses of global, constant and parameter
variables have the same bits.

Shared addresses are taken to lie below 2^28: bits 24 to 27 may hold the CTA's rank in its cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..ir import (
    Address,
    Function,
    Instruction,
    Module,
    Operand,
    Register,
    Symbol,
    Variable,
)
from ..launch import Launch, ParameterFact
from ..opcodes.op import Op
from . import linear
from .arithmetic import add
from .linear import Atom, AtomKind, Linear
from .optypes import type_width
from .special import special_uniformity
from .transfer import Call
from .uniform import Uniformity
from .values import (
    Value,
    between,
    exactly,
    meet,
    of_atom,
    reduced,
    top,
)

Numbers = Callable[[Linear, int], Value]
"""How to turn a linear expression of some width into a value."""
SHARED_END = 1 << 28
SAME_BITS = frozenset({".global", ".const", ".param", ".param::entry"})
"""Spaces whose generic addresses are taken to have the bits of the address in the space."""
PARAMETER_SPACES = frozenset({".param", ".param::entry"})
GENERIC_END = 1 << 57
PEER_MASK = 0xFEFFFFFF
"""Clears the lowest rank bit of a shared address: the even CTA of a pair."""


class InstructionCall(Call, Protocol):
    """A call that shows its instruction as it is written."""

    @property
    def instruction(self) -> Instruction: ...

    def of(self, operand: Operand | None, width: int) -> Value:
        """Return the value of any operand as a number of `width` bits."""
        ...


@dataclass(frozen=True, slots=True)
class Pointer:
    """`offset` bytes into the variable or parameter `symbol`.

    `base` is the atom that the offset counts from. It says more than `symbol`: the CTA after `mapa`
    (`base.window`), or, where no symbol is known (`symbol` is None), the definition that the address comes
    from, so that two pointers with one base can still be compared.
    """

    space: str
    """State space: the instruction's where it names one, else the variable's; "" when not known."""
    symbol: str | None
    offset: Value
    base: Atom | None

    @property
    def is_variable(self) -> bool:
        """Tell whether the symbol is a variable whose address this is, not a parameter that holds it."""
        return self.base is not None and self.base.kind is AtomKind.ADDRESS


class Addresses:
    """Symbols that one function can name."""

    def __init__(self, function: Function, module: Module, launch: Launch) -> None:
        self.function = function
        self.module = module
        self.launch = launch

    @cached_property
    def parameters(self) -> Mapping[str, Variable]:
        return {variable.name: variable for variable in self.function.parameters}

    @cached_property
    def _local(self) -> Mapping[tuple[str, int], Variable]:
        body = self.function.body
        return {} if body is None else {(v.name, v.scope): v for v in body.variables if v.space != ".reg"}

    def variable(self, symbol: Symbol) -> Variable | None:
        """Return the declaration that a symbol in the body names."""
        return (
            self._local.get((symbol.name, symbol.scope))
            or self.parameters.get(symbol.name)
            or self.module.variables.get(symbol.name)
        )

    def declared(self, atom: Atom) -> Variable | None:
        """Return the declaration behind an address or parameter atom."""
        return self.variable(Symbol(atom.name, atom.scope))

    def of_symbol(self, symbol: Symbol, offset: int = 0) -> Value:
        """Return the address of a variable or function as a 64-bit number."""
        if symbol.name == "WARP_SZ":
            return between(32, 32, 64)
        variable = self.variable(symbol)
        if variable is None:
            return _shifted(of_atom(Atom(AtomKind.ADDRESS, symbol.name, scope=symbol.scope), top(64)), offset)
        scope = variable.scope if (symbol.name, symbol.scope) in self._local else 0
        atom = Atom(AtomKind.ADDRESS, symbol.name, space=variable.space, scope=scope)
        return _shifted(of_atom(atom, self._numbers(variable, "")), offset)

    def _numbers(self, variable: Variable, window: str) -> Value:
        size = variable.size or 0
        high = (1 << 64) - 1
        if variable.space == ".shared" and window != "generic":
            high = SHARED_END - 1
        elif variable.space == ".param":
            high = 1 << 16
        align = max(variable.align or natural_alignment(variable), 1)
        low_bits = align if align & (align - 1) == 0 else 1
        return reduced(64, 0, high - size, 0, (1 << 64) - 1, low_bits, 0) or top(64)

    def parameter(self, call: InstructionCall) -> Value | None:
        """Return what a load from kernel parameters gives; None for any other load."""
        address = call.instruction.operands[1] if call.count > 1 else None
        space = call.instruction.operation.slots.get("space", "")
        if not isinstance(address, Address) or not self.function.is_entry or space not in PARAMETER_SPACES:
            return None
        name, start = self._parameter_base(address, call)
        if name not in self.parameters:
            return None
        width = call.typing.width
        offset = start + address.offset + call.part * (width // 8)
        numbers = top(width)
        if width < 32:
            numbers = top(32) if call.typing.signed else between(0, (1 << width) - 1, 32)
        if width == numbers.width:
            numbers = self._narrowed(name, offset, numbers)
        return of_atom(Atom(AtomKind.PARAMETER, name, offset, width), numbers)

    def _narrowed(self, name: str, offset: int, numbers: Value) -> Value:
        """Return the numbers of a parameter that agree with what is known of it."""
        for fact in self._facts.get((name, offset, numbers.width), ()):
            known = _known(fact, numbers.width)
            numbers = numbers if known is None else meet(numbers, known) or numbers
        return numbers

    @cached_property
    def _facts(self) -> Mapping[tuple[str, int, int], tuple[ParameterFact, ...]]:
        """What is known of parameters, by name, offset and width in bits."""
        found: dict[tuple[str, int, int], tuple[ParameterFact, ...]] = {}
        for start, size, parameter in self.function.parameter_places if self.launch.facts else ():
            for fact in self.launch.facts:
                if start <= fact.offset < start + size:
                    key = (parameter.name, fact.offset - start, 8 * fact.size)
                    found[key] = (*found.get(key, ()), fact)
        return found

    def _parameter_base(self, address: Address, call: InstructionCall) -> tuple[str, int]:
        match address.base:
            case Symbol(name=name):
                return name, 0
            case Register():
                form = call.of(address.base, 64).linear
                if form is not None and len(form.terms) == 1:
                    (atom, factor) = form.terms[0]
                    if factor == 1 and atom.kind is AtomKind.ADDRESS and atom.space == ".param":
                        return atom.name, form.constant
        return "", 0

    def converted(self, call: InstructionCall) -> Value | None:
        """Return the result of `cvta`, `cvta.to` or `mapa`."""
        width = call.typing.width
        source = call.value(1, width)
        operation = call.instruction.operation
        space = operation.slots.get("space", "")
        if operation.op is Op.MAPA:
            return self._mapped(source, call, width)
        if space in SAME_BITS:
            return source
        return self._rewindowed(source, "" if operation.has(".to") else "generic", width)

    def _mapped(self, source: Value, call: InstructionCall, width: int) -> Value | None:
        rank = call.value(2, 32)
        text = str(rank.linear) if rank.linear is not None else "?"
        return self._rewindowed(source, f"cluster:{text}", width)

    def peer(self, source: Value, mask: int) -> Value | None:
        """Return a shared address with the lowest rank bit cleared, None when this is something else."""
        return self._rewindowed(source, "cluster:even", source.width) if mask == PEER_MASK else None

    def _rewindowed(self, source: Value, window: str, width: int) -> Value | None:
        """Return the same bytes under another window; None when the variable is not known."""
        form = source.linear
        if form is None or len(form.addresses) != 1 or form.addresses[0][1] != 1:
            return None
        old = form.addresses[0][0]
        new = old._replace(window=window)
        moved = linear.plus(form.without(old), linear.atom(new), width)
        variable = self.declared(old)
        align = 1 if variable is None else variable.align or natural_alignment(variable)
        whole = max(align & -align, 1) if source.modulus else 1
        modulus = min(whole, source.modulus & -source.modulus) if source.modulus else 1
        end = GENERIC_END if window == "generic" else SHARED_END if old.space == ".shared" else 1 << width
        high = min(end, 1 << width) - 1
        numbers = reduced(width, 0, high, 0, (1 << width) - 1, modulus, source.residue) or top(width)
        return numbers.with_linear(moved, exact=source.exact)

    def pointer(self, value: Value, space: str, numbers: Numbers) -> Pointer:
        """Return the address that a value is, as base and offset."""
        if value.constant is not None or value.linear is None:
            return Pointer(space, None, value, None)
        base = base_of(value.linear)
        if base is None:
            return Pointer(space, None, value, None)
        rest = value.linear.without(base)
        offset = numbers(rest, value.width)
        named = base.name if base.kind in (AtomKind.ADDRESS, AtomKind.PARAMETER) else None
        return Pointer(space or pointer_space(base), named, offset, base)


def pointer_space(base: Atom) -> str:
    if base.kind is not AtomKind.ADDRESS:
        return ""
    return ".shared::cluster" if base.window.startswith("cluster") else base.space


def base_of(form: Linear) -> Atom | None:
    """Return the atom that an address counts from: a variable, else a parameter, else one definition."""
    for kinds in ((AtomKind.ADDRESS,), (AtomKind.PARAMETER,), (AtomKind.DEFINITION, AtomKind.PHI)):
        found = [
            atom
            for atom, factor in form.terms
            if factor == 1
            and atom.kind in kinds
            and (atom.kind is not AtomKind.PARAMETER or atom.width == 64)
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def natural_alignment(variable: Variable) -> int:
    return type_width(variable.type) // 8 * (int(variable.vector[2:]) if variable.vector else 1)


def _known(fact: ParameterFact, width: int) -> Value | None:
    mask = (1 << width) - 1
    high = mask if fact.high is None else min(fact.high, mask)
    return reduced(width, fact.low, high, 0, mask, fact.modulus, fact.residue)


def _shifted(value: Value, offset: int) -> Value:
    return add(value, exactly(offset, value.width)) if offset else value


def linear_uniformity(form: Linear) -> Uniformity:
    """Return how far threads agree on an expression; definitions count as divergent."""
    level = Uniformity.GRID
    for atom, _ in form.terms:
        match atom.kind:
            case AtomKind.SPECIAL:
                level = max(level, special_uniformity(atom.name))
            case AtomKind.PARAMETER:
                continue
            case AtomKind.ADDRESS:
                level = max(level, Uniformity.CTA if atom.space == ".shared" else Uniformity.GRID)
            case _:
                return Uniformity.DIVERGENT
    return level
