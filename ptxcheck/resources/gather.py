"""Gather the placement table of one kernel from its analyses.

Operations are counted for the CTA: `wgmma` for each warpgroup that is known to execute it (one where that is not
known), `tcgen05.mma` once. Bytes are those that one round of the main loop reads from shared memory through
descriptors with different starts, and those that `expect_tx` announces in one round of the loop around it.

Data sheets: H100 SXM and H200 (NVIDIA, 2022 and 2024), B200 (NVIDIA Blackwell architecture brief, 2024).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..cfg import Loop
from ..descriptors.matrix import instruction as words
from ..descriptors.matrix.instruction import Kind
from ..ir import Variable
from ..isa.modifier import Mod
from ..opcodes.op import Op
from ..protocols.typestate.bank_conflicts import find_conflicts
from ..protocols.typestate.barriers import BARRIER_BYTES, find_barriers
from ..protocols.typestate.matrix_operands import (
    TCGEN05,
    WGMMA,
    InstructionWord,
    MatrixOperand,
)
from ..protocols.typestate.matrix_tiles import MatrixTiles
from ..protocols.typestate.register_count import RegisterCount, most_registers
from ..protocols.typestate.shared_access import access_bytes, find_shared_accesses
from ..protocols.typestate.tensor_memory import TensorMemory
from .occupancy import occupancy
from .table import (
    Balance,
    BankConflict,
    MainLoop,
    Registers,
    Resources,
    SharedUse,
    TensorAllocation,
)

if TYPE_CHECKING:
    from ..view import KernelView

_HOPPER = (Balance("H100 SXM", 989e12, 3.35e12), Balance("H200", 989e12, 4.8e12))
_BLACKWELL = (Balance("B200", 2250e12, 8.0e12),)
_RATES: Mapping[str, float] = {
    ".f16": 1, ".bf16": 1, ".tf32": 0.5, ".e4m3": 2, ".e5m2": 2, ".s8": 2, ".u8": 2,
}  # fmt: skip
_KIND_RATES: Mapping[Kind, float] = {
    Kind.F16: 1, Kind.TF32: 0.5, Kind.F8F6F4: 2, Kind.I8: 2, Kind.MXF8F6F4: 2, Kind.MXF4: 4, Kind.MXF4NVF4: 4,
}  # fmt: skip
_STAGE = 512
"""Least bytes between two stages of a buffer: smaller steps are rows and columns of a tile."""
_WARPGROUP = 128
_WORD = re.compile(r"[\w$%.]+")
_BARRIERS = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
_ALL_BARRIERS = 16
_LOADS = frozenset({Op.LD, Op.LD_NC})


def gather(view: KernelView) -> Resources:
    """Return what the table shows of a kernel."""
    variables = [
        variable
        for variable in (*view.body.variables, *view.module.variables.values())
        if variable.space == ".shared"
    ]
    named = {use.variable for use in _shared(view)}
    mine = [v for v in variables if v.name in named or v in view.body.variables]
    target = view.module.target
    machines = _HOPPER if target is not None and target.arch == 90 else _BLACKWELL
    matrix = target is not None and target.arch in (90, 100, 103)
    shared_bytes = sum(v.size or 0 for v in mine if ".extern" not in v.linkage)
    threads = view.launch.threads or view.launch.max_threads or 0
    barriers = _named_barriers(view)
    return Resources(
        kernel=view.function.name,
        shared=tuple(_shared(view)),
        shared_bytes=shared_bytes,
        barriers=barriers,
        is_dynamic=any(v.is_sized_elsewhere for v in (*mine, *_named(view, variables))),
        tensor=tuple(_tensor(view)),
        registers=tuple(_registers(view)),
        loop=_main_loop(view),
        machines=machines if matrix else (),
        occupancy=None if target is None else occupancy(target.arch, threads, shared_bytes, None, barriers),
        conflicts=tuple(
            BankConflict(each.point, each.wavefronts, each.needed) for each in view.get(find_conflicts)
        ),
    )


# ---- shared memory


def _shared(view: KernelView) -> list[SharedUse]:
    found = dict.fromkeys([*_barriers(view), *_tiles(view), *_copies(view)])
    known = {(use.variable, use.offset): use for use in found if use.offset is not None}
    uses = [use for use in found if use.offset is None or known[use.variable, use.offset] is use]
    return sorted(uses, key=lambda use: (use.variable, use.offset is None, use.offset or 0, use.what))


def _barriers(view: KernelView) -> Iterator[SharedUse]:
    by_variable: dict[str, list[int]] = {}
    for place in view.get(find_barriers).objects:
        if place.at is not None:
            by_variable.setdefault(place.variable.name, []).append(place.at)
    for variable, offsets in by_variable.items():
        for run in _runs(sorted(offsets)):
            yield SharedUse(variable, run[0], BARRIER_BYTES, None, "mbarrier", len(run))


def _runs(offsets: list[int]) -> Iterator[list[int]]:
    """Yield offsets in groups with gaps of 16 bytes at most."""
    run: list[int] = []
    for offset in offsets:
        if run and offset - run[-1] > 2 * BARRIER_BYTES:
            yield run
            run = []
        run.append(offset)
    if run:
        yield run


def _tiles(view: KernelView) -> Iterator[SharedUse]:
    groups: dict[tuple[str, str, int | None, int | None], list[int]] = {}
    for operand in view.get(MatrixTiles).operands.all:
        start = operand.start
        if start is None or start.symbol is None:
            continue
        step = max((abs(f) for _, f in start.others if abs(f) >= _STAGE), default=None)
        key = (start.symbol.name, _title(operand), _tile_bytes(view, operand), step)
        groups.setdefault(key, []).append(start.offset)
    for (variable, what, size, step), offsets in groups.items():
        yield SharedUse(variable, min(offsets), size, step, what)


def _title(operand: MatrixOperand) -> str:
    mode = operand.mode
    return operand.title if mode is None else f"{operand.title}, {mode.value}"


def _tile_bytes(view: KernelView, operand: MatrixOperand) -> int | None:
    tile = view.get(MatrixTiles).tile(operand)
    return None if tile is None else tile.contiguous * tile.others


def _copies(view: KernelView) -> Iterator[SharedUse]:
    for access in view.get(find_shared_accesses):
        op = view.body.instructions[access.point].operation.op
        if op is not Op.CP_ASYNC_BULK_TENSOR or access.operand != "dst" or access.place is None:
            continue
        yield SharedUse(access.place.variable.name, access.place.at, None, None, "target of tensor copies")


# ---- tensor memory and registers


def _tensor(view: KernelView) -> Iterator[TensorAllocation]:
    for point in sorted(view.get(TensorMemory).allocations):
        columns = view.get(TensorMemory).columns(point)
        pair = view.body.instructions[point].operation.has(Mod.CTA_GROUP_2)
        yield TensorAllocation(point, columns.low, min(columns.high, 512), pair)


def _registers(view: KernelView) -> Iterator[Registers]:
    attributes = view.function.attributes
    if view.launch.max_threads is not None or ".maxnreg" in attributes:
        yield Registers(most_registers(attributes, view.launch.max_threads or 1), (), None)
    for point, count in sorted(view.get(RegisterCount).counts.items()):
        threads = view.facts.execution(point).threads
        known = threads is not None and view.launch.threads is not None
        yield Registers(count, threads.warps if known and threads is not None else (), point)


# ---- the main loop


def _main_loop(view: KernelView) -> MainLoop | None:
    points = [p for p, i in enumerate(view.body.instructions) if i.operation.op in WGMMA | TCGEN05]
    points = [p for p in points if not view.facts.never_runs(p)]
    loops: dict[int, tuple[Loop, list[int]]] = {}
    for point in points:
        loop = view.cfg.loop_of(point)
        if loop is not None:
            loops.setdefault(loop.header, (loop, []))[1].append(point)
    counted = [(loop, inside, _work(view, inside)) for loop, inside in loops.values()]
    known = [(loop, inside, work) for loop, inside, work in counted if work is not None]
    if not known:
        return None
    loop, inside, (flops, rate) = max(known, key=lambda one: (one[2][0], -one[1][0]))
    bytes_ = _operand_bytes(view, inside), _expected(view, loop), _loaded(view, loop)
    return MainLoop(inside[0], flops, rate, *bytes_)


def _work(view: KernelView, points: Iterable[int]) -> tuple[int, float] | None:
    """Return the operations of some multiplications and how fast their type is; None when one is not known."""
    words_by_point = {word.point: word for word in view.get(MatrixTiles).operands.instruction_words}
    total, rates = 0, [1.0]
    for point in points:
        instruction = view.body.instructions[point]
        if instruction.operation.op in WGMMA:
            shape = instruction.operation.slots.get("shape", "").removeprefix(".m64n")
            n, _, k = shape.partition("k")
            rate = _RATES.get(instruction.operation.slots.get("atype", ""))
            if not n.isdigit() or not k.isdigit() or rate is None:
                return None
            total += 2 * 64 * int(n) * int(k) * _warpgroups(view, point)
        else:
            flops = _flops(words_by_point.get(point))
            if flops is None:
                return None
            total, rate = total + flops, _KIND_RATES[words_by_point[point].shape.kind]
        rates.append(rate)
    return total, rates[-1]


def _flops(word: InstructionWord | None) -> int | None:
    """Return the operations of one `tcgen05.mma`, those of one CTA where it is a pair's."""
    if word is None or not {"m", "n"} <= set(word.fields) or any(words.broken(word.shape, word.fields)):
        return None
    bits = 4 if word.shape.kind.is_four_bit else {Kind.F16: 16, Kind.TF32: 32}.get(word.shape.kind, 8)
    k_bytes = 48 if word.fields.get("k_96") else word.shape.kind.k_bytes
    depth = k_bytes * 8 // bits * (2 if word.shape.sparse else 1)
    return 2 * word.fields["m"] * word.fields["n"] * depth // (2 if word.shape.pair else 1)


