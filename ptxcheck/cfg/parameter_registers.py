"""Parameters of calls that were inlined: what is stored and loaded there is in registers.

Property: `with_parameters_in_registers` returns a body that does what the given one does. A load of bytes of a
parameter that are stored by one store, or by several in one width, is a move from a register; any other load stays, and
gives each thread a number that is not known.

Argument: the space of parameters of calls is the thread's own (PTX ISA 5.1.6), and bytes of it have no other name where
no instruction takes the address of the parameter.

Not covered: bytes of several stores that are loaded together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..ir import (
    Address,
    Arguments,
    Body,
    FloatImmediate,
    Immediate,
    Instruction,
    Operand,
    Register,
    Sink,
    Statement,
    Symbol,
    SymbolOffset,
    Variable,
    Vector,
)
from ..isa.lookup import CALL_PARAMETERS, resolve
from ..opcodes.op import Op
from .optypes import NARROWEST, type_width, typing_of

_REGISTER = ".reg"


@dataclass(frozen=True, slots=True, order=True)
class _Piece:
    """Bytes of a parameter that are stored, or loaded, together."""

    parameter: Symbol
    start: int
    bits: int

    @property
    def register(self) -> Register:
        """Named so that no register of another scope hides it where the body is printed."""
        name, scope = self.parameter.name, self.parameter.scope
        return Register(f"{name}_{self.start}_{self.bits}_{scope}", scope)

    @property
    def type(self) -> str:
        return f".b{max(self.bits, NARROWEST)}"

    def has(self, part: _Piece) -> bool:
        end = self.start + self.bits // 8
        return self.start <= part.start and part.start + part.bits // 8 <= end

    def meets(self, other: _Piece) -> bool:
        ends = self.start + self.bits // 8, other.start + other.bits // 8
        return max(self.start, other.start) < min(ends)


def with_parameters_in_registers(body: Body, parameters: frozenset[Symbol]) -> Body:
    """Return a body in which some parameters of calls are registers, as far as they can be."""
    named = {each for instruction in body.instructions for each in _named(instruction)}
    sources = _sources(body, parameters - named)
    pieces = {
        each for loaded, source in sources.items() for each in (loaded, source, *_shifted(loaded, source))
    }
    types = {**body.register_types, **{piece.register: piece.type for piece in pieces}}
    registers: dict[Symbol, list[Variable]] = defaultdict(list)
    for piece in sorted(pieces, key=lambda each: (each.start, each.bits)):
        name, scope = piece.register
        registers[piece.parameter].append(Variable(_REGISTER, piece.type, name, scope=scope))
    kept = frozenset(sources.values())
    statements: list[Statement] = []
    for statement in body.statements:
        moves = _moves(statement, sources, kept, types) if isinstance(statement, Instruction) else None
        statements += [statement] if moves is None else moves
        if isinstance(statement, Variable):
            statements += registers.get(Symbol(statement.name, statement.scope), ())
    return Body(tuple(statements), body.problems)


def _sources(body: Body, parameters: frozenset[Symbol]) -> Mapping[_Piece, _Piece]:
    """Return, for what is loaded, the piece that it is all or a part of, where every store of its bytes is of that."""
    loaded: set[_Piece] = set()
    stored: dict[Symbol, set[_Piece]] = defaultdict(set)
    for instruction in body.instructions:
        for piece, _ in _accessed(instruction):
            if piece.parameter not in parameters:
                continue
            if instruction.operation.op is Op.ST:
                stored[piece.parameter].add(piece)
            else:
                loaded.add(piece)
    found: dict[_Piece, _Piece] = {}
    for piece in loaded:
        meeting = [each for each in stored[piece.parameter] if each.meets(piece)]
        if len(meeting) == 1 and meeting[0].has(piece):
            found[piece] = meeting[0]
    return found


def _shifted(loaded: _Piece, source: _Piece) -> tuple[_Piece, ...]:
    """Return where a piece is kept whose first bytes a part of it begins behind, shifted down to them."""
    behind = loaded.start > source.start
    return (_Piece(loaded.parameter, loaded.start, source.bits),) if behind else ()


def _accessed(instruction: Instruction) -> list[tuple[_Piece, Operand]]:
    """Return the pieces of a parameter that a load or store is of, with the operand of each; none for others."""
    operation = instruction.operation
    if operation.op not in (Op.LD, Op.ST) or operation.slots.get("space") != CALL_PARAMETERS:
        return []
    address = next((each for each in instruction.operands if isinstance(each, Address)), None)
    if address is None or not isinstance(address.base, Symbol):
        return []
    value = instruction.operands[1 if operation.op is Op.ST else 0]
    items = value.elements if isinstance(value, Vector) else (value,)
    bits = typing_of(operation).width
    return [
        (_Piece(address.base, address.offset + number * bits // 8, bits), item)
        for number, item in enumerate(items)
    ]


def _named(instruction: Instruction) -> Iterator[Symbol]:
    """Yield symbols that are named otherwise than as the address of a load or store of parameters."""
    is_accessed = bool(_accessed(instruction))
    for operand in instruction.operands:
        match operand:
            case Symbol() | SymbolOffset(symbol=Symbol()):
                yield operand if isinstance(operand, Symbol) else operand.symbol
            case Arguments(items=items):
                yield from (each for each in items if isinstance(each, Symbol))
            case Address(base=Symbol() as symbol) if not is_accessed:
                yield symbol
            case _:
                pass


def _moves(
    instruction: Instruction,
    sources: Mapping[_Piece, _Piece],
    kept: frozenset[_Piece],
    types: Mapping[Register, str],
) -> list[Statement] | None:
    """Return what takes the place of a load or store; None if it stays."""
    accessed = _accessed(instruction)
    if instruction.operation.op is Op.ST:
        return [_stored(instruction, each, value, types) for each, value in accessed if each in kept] or None
    if not accessed or any(piece not in sources for piece, _ in accessed):
        return None
    signed = typing_of(instruction.operation).signed
    found: list[Statement] = []
    for piece, target in accessed:
        if not isinstance(target, Sink):
            found += _cut(instruction, piece, sources[piece])
            found.append(_loaded(instruction, piece, target, types, signed=signed))
    return found


def _cut(instruction: Instruction, part: _Piece, whole: _Piece) -> Iterator[Statement]:
    """Yield what makes the register of a part from that of the whole; nothing where they are the same."""
    if part == whole:
        return
    for shifted in _shifted(part, whole):
        operands = (shifted.register, whole.register, Immediate(8 * (part.start - whole.start)))
        operation = resolve(f"shr.u{whole.bits}", operands)
        yield Instruction(operation, instruction.guard, operands, instruction.start, instruction.end)
        whole = shifted
    yield _instruction(
        instruction, f"cvt.u{max(part.bits, NARROWEST)}.u{part.bits}", part.register, whole.register
    )


def _stored(
    instruction: Instruction, piece: _Piece, value: Operand, types: Mapping[Register, str]
) -> Statement:
    bits = piece.bits
    if isinstance(value, Immediate) and bits < NARROWEST:
        value, bits = Immediate(value.value & (1 << bits) - 1), NARROWEST
    if isinstance(value, FloatImmediate):
        return _instruction(instruction, f"mov.f{bits}", piece.register, value)
    width = _width(value, types, bits)
    if width > bits or bits < NARROWEST:
        return _instruction(instruction, f"cvt.u{max(bits, NARROWEST)}.u{bits}", piece.register, value)
    return _instruction(instruction, f"mov.b{bits}", piece.register, value)


def _loaded(
    instruction: Instruction,
    piece: _Piece,
    target: Operand,
    types: Mapping[Register, str],
    *,
    signed: bool,
) -> Statement:
    width = _width(target, types, max(piece.bits, NARROWEST))
    if width > piece.bits:
        sign = "s" if signed else "u"
        opcode = f"cvt.{sign}{width}.{sign}{piece.bits}"
    else:
        opcode = f"mov.b{piece.bits}"
    return _instruction(instruction, opcode, target, piece.register)


def _width(operand: Operand, types: Mapping[Register, str], otherwise: int) -> int:
    declared = types.get(operand) if isinstance(operand, Register) else None
    return otherwise if declared is None else type_width(declared)


def _instruction(source: Instruction, opcode: str, target: Operand, value: Operand) -> Instruction:
    operands = (target, value)
    return Instruction(resolve(opcode, operands), source.guard, operands, source.start, source.end)
