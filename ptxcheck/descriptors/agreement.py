"""Whether a tensor map fits the instructions that use it: what a kernel's code demands of its maps.

The map is the host's, as described to ptxcheck, or one that the kernel makes. Property: a `Disagreement` holds in
every run that gets to its point with that map.

Sources: PTX ISA §9.7.9.26.5.2 (tensor copies), 5.5.3 to 5.5.7 (modes, swizzles), 9.7.16.5.1 (matrix descriptors);
CUDA programming guide, alignment of shared memory for tensor copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..ir import Address, Instruction
from ..isa.modifier import Mod
from ..opcodes.op import Op
from ..protocols.typestate.async_bytes import AsyncBytes
from ..protocols.typestate.barriers import find_barriers
from ..protocols.typestate.places import Place, Places
from .facts import facts
from .fields import Kind, Swizzle, WideMode
from .matrix.swizzle_mode import TENSOR_MAP
from .swizzle import alignment
from .tensor_map import Im2colWideMap, TensorMap, TiledMap

if TYPE_CHECKING:
    from ..protocols.typestate.matrix_operands import MatrixOperand
    from ..view import KernelView


class Topic(Enum):
    """What a map and a kernel disagree about."""

    RANK = "rank"
    MODE = "mode"
    PLACE = "place"
    """Alignment of the box in shared memory."""
    BYTES = "bytes"
    ROOM = "room"
    """Shared memory that the box fills."""
    SWIZZLE = "swizzle"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What is wrong at a point, and another point that it is about (-1: none)."""

    topic: Topic
    point: int
    text: str
    other: int = -1


@dataclass(frozen=True, slots=True)
class Binding:
    """One copy and the tensor map that it reads."""

    point: int
    tensor_map: TensorMap
    whose: str
    """How to name the map in a message."""


_TILED_MODES = frozenset({"", Mod.TILE, Mod.TILE_GATHER4, Mod.TILE_SCATTER4})
_IM2COL_MODES = frozenset({Mod.IM2COL, Mod.IM2COL_NO_OFFS})
_WIDE_MODES: Mapping[str, WideMode] = {Mod.IM2COL_W: WideMode.W, Mod.IM2COL_W_128: WideMode.W128}
_ROWS = frozenset({Mod.TILE_GATHER4, Mod.TILE_SCATTER4})
_ROWS_OF_A_GATHER = 4


def disagreements(view: KernelView, binding: Binding) -> Iterator[Disagreement]:
    """Yield what one copy demands of its map and does not get."""
    instruction = view.cfg.instructions[binding.point]
    for check in (_rank, _mode, _place, _room):
        yield from check(view, instruction, binding)


# ---- rank and mode


def _rank(view: KernelView, instruction: Instruction, binding: Binding) -> Iterator[Disagreement]:
    slots = instruction.operation.slots
    wanted = int(slots.get("dim", ".0d")[1:-1])
    rank = binding.tensor_map.rank
    if wanted != rank:
        text = f"the copy gives {wanted} coordinates, {binding.whose} has rank {rank}"
        yield Disagreement(Topic.RANK, binding.point, text)


def _mode(view: KernelView, instruction: Instruction, binding: Binding) -> Iterator[Disagreement]:
    mode = instruction.operation.slots.get("mode", "")
    tensor_map = binding.tensor_map
    name = mode.removeprefix(".") or "tile"
    fits = {
        Kind.TILED: mode in _TILED_MODES,
        Kind.IM2COL: mode in _IM2COL_MODES,
        Kind.IM2COL_WIDE: mode in _WIDE_MODES,
    }[tensor_map.kind]
    if not fits:
        text = f"the copy reads in mode {name}, {binding.whose} is {tensor_map.kind.value}"
        yield Disagreement(Topic.MODE, binding.point, text)
        return
    if isinstance(tensor_map, Im2colWideMap) and _WIDE_MODES[mode] != tensor_map.mode:
        text = f"the copy reads in mode {name}, {binding.whose} is for {WideMode(tensor_map.mode).name}"
        yield Disagreement(Topic.MODE, binding.point, text)
    if mode in _ROWS and isinstance(tensor_map, TiledMap):
        yield from _rows(binding, tensor_map, name)


def _rows(binding: Binding, tensor_map: TiledMap, name: str) -> Iterator[Disagreement]:
    rows = tensor_map.box_dim[1] if tensor_map.rank > 1 else 1
    if rows != 1:
        text = f"mode {name} moves single rows, the box of {binding.whose} has {rows}"
        yield Disagreement(Topic.MODE, binding.point, text)
    if tensor_map.interleave:
        yield Disagreement(
            Topic.MODE, binding.point, f"mode {name} takes no interleave, {binding.whose} has one"
        )


# ---- shared memory


