"""Other schedules of a kernel: when it waits and releases, and who arrives. Each is proved like any patch.

The places of waits and releases move within their blocks; nothing here says that a schedule is faster. What an arrival
or a wait orders in global memory is not looked at, so a schedule that moves one past such an access says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from ..explain.violations import whole_kernel
from ..ir import Immediate, Instruction, Register
from ..isa.modifier import Mod
from ..opcodes.op import Op
from ..opcodes.spec import Operation, Trait
from ..parser.show import show_instruction
from ..protocols.model.actions import Arrive, Init, Strand
from ..protocols.symex.slice.accesses import is_strong
from ..protocols.symex.slice.polling import POLLS
from ..verdict import SEVERITY
from ..view import KernelView
from .assemble import Resources, assemble
from .edits import Edit, apply_edits
from .gate import Judge, Judgement, is_proved
from .patch import Patch, Writer, combined
from .redundancy import GLOBAL_MEMORY
from .sites import Step, is_site, step_at
from .weighing import Assembler

_WARP = 32
_MOVES = "moves"
"""Changes of what comes first in one thread."""
_MEMORY = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.ASYNC})
_WRITING = _MEMORY - {Trait.LOAD}
_ENDS = frozenset({Trait.BRANCH, Trait.TERMINATOR})
Variation: TypeAlias = Callable[[KernelView], Patch | None]
"""From a kernel to a patch that gives another schedule, None where there is nothing to change."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One schedule of a kernel, and what the checker and ptxas say of it."""

    kernel: str
    setting: tuple[tuple[str, int], ...]
    """Numbers of the source."""
    changes: tuple[str, ...]
    """What else differs from the text with these numbers."""
    text: str
    verdict: str
    """The worst verdict on a property, or why the text is refused."""
    holds: bool
    """Every property is decided and holds, nothing is found, and ptxas takes it, where there is one."""
    resources: Resources | None
    assumption: str = ""
    """What has to be true besides, "" for nothing."""


def candidates(
    text: str,
    kernel: str,
    judge: Judge,
    plain: Judge,
    assembler: Assembler,
    setting: tuple[tuple[str, int], ...] = (),
) -> Iterator[Candidate]:
    """Yield the kernel as it is, then with every combination of the variations that change it.

    `plain` reads a text without any rule.
    """
    seen: set[str] = set()
    for choice in product(*VARIATIONS):
        changed = text
        patches: list[Patch] = []
        for vary in choice:
            read = judge if vary in _OF_RUNS else plain
            view = None if vary is None else read(changed).views.get(kernel)
            patch = None if vary is None or view is None else vary(view)
            if patch is not None:
                changed = apply_edits(changed, patch.edits)
                patches.append(patch)
        if changed not in seen:
            seen.add(changed)
            yield _judged(changed, kernel, judge(changed), assembler, setting, patches)


def _judged(
    text: str,
    kernel: str,
    judgement: Judgement,
    assembler: Assembler,
    setting: tuple[tuple[str, int], ...],
    patches: Sequence[Patch],
) -> Candidate:
    verdict, holds = _answer(judgement, kernel)
    resources = None
    if assembler.ptxas is not None:
        assembled = assemble(text, assembler.target, assembler.ptxas)
        resources = assembled.resources.get(kernel)
        if assembled.error:
            verdict, holds = assembled.error, False
    assumption = GLOBAL_MEMORY if any(patch.strategy == _MOVES for patch in patches) else ""
    changes = tuple(patch.summary for patch in patches)
    return Candidate(kernel, setting, changes, text, verdict, holds, resources, assumption)


def refused(kernel: str, setting: tuple[tuple[str, int], ...], why: str) -> Candidate:
    """Return the candidate of a setting for which there is no PTX."""
    return Candidate(kernel, setting, (), "", why.splitlines()[0], False, None)


def _answer(judgement: Judgement, kernel: str) -> tuple[str, bool]:
    """Return what is said of a kernel in a word or a sentence, and whether it holds."""
    if judgement.problems:
        return judgement.problems[0], False
    found = next((each for each in judgement.findings if each.kernel == kernel), None)
    if found is not None:
        return f"{found.rule} {found.message}", False
    kinds = [kind for (name, _), kind in judgement.verdicts.items() if name == kernel]
    worst = min(kinds, key=SEVERITY.index, default=None)
    return "nothing is proved of it" if worst is None else worst.value, is_proved(judgement, kernel)


