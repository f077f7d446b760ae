"""Registers to which every definition in a region gives one number, however often the region runs.

Property: a register that `keep_steady` returns holds behind the region what it now holds, whichever way the region ran.

Argument: each of its definitions is run once (`steady_definitions`); it is kept where all of them give one value, and
every thread held that value before or nothing.

Not covered: registers that threads come out with as they went in with another number.

A compiler sinks `ld.param` and what follows from it alone into loops. What such a register holds behind the loop is
known although the loop is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....ir import Register
from ..slice.regions import Region
from ..values.register_file import SplitError
from ..values.symbol import Form
from ..values.trace import ThreadSet
from .cta import Cta
from .register_instructions import perform


def keep_steady(cta: Cta, region: Region, threads: ThreadSet) -> frozenset[Register]:
    """Give registers the numbers that a region gives them or leaves them; return which these are."""
    changed: set[Register] = set()
    given: dict[Register, object] = {}
    for point in cta.program.regions.steady(region):
        instruction = cta.program.cfg.instructions[point]
        written = list(dict.fromkeys(instruction.writes()))
        before = {register: cta.registers.snapshot(register) for register in written}
        is_known = changed.isdisjoint(instruction.reads())
        if is_known:
            try:
                perform(cta, point, instruction, threads)
            except SplitError:
                is_known = False
        for register in written:
            now = list(_held(cta, register, threads))
            then = [value for mask, value in before[register] or () if mask & threads]
            is_one = is_known and len(now) == 1 and all(_same(value, now[0]) for value in then)
            if register in changed or not is_one or not _same(given.setdefault(register, now[0]), now[0]):
                changed.add(register)
                cta.registers.restore(register, before[register])
    return frozenset(given) - changed


def _held(cta: Cta, register: Register, threads: ThreadSet) -> Iterator[object]:
    for _, value in cta.registers.pieces(register, threads):
        yield value


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and isinstance(one, int | Form) and one == other
