"""Arrive where an arrival is missing: at an address that is computed and not used, or at a distance of a known one."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Address, Register, Symbol
from ...opcodes.op import Op
from ...parser.show import show_operand
from ...protocols.model.actions import Barrier, Init, Wait
from ..patch import Patch, Writer, combined
from ..sites import (
    expected_bytes,
    nearest,
    points_of,
    step_at,
    steps_of,
    unread,
)
from ..subject import Subject

_RULES = frozenset({"MB020", "MB021", "TX001", "TX002", "TX003", "MB022", "MB024", "SM022"})
_PLACES = 6
_LOST = 4
_STEPS = 4
_COMMIT = "tcgen05.commit"
_ARRIVES = frozenset({Op.MBARRIER_ARRIVE})


def insert_arrival(subject: Subject) -> Iterator[Patch]:
    """Yield arrivals at addresses that nothing uses, and at the end of what waits for another barrier of the kernel."""
    if subject.finding.rule not in _RULES:
        return
    yield from _beside_copies(subject)
    yield from _lost(subject)
    yield from _behind_waits(subject)


def _beside_copies(subject: Subject) -> Iterator[Patch]:
    """Yield an arrival that expects the bytes which complete unexpected, before each copy that completes them."""
    for cost, bytes_ in enumerate(_missing_bytes(subject)):
        for point in subject.barrier_points:
            mbar = subject.view.body.instructions[point].get("mbar")
            if isinstance(mbar, Address):
                text = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, {show_operand(mbar)}, {bytes_};"
                edit = Writer(subject.view).before(point, text)
                yield combined("arrival", f"arrive: '{text}'", 2 + cost, [edit])


def _lost(subject: Subject) -> Iterator[Patch]:
    """Yield an arrival behind each computation of a value that nothing reads, in each form that the kernel has."""
    found = {point: register.name for point, register in unread(subject.view)}
    forms = _forms(subject)
    for cost, point in enumerate(nearest(tuple(found), subject.around)[:_LOST]):
        for more, (head, tail) in enumerate(forms):
            text = f"{head} [{found[point]}]{tail};"
            later = _later_work(subject, point) if head.startswith(_COMMIT) else _later_steps(subject, point)
            for far, place in enumerate((point, *later)):
                edit = Writer(subject.view).after(place, text)
                yield combined("arrival", f"arrive: '{text}'", 3 + cost + more + far, [edit])


def _later_steps(subject: Subject, point: int) -> list[int]:
    """Return the ends of synchronising steps that only come behind a point, the nearest to the finding first."""
    cfg = subject.view.cfg
    ends = [
        step.last for step in steps_of(subject.view) if step.first > point and cfg.dominates(point, step.last)
    ]
    return nearest(tuple(ends), subject.around)[:_STEPS]


def _later_work(subject: Subject, point: int) -> list[int]:
    """Return the multiplications in tensor memory that only come behind a point: a commit tells when they are done."""
    multiplications = points_of(subject.view, Op.TCGEN05_MMA)
    return [p for p in multiplications if p > point and subject.view.cfg.dominates(point, p)]


def _forms(subject: Subject) -> list[tuple[str, str]]:
    """Return what precedes and follows the address: plain, with bytes, as the kernel writes them, by commits."""
    head = "mbarrier.arrive.expect_tx.shared::cta.b64 _,"
    forms = [(head, f", {bytes_}") for bytes_ in _missing_bytes(subject)]
    forms.append(("mbarrier.arrive.shared::cta.b64 _,", ""))
    for instruction in subject.view.body.instructions:
        plain = instruction.get("tx_count") is None and instruction.get("count") is None
        if instruction.operation.op in _ARRIVES and plain:
            forms.append((f"{instruction.operation.text} _,", ""))
        if instruction.operation.op is Op.TCGEN05_COMMIT and instruction.get("mask") is None:
            forms.append((instruction.operation.text, ""))
    return list(dict.fromkeys(forms))


def _missing_bytes(subject: Subject) -> list[int]:
    """Return the bytes that nobody expects; where the host's maps decide, those that the kernel expects elsewhere."""
    held = subject.held
    if held is None:
        return []
    if isinstance(held.completed, int) and isinstance(held.expected, int):
        return [held.completed - held.expected] if held.completed > held.expected else []
    return expected_bytes(subject.view)


def _behind_waits(subject: Subject) -> Iterator[Patch]:
    violation, barrier = subject.violation, subject.barrier
    if violation is None or barrier is None:
        return
    inits = {a.barrier for s in violation.run.protocol.strands for a in s.actions if isinstance(a, Init)}
    name = _name(subject)
    waits: dict[int, Barrier] = {}
    for strand in violation.run.protocol.strands:
        for action in strand.actions:
            if isinstance(action, Wait) and action.barrier != barrier and action.barrier.cta == barrier.cta:
                waits.setdefault(action.point, action.barrier)
    for point, known in sorted(waits.items()):
        distance = barrier.offset - known.offset
        address = _address(subject, point)
        if known not in inits or (address is None and name is None):
            continue
        where = name if address is None else f"[{address.name}+{distance}]"
        text = f"mbarrier.arrive.shared::cta.b64 _, {where};"
        for cost, place in enumerate(_ends(subject, point)):
            summary = f"arrive at the barrier {distance:+} bytes from the one waited for"
            yield combined("arrival", summary, 4 + cost, [Writer(subject.view).before(place, text)])


def _name(subject: Subject) -> str | None:
    """Return the address of the stuck mbarrier as its initialisation writes it, None when a register holds it."""
    instructions = subject.view.body.instructions
    for violation in subject.violations[:1]:
        for strand in violation.run.protocol.strands:
            for action in strand.actions:
                if isinstance(action, Init) and action.barrier == subject.barrier:
                    address = instructions[action.point].get("addr")
                    if isinstance(address, Address) and isinstance(address.base, Symbol):
                        return show_operand(address)
    return None


def _address(subject: Subject, point: int) -> Register | None:
    instruction = subject.view.body.instructions[point]
    found = next((o for o in instruction.operands if isinstance(o, Address)), None)
    if found is None or not isinstance(found.base, Register) or found.offset:
        return None
    return found.base


def _ends(subject: Subject, point: int) -> Iterator[int]:
    """Yield the last instructions of the blocks behind a wait, the nearest first."""
    cfg, step = subject.view.cfg, step_at(subject.view, point)
    behind = [block for block in cfg.blocks if block.start > step.last]
    yield from [block.last for block in behind if block.points][:_PLACES]
