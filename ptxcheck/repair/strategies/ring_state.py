"""Go on through a ring from one tile to the next, as another role does: stage and parity that start anew for each."""

from __future__ import annotations

from collections.abc import Iterator

from ...cfg.loops import Loop
from ...ir import Register
from ...opcodes.op import Op
from ...protocols.symex.slice.polling import POLLS
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..slices import feeding
from ..subject import Subject

_POLL = 4
"""Statements of a loop around a poll at most."""


def keep_ring_state(subject: Subject) -> Iterator[Patch]:
    """Yield, for each pair of loops that compute a stage and a parity, the way of one of them for the other.

    What an outer loop sets again for the second one is left out, so that both go on where they were.
    """
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    loops = [loop for loop in view.cfg.loops if not _is_poll(subject, loop)]
    inner = [loop for loop in loops if all(other.parent != loop.index for other in loops)]
    for source in inner:
        advance = _advance(subject, source)
        if not advance:
            continue
        registers = {r for point in advance for r in view.body.instructions[point].writes()}
        state = {r for r in registers if any(r in tuple(view.body.instructions[p].reads()) for p in advance)}
        for target in inner:
            if target is source or _texts(writer, _advance(subject, target)) == _texts(writer, advance):
                continue
            own = _writing(subject, target.blocks, state)
            if not own:
                continue
            outer = target.parent
            blocks = frozenset() if outer is None else view.cfg.loops[outer].blocks - target.blocks
            resets = _writing(subject, blocks, state)
            text = " ".join(writer.statement(point) for point in advance)
            edits: list[Edit] = [writer.rewritten(own[0], text)]
            edits += [writer.delete(point) for point in (*own[1:], *resets)]
            yield combined(
                "ring state", f"'{text}' as elsewhere, and no start anew", 5, edits, needs_proof=True
            )


def _is_poll(subject: Subject, loop: Loop) -> bool:
    """Tell whether a loop only repeats a poll."""
    view = subject.view
    points = [p for block in loop.blocks for p in view.cfg.blocks[block].points]
    return any(view.body.instructions[p].operation.op in POLLS for p in points) and len(points) <= _POLL


def _advance(subject: Subject, loop: Loop) -> list[int]:
    """Return the statements in a row with which a loop counts a stage up, wraps it and flips a parity."""
    view = subject.view
    relevant = frozenset(feeding(view))
    for block in sorted(loop.blocks):
        points = [p for p in view.cfg.blocks[block].points if p in relevant or _compares(subject, p)]
        for place, point in enumerate(points):
            row = points[place : place + 4]
            ops = [view.body.instructions[each].operation.op for each in row]
            if ops == [Op.ADD, Op.SETP, Op.SELP, Op.XOR] and row[-1] - point == len(row) - 1:
                return row
    return []


def _compares(subject: Subject, point: int) -> bool:
    return subject.view.body.instructions[point].operation.op is Op.SETP


def _texts(writer: Writer, points: list[int]) -> list[str]:
    return [writer.statement(point) for point in points]


def _writing(subject: Subject, blocks: frozenset[int], registers: set[Register]) -> list[int]:
    """Return what writes some registers in some blocks, in order."""
    view = subject.view
    points = sorted(p for block in blocks for p in view.cfg.blocks[block].points)
    return [p for p in points if not registers.isdisjoint(view.body.instructions[p].writes())]
