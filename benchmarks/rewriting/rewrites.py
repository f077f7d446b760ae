"""Rewrites that keep what a kernel does: each one writes all statements that it can in another way.

Rows of `REWRITES` ask for operations, types and operands. What a statement is replaced by stands in a scope of its own,
so that names cannot meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from benchmarks.mutation.subject import POLLS, Subject
from ptxcheck.ir import (
    Address,
    Immediate,
    Instruction,
    Register,
    Symbol,
)
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Trait
from ptxcheck.parser.show import show_instruction, show_operand

Says: TypeAlias = Callable[[Instruction, int], str | None]
"""Return another text for a statement with a number of its own, or None where it stays."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One way to say the same in other words."""

    name: str
    what: str
    says: Says


def rewritten(subject: Subject, rewrite: Rewrite) -> str | None:
    """Return the text of a kernel with all statements rewritten that can be; None when there are none."""
    parts, at = [], 0
    for number, instruction in enumerate(subject.instructions):
        said = rewrite.says(instruction, number)
        if said is not None:
            parts += [subject.text[at : instruction.start], said]
            at = instruction.end
    return "".join([*parts, subject.text[at:]]) if parts else None


def renamed(subject: Subject) -> str:
    """Return the text with other names for parameters and variables in shared memory: no order may rest on them."""
    names = [each.name for each in subject.function.parameters]
    names += [each.name for each in subject.body.variables if each.space == ".shared"]
    text = subject.text
    names = sorted(name for name in names if name != subject.function.name)
    for number, name in enumerate(names):
        text = re.sub(rf"(?<![\w$.%]){re.escape(name)}(?![\w$])", f"z{len(names) - number}_{name}", text)
    return text


# ---------------------------------------------------------------- what the rows are made of

