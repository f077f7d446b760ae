"""Numbers that a kernel does not know, as symbols: their name in a condition, range, step, and where they come from.

Two operands get one name only where they hold one number: their linear forms are equal, or one instruction
computed both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...cfg import Atom, AtomKind, Value
from ...ir import Operand, Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..ranges import Symbol

if TYPE_CHECKING:
    from ...view import KernelView

_DEPTH = 6
_MAX_SOURCES = 400
_WORD = re.compile(r"\W")
_INPUT_SPACES = ("", ".global", ".const", ".param", ".param::entry")


def symbol_of(view: KernelView, point: int, operand: Operand | None, unit: int) -> Symbol:
    """Return an operand's number times `unit` as a symbol."""
    value = view.facts.value(point, operand)
    step = value.modulus if value.modulus and value.residue % value.modulus == 0 else 1
    name = _text(view, value, _DEPTH) or (
        _plain(operand.name) if isinstance(operand, Register) else f"operand_{point}"
    )
    first = -(-value.low // step) * step
    if first > value.high:
        step = 1
    if unit == 1:
        return Symbol(name, value.low, value.high, step)
    return Symbol(f"{unit} * ({name})", unit * value.low, unit * value.high, unit * step)


def _plain(name: str) -> str:
    text = _WORD.sub("_", name.lstrip("%$"))
    return f"_{text}" if text[:1].isdigit() else text


def _text(view: KernelView, value: Value, depth: int) -> str | None:
    form = value.linear
    if form is None or depth == 0:
        return None
    terms = [_term(view, atom, factor, depth) for atom, factor in form.terms]
    if None in terms:
        return None
    parts = [term for term in terms if term is not None]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts)


def _term(view: KernelView, atom: Atom, factor: int, depth: int) -> str | None:
    name = _atom(view, atom, depth)
    if name is None:
        return None
    if factor == 1:
        return name
    return f"{factor} * {name}" if name.isidentifier() else f"{factor} * ({name})"


def _atom(view: KernelView, atom: Atom, depth: int) -> str | None:
    if atom.kind is AtomKind.PARAMETER:
        return _plain(atom.name) + (f"_at_{atom.at}" if atom.at else "")
    if atom.kind is AtomKind.DEFINITION and atom.at >= 0:
        return _computed(view, atom, depth) or f"{_plain(atom.name)}_line_{_line(view, atom.at)}"
    return _plain(str(atom))


def _computed(view: KernelView, atom: Atom, depth: int) -> str | None:
    """Return a widening product or conversion of a number that has a name."""
    instruction = view.cfg.instructions[atom.at]
    operands = instruction.operands
    if instruction.guard is not None or depth <= 1 or instruction.operation.op not in (Op.MUL, Op.CVT):
        return None
    source = _text(view, view.facts.value(atom.at, operands[1]), depth - 1)
    if source is None or instruction.operation.op is Op.CVT:
        return source
    factor = view.facts.constant(atom.at, operands[2]) if len(operands) == 3 else None
    if factor is None or not instruction.operation.has(".wide"):
        return None
    return f"{factor} * {source}" if source.isidentifier() else f"{factor} * ({source})"


def _line(view: KernelView, point: int) -> int:
    return view.module.source.position(view.cfg.instructions[point].start).line


def comes_from_host(view: KernelView, point: int, operand: Operand | None) -> bool:
    """Tell whether a number is computed from kernel parameters, literals and loads from memory of the host's."""
    work = [(point, operand)]
    seen: set[int] = set()
    while work:
        at, each = work.pop()
        if not isinstance(each, Register):
            if each is not None and view.facts.constant(at, each) is None:
                return False
            continue
        sources = view.facts.definitions(at, each)
        if not sources or len(seen) > _MAX_SOURCES:
            return False
        for source in sources:
            if source in seen:
                continue
            seen.add(source)
            instruction = view.cfg.instructions[source]
            if Trait.LOAD in instruction.operation.traits:
                if instruction.operation.slots.get("space", "") not in _INPUT_SPACES:
                    return False
                continue
            if instruction.operation.traits & {Trait.ATOMIC, Trait.CALL, Trait.ANYTHING, Trait.WAIT}:
                return False
            work.extend((source, register) for register in instruction.reads())
    return True


def given_number(view: KernelView, name: str) -> int | None:
    """Return the number of a symbol's text when the user gives every parameter in it."""
    if not view.launch.given:
        return None
    places = {offset: parameter for offset, _, parameter in view.function.parameter_places}
    given = {
        _plain(places[value.offset].name): value.value
        for value in view.launch.given
        if value.offset is not None and value.offset in places
    }
    return _evaluated(ast.parse(name, mode="eval").body, given)


def _evaluated(node: ast.expr, given: Mapping[str, int]) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return given.get(name)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as op, right=right):
            a, b = _evaluated(left, given), _evaluated(right, given)
            if a is None or b is None:
                return None
            return a + b if isinstance(op, ast.Add) else a * b
    return None
