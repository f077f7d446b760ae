"""Execute a statement under another predicate of the kernel, or under none: who arrives, when a parity flips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...ir import Guard, Instruction, Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...parser.show import show_instruction
from ...protocols.symex.slice.polling import POLLS
from ..patch import Patch, Writer, combined
from ..sites import is_site, nearest
from ..slices import feeding
from ..subject import Subject

_MOST = 4
"""Predicates that are tried for one statement."""


def change_predicate(subject: Subject) -> Iterator[Patch]:
    """Yield each statement without its guard, and each unguarded one under the predicates that others have."""
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    instructions = view.body.instructions
    sites = [p for p, each in enumerate(instructions) if is_site(each) and each.operation.op not in POLLS]
    updates = [p for p in feeding(view) if instructions[p].operation.op is Op.XOR]
    guarded = [p for p in feeding(view) if instructions[p].guard is not None]
    points = tuple(dict.fromkeys((*sites, *updates, *guarded)))
    for far, point in enumerate(nearest(points, subject.around)):
        instruction = instructions[point]
        for rank, guard in enumerate(_guards(subject, point)):
            statement = show_instruction(replace(instruction, guard=guard))
            who = "always" if guard is None else f"if {'not ' if guard.negated else ''}{guard.register.name}"
            summary = f"'{instruction.operation.text}' {who}"
            cost = 4 + rank + min(far // 3, 5)
            yield combined("predicate", summary, cost, [writer.rewritten(point, statement)], needs_proof=True)


def _guards(subject: Subject, point: int) -> list[Guard | None]:
    instructions = subject.view.body.instructions
    own = instructions[point].guard
    if own is not None:
        return [None, Guard(own.register, not own.negated)]
    near = [
        p for p in nearest(tuple(range(len(instructions))), (point,)) if instructions[p].guard is not None
    ]
    found: dict[Guard | None, None] = {}
    for other in near:
        guard = instructions[other].guard
        if guard is not None and _is_known(subject, guard.register, point):
            found[Guard(guard.register, _skips(instructions[other]) != guard.negated)] = None
            found[Guard(guard.register, guard.negated)] = None
    return list(found)[:_MOST]


def _skips(instruction: Instruction) -> bool:
    """Tell whether what is guarded jumps over other statements, which then run under the opposite."""
    return Trait.BRANCH in instruction.operation.traits


def _is_known(subject: Subject, register: Register, point: int) -> bool:
    """Tell whether a predicate has its value where a statement is."""
    definitions = subject.view.facts.definitions(point, register)
    return bool(definitions) and all(
        subject.view.cfg.dominates(definition, point)
        and subject.view.body.instructions[definition].operation.op not in POLLS
        for definition in definitions
    )
