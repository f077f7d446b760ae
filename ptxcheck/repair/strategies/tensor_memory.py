"""Tensor memory: free what is allocated, agree on columns, reach the warp's own lanes, commit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...ir import (
    Address,
    Immediate,
    Instruction,
    Register,
)
from ...opcodes.op import Op
from ...parser.show import show_operand
from ...protocols.model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Init,
)
from ...protocols.typestate.tensor_memory import TENSOR_MEMORY
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import (
    guard_text,
    nearest,
    points_of,
    ways_out,
)
from ..subject import Subject

_LANES = (Op.TCGEN05_LD, Op.TCGEN05_ST, Op.TCGEN05_LD_RED)
_SINGLE = ".cta_group::1"
_OF_RUNS = ("MB02", "SM02", "TM038", "TM039", "TM04")
"""Findings that runs of the whole kernel show."""
_WARPGROUP = 128
_COLUMNS, _TRIED = 4, 12
"""Scale factors are moved by so many columns at a time, so often at most."""
_LEAST, _MOST = 32, 512
"""Columns of an allocation (PTX ISA §9.7.17.7.1)."""


def repair_tensor_memory(subject: Subject) -> Iterator[Patch]:
    """Yield what the rule of a finding asks for."""
    match subject.finding.rule:
        case "TM002":
            yield from _freed(subject)
        case "TM003":
            yield from _agreeing(subject)
        case "TM010" | "TM032":
            yield from _committed(subject)
        case "TM013" | "TM044":
            yield from _own_lanes(subject)
        case "TM015":
            yield from _more_columns(subject)
        case "TM014" | "TM033":
            yield from _one_group(subject)
        case "TM018":
            yield from _allocated(subject)
        case "TM028":
            yield from _as_allocated(subject)
        case "TM029":
            yield from _from_memory(subject)
        case "TM031":
            yield from _elsewhere(subject)
        case rule if rule.startswith(_OF_RUNS):
            yield from _arrive_when_done(subject)
            yield from _commit_behind(subject)
        case _:
            return


def _arrive_when_done(subject: Subject) -> Iterator[Patch]:
    """Yield a commit in the place of each arrival: the mbarrier is told when the multiplications are done."""
    view, writer = subject.view, Writer(subject.view)
    multiplications = points_of(view, Op.TCGEN05_MMA)
    for far, point in enumerate(nearest(points_of(view, Op.MBARRIER_ARRIVE), subject.around)):
        instruction = view.body.instructions[point]
        address = instruction.get("addr")
        if multiplications and isinstance(address, Address) and instruction.get("tx_count") is None:
            head = _commit_head(view.body.instructions[multiplications[0]])
            text = f"{guard_text(instruction)}{head} {show_operand(address)};"
            edit = writer.rewritten(point, text)
            yield combined("tensor memory", f"'{text}' instead of an arrival", 3 + far, [edit])


def _commit_behind(subject: Subject) -> Iterator[Patch]:
    """Yield commits to mbarriers at which nothing arrives, behind multiplications and behind the loops around them."""
    view, writer = subject.view, Writer(subject.view)
    told = {a.barrier for a in _actions(subject) if isinstance(a, Arrive | AsyncArrive)}
    lost = {a.point for a in _actions(subject) if isinstance(a, Init) and a.barrier not in told}
    names = sorted(
        show_operand(address)
        for point in lost
        if isinstance(address := view.body.instructions[point].get("addr"), Address)
    )
    for rank, point in enumerate(points_of(view, Op.TCGEN05_MMA)):
        instruction = view.body.instructions[point]
        for cost, (name, place) in enumerate(product(names, (point, *_ways_out(subject, point)))):
            text = f"{guard_text(instruction)}{_commit_head(instruction)} {name};"
            edit = writer.after(place, text) if place == point else writer.before(place, text)
            yield combined("tensor memory", f"insert '{text}'", 3 + rank + cost, [edit])


def _ways_out(subject: Subject, point: int) -> list[int]:
    """Return the first statements behind the loops around a point."""
    cfg = subject.view.cfg
    loops = cfg.loops_around(cfg.graph.block_of[point])
    targets = dict.fromkeys(target for loop in loops for _, target in loop.exits)
    return [cfg.blocks[t].points[0] for t in targets if t != cfg.exit and cfg.blocks[t].points]


def _actions(subject: Subject) -> Iterator[Action]:
    for violation in subject.violations[:1]:
        for strand in violation.run.protocol.strands:
            yield from strand.actions


def _commit_head(instruction: Instruction) -> str:
    return f"tcgen05.commit{_group(instruction)}.mbarrier::arrive::one.shared::cluster.b64"


def _group(instruction: Instruction) -> str:
    return instruction.operation.slots.get("cta_group", _SINGLE)


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
            text = f"{guard_text(instruction)}{_commit_head(instruction)} {place};"
            yield combined("tensor memory", f"insert '{text}'", 2 + cost + more, [writer.after(point, text)])


def _own_lanes(subject: Subject) -> Iterator[Patch]:
    """Yield the lanes that the warp reaches: 32 for each warp of its warpgroup (PTX ISA §9.7.17.8.1)."""
    instruction = subject.instruction
    if instruction is None or instruction.operation.op not in _LANES:
        return
    for points in dict.fromkeys((points_of(subject.view, *_LANES), (subject.point,))):
        edits = [edit for point in points if (edit := _with_lane(subject, point)) is not None]
        if edits:
            yield combined("tensor memory", "start at the lanes of the warp", 3, edits)


def _with_lane(subject: Subject, point: int) -> Edit | None:
    taddr = subject.view.body.instructions[point].get("taddr")
    if not isinstance(taddr, Address) or not isinstance(taddr.base, Register):
        return None
    name = f"%ptxcheck_lane{point}"
    threads = subject.view.launch.threads
    lines = (
        f".reg .b32 {name};",
        f"mov.u32 {name}, %tid.x;",
        f"shr.u32 {name}, {name}, 5;",
        *(() if threads is not None and threads <= _WARPGROUP else (f"and.b32 {name}, {name}, 3;",)),
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
        point: group
        for point in points_of(view, *TENSOR_MEMORY)
        if (group := view.body.instructions[point].operation.slots.get("cta_group")) is not None
    }
    values = [*groups.values(), _SINGLE]
    for cost, wanted in enumerate(sorted(set(values), key=lambda value: (-values.count(value), value))):
        edits = [
            writer.rewritten(point, writer.statement(point).replace(group, wanted, 1))
            for point, group in groups.items()
            if group != wanted
        ]
        yield combined("tensor memory", f"'{wanted}' everywhere", 2 + cost, edits)


def _allocated(subject: Subject) -> Iterator[Patch]:
    """Yield an allocation by warp 0 where a constant is taken for the address, freed before every way out."""
    view, writer = subject.view, Writer(subject.view)
    instruction, exits = subject.instruction, ways_out(view)
    taddr = None if instruction is None else instruction.get("taddr")
    register = taddr.base if isinstance(taddr, Address) else None
    if not isinstance(register, Register) or not exits:
        return
    made = view.facts.definitions(subject.point, register)
    if len(made) != 1 or view.facts.constant(subject.point, register) is None:
        return
    slot, who, thread = "ptxcheck_slot", "%ptxcheck_first", "%ptxcheck_thread"
    first = (
        f".reg .pred {who};",
        f".reg .b32 {thread};",
        f"mov.u32 {thread}, %tid.x;",
        f"setp.lt.u32 {who}, {thread}, 32;",
    )
    count, cost = _LEAST, 4
    while count <= _MOST:
        alloc = f"@{who} tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [{slot}], {count};"
        free = f"@{who} tcgen05.dealloc.cta_group::1.sync.aligned.b32 {register.name}, {count};"
        lines = ("{", *first, alloc, "}", "bar.sync 0;", f"ld.shared.b32 {register.name}, [{slot}];")
        declared = writer.before(0, f".shared .align 4 .b32 {slot};")
        text = "\n    ".join(lines)
        edits = [declared, writer.rewritten(made[0], text)]
        edits += [writer.before(place, "bar.sync 0;", "{", *first, free, "}") for place in exits]
        yield combined("tensor memory", f"allocate {count} columns, and free them", cost, edits)
        count, cost = count * 2, cost + 1


def _as_allocated(subject: Subject) -> Iterator[Patch]:
    """Yield the deallocation at the address that each allocation wrote."""
    writer = Writer(subject.view)
    for cost, point in enumerate(points_of(subject.view, Op.TCGEN05_ALLOC)):
        slot = subject.view.body.instructions[point].get("dst")
        if slot is not None:
            name = f"%ptxcheck_columns{subject.point}"
            lines = (f".reg .b32 {name};", f"ld.shared.b32 {name}, {show_operand(slot)};")
            changed = writer.with_operand(subject.point, "taddr", Register(name))
            edits = [writer.within(subject.point, lines, changed.replacement)]
            yield combined("tensor memory", "free what was allocated", 2 + cost, edits)


def _from_memory(subject: Subject) -> Iterator[Patch]:
    """Yield the multiplication without the collector buffer: the operand is read from memory."""
    instruction, writer = subject.instruction, Writer(subject.view)
    collector = None if instruction is None else instruction.operation.slots.get("collector")
    if collector:
        text = writer.statement(subject.point).replace(collector, "", 1)
        edits = [writer.rewritten(subject.point, text)]
        yield combined("tensor memory", f"without '{collector}'", 1, edits, local=True)


def _elsewhere(subject: Subject) -> Iterator[Patch]:
    """Yield other columns for scale factors: the next ones above, by fours, for all who use the address."""
    view, writer, instruction = subject.view, Writer(subject.view), subject.instruction
    registers = {
        operand.base
        for operand in (() if instruction is None else instruction.operands)
        if isinstance(operand, Address) and isinstance(operand.base, Register)
    }
    for register in sorted(registers):
        for point in view.facts.definitions(subject.point, register):
            made = view.body.instructions[point]
            for place, operand in enumerate(made.operands):
                if made.operation.op is Op.ADD and isinstance(operand, Immediate):
                    for cost in range(_TRIED):
                        column = operand.value + _COLUMNS * (cost + 1)
                        edit = writer.with_operand_at(point, place, Immediate(column))
                        summary = f"column {column} instead of {operand.value}"
                        yield combined("tensor memory", summary, 2 + cost, [edit])
