"""Put a synchronising statement of the kernel where another one of its kind may have got lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ...ir import Immediate, Instruction
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...parser.show import show_instruction
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import branches_around, sites_of, steps_of
from ..subject import Subject

_NAMED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE})
_COUNTED = frozenset({*_NAMED, Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT})
_MOST = 60
_NAMED_HEAD, _LEFT_OVER = "bar.", 2
"""Of meetings of some threads one arrival may be left over when the kernel ends: rather move one."""


def clone_statement(subject: Subject) -> Iterator[Patch]:
    """Yield each barrier, commit, group wait and fence of the kernel, at each place around a synchronising step."""
    if not subject.is_about_synchronisation:
        return
    writer = Writer(subject.view)
    texts = tuple(_texts(subject, writer))
    count = 0
    for cost, place, edit_of in _gaps(subject, writer):
        for text, source in texts:
            if source >= 0 and not _reaches(subject, source, place):
                continue
            count += 1
            if count > _MOST:
                return
            alone = _LEFT_OVER if text.startswith(_NAMED_HEAD) and "," in text else 0
            yield combined("clone", f"insert '{text}'", cost + alone, [edit_of(text)])


def _reaches(subject: Subject, source: int, place: int) -> bool:
    """Tell whether what a statement reads is the same at another place as at its own."""
    instruction = subject.view.body.instructions[source]
    facts, cfg = subject.view.facts, subject.view.cfg
    return all(
        facts.same_definition(source, register, place, register)
        and all(cfg.dominates(point, place) for point in facts.definitions(source, register))
        for register in instruction.reads()
    )


def _texts(subject: Subject, writer: Writer) -> Iterator[tuple[str, int]]:
    """Yield statements with the point whose registers they read, -1 for none."""
    seen: set[str] = set()
    wanted = _wanted(subject.finding.rule)
    for point in sites_of(subject.view):
        instruction = subject.view.body.instructions[point]
        text = _with_constants(subject, point, writer)
        plain = instruction.guard is None and not any(True for _ in instruction.writes())
        if plain and text not in seen and wanted(instruction):
            seen.add(text)
            source = point if any(True for _ in instruction.reads()) and "%" in text else -1
            yield text, source
            if instruction.operation.op is Op.BAR_SYNC and instruction.get("threads") is not None:
                yield from ((arrival, source) for arrival in _arrival(text, seen))


def _with_constants(subject: Subject, point: int, writer: Writer) -> str:
    """Return a statement with the values of its registers, where they are known: it stands elsewhere then."""
    instruction = subject.view.body.instructions[point]
    if instruction.operation.op not in _NAMED:
        return writer.statement(point)
    values = [subject.view.facts.constant(point, operand) for operand in instruction.operands]
    operands = tuple(
        operand if value is None else Immediate(value)
        for operand, value in zip(instruction.operands, values, strict=True)
    )
    return show_instruction(replace(instruction, operands=operands))


def _arrival(text: str, seen: set[str]) -> Iterator[str]:
    """Yield the arrival at the barrier that a statement waits at."""
    arrival = text.replace(".sync", ".arrive", 1)
    if arrival not in seen:
        seen.add(arrival)
        yield arrival


def _wanted(rule: str) -> Callable[[Instruction], bool]:
    if rule.startswith(("NB", "CL")):
        return lambda instruction: instruction.operation.op in _COUNTED
    if rule.startswith("PX"):
        return lambda instruction: Trait.FENCE in instruction.operation.traits
    traits = frozenset({Trait.COMMIT, Trait.FENCE, Trait.WAIT})
    return lambda instruction: (
        (bool(instruction.operation.traits & traits) or instruction.operation.op in _COUNTED)
        and Trait.MBARRIER not in instruction.operation.traits
    )


def _gaps(subject: Subject, writer: Writer) -> Iterator[tuple[int, int, Callable[[str], Edit]]]:
    """Yield places with their costs: at the finding, then around each step, the nearest first."""
    for point in subject.around:
        yield 4, point, partial(writer.before_step, point)
        yield 5, point, partial(writer.after_step, point)
    around = subject.around
    steps = sorted(
        steps_of(subject.view), key=lambda s: (min((abs(s.first - p) for p in around), default=0), s)
    )
    for far, step in enumerate(steps):
        yield 5 + far // 2, step.first, partial(writer.ahead, step.first)
        yield 5 + far // 2, step.last, partial(writer.after, step.last)
        for branch in branches_around(subject.view, step.first):
            yield 5 + far // 2, branch, partial(writer.before, branch)
