"""A plain interpreter of integer PTX, one thread at a time, written apart from the code under test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ptxcheck.cfg import Cfg, EdgeKind
from ptxcheck.ir import (
    Address,
    Component,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)
from ptxcheck.opcodes.op import Op

WIDTHS = {"8": 8, "16": 16, "32": 32, "64": 64}
TABLES: Mapping[str, Callable[[int, int], int]] = {
    ".and": lambda a, b: a & b,
    ".or": lambda a, b: a | b,
    ".xor": lambda a, b: a ^ b,
}
RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    ".eq": lambda a, b: a == b, ".ne": lambda a, b: a != b, ".lt": lambda a, b: a < b,
    ".le": lambda a, b: a <= b, ".gt": lambda a, b: a > b, ".ge": lambda a, b: a >= b,
}  # fmt: skip


@dataclass
class Machine:
    """One thread: registers by name, special registers, parameters."""

    cfg: Cfg
    specials: Mapping[str, int]
    parameters: Mapping[str, int]
    registers: dict[str, int] = field(default_factory=dict)

    def run(self, limit: int = 300) -> Iterator[int]:
        """Yield each point just before it is executed; stop at the end or after `limit` steps."""
        point = 0
        for _ in range(limit):
            if point >= len(self.cfg.instructions):
                return
            yield point
            following = self._step(point)
            if following is None:
                return
            point = following

    def read(self, operand: Operand, width: int) -> int:
        mask = (1 << width) - 1
        match operand:
            case Register(name=name):
                return self.registers.get(name, 0) & mask
            case Immediate(value=value):
                return value & mask
            case Negated(operand=inner):
                return 1 - self.read(inner, 1)
            case Component(base=base, field=name):
                return self.specials[f"{base.name}.{name}"] & mask
        raise AssertionError(operand)

    def _step(self, point: int) -> int | None:
        instruction = self.cfg.instructions[point]
        guard = instruction.guard
        taken = guard is None or bool(self.read(guard.register, 1)) != guard.negated
        if instruction.operation.op in (Op.BRA, Op.RET, Op.EXIT):
            edges = self.cfg.edges_from(self.cfg.graph.block_of[point])
            kinds = (EdgeKind.BRANCH, EdgeKind.EXIT) if guard is None or taken else (EdgeKind.FALL,)
            if guard is not None:
                edges = tuple(e for e in edges if e.guard is not None and (e.guard == guard) == taken)
            edge = next(e for e in edges if e.kind in kinds or not taken)
            return None if edge.target == self.cfg.exit else self.cfg.blocks[edge.target].start
        if taken:
            self._execute(instruction)
        return point + 1

    def _execute(self, instruction: Instruction) -> None:
        if instruction.operation.op is Op.BAR_SYNC:
            return
        target = instruction.operands[0]
        if isinstance(target, Vector):
            words = compute(self, instruction)
            width = types_of(instruction)[0] // len(target.elements)
            for index, element in enumerate(target.elements):
                assert isinstance(element, Register)
                self.registers[element.name] = words >> index * width & (1 << width) - 1
            return
        result = compute(self, instruction)
        if isinstance(target, Pair):
            assert isinstance(target.first, Register)
            assert isinstance(target.second, Register)
            self.registers[target.first.name] = result
            self.registers[target.second.name] = 1 - result
        else:
            assert isinstance(target, Register)
            self.registers[target.name] = result


def types_of(instruction: Instruction) -> list[int]:
    """Return the widths of the types in an opcode, in order."""
    found = []
    for word in instruction.operation.modifiers:
        if word == ".pred":
            found.append(1)
        elif word[1] in "bsu" and word[2:] in WIDTHS:
            found.append(WIDTHS[word[2:]])
    return found


def is_signed(instruction: Instruction, which: int = 0) -> bool:
    types = [w for w in instruction.operation.modifiers if w[1] in "bsu" and w[2:] in WIDTHS]
    return bool(types) and types[which][1] == "s"


def to_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def divide(a: int, b: int, rest: bool) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a - quotient * b if rest else quotient


UNSIGNED: Mapping[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.XOR: lambda a, b: a ^ b,
}
SIGNED: Mapping[Op, Callable[[int, int], int]] = {
    Op.MIN: min,
    Op.MAX: max,
    Op.DIV: lambda a, b: divide(a, b, False),
    Op.REM: lambda a, b: divide(a, b, True),
}
UNARY: Mapping[Op, Callable[[int, int], int]] = {
    Op.NOT: lambda a, width: ~a,
    Op.NEG: lambda a, width: -a,
    Op.ABS: lambda a, width: abs(to_signed(a, width)),
    Op.POPC: lambda a, width: a.bit_count(),
    Op.CLZ: lambda a, width: width - a.bit_length(),
}


def compute(machine: Machine, instruction: Instruction) -> int:
    """Return the destination's number."""
    op, operands = instruction.operation.op, instruction.operands
    width = types_of(instruction)[0]
    mask = (1 << width) - 1
    if op in UNSIGNED:
        return UNSIGNED[op](machine.read(operands[1], width), machine.read(operands[2], width)) & mask
    if op in SIGNED:
        return SIGNED[op](number(machine, instruction, 1), number(machine, instruction, 2)) & mask
    if op in UNARY:
        return UNARY[op](machine.read(operands[1], width), width) & mask
    return OTHERS[op](machine, instruction) & (1 << 64) - 1