def release_early(view: KernelView) -> Patch | None:
    """Move each release up in its block, with what computes its address, to the last access of shared memory."""
    writer = Writer(view)
    edits: list[Edit] = []
    for point in _releases(view):
        moved = _moved_up(view, point)
        if moved is not None:
            place, points = moved
            text = "".join(f"{writer.statement(each)} " for each in points)
            edits += [
                *(writer.delete(each) for each in points),
                replace(writer.before(place), replacement=text),
            ]
    return combined(_MOVES, "releases behind the last access", 0, edits) if edits else None


def _moved_up(view: KernelView, point: int) -> tuple[int, list[int]] | None:
    """Return in front of which statement a release may go, and what has to go there; None when it passes nothing."""
    instructions = view.body.instructions
    first = view.cfg.blocks[view.cfg.graph.block_of[point]].points[0]
    start = point
    while start > first and not _holds_up(view, start - 1):
        start -= 1
    moved, wanted = [point], set(instructions[point].reads())
    passed: list[int] = []
    for earlier in range(point - 1, start - 1, -1):
        each = instructions[earlier]
        if wanted.isdisjoint(each.writes()):
            passed.append(earlier)
        elif each.operation.traits.isdisjoint(_MEMORY) and not any(
            _share(each, instructions[later]) for later in passed
        ):
            moved.append(earlier)
            wanted |= set(each.reads())
        else:
            break
    return (min(passed), sorted(moved)) if passed else None


def _share(one: Instruction, other: Instruction) -> bool:
    """Tell whether two statements cannot change places: one writes what the other reads or writes."""
    first, second = set(one.writes()), set(other.writes())
    return not (first.isdisjoint(second | set(other.reads())) and second.isdisjoint(one.reads()))


def release_late(view: KernelView) -> Patch | None:
    """Move each release down in its block, to the next synchronising statement."""
    writer = Writer(view)
    edits: list[Edit] = []
    for point in _releases(view):
        place = _moved_down(view, point)
        if place is not None:
            text = f" {writer.statement(point)}"
            edits += [writer.delete(point), replace(writer.after(place), replacement=text)]
    return combined(_MOVES, "releases in front of the next step", 0, edits) if edits else None


def _releases(view: KernelView) -> list[int]:
    """Return the arrivals that expect no bytes and whose state nobody reads."""
    return [
        point
        for point, each in enumerate(view.body.instructions)
        if each.operation.op is Op.MBARRIER_ARRIVE
        and each.get("tx_count") is None
        and not any(True for _ in each.writes())
    ]


def _moved_down(view: KernelView, point: int) -> int | None:
    """Return the statement behind which a release may go, None when it passes nothing."""
    instructions = view.body.instructions
    read = set(instructions[point].reads())
    last = view.cfg.blocks[view.cfg.graph.block_of[point]].points[-1]
    place = point
    while (
        place < last and not _holds_up(view, place + 1) and read.isdisjoint(instructions[place + 1].writes())
    ):
        place += 1
    return place if place > point else None


def _holds_up(view: KernelView, point: int) -> bool:
    """Tell whether a release may not pass a statement: one that synchronises, branches or touches shared memory."""
    instruction = view.body.instructions[point]
    traits = instruction.operation.traits
    if is_site(instruction) or not traits.isdisjoint(_ENDS):
        return True
    return not traits.isdisjoint(_MEMORY) and instruction.operation.slots.get("space") != Mod.GLOBAL


def wait_late(view: KernelView) -> Patch | None:
    """Move what follows a wait and does not need it in front: loads of global memory and what feeds them."""
    writer = Writer(view)
    edits: list[Edit] = []
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op in POLLS:
            step = step_at(view, point)
            moved = _free_of_wait(view, step.last + 1) if _only_leads_on(view, step) else []
            if any(Trait.LOAD in view.body.instructions[each].operation.traits for each in moved):
                place = writer.ahead(step.first)
                text = "".join(f" {writer.statement(each)} " for each in moved)
                edits += [*(writer.delete(each) for each in moved), Edit(place.start, place.end, text)]
    return combined(_MOVES, "loads of global memory before the waits", 0, edits) if edits else None


def _only_leads_on(view: KernelView, step: Step) -> bool:
    """Tell whether a step is a loop, and what stands behind it is executed behind it and nowhere else."""
    cfg = view.cfg
    if step.last == step.first or step.last + 1 >= len(view.body.instructions):
        return False
    own = {cfg.graph.block_of[point] for point in range(step.first, step.last + 1)}
    behind = cfg.graph.block_of[step.last + 1]
    return behind not in own and own.issuperset(cfg.predecessors[behind])