def _warpgroups(view: KernelView, point: int) -> int:
    """Return how many warpgroups surely execute a point; one where that depends on more than their index."""
    execution = view.facts.execution(point)
    if execution.threads is None or not execution.exact or view.launch.threads is None:
        return 1
    return max(len(execution.threads) // _WARPGROUP, 1)


def _named(view: KernelView, variables: Iterable[Variable]) -> Iterator[Variable]:
    """Yield the variables that instructions of the kernel name."""
    text = view.module.source.text
    names = {word for each in view.body.instructions for word in _WORD.findall(text[each.start : each.end])}
    return (variable for variable in variables if variable.name in names)


def _named_barriers(view: KernelView) -> int:
    """Return how many named barriers the kernel has, from number 0 on, as ptxas counts them."""
    count = 0
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op in _BARRIERS and not view.facts.never_runs(point):
            number = view.facts.constant(point, instruction.get("barrier"))
            count = max(count, _ALL_BARRIERS if number is None else number + 1)
    return count


def _loaded(view: KernelView, loop: Loop) -> int:
    """Return the bytes that threads load from global memory in one round, each by itself."""
    total = 0
    for point in (point for block in sorted(loop.blocks) for point in view.cfg.blocks[block].points):
        instruction = view.body.instructions[point]
        if instruction.operation.op in _LOADS and instruction.operation.slots.get("space") == ".global":
            threads = view.facts.execution(point).threads
            count = view.launch.threads or view.launch.max_threads or 0
            total += access_bytes(instruction) * (count if threads is None else len(threads))
    return total


def _operand_bytes(view: KernelView, points: Iterable[int]) -> int | None:
    """Return the bytes of the tiles with different starts that some multiplications read."""
    wanted = frozenset(points)
    seen: set[object] = set()
    total = 0
    for operand in view.get(MatrixTiles).operands.all:
        if operand.point not in wanted or operand.word.segments in seen:
            continue
        seen.add(operand.word.segments)
        size = _tile_bytes(view, operand)
        if size is None:
            return None
        total += size
    return total or None


def _expected(view: KernelView, main: Loop) -> int | None:
    """Return the bytes that mbarriers expect in one round: of the main loop, else of the loop that expects most."""
    by_loop: dict[int, int] = {}
    for point, instruction in enumerate(view.body.instructions):
        if "tx_count" not in instruction.operation.operand_index or view.facts.never_runs(point):
            continue
        loop, count = view.cfg.loop_of(point), view.facts.constant(point, instruction.get("tx_count"))
        if loop is None:
            continue
        if count is None:
            return None
        by_loop[loop.header] = by_loop.get(loop.header, 0) + count
    return by_loop.get(main.header) or max(by_loop.values(), default=None)