def _box_operand(instruction: Instruction) -> tuple[Address, str] | None:
    for name in ("dst", "src"):
        space = instruction.operation.slots.get(f"{name}_space", "")
        operand = instruction.get(name)
        if space.startswith(Mod.SHARED) and isinstance(operand, Address):
            return operand, space
    return None


def _place(view: KernelView, instruction: Instruction, binding: Binding) -> Iterator[Disagreement]:
    """Yield a box that does not start where the pattern of its swizzle does."""
    found = _box_operand(instruction)
    repeat = alignment(binding.tensor_map.swizzle)
    if found is None or binding.tensor_map.swizzle == Swizzle.SWIZZLE_NONE:
        return
    if view.facts.is_multiple(binding.point, found[0], repeat) is not False:
        return
    size = _filled(instruction, binding.tensor_map)
    if size is None or size < repeat:
        return
    name = Swizzle(binding.tensor_map.swizzle).name.removeprefix("SWIZZLE_")
    text = (
        f"the box does not start at a multiple of {repeat} bytes, where the pattern of the {name} swizzle of "
        f"{binding.whose} starts"
    )
    yield Disagreement(Topic.PLACE, binding.point, text)


def _filled(instruction: Instruction, tensor_map: TensorMap) -> int | None:
    """Return the bytes of shared memory that one copy fills."""
    size = facts(tensor_map).shared_bytes
    rows = _ROWS_OF_A_GATHER if instruction.operation.slots.get("mode", "") in _ROWS else 1
    return None if size is None else rows * size


def box_bytes(instruction: Instruction, tensor_map: TensorMap) -> int | None:
    """Return the bytes that one copy brings; None where the map alone does not say."""
    size = facts(tensor_map).expect_tx_bytes
    rows = _ROWS_OF_A_GATHER if instruction.operation.slots.get("mode", "") in _ROWS else 1
    return None if size is None else rows * size


def _room(view: KernelView, instruction: Instruction, binding: Binding) -> Iterator[Disagreement]:
    found = _box_operand(instruction)
    size = _filled(instruction, binding.tensor_map)
    place = None if found is None else view.get(Places).of(binding.point, *found)
    if place is None or size is None or place.size is None:
        return
    low = place.span[0]
    if low + size > place.size:
        text = (
            f"the box of {binding.whose} fills {size} bytes of shared memory, '{place.variable.name}' has "
            f"{place.size - low} from there"
        )
        yield Disagreement(Topic.ROOM, binding.point, text)


# ---- several copies together


def between(view: KernelView, bindings: Mapping[int, Binding]) -> Iterator[Disagreement]:
    """Yield what the copies of a kernel and its other instructions disagree about."""
    yield from _expected(view, bindings)
    yield from _overlapping(view, bindings)
    yield from _read_otherwise(view, bindings)


def _expected(view: KernelView, bindings: Mapping[int, Binding]) -> Iterator[Disagreement]:
    """Yield barriers in straight-line code that expect other bytes than the copies behind them bring."""
    if any(_multicasts(instruction) for instruction in view.cfg.instructions):
        return
    block_of = view.cfg.graph.block_of
    for op in view.get(find_barriers).uses:
        instruction = view.cfg.instructions[op.point]
        expected = view.facts.constant(op.point, instruction.get("tx_count"))
        if expected is None or op.place is None or op.place.at is None:
            continue
        copies = _copies_to(view, op.place)
        if not copies or any(p not in bindings or block_of[p] != block_of[op.point] for p in copies):
            continue
        if not _alone(view, op.point, op.place) or not _one_thread_executes_all(view, [op.point, *copies]):
            continue
        sizes = [box_bytes(view.cfg.instructions[p], bindings[p].tensor_map) for p in copies]
        total = sum(size for size in sizes if size is not None)
        if None not in sizes and total != expected:
            text = f"the barrier expects {expected} bytes, the boxes of its copies are {total}"
            yield Disagreement(Topic.BYTES, op.point, text, copies[0])


def _multicasts(instruction: Instruction) -> bool:
    operation = instruction.operation
    several = (Mod.MULTICAST_CLUSTER, Mod.MULTICAST_CLUSTER_32B, Mod.MULTICAST_CLUSTER_ALL)
    return any(operation.has(each) for each in several)


def _one_thread_executes_all(view: KernelView, points: list[int]) -> bool:
    """Tell whether one thread executes all points whenever it executes one: no guard, or one and the same."""
    guards = {view.cfg.instructions[p].guard for p in points}
    if len(guards) != 1:
        return False
    guard = guards.pop()
    if guard is None:
        return all(view.facts.execution(p).single_thread for p in points)
    names = {view.facts.name(p, guard.register) for p in points}
    return len(names) == 1 and all(view.facts.execution(p).single_thread for p in points)


