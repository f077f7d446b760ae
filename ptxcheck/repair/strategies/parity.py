"""Wait for the other parity."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate, Register
from ...op import Op
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..subject import Subject

_WAITS = frozenset({Op.MBARRIER_TEST_WAIT, Op.MBARRIER_TRY_WAIT})
_RULES = frozenset({"MB010", "MB020", "MB021", "MB022", "MB024", "TX003", "SM007"})


def flip_parity(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each wait by parity on the barrier of a violation, or at the finding."""
    if subject.finding.rule not in _RULES:
        return
    for point in dict.fromkeys((subject.point, *subject.barrier_points, *subject.related)):
        if point < 0 or subject.view.body.instructions[point].operation.op not in _WAITS:
            continue
        parity = subject.view.body.instructions[point].get("parity")
        writer = Writer(subject.view)
        if isinstance(parity, Immediate):
            for wanted in (0, 1):
                if wanted != parity.value:
                    edit = writer.with_operand(point, "parity", Immediate(wanted))
                    yield combined("parity", f"wait for parity {wanted}", 1, [edit])
        elif isinstance(parity, Register):
            yield combined("parity", "wait for the other parity", 3, _flipped(writer, point, parity))


def _flipped(writer: Writer, point: int, parity: Register) -> list[Edit]:
    name = f"%ptxcheck_parity{point}"
    begin = writer.before(point, "{", f".reg .b32 {name};", f"xor.b32 {name}, {parity.name}, 1;")
    end = writer.after(point, "}")
    changed = writer.with_operand(point, "parity", Register(name))
    return [Edit(begin.start, end.end, begin.replacement + changed.replacement + end.replacement)]
