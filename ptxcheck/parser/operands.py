"""Operands of instructions: the commonest shapes are read here, the others by the Lark grammar.

Operands are interned by their text, operations by opcode and operand kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from ..ir import (
    Address,
    Arguments,
    Component,
    Guard,
    Immediate,
    Operand,
    Pair,
    Register,
    Sink,
    SymbolOffset,
    Variable,
    Vector,
)
from ..isa import resolve
from ..opcodes.spec import OperandKind, Operation
from .grammar import Element, GrammarError, parse_operand
from .literals import MOST_DIGITS
from .scope import Names

_OPERAND = re.compile(r"[ \t\r\n]*+(\[[^\]]*+\]|\{[^}]*+\}|\([^)]*+\)|[^,\[\](){}]++)(,|\Z)")
NAME = re.compile(r"(?:[a-zA-Z][\w$]*|[_$%][\w$]+)\Z")
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|[1-9][0-9]*|0)\Z")
_ADDRESS = re.compile(
    r"\[[ \t]*([a-zA-Z][\w$]*|[_$%][\w$]+)(?:[ \t]*\+[ \t]*(-?(?:0|[1-9][0-9]{0,19})))?[ \t]*\]\Z"
)
_REGISTER = re.compile(r"%[a-zA-Z]+\d*\Z")
_COMPONENT = re.compile(r"(%[a-zA-Z]\w*)\.([xyzw])\Z")
_PAIR = re.compile(r"([%$]?[a-zA-Z]\w*)\|([%$]?[a-zA-Z]\w*)\Z")
_TENSOR = re.compile(r"\[([%$]?[a-zA-Z]\w*), (\{[^}]*\})\]\Z")
_VECTOR = re.compile(r"\{[ \t]*((?:[%$]?[a-zA-Z]\w*|_)(?:,[ \t]*(?:[%$]?[a-zA-Z]\w*|_))*)[ \t]*\}\Z")
_LIST = re.compile(r"\(\s*[%$]?[a-zA-Z]\w*(?:\s*,\s*[%$]?[a-zA-Z]\w*)*\s*\)\Z")


class OperandReader:
    """Operands and operations of one body, each read once: those of an outer block are known after an inner one."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[str, Operand] = {}
        self._outer: list[dict[str, Operand]] = []
        self._operations: dict[tuple[str, tuple[type, ...]], Operation] = {}
        self._guards: dict[tuple[str, int, bool], Guard] = {}

    def open_block(self) -> None:
        """Enter a block of the body."""
        self._outer.append(self._known)

    def close_block(self) -> None:
        """Leave it: names mean again what they did outside."""
        self._known = self._outer.pop()

    def forget(self, declared: Iterable[Variable]) -> None:
        """Forget operands that a declaration may give another meaning."""
        if self._names.depth and self._known is self._outer[-1]:
            self._known = {}
        elif any(not variable.name.startswith("%") for variable in declared):
            self._known.clear()

    def read(self, text: str) -> tuple[Operand, ...]:
        """Return the operands of one instruction. Raises GrammarError."""
        known = self._known
        found: list[Operand] = []
        for token in text.split(", "):
            operand = known.get(token)
            if operand is None:
                if _REGISTER.match(token) is None:
                    break
                operand = known[token] = self._names.resolve(token)
            found.append(operand)
        else:
            return tuple(found)
        found.clear()
        at, length = 0, len(text)
        while at < length:
            match = _OPERAND.match(text, at)
            if match is None:
                raise GrammarError("not an operand", at)
            at = match.end()
            token = match[1]
            operand = known.get(token)
            if operand is None:
                operand = known[token] = self._operand(token)
            found.append(operand)
        if text.rstrip().endswith(","):
            raise GrammarError("not an operand", at)
        return tuple(found)

    def _operand(self, token: str) -> Operand:
        token = token.strip()
        if NAME.match(token) and token != "WARP_SZ":
            return self._names.resolve(token)
        if _INTEGER.match(token) and len(token) <= MOST_DIGITS:
            return Immediate(int(token, 0))
        component = _COMPONENT.match(token)
        if component is not None:
            base = self._names.resolve(component[1])
            if isinstance(base, Register):
                return Component(base, component[2])
        address = _ADDRESS.match(token)
        if address is not None:
            return Address(self._names.resolve(address[1]), int(address[2] or 0))
        vector = _VECTOR.match(token)
        if vector is not None:
            return Vector(tuple(self._element(item.strip()) for item in vector[1].split(",")))
        if token.endswith("]") and not token.startswith("["):
            raise GrammarError("an element of an array is read with its instruction", 0)
        return self._composite(token) or parse_operand(token, self._names)

    def _composite(self, token: str) -> Operand | None:
        """Read `p|q`, `[map, {x, y}]`, `(a, b)` and `_`; None leaves the rest to the grammar."""
        if token == "_":
            return Sink()
        pair = _PAIR.match(token)
        if pair is not None:
            first, second = self._names.resolve(pair[1]), self._names.resolve(pair[2])
            return (
                Pair(first, second) if isinstance(first, Register) and isinstance(second, Register) else None
            )
        if token.startswith("(") and _LIST.match(token) and "WARP_SZ" not in token:
            return Arguments(tuple(self._names.resolve(name.strip()) for name in token[1:-1].split(",")))
        tensor = _TENSOR.match(token)
        if tensor is None:
            return None
        return Address(self._names.resolve(tensor[1]), 0, (self._operand(tensor[2]),))

    def _element(self, token: str) -> Operand:
        return Sink() if token == "_" else self._names.resolve(token)

    def with_elements(self, opcode: str, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Return operands in which elements of arrays are addresses to access, or to take, as the opcode has it."""
        if not any(isinstance(operand, Element) for operand in operands):
            return operands
        accessed = tuple(
            Address(operand.symbol, operand.offset) if isinstance(operand, Element) else operand
            for operand in operands
        )
        specs = self.operation(opcode, accessed).operand_specs
        return tuple(
            SymbolOffset(operand.symbol, operand.offset)
            if isinstance(operand, Element) and not (spec and spec.kind is OperandKind.ADDRESS)
            else address
            for operand, address, spec in zip_longest(operands, accessed, specs[: len(operands)])
        )

    def operation(self, opcode: str, operands: tuple[Operand, ...]) -> Operation:
        """Return the shared operation; operands of the same kinds have the same layout."""
        kinds = tuple(map(type, operands))
        if Address in kinds and any(isinstance(o, Address) and o.extra for o in operands):
            return resolve(opcode, operands)
        operation = self._operations.get((opcode, kinds))
        if operation is None:
            operation = self._operations[(opcode, kinds)] = resolve(opcode, operands)
        return operation

    def guard(self, name: str, negated: bool) -> Guard | None:
        """Return the shared guard; None where the name is not a register."""
        register = self._names.resolve(name)
        if not isinstance(register, Register):
            return None
        key = (name, register.scope, negated)
        guard = self._guards.get(key)
        if guard is None:
            guard = self._guards[key] = Guard(register, negated)
        return guard
