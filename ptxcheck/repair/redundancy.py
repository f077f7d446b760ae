"""Synchronisation that a kernel may do without: what is left out or weakened, and what the proof does not cover.

Each kind proposes only where the machine looks at what the statement orders. It does not look at global memory, at the
total order of `fence.sc` and `membar`, at words that threads poll or change by atomics beside mbarriers, at fences for
other devices (`.sys`), at mbarriers that asynchronous work has to see initialised, and at scopes of asynchronous work
that another CTA of the cluster started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..explain.violations import whole_kernel
from ..ir import Immediate
from ..isa import requirement_problems, resolve
from ..isa.modifier import Mod
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from ..protocols.model.fences import is_proxy_fence
from ..protocols.proof.first.cluster_use import reaches_others
from ..protocols.symex.slice.accesses import is_strong
from ..protocols.symex.slice.polling import POLLS
from ..view import KernelView
from .edits import Edit
from .patch import Patch, Writer, combined
from .sites import points_of, sites_of, step_at

GLOBAL_MEMORY = (
    "no thread reads in global memory what another one of the same launch writes there: that is not checked"
)
COPIED_MEMORY = (
    "no bytes of global memory are accessed both by copies and by ordinary instructions of the same launch, where one "
    "of them writes: that is not checked"
)
ONLY_OVER = (
    "where the wait shows that reads are over, execution alone orders the writes behind it: PTX's memory model "
    "promises that order with an acquire only"
)

_GROUP_WAITS = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP})
_MOST_OPEN = 4
_IN_A_POLL_LOOP = frozenset({*POLLS, Op.BRA, Op.SETP, Op.NOT, Op.AND, Op.OR, Op.NANOSLEEP})
_MEMORY_FENCES = frozenset({Op.FENCE, Op.MEMBAR})
_OF_MAPS = frozenset({Op.TENSORMAP_REPLACE, Op.TENSORMAP_CP_FENCEPROXY})
_NOT_SHARED = (".global", ".local", ".const", ".param", ".param::entry", ".param::func")
_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC})
_WRITING = frozenset({Trait.STORE, Trait.ATOMIC, Trait.ASYNC})


@dataclass(frozen=True, slots=True)
class Weakening:
    """A change after which less is ordered."""

    patch: Patch
    assumption: str = ""
    """What has to be true besides the proof, "" for nothing."""


def weakenings(view: KernelView) -> Iterator[Weakening]:
    """Yield removals and weakenings of synchronising statements in the order of the text, a removal first.

    Only statements are changed that the run which shows most executes: of others no verdict says anything.
    """
    executed = _executed(view)
    writer = Writer(view)
    found = [
        each
        for kind in _KINDS
        for point in sites_of(view)
        if point in executed
        for each in kind(view, writer, point)
    ]
    yield from sorted(found, key=lambda each: each.patch.edits[0].start)


def _executed(view: KernelView) -> frozenset[int]:
    whole = view.get(whole_kernel)
    sample = None if whole is None else whole.result.sample
    strands = () if sample is None else sample.protocol.strands
    return frozenset(action.point for strand in strands for action in strand.actions)


_Kind = Callable[[KernelView, Writer, int], Iterator[Weakening]]


def _barriers(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out a barrier of the CTA or of a warp."""
    instruction = view.body.instructions[point]
    op = instruction.operation.op
    if op is Op.BAR_SYNC and instruction.get("threads") is not None and points_of(view, Op.BAR_ARRIVE):
        return  # an arrival would be left that nobody waits for
    if op in (Op.BAR_SYNC, Op.BAR_WARP_SYNC):
        yield _left_out(view, writer, point)


