"""Initialise an mbarrier that is used and not initialised: as its neighbours are, at their distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...ir import (
    Address,
    Immediate,
    Register,
    Symbol,
)
from ...parser.show import show_operand
from ...protocols.model.actions import Barrier, Init
from ...protocols.model.outcome import Flaw
from ..arrivals import arrivals_of_a_phase
from ..patch import Patch, Writer, combined
from ..subject import Subject

_RULES = frozenset({"MB003", "MB020", "MB025", "TX001", "TX002", "MB027", "MB016"})


def insert_init(subject: Subject) -> Iterator[Patch]:
    """Yield an initialisation of each mbarrier that a run uses before it is initialised, with each likely count."""
    if subject.finding.rule not in _RULES:
        return
    for violation in subject.violations:
        missing = violation.problem.barrier
        if violation.problem.flaw is not Flaw.UNINITIALISED or not isinstance(missing, Barrier):
            continue
        strands = violation.run.protocol.strands
        inits = [
            a for s in strands for a in s.actions if isinstance(a, Init) and a.barrier.cta == missing.cta
        ]
        if not inits:
            yield from _first(subject, arrivals_of_a_phase(strands, missing))
        if not any(each.barrier == missing for each in inits):
            yield from _like(subject, missing, inits, arrivals_of_a_phase(strands, missing))
        return


def _like(subject: Subject, missing: Barrier, inits: list[Init], arrivals: list[int]) -> Iterator[Patch]:
    writer = Writer(subject.view)
    instructions = subject.view.body.instructions
    for near, init in enumerate(
        sorted(inits, key=lambda i: (abs(i.barrier.offset - missing.offset), i.point))
    ):
        instruction = instructions[init.point]
        address = instruction.get("addr")
        if not isinstance(address, Address) or not isinstance(address.base, Register | Symbol):
            continue
        offset = address.offset + missing.offset - init.barrier.offset
        place = show_operand(replace(address, offset=offset))
        guard = ""
        if instruction.guard is not None:
            guard = f"@{'!' if instruction.guard.negated else ''}{instruction.guard.register.name} "
        counts = dict.fromkeys([*arrivals, *(i.count for i in inits)])
        for more, count in enumerate(counts):
            head = instruction.operation.text
            text = f"{guard}{head} {place}, {show_operand(Immediate(count))};"
            summary = f"initialise the mbarrier {offset:+} bytes from another one with {count} arrivals"
            yield combined("initialisation", summary, 2 + near + more, [writer.after(init.point, text)])


def _first(subject: Subject, arrivals: list[int]) -> Iterator[Patch]:
    """Yield an initialisation by thread 0 at the start of a kernel that has none, with and without a barrier."""
    instruction = subject.instruction
    address = None if instruction is None else instruction.get("addr") or instruction.get("mbar")
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        return
    who, thread, place = "%ptxcheck_first", "%ptxcheck_thread", show_operand(replace(address, extra=()))
    for cost, count in enumerate(arrivals):
        lines = (
            "{",
            f".reg .pred {who};",
            f".reg .b32 {thread};",
            f"mov.u32 {thread}, %tid.x;",
            f"setp.eq.u32 {who}, {thread}, 0;",
            f"@{who} mbarrier.init.shared::cta.b64 {place}, {count};",
            "}",
        )
        for more, text in enumerate((lines, (*lines, "bar.sync 0;"))):
            summary = f"initialise {place} with {count} arrivals"
            yield combined(
                "initialisation", summary, 3 + cost + more, [Writer(subject.view).before(0, *text)]
            )