_MIRRORED = {
    "lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne",
    "lo": "hi", "hi": "lo", "ls": "hs", "hs": "ls",
}  # fmt: skip
_COLLECTIVE = frozenset({Trait.BARRIER, Trait.COLLECTIVE, Trait.MATRIX, Trait.BRANCH, Trait.ALIGNED})
_WIDTH_OF = {"u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64, "b64": 64}


def _parts(instruction: Instruction) -> list[str]:
    return instruction.operation.text.split(".")


def _again(instruction: Instruction, text: str, operands: Iterator[str] | list[str]) -> str:
    guard = ""
    if instruction.guard is not None:
        guard = f"@{'!' if instruction.guard.negated else ''}{instruction.guard.register.name} "
    return f"{guard}{text} {', '.join(operands)};"


def _shown(instruction: Instruction) -> list[str]:
    return [show_operand(each) for each in instruction.operands]


def _mirrored(instruction: Instruction, _: int) -> str | None:
    """`a < b` as `b > a`."""
    head, relation, *rest = [*_parts(instruction), "", ""]
    if instruction.operation.op is not Op.SETP or relation not in _MIRRORED or rest[0] not in _WIDTH_OF:
        return None
    target, a, b, *more = _shown(instruction)
    if more or not isinstance(instruction.operands[2], Register):
        return None
    return _again(instruction, ".".join([head, _MIRRORED[relation], rest[0]]), [target, b, a])


def _negated_branch(instruction: Instruction, number: int) -> str | None:
    """`@p bra` as `@!q bra`, where q is not p."""
    guard = instruction.guard
    if instruction.operation.op is not Op.BRA or guard is None:
        return None
    other = "" if guard.negated else "!"
    said = f"@{other}not{number} {instruction.operation.text} {_shown(instruction)[0]};"
    return f"{{ .reg .pred not{number}; not.pred not{number}, {guard.register.name}; {said} }}"


def _product(instruction: Instruction, _: int) -> str | None:
    """A shift as a product, and a product with a power of two as a shift."""
    head, *rest = _parts(instruction)
    if len(instruction.operands) != 3 or not isinstance(instruction.operands[2], Immediate):
        return None
    amount = instruction.operands[2].value
    target, a, _b = _shown(instruction)
    if instruction.operation.op is Op.SHL and rest == ["b32"] and 0 <= amount < 31:
        return _again(instruction, "mul.lo.u32", [target, a, str(1 << amount)])
    if head == "mul" and rest in (["lo", "u32"], ["lo", "s32"]) and amount > 0 and not amount & (amount - 1):
        return _again(instruction, "shl.b32", [target, a, str(amount.bit_length() - 1)])
    return None


def _difference(instruction: Instruction, _: int) -> str | None:
    """`a + 1` as `a - (-1)`, and the other way round."""
    head, *rest = _parts(instruction)
    is_sum = instruction.operation.op in (Op.ADD, Op.SUB) and len(rest) == 1 and rest[0] in _WIDTH_OF
    if not is_sum or not isinstance(instruction.operands[2], Immediate):
        return None
    target, a, _b = _shown(instruction)
    other = "sub" if head == "add" else "add"
    amount = instruction.operands[2].value & ((1 << _WIDTH_OF[rest[0]]) - 1)
    signed = -amount if amount < 1 << (_WIDTH_OF[rest[0]] - 1) else (1 << _WIDTH_OF[rest[0]]) - amount
    return _again(instruction, f"{other}.{rest[0]}", [target, a, str(signed)])


def _copied(instruction: Instruction, number: int) -> str | None:
    """Sources of arithmetic through registers of their own."""
    rest = _parts(instruction)[1:]
    if instruction.operation.op not in (Op.ADD, Op.SUB, Op.AND, Op.OR, Op.XOR, Op.SHR, Op.SHL, Op.MUL):
        return None
    if len(rest) != 1 or rest[0] not in _WIDTH_OF or instruction.guard is not None:
        return None
    width = _WIDTH_OF[rest[0]]
    target, a, b = _shown(instruction)
    if not isinstance(instruction.operands[1], Register):
        return None
    code = f"mov.b{width} copy{number}, {a};"
    return (
        f"{{ .reg .b{width} copy{number}; {code} {instruction.operation.text} {target}, copy{number}, {b}; }}"
    )


def _own_block(instruction: Instruction, number: int) -> str | None:
    """Each synchronising instruction in a block of its own."""
    is_chosen = instruction.get("mbar") is not None or Trait.MBARRIER in instruction.operation.traits
    if not is_chosen:
        return None
    return f"bra.uni BLOCK{number}; BLOCK{number}: {show_instruction(instruction)}"


def _tested(instruction: Instruction, _: int) -> str | None:
    """A wait that may suspend as one that does not."""
    if instruction.operation.op is not Op.MBARRIER_TRY_WAIT or instruction.get("hint") is not None:
        return None
    return show_instruction(instruction).replace("try_wait", "test_wait", 1)


def _split(instruction: Instruction, number: int) -> str | None:
    """An arrival that expects bytes in two steps; the barrier is one of the CTA itself."""
    parts = _parts(instruction)
    is_chosen = instruction.operation.op is Op.MBARRIER_ARRIVE and "expect_tx" in parts
    if not is_chosen or "cluster" in parts or "shared::cluster" in parts:
        return None
    target, *operands = _shown(instruction)
    if len(operands) != 2:
        return None
    space = "shared::cta" if "shared::cta" in parts else "shared"
    guard = _again(instruction, "", []).split(";")[0].strip()
    expect = f"{guard} mbarrier.expect_tx.relaxed.cta.{space}.b64 {operands[0]}, {operands[1]};"
    return f"{expect} {guard} mbarrier.arrive.{space}.b64 {target}, {operands[0]};"


def _flipped_twice(instruction: Instruction, number: int) -> str | None:
    """A parity that is flipped twice in front of its wait."""
    parity = instruction.get("parity")
    if instruction.operation.op not in POLLS or not isinstance(parity, Register):
        return None
    name = f"parity{number}"
    index = instruction.operation.operand_index["parity"]
    operands = [*instruction.operands[:index], Register(name), *instruction.operands[index + 1 :]]
    code = f"xor.b32 {name}, {parity.name}, 1; xor.b32 {name}, {name}, 1;"
    return (
        f"{{ .reg .b32 {name}; {code} {show_instruction(replace(instruction, operands=tuple(operands)))} }}"
    )


def _computed_place(instruction: Instruction, number: int) -> str | None:
    """The address of an mbarrier as a sum that is computed in front; the barrier is one of the CTA itself."""
    is_of_barrier = Trait.MBARRIER in instruction.operation.traits
    address = instruction.get("mbar") or (instruction.get("addr") if is_of_barrier else None)
    if not isinstance(address, Address) or address.extra or "cluster" in _parts(instruction):
        return None
    if not isinstance(address.base, (Register, Symbol)) or instruction.guard is not None:
        return None
    if any("::cluster" in each for each in _parts(instruction)) or not any(
        each.startswith("shared") for each in _parts(instruction)
    ):
        return None
    name = f"place{number}"
    index = next(i for i, each in enumerate(instruction.operands) if each is address)
    operands = [*instruction.operands[:index], Address(Register(name)), *instruction.operands[index + 1 :]]
    code = f"mov.b32 {name}, {address.base.name}; add.s32 {name}, {name}, {address.offset};"
    return (
        f"{{ .reg .b32 {name}; {code} {show_instruction(replace(instruction, operands=tuple(operands)))} }}"
    )


def _skipped(instruction: Instruction, number: int) -> str | None:
    """`@p` in front of what single threads do as a branch around it."""
    guard = instruction.guard
    if guard is None or instruction.operation.traits & _COLLECTIVE:
        return None
    if any(True for _ in instruction.writes()):
        return None
    skip = f"@{'' if guard.negated else '!'}{guard.register.name} bra AFTER{number};"
    return f"{skip} {show_instruction(replace(instruction, guard=None))} AFTER{number}:"


def _named_in_full(instruction: Instruction, _: int) -> str | None:
    """`bar` as `barrier.cta`."""
    parts = _parts(instruction)
    if instruction.operation.op not in (Op.BAR_SYNC, Op.BAR_ARRIVE) or parts[0] != "bar":
        return None
    rest = [each for each in parts[1:] if each != "cta"]
    if "aligned" not in rest:
        rest.append("aligned")
    return _again(instruction, ".".join(["barrier", "cta", *rest]), _shown(instruction))


REWRITES = (
    Rewrite("mirrored", "comparisons with their sides exchanged", _mirrored),
    Rewrite("negated-branch", "branches on the opposite of their predicate", _negated_branch),
    Rewrite("product", "shifts as products and products as shifts", _product),
    Rewrite("difference", "sums with a constant as differences", _difference),
    Rewrite("copied", "sources of arithmetic copied first", _copied),
    Rewrite("own-block", "each mbarrier operation in a block of its own", _own_block),
    Rewrite("tested", "test_wait for try_wait", _tested),
    Rewrite("split", "expect_tx and arrive for arrive.expect_tx", _split),
    Rewrite("flipped-twice", "parities flipped twice", _flipped_twice),
    Rewrite("computed-place", "addresses of mbarriers computed in front", _computed_place),
    Rewrite("skipped", "branches around guarded instructions", _skipped),
    Rewrite("named-in-full", "barrier.cta for bar", _named_in_full),
)