def _copies_to(view: KernelView, place: Place) -> list[int]:
    """Return the asynchronous copies that may complete on a barrier."""
    found = []
    for point, instruction in enumerate(view.cfg.instructions):
        operand = instruction.get("mbar")
        if operand is None or "completion" not in instruction.operation.slots or view.facts.never_runs(point):
            continue
        mine = view.get(Places).of(point, operand)
        if mine is None or mine.may_overlap(place):
            found.append(point)
    return found


def _alone(view: KernelView, point: int, place: Place) -> bool:
    """Tell whether no other instruction can make the barrier expect bytes, nor complete them."""
    return not any(
        other.point != point
        and (view.cfg.instructions[other.point].get("tx_count") is not None)
        and (other.place is None or other.place.may_overlap(place))
        for other in view.get(find_barriers).uses
    )


def _overlapping(view: KernelView, bindings: Mapping[int, Binding]) -> Iterator[Disagreement]:
    """Yield loads that straight-line code begins together into places that share bytes."""
    block_of = view.cfg.graph.block_of
    last: dict[int, list[tuple[int, Place, int]]] = {}
    for point in sorted(bindings):
        instruction = view.cfg.instructions[point]
        found = _box_operand(instruction)
        size = _filled(instruction, bindings[point].tensor_map)
        if found is None or size is None or "completion" not in instruction.operation.slots:
            continue
        place = view.get(Places).of(point, *found)
        if place is None or place.at is None:
            continue
        for other, before, filled in last.get(block_of[point], []):
            assert before.at is not None
            apart = place.at - before.at
            same = place.symbol == before.symbol and -size < apart < filled
            if same and _same_barrier(view, other, point):
                text = (
                    f"the box of {bindings[other].whose} fills {filled} bytes, the next copy to the same barrier "
                    f"starts {apart} bytes behind it"
                )
                yield Disagreement(Topic.ROOM, point, text, other)
        last.setdefault(block_of[point], []).append((point, place, size))


def _same_barrier(view: KernelView, a: int, b: int) -> bool:
    if not _one_thread_executes_all(view, [a, b]):
        return False
    one = view.get(Places).of(a, view.cfg.instructions[a].get("mbar"))
    two = view.get(Places).of(b, view.cfg.instructions[b].get("mbar"))
    return one is not None and two is not None and one.is_same(two)


def _read_otherwise(view: KernelView, bindings: Mapping[int, Binding]) -> Iterator[Disagreement]:
    """Yield matrix operands whose swizzle is not that of the map that filled the tile."""
    from ..protocols.typestate.matrix_operands import MatrixOperands

    filled = list(_filled_places(view, bindings))
    if not filled:
        return
    for operand in MatrixOperands(view).all:
        found = _of_tile(operand, filled)
        mode = operand.mode
        if mode is None or not found or _is_rewritten(view, operand):
            continue
        wanted = TENSOR_MAP[mode]
        if all(bindings[point].tensor_map.swizzle != wanted for point in found):
            binding = bindings[found[0]]
            name = Swizzle(binding.tensor_map.swizzle).name.removeprefix("SWIZZLE_")
            text = (
                f"{operand.name} reads with {mode.value}, {binding.whose} wrote the tile with swizzle {name}"
            )
            yield Disagreement(Topic.SWIZZLE, operand.point, text, found[0])


def _is_rewritten(view: KernelView, operand: MatrixOperand) -> bool:
    """Tell whether ordinary stores may put the tile into another layout."""
    start = operand.start
    return start is None or any(
        write.place is None
        or (
            write.place.variable.name == getattr(start.symbol, "name", "")
            and write.place.span[1] >= start.offset
        )
        for write in view.get(AsyncBytes).shared_writes
        if view.cfg.instructions[write.point].operation.op is not Op.TENSORMAP_REPLACE
    )


def _filled_places(view: KernelView, bindings: Mapping[int, Binding]) -> Iterator[tuple[int, Place, int]]:
    """Yield the loads with the places that they fill."""
    for point, instruction in enumerate(view.cfg.instructions):
        if "completion" not in instruction.operation.slots or point not in bindings:
            continue
        found = _box_operand(instruction)
        size = _filled(instruction, bindings[point].tensor_map)
        place = None if found is None else view.get(Places).of(point, *found)
        if place is not None and size is not None:
            yield point, place, size


def _of_tile(operand: MatrixOperand, filled: list[tuple[int, Place, int]]) -> list[int]:
    """Return the loads that fill the tile that an operand starts in."""
    start = operand.start
    if start is None or start.symbol is None or not start.is_known:
        return []
    return [
        point
        for point, place, size in filled
        if place.variable.name == start.symbol.name
        and place.at is not None
        and place.at <= start.offset < place.at + size
    ]


__all__ = ["Binding", "Disagreement", "Topic", "between", "box_bytes", "disagreements"]
