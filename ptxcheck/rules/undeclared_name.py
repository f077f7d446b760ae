"""A register, variable, label or function that nothing declares where it is used.

Checks: every name in an operand or guard, with the blocks that declare names; `.reg .b32 %r<4>` declares
`%r0` to `%r3`.
Why: ptxas rejects the module.
Source: PTX ISA 4.4 (identifiers), 5.4.6 (parameterised names), 6.2.
Not checked: that the declaration stands above the use.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.names import DeclaredNames
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 9.0
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    mov.b32 %r3, 7;
    mov.b32 %r4, %r3; // expect: PT006
    ret;
}
"""

_GOOD = """
.version 9.0
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<5>;
    mov.b32 %r3, 7;
    mov.b32 %r4, %r3;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for found in DeclaredNames(view.module, view.function).undeclared():
        yield Hit(found.point, found.reason)


RULE = Rule(
    id="PT006",
    name="undeclared-name",
    severity=Severity.ERROR,
    since="0.1",
    section="PTX ISA 5.4, 6.2",
    summary="Nothing declares this name in the block or around it.",
    consequence="ptxas rejects the module.",
    advice="Declare the name; for numbered registers raise the count in `<…>`.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
