"""Wait for the other parity.

A call in the source may be several instructions, where its loop is unrolled: they are changed together first, as the
source has one line for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...ir import Immediate, Register
from ...opcodes.op import Op
from ...sources.positions import chains
from ..edits import Edit
from ..patch import PARITY, Patch, Writer, combined
from ..sites import nearest, toggled
from ..subject import Subject

_WAITS = frozenset({Op.MBARRIER_TEST_WAIT, Op.MBARRIER_TRY_WAIT})
_RULES = ("MB02", "TX", "SM02", "CL02", "TM03", "TM04")
_MOST = 8
_BITS = 3


def flip_parity(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each wait by parity on the barrier of a violation, or at the finding."""
    if not subject.finding.rule.startswith(_RULES):
        return
    instructions = subject.view.body.instructions
    waits = tuple(p for p, instruction in enumerate(instructions) if instruction.operation.op in _WAITS)
    yield from _together(subject, waits)
    for rank, point in enumerate(nearest(waits, subject.around)[:_MOST]):
        far = 0 if point in subject.around else 2 + rank
        parity = subject.view.body.instructions[point].get("parity")
        writer = Writer(subject.view)
        if isinstance(parity, Immediate):
            for wanted in (0, 1):
                if wanted != parity.value:
                    edit = writer.with_operand(point, "parity", Immediate(wanted))
                    yield combined(PARITY, f"wait for parity {wanted}", 1 + far, [edit])
            for more, register in enumerate(_bits(subject, point)):
                edit = writer.with_operand(point, "parity", register)
                summary = f"wait for parity {register.name}"
                yield combined(PARITY, summary, 3 + far + more, [edit], needs_proof=True)
        elif isinstance(parity, Register):
            yield combined(PARITY, "wait for the other parity", 3 + far, _flipped(writer, point, parity))


def _together(subject: Subject, waits: Sequence[int]) -> Iterator[Patch]:
    """Yield a patch for each call in the source that has become several waits."""
    for points in _calls(subject, waits).values():
        far = 0 if any(point in subject.around for point in points) else 2
        writer = Writer(subject.view)
        edits: list[Edit] = []
        for point in points:
            parity = subject.view.body.instructions[point].get("parity")
            if isinstance(parity, Immediate):
                edits.append(writer.with_operand(point, "parity", Immediate(1 - (parity.value & 1))))
            elif isinstance(parity, Register):
                edits += _flipped(writer, point, parity)
        if len(points) > 1 and len(edits) == len(points):
            summary = f"wait for the other parity in {len(points)} copies of one call"
            yield combined(PARITY, summary, 1 + far, edits)


def _calls(subject: Subject, waits: Sequence[int]) -> Mapping[object, list[int]]:
    """Return the waits by the way of calls that line information gives for them; without it there are none."""
    found: dict[object, list[int]] = {}
    places = chains(subject.view.body, {})
    for point in waits:
        way = tuple(place for place, _ in places[point])
        if way:
            found.setdefault(way, []).append(point)
    return found


def _bits(subject: Subject, point: int) -> list[Register]:
    """Return bits that loops flip and that have a value at a point."""
    facts = subject.view.facts
    return [register for register in toggled(subject.view) if facts.definitions(point, register)][:_BITS]


def _flipped(writer: Writer, point: int, parity: Register) -> list[Edit]:
    name = f"%ptxcheck_parity{point}"
    changed = writer.with_operand(point, "parity", Register(name))
    declared = (f".reg .b32 {name};", f"xor.b32 {name}, {parity.name}, 1;")
    return [writer.within(point, declared, changed.replacement)]
