"""Let all threads execute a collective that only some come to, or take the form that needs no uniform control flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...opcodes.op import Op
from ...parser.show import show_instruction
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of
from ..subject import Subject

_RULES = frozenset({"NB004", "NB006", "NB010", "TM007", "WG004", "WG010", "WG012", "TM012", "NB021"})
_UNALIGNED = frozenset({"NB004", "NB006"})
_MISSING = frozenset({"MB020"})
_ONE_FOR_ALL = frozenset({"WG012"})
"""The instruction takes the place of those at the related places."""
_ARRIVALS = 4
_NAMED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
_SHORT = "bar."


def make_uniform(subject: Subject) -> Iterator[Patch]:
    """Yield the instruction without its guard, in front of the branch around it, and without `.aligned`."""
    if subject.finding.rule in _MISSING:
        yield from _by_all(subject)
    if subject.finding.rule not in _RULES or subject.point < 0:
        return
    instruction = subject.view.body.instructions[subject.point]
    writer = Writer(subject.view)
    if instruction.guard is not None:
        edit = writer.rewritten(subject.point, show_instruction(replace(instruction, guard=None)))
        yield combined("uniform", f"'{instruction.operation.text}' by all threads", 2, [edit])
    yield from _in_front(subject, writer)
    if subject.finding.rule in _UNALIGNED:
        yield from _unaligned(subject, writer)


def _by_all(subject: Subject) -> Iterator[Patch]:
    """Yield each guarded arrival without its guard, the nearest to the finding first: others may have to arrive too."""
    instructions = subject.view.body.instructions
    guarded = [p for p in points_of(subject.view, Op.MBARRIER_ARRIVE) if instructions[p].guard is not None]
    writer = Writer(subject.view)
    for rank, point in enumerate(nearest(tuple(guarded), subject.around)[:_ARRIVALS]):
        statement = show_instruction(replace(instructions[point], guard=None))
        edit = writer.rewritten(point, statement)
        yield combined("uniform", f"'{statement}' by all threads", 3 + rank, [edit])


def _in_front(subject: Subject, writer: Writer) -> Iterator[Patch]:
    """Yield the move in front of the branch that decides whether the instruction runs."""
    cfg, facts, point = subject.view.cfg, subject.view.facts, subject.point
    instruction = subject.view.body.instructions[point]
    own = cfg.graph.block_of[point]
    branches = [
        block.last
        for block in cfg.blocks
        if block.points
        and block.last < point
        and subject.view.body.instructions[block.last].guard is not None
        and any(edge.target == own for edge in cfg.graph.outgoing[block.index])
    ]
    for branch in branches[:1]:
        if all(facts.same_definition(point, r, branch, r) for r in instruction.reads()):
            text = writer.statement(point)
            place = writer.before(branch)
            gone = (point, *subject.related) if subject.finding.rule in _ONE_FOR_ALL else (point,)
            edits = [*(writer.delete(each) for each in gone), Edit(place.start, place.start, f"{text} ")]
            yield combined("uniform", f"'{text}' in front of the branch around it", 4, edits)


def _unaligned(subject: Subject, writer: Writer) -> Iterator[Patch]:
    """Yield `barrier.…` for `bar.…`, which is its aligned form, at the finding and its related places."""
    instructions = subject.view.body.instructions
    points = [
        p
        for p in dict.fromkeys((subject.point, *subject.related))
        if instructions[p].operation.op in _NAMED and instructions[p].operation.text.startswith(_SHORT)
    ]
    edits = []
    for point in points:
        text = writer.statement(point)
        edits.append(writer.rewritten(point, text.replace(_SHORT, "barrier.", 1)))
    if edits:
        yield combined("uniform", "'barrier' without '.aligned' instead of 'bar'", 2, edits)