def number(machine: Machine, instruction: Instruction, index: int) -> int:
    """Return an operand read with the signedness of the first type."""
    width = types_of(instruction)[0]
    value = machine.read(instruction.operands[index], width)
    return to_signed(value, width) if is_signed(instruction) else value


def load(machine: Machine, instruction: Instruction) -> int:
    address = instruction.operands[1]
    assert isinstance(address, Address)
    assert isinstance(address.base, Symbol)
    return machine.parameters[address.base.name] & (1 << types_of(instruction)[0]) - 1


def move(machine: Machine, instruction: Instruction) -> int:
    source, width = instruction.operands[1], types_of(instruction)[0]
    if isinstance(source, Vector):
        part = width // len(source.elements)
        return sum(machine.read(e, part) << n * part for n, e in enumerate(source.elements))
    return machine.read(source, width)


def multiply(machine: Machine, instruction: Instruction) -> int:
    words, width = instruction.operation.modifiers, types_of(instruction)[0]
    extra = 2 * width if ".wide" in words else width
    product = number(machine, instruction, 1) * number(machine, instruction, 2)
    product = product >> width if ".hi" in words else product
    third = machine.read(instruction.operands[3], extra) if instruction.operation.op is Op.MAD else 0
    return product + third & (1 << extra) - 1


def shift(machine: Machine, instruction: Instruction) -> int:
    width = types_of(instruction)[0]
    amount = min(machine.read(instruction.operands[2], 32), width)
    value = number(machine, instruction, 1)
    left = instruction.operation.op is Op.SHL
    return (value << amount if left else value >> amount) & (1 << width) - 1


def select(machine: Machine, instruction: Instruction) -> int:
    width = types_of(instruction)[0]
    taken = machine.read(instruction.operands[3], 1)
    return machine.read(instruction.operands[1 if taken else 2], width)


def convert(machine: Machine, instruction: Instruction) -> int:
    to, source_width = types_of(instruction)
    source = machine.read(instruction.operands[1], source_width)
    return (to_signed(source, source_width) if is_signed(instruction, 1) else source) & (1 << to) - 1


def extract(machine: Machine, instruction: Instruction) -> int:
    width = types_of(instruction)[0]
    value = machine.read(instruction.operands[1], width)
    start, length = (machine.read(instruction.operands[n], 8) for n in (2, 3))
    found = value >> start & (1 << length) - 1
    if is_signed(instruction) and length:
        sign = value >> min(start + length - 1, width - 1) & 1
        kept = min(length, max(width - start, 0))
        found = found & (1 << kept) - 1 | (-sign << kept)
    return found & (1 << width) - 1


def insert(machine: Machine, instruction: Instruction) -> int:
    field_, base = (machine.read(instruction.operands[n], 32) for n in (1, 2))
    start, length = (machine.read(instruction.operands[n], 8) for n in (3, 4))
    mask = (1 << length) - 1 << start & 0xFFFFFFFF
    return base & ~mask | field_ << start & mask


def logic(machine: Machine, instruction: Instruction) -> int:
    a, b, c, table = (machine.read(operand, 32) for operand in instruction.operands[1:])
    rows = ((a >> n & 1) << 2 | (b >> n & 1) << 1 | c >> n & 1 for n in range(32))
    return sum((table >> row & 1) << n for n, row in enumerate(rows))


def permute(machine: Machine, instruction: Instruction) -> int:
    a, b, selector = (machine.read(operand, 32) for operand in instruction.operands[1:])
    result = 0
    for position in range(4):
        pick = selector >> 4 * position & 0xF
        byte = (a | b << 32) >> 8 * (pick & 7) & 0xFF
        if pick & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << 8 * position
    return result


def funnel(machine: Machine, instruction: Instruction) -> int:
    a, b, amount = (machine.read(operand, 32) for operand in instruction.operands[1:])
    words = instruction.operation.modifiers
    amount = amount & 31 if ".wrap" in words else min(amount, 32)
    whole = a | b << 32
    return (whole << amount >> 32 if ".l" in words else whole >> amount) & 0xFFFFFFFF


def compare(machine: Machine, instruction: Instruction) -> int:
    words, operands = instruction.operation.modifiers, instruction.operands
    width = types_of(instruction)[0]
    a, b = machine.read(operands[1], width), machine.read(operands[2], width)
    if is_signed(instruction):
        a, b = to_signed(a, width), to_signed(b, width)
    holds = next(relation(a, b) for text, relation in RELATIONS.items() if text in words)
    if len(operands) < 4:
        return int(holds)
    third = machine.read(operands[3], 1)
    return next(table(int(holds), third) for text, table in TABLES.items() if text in words)


OTHERS: Mapping[Op, Callable[[Machine, Instruction], int]] = {
    Op.LD: load, Op.MOV: move, Op.MUL: multiply, Op.MAD: multiply, Op.SHL: shift, Op.SHR: shift,
    Op.SELP: select, Op.CVT: convert, Op.BFE: extract, Op.BFI: insert, Op.LOP3: logic, Op.PRMT: permute,
    Op.SHF: funnel, Op.SETP: compare,
}  # fmt: skip
