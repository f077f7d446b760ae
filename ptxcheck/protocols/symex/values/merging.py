"""Registers after a branch on an open predicate: each thread has what its own side gives it.

Property: after `merge`, a thread for which the predicate is true holds what the first side left in the register, and
any other what the second side left.

Argument: pieces of both sides are cut to sets of threads with one value on each; where the values differ, the register
is the choice between them by the predicate.

Not covered: registers that neither side has written; they are left as they are.
"""

from __future__ import annotations

from typing import TypeAlias

from ....ir import Register
from . import lane_arithmetic as lanes
from .register_file import RegisterFile
from .symbol import Form, Value
from .trace import ThreadSet

Held: TypeAlias = list[tuple[ThreadSet, Value]] | None
"""What threads hold in a register; None: it was not written."""


def merge(
    registers: RegisterFile,
    register: Register,
    one: Held,
    two: Held,
    threads: ThreadSet,
    truth: Form,
) -> None:
    """Write what the sides of a branch leave in a register."""
    if one is None and two is None:
        return
    for held, a in pieces_of(register, one, threads):
        for both, b in pieces_of(register, two, held):
            if a is not b:
                registers.write(register, both, lanes.choose(truth, a, b, registers.threads))
            else:
                registers.write(register, both, a)


def pieces_of(register: Register, held: Held, threads: ThreadSet) -> list[tuple[ThreadSet, Value]]:
    """Return what threads hold in a register of which this is the snapshot."""
    found = [(part, value) for mask, value in held or [] if (part := mask & threads)]
    for part, _ in found:
        threads &= ~part
    return [*found, (threads, lanes.undefined(register))] if threads else found