def _group_waits(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out a wait for groups, or let it leave more of them open.

    Those of `wgmma` stay: they guard its registers as well, and no property is about those.
    """
    instruction = view.body.instructions[point]
    op, number = instruction.operation.op, instruction.get("n")
    if op is Op.CP_ASYNC_WAIT_ALL or op in _GROUP_WAITS:
        yield _left_out(view, writer, point)
    if op in _GROUP_WAITS and isinstance(number, Immediate):
        for open_ in range(_MOST_OPEN, number.value, -1):
            edit = writer.with_operand(point, "n", Immediate(open_))
            summary = f"leave {open_} groups open instead of {number.value}"
            yield Weakening(_patch(summary, edit), _of_global_memory(view))


def _proxy_fences(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out a fence of the async proxy, but not the one that shows it initialised mbarriers."""
    operation = view.body.instructions[point].operation
    if not is_proxy_fence(operation) or operation.slots.get("kind") != ".async":
        return
    earlier = [p for p in sites_of(view) if p < point]
    last = view.body.instructions[earlier[-1]].operation.op if earlier else None
    if last in (Op.MBARRIER_INIT, Op.FENCE_MBARRIER_INIT):
        return
    patch = _left_out(view, writer, point).patch
    yield Weakening(patch, "" if operation.slots.get("space") else COPIED_MEMORY)


def _memory_fences(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out a fence of acquire and release, where nothing but mbarriers and barriers signals in shared memory."""
    operation = view.body.instructions[point].operation
    if operation.op not in _MEMORY_FENCES or operation.has(Mod.SYS) or _signals_by_words(view):
        return
    if not points_of(view, *_OF_MAPS):
        yield _left_out(view, writer, point)


def _init_fences(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out a fence of initialisations, where no asynchronous work has to see them."""
    if view.body.instructions[point].operation.op is Op.FENCE_MBARRIER_INIT and not _any(view, Trait.ASYNC):
        yield _left_out(view, writer, point)


def _cluster_barriers(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out an arrival at the cluster barrier with its wait, or let the CTA meet instead."""
    arrive = view.body.instructions[point]
    if arrive.operation.op is not Op.BARRIER_CLUSTER_ARRIVE or not _may_lose_cluster_barrier(view, point):
        return
    later = [p for p in points_of(view, Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT) if p > point]
    wait = view.body.instructions[later[0]] if later else arrive
    if wait.operation.op is not Op.BARRIER_CLUSTER_WAIT or (arrive.guard, wait.guard) != (None, None):
        return
    gone = writer.delete(point)
    shown = f"'{writer.statement(point)}' and '{writer.statement(later[0])}'"
    yield Weakening(_patch(f"leave out {shown}", gone, writer.delete(later[0])), _of_global_memory(view))
    aligned = all(Trait.ALIGNED in each.operation.traits for each in (arrive, wait))
    meeting = "bar.sync 0;" if aligned else "barrier.sync 0;"
    instead = writer.rewritten(later[0], meeting)
    yield Weakening(_patch(f"'{meeting}' instead of {shown}", gone, instead), _of_global_memory(view))


def _may_lose_cluster_barrier(view: KernelView, point: int) -> bool:
    """Tell whether it is known that nothing but what the machine sees relies on a cluster barrier.

    It does not see that a CTA has to run before others reach into it: where they do, an earlier wait has to show it.
    """
    size = view.launch.cluster_size
    if size is None or _any(view, Trait.TENSOR_MEMORY):
        return False
    if size == 1 or not reaches_others(view.cfg):
        return True
    return any(_comes_before(view, wait, point) for wait in points_of(view, Op.BARRIER_CLUSTER_WAIT))


def _comes_before(view: KernelView, first: int, then: int) -> bool:
    """Tell whether every thread that comes to a point has executed another one before."""
    if view.body.instructions[first].guard is not None:
        return False
    one, other = (view.cfg.graph.block_of[point] for point in (first, then))
    return first < then if one == other else view.cfg.dominators.dominates(one, other)


def _waits(view: KernelView, writer: Writer, point: int) -> Iterator[Weakening]:
    """Leave out the loop that polls an mbarrier; let a wait acquire nothing, or from its own CTA alone."""
    instruction = view.body.instructions[point]
    operation = instruction.operation
    if operation.op not in POLLS:
        return
    step = step_at(view, point)
    if _only_polls(view, step.first, step.last):
        edits = [writer.delete(p) for p in range(step.first, step.last + 1)]
        summary = f"leave out the wait '{writer.statement(point)}'"
        yield Weakening(_patch(summary, *edits), _of_global_memory(view))
    if operation.slots.get("sem") == Mod.RELAXED or _any(view, Trait.TENSOR_MEMORY):
        return
    scope = operation.slots.get("scope", Mod.CTA)
    forms = [(f"{Mod.RELAXED}{scope}", ONLY_OVER)]
    if scope == Mod.CLUSTER and not (_any(view, Trait.ASYNC) and reaches_others(view.cfg)):
        forms.append((f"{Mod.ACQUIRE}{Mod.CTA}", ""))
    for form, assumption in forms:
        opcode = _with_order(operation.text, form)
        if _is_legal(view, point, opcode):
            statement = writer.statement(point).replace(operation.text, opcode, 1)
            summary = f"'{opcode}' instead of '{operation.text}'"
            both = "; and ".join(filter(None, (_of_global_memory(view), assumption)))
            yield Weakening(_patch(summary, writer.rewritten(point, statement)), both)


def _only_polls(view: KernelView, first: int, last: int) -> bool:
    """Tell whether some points are a loop that does nothing but poll one mbarrier, and goes on behind its last one."""
    cfg, points = view.cfg, range(first, last + 1)
    blocks = {cfg.graph.block_of[point] for point in points}
    own = [view.body.instructions[point] for point in points]
    if last == first or any(each.operation.op not in _IN_A_POLL_LOOP for each in own):
        return False
    if sum(each.operation.op in POLLS for each in own) != 1 or {
        p for b in blocks for p in cfg.blocks[b].points
    } != set(points):
        return False
    leaving = {target for block in blocks for target in cfg.successors[block]} - blocks
    if any(not cfg.blocks[target].points or cfg.blocks[target].points[0] != last + 1 for target in leaving):
        return False
    made = {register for each in own for register in each.writes()}
    others = (each for point, each in enumerate(view.body.instructions) if point not in points)
    return bool(leaving) and not any(register in made for each in others for register in each.reads())


def _with_order(opcode: str, form: str) -> str:
    """Return the opcode of a wait with an order and a scope, which stand before the space and the type."""
    words = [word for word in opcode.split(".") if f".{word}" not in (Mod.ACQUIRE, Mod.CTA, Mod.CLUSTER)]
    at = next(place for place, word in enumerate(words) if word.startswith(("shared", "b64")))
    return ".".join([*words[:at], form.removeprefix("."), *words[at:]])


def _is_legal(view: KernelView, point: int, opcode: str) -> bool:
    operation = resolve(opcode, view.body.instructions[point].operands)
    module = view.module
    return not operation.problem and not any(requirement_problems(operation, module.version, module.target))


def _signals_by_words(view: KernelView) -> bool:
    """Tell whether threads may signal by words of shared memory: by atomics, or accesses that see each other."""
    for each in view.body.instructions:
        operation = each.operation
        if not operation.traits & _ACCESSING or Trait.MBARRIER in operation.traits:
            continue
        elsewhere = str(operation.slots.get("space", "")) in _NOT_SHARED
        if not elsewhere and (Trait.ATOMIC in operation.traits or is_strong(operation)):
            return True
    return False


def _of_global_memory(view: KernelView) -> str:
    """Return what ordinary global memory may hide: what orders threads orders it too, and it is not looked at."""
    return GLOBAL_MEMORY if _any(view, *_WRITING) else ""


def _any(view: KernelView, *traits: Trait) -> bool:
    return any(not each.operation.traits.isdisjoint(traits) for each in view.body.instructions)


def _left_out(view: KernelView, writer: Writer, point: int) -> Weakening:
    patch = _patch(f"leave out '{writer.statement(point)}'", writer.delete(point))
    return Weakening(patch, _of_global_memory(view))


def _patch(summary: str, *edits: Edit) -> Patch:
    return combined("optimise", summary, 0, edits)


_KINDS: tuple[_Kind, ...] = (
    _barriers,
    _group_waits,
    _proxy_fences,
    _memory_fences,
    _init_fences,
    _cluster_barriers,
    _waits,
)
