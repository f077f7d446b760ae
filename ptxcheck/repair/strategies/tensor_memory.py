"""Tensor memory: free what is allocated, agree on columns, reach the warp's own lanes, commit."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Address, Immediate, Instruction, Register
from ...op import Op
from ...parser.show import show_operand
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import guard_text, points_of, ways_out
from ..subject import Subject

_LANES = (Op.TCGEN05_LD, Op.TCGEN05_ST, Op.TCGEN05_LD_RED)
_LEAST, _MOST = 32, 512
"""Columns of an allocation (PTX ISA 9.7.17.7.1)."""


def repair_tensor_memory(subject: Subject) -> Iterator[Patch]:
    """Yield what the rule of a finding asks for."""
    match subject.finding.rule:
        case "TM002":
            yield from _freed(subject)
        case "TM003":
            yield from _agreeing(subject)
        case "TM010" | "TM032":
            yield from _committed(subject)
        case "TM013":
            yield from _own_lanes(subject)
        case "TM015":
            yield from _more_columns(subject)
        case "TM033":
            yield from _one_group(subject)
        case _:
            return


def _group(instruction: Instruction) -> str:
    return instruction.operation.slots.get("cta_group", ".cta_group::1")


def _freed(subject: Subject) -> Iterator[Patch]:
    """Yield a deallocation of each allocation before every way out, by the warps that allocate, behind a barrier."""
    writer, exits = Writer(subject.view), ways_out(subject.view)
    for point in points_of(subject.view, Op.TCGEN05_ALLOC) if exits else ():
        instruction = subject.view.body.instructions[point]
        slot, columns = instruction.get("dst"), instruction.get("columns")
        if slot is None or columns is None:
            continue
        guard, name = guard_text(instruction), f"%ptxcheck_columns{point}"
        lines = (
            "bar.sync 0;",
            "{",
            f".reg .b32 {name};",
            f"ld.shared.b32 {name}, {show_operand(slot)};",
            f"{guard}tcgen05.dealloc{_group(instruction)}.sync.aligned.b32 {name}, {show_operand(columns)};",
            "}",
        )
        for cost, text in enumerate((lines[1:], lines)):
            edits = [writer.before(place, *text) for place in exits]
            summary = f"free the {show_operand(columns)} columns before the kernel ends"
            yield combined("tensor memory", summary, 2 + cost, edits)


def _agreeing(subject: Subject) -> Iterator[Patch]:
    """Yield the column counts of allocations for a deallocation."""
    own = _constant(subject, subject.point)
    counts = [_constant(subject, point) for point in points_of(subject.view, Op.TCGEN05_ALLOC)]
    for cost, count in enumerate(dict.fromkeys(count for count in counts if count is not None)):
        if count != own:
            edit = Writer(subject.view).with_operand(subject.point, "columns", Immediate(count))
            yield combined("tensor memory", f"free {count} columns instead of {own}", 1 + cost, [edit])


def _constant(subject: Subject, point: int) -> int | None:
    return subject.view.facts.constant(point, subject.view.body.instructions[point].get("columns"))


def _committed(subject: Subject) -> Iterator[Patch]:
    """Yield a commit to each mbarrier of the kernel behind each multiplication that is the last of its block."""
    view, writer = subject.view, Writer(subject.view)
    addresses = {
        show_operand(address)
        for point in points_of(view, Op.MBARRIER_INIT)
        if isinstance(address := view.body.instructions[point].get("addr"), Address)
    }
    multiplications = points_of(view, Op.TCGEN05_MMA)
    last = {view.cfg.graph.block_of[point]: point for point in multiplications}
    for cost, point in enumerate(sorted(last.values(), key=lambda p: p != subject.point)):
        instruction = view.body.instructions[point]
        for more, place in enumerate(sorted(addresses)):
            head = f"tcgen05.commit{_group(instruction)}.mbarrier::arrive::one.shared::cluster.b64"
            text = f"{guard_text(instruction)}{head} {place};"
            yield combined("tensor memory", f"insert '{text}'", 2 + cost + more, [writer.after(point, text)])


def _own_lanes(subject: Subject) -> Iterator[Patch]:
    """Yield the lanes that the warp reaches: 32 for each warp of its warpgroup (PTX ISA 9.7.17.8.1).

    A guess: the rules do not follow such an address, so that they are silent does not say that it is right.
    """
    instruction = subject.instruction
    if instruction is None or instruction.operation.op not in _LANES:
        return
    for points in dict.fromkeys((points_of(subject.view, *_LANES), (subject.point,))):
        edits = [edit for point in points if (edit := _with_lane(subject, point)) is not None]
        if edits:
            yield Patch(tuple(edits), "tensor memory", "start at the lanes of the warp", 3, guess=True)


def _with_lane(subject: Subject, point: int) -> Edit | None:
    taddr = subject.view.body.instructions[point].get("taddr")
    if not isinstance(taddr, Address) or not isinstance(taddr.base, Register):
        return None
    name = f"%ptxcheck_lane{point}"
    lines = (
        f".reg .b32 {name};",
        f"mov.u32 {name}, %tid.x;",
        f"bfe.u32 {name}, {name}, 5, 2;",
        f"shl.b32 {name}, {name}, 21;",
        f"add.u32 {name}, {name}, {taddr.base.name};",
    )
    writer = Writer(subject.view)
    changed = writer.with_operand(point, "taddr", Address(Register(name), taddr.offset))
    return writer.within(point, lines, changed.replacement)


def _more_columns(subject: Subject) -> Iterator[Patch]:
    """Yield the next larger counts, for allocations and deallocations together."""
    points = points_of(subject.view, Op.TCGEN05_ALLOC, Op.TCGEN05_DEALLOC)
    counts = [count for point in points if (count := _constant(subject, point)) is not None]
    size, cost = max(counts, default=_MOST) * 2, 2
    while _LEAST <= size <= _MOST:
        edits = [Writer(subject.view).with_operand(point, "columns", Immediate(size)) for point in points]
        yield combined("tensor memory", f"allocate and free {size} columns", cost, edits)
        size, cost = size * 2, cost + 1


def _one_group(subject: Subject) -> Iterator[Patch]:
    """Yield one `.cta_group` for every instruction of tensor memory, the one that most have first."""
    view, writer = subject.view, Writer(subject.view)
    groups = {
        point: instruction.operation.slots["cta_group"]
        for point, instruction in enumerate(view.body.instructions)
        if "cta_group" in instruction.operation.slots
    }
    values = list(groups.values())
    for cost, wanted in enumerate(sorted(set(values), key=lambda value: (-values.count(value), value))):
        edits = [
            writer.rewritten(point, writer.statement(point).replace(group, wanted, 1))
            for point, group in groups.items()
            if group != wanted
        ]
        yield combined("tensor memory", f"'{wanted}' everywhere", 2 + cost, edits)
