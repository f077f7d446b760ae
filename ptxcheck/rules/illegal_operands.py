"""Operands of a wrong number, kind or type, and literals out of range.

Checks: the operands of every instruction against the form that its modifiers select: how many there are,
register types and widths, lengths of vectors, literals, and the state spaces of variables.
Why: ptxas rejects the module.
Source: PTX ISA 6 (operands), 9.2 (type checking) and the syntax lines of chapter 9.7.
Not checked: values in registers (other rules do), calls, modules newer than the table.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..isa.operands import operand_problems
from ..protocols.thread.legality import NEWEST_VERSION, is_unknown, modifiers_fit
from ..protocols.thread.names import DeclaredNames
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 9.0
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    mov.b64 %rd1, 7;
    mov.b32 %r1, 7;
    add.u32 %r2, %r1, %rd1; // expect: PT003
    ret;
}
"""

_GOOD = """
.version 9.0
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    mov.b64 %rd1, 7;
    mov.b32 %r1, 7;
    cvt.u32.u64 %r3, %rd1;
    add.u32 %r2, %r1, %r3;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    if view.module.version > NEWEST_VERSION:
        return
    names = DeclaredNames(view.module, view.function)
    for point, instruction in enumerate(view.body.instructions):
        operation = instruction.operation
        if operation.form is None:
            if not is_unknown(operation) and modifiers_fit(operation.text):
                yield Hit(point, operation.problem or f"the operands do not fit '{operation.text}'")
            continue
        problems = operand_problems(operation, instruction.operands, names.type_of, names.space_of)
        first = next(problems, None)
        if first is not None:
            yield Hit(point, f"'{operation.text}': {first}")


RULE = Rule(
    id="PT003",
    name="illegal-operands",
    severity=Severity.ERROR,
    since="0.1",
    section="PTX ISA 9.7",
    summary="The operands do not fit the instruction: number, kind, type or literal value.",
    consequence="ptxas rejects the module.",
    advice="Give each operand the register type, vector length or literal that the form asks for.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