def _is_plain_load(operation: Operation) -> bool:
    """Tell whether an operation does nothing but load global memory, in an order that nobody relies on."""
    is_load = operation.traits & _MEMORY == {Trait.LOAD} and operation.slots.get("space") == Mod.GLOBAL
    return is_load and not is_strong(operation)


def _free_of_wait(view: KernelView, start: int) -> list[int]:
    """Return the statements from a point of a block on that do not depend on what stays behind the wait before it.

    A load stays behind a statement that may write what it reads, and where it has to see what others store meanwhile.
    """
    instructions = view.body.instructions
    block = view.cfg.blocks[view.cfg.graph.block_of[start]]
    moved: list[int] = []
    written: set[Register] = set()
    read: set[Register] = set()
    may_load = True
    for point in (p for p in block.points if p >= start):
        each = instructions[point]
        traits = each.operation.traits
        if is_site(each) or not traits.isdisjoint(_ENDS):
            break
        inputs, outputs = set(each.reads()), set(each.writes())
        is_free = traits.isdisjoint(_MEMORY) or (may_load and _is_plain_load(each.operation))
        if is_free and written.isdisjoint(inputs | outputs) and read.isdisjoint(outputs):
            moved.append(point)
        else:
            may_load = may_load and traits.isdisjoint(_WRITING)
            written |= outputs
            read |= inputs
    return moved


def arrive_by_warps(view: KernelView) -> Patch | None:
    """Let one lane arrive for its warp where all lanes arrive, and initialise with as many arrivals."""
    return _arrivals(view, _WARP, "one lane arrives for its warp")


def arrive_by_threads(view: KernelView) -> Patch | None:
    """Let every lane arrive where one lane does for its warp, and initialise with as many arrivals."""
    return _arrivals(view, 1, "every thread arrives")


def _arrivals(view: KernelView, lanes: int, summary: str) -> Patch | None:
    """Return the patch after which another number of lanes arrives, where `lanes` of each warp do now."""
    strands = _strands(view)
    instructions = view.body.instructions
    points = {
        each.point: each.barrier.offset
        for strand in strands
        for each in strand.actions
        if isinstance(each, Arrive) and each.point in _releases(view) and each.count == lanes
    }
    points = {p: at for p, at in points.items() if (lanes == _WARP) == (instructions[p].guard is None)}
    told = {
        each.barrier.offset
        for strand in strands
        for each in strand.actions
        if isinstance(each, Arrive) and each.point in points
    }
    inits = {
        each.point: each.count
        for strand in strands
        for each in strand.actions
        if isinstance(each, Init) and each.barrier.offset in told
    }
    if not points or any(lanes == _WARP and count % _WARP for count in inits.values()):
        return None
    writer = Writer(view)
    edits = [_by_one_lane(view, p) if lanes == _WARP else _by_all(view, p) for p in sorted(points)]
    for point, count in sorted(inits.items()):
        wanted = count // _WARP if lanes == _WARP else count * _WARP
        edits.append(writer.with_operand(point, "count", Immediate(wanted)))
    return combined("arrivals", summary, 0, edits)


def _strands(view: KernelView) -> Sequence[Strand]:
    whole = view.get(whole_kernel)
    sample = None if whole is None else whole.result.sample
    return () if sample is None else sample.protocol.strands


def _by_one_lane(view: KernelView, point: int) -> Edit:
    leads, lane = f"%ptxcheck_leads{point}", f"%ptxcheck_lane{point}"
    declared = (
        f".reg .pred {leads};",
        f".reg .b32 {lane};",
        f"mov.u32 {lane}, %laneid;",
        f"setp.eq.u32 {leads}, {lane}, 0;",
        "bar.warp.sync -1;",
    )
    return Writer(view).within(point, declared, f"@{leads} {show_instruction(view.body.instructions[point])}")


def _by_all(view: KernelView, point: int) -> Edit:
    return Writer(view).rewritten(point, show_instruction(replace(view.body.instructions[point], guard=None)))


VARIATIONS: tuple[tuple[Variation | None, ...], ...] = (
    (None, release_early, release_late),
    (None, wait_late),
    (None, arrive_by_warps, arrive_by_threads),
)
"""What may be chosen independently, the order in which it is done; None leaves it as it is."""
_OF_RUNS = frozenset({arrive_by_warps, arrive_by_threads})
"""Variations that look at what a run of the kernel shows."""
