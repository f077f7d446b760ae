"""Addresses of tensor memory: lane in the upper half, column in the lower.

Property: `tensor_address` gives an address only where it is a number, or a constant away from what
`tcgen05.alloc` wrote to a place in shared memory that nothing else writes before it is read. What an allocation
writes is in lane 0, and its columns are `columns` at most. `warp_addresses` gives those that depend on the warp, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...cfg import AtomKind, Linear, Uniformity
from ...cfg.linear import Atom
from ...ir import Immediate, Register, Vector
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .must_alias import ThreadOffsets
from .places import Place, Places
from .shared_access import find_shared_accesses
from .tensor_memory import TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

ALL_COLUMNS = 512
QUARTER = 32
"""Lanes that one warp of a warpgroup reaches (PTX ISA §9.7.17.8.1)."""
_QUARTERS = 4
_WIDTHS = {".32x32b": 1, ".16x64b": 2, ".16x128b": 4, ".16x256b": 8, ".16x32bx2": 1}
"""Columns of one repetition of each shape of a load or store."""
COPIED_COLUMNS = {".128x256b": 8, ".128x128b": 4, ".64x128b": 4, ".32x128b": 4, ".4x256b": 8}
"""Columns that each shape of a copy from shared memory fills."""
SHIFTED_COLUMNS = 8
"""Columns of the 32 bytes of each row that a shift moves (PTX ISA §9.7.17.9.3)."""
_WRITING = frozenset({Trait.STORE, Trait.ATOMIC, Trait.ASYNC})
_LANES = ("%laneid", "%tid.x")


@dataclass(frozen=True, slots=True)
class TensorAddress:
    """`lane` and `column`, counted from the start of an allocation, or absolute."""

    lane: int
    column: int
    columns: int
    is_absolute: bool
    slot: tuple[tuple[str, int], int] | None = None
    """Where the allocation's address was read from: variable and offset; None for absolute ones."""


def tensor_address(view: KernelView, point: int, operand: str = "taddr") -> TensorAddress | None:
    """Return the address that an operand of a point names, None when not known."""
    value = view.facts.value(point, view.body.instructions[point].get(operand))
    if value.constant is not None:
        return _split(value.constant, ALL_COLUMNS, True)
    if value.linear is None or len(value.linear.terms) != 1 or value.linear.constant < 0:
        return None
    allocation = _allocation(view, value.linear.terms[0])
    return None if allocation is None else allocation.behind(value.linear.constant)


def warp_addresses(view: KernelView, point: int) -> Iterator[tuple[int, TensorAddress]]:
    """Yield the warps that surely execute a load or store, with the address of each where it is known."""
    execution = view.facts.execution(point)
    if execution.threads is None or not execution.exact:
        return
    warps = execution.threads.warps if view.launch.threads is not None else execution.threads.warps[:1]
    one = tensor_address(view, point)
    if one is not None:
        yield from ((warp, one) for warp in warps)
        return
    form = view.facts.value(point, view.body.instructions[point].get("taddr")).linear
    found = None if form is None else _by_thread(view, form)
    if found is None:
        return
    allocation, offsets = found
    for warp in warps:
        own = set(offsets[32 * warp : 32 * warp + 32])
        if len(own) == 1 and min(own) >= 0:
            yield warp, allocation.behind(own.pop())


def foreign_lanes(view: KernelView, point: int) -> dict[int, list[int]]:
    """Return the warps that surely name lanes of another quarter in a load or store, by the first lane of that one."""
    found: dict[int, list[int]] = {}
    for warp, address in warp_addresses(view, point):
        quarter = address.lane // QUARTER
        if quarter != warp % _QUARTERS:
            found.setdefault(quarter * QUARTER, []).append(warp)
    return found


def _by_thread(view: KernelView, form: Linear) -> tuple[_Allocation, list[int]] | None:
    """Return the allocation that an address is in, and how far behind its start it is in each thread."""
    for term in form.terms:
        allocation = _allocation(view, term)
        if allocation is not None:
            offsets = view.get(ThreadOffsets).of_form(form.without(term[0]))
            return None if offsets is None else (allocation, [int(offset) for offset in offsets])
    return None


@dataclass(frozen=True, slots=True)
class _Allocation:
    """What an allocation wrote, as a thread read it."""

    columns: int
    slot: tuple[tuple[str, int], int]

    def behind(self, offset: int) -> TensorAddress:
        return _split(offset, self.columns, False, self.slot)


def _allocation(view: KernelView, term: tuple[Atom, int]) -> _Allocation | None:
    """Return the allocation whose address a term is; None when it is something else."""
    atom, factor = term
    if factor != 1 or atom.kind is not AtomKind.DEFINITION or atom.at < 0:
        return None
    place = _slot(view, atom.at)
    columns = None if place is None else _allocated(view, place, atom.at)
    if place is None or place.at is None or columns is None:
        return None
    return _Allocation(columns, (place.symbol, place.at))


def _split(
    address: int, columns: int, is_absolute: bool, slot: tuple[tuple[str, int], int] | None = None
) -> TensorAddress:
    return TensorAddress(address >> 16 & 0xFFFF, address & 0xFFFF, columns, is_absolute, slot)


def _slot(view: KernelView, load: int) -> Place | None:
    """Return the constant place that a point loads from, None when there is none."""
    instruction = view.body.instructions[load]
    if instruction.operation.op is not Op.LD or instruction.guard is not None:
        return None
    place = view.get(Places).of(load, instruction.get("a"))
    return None if place is None or place.at is None else place


def _allocated(view: KernelView, place: Place, load: int) -> int | None:
    """Return the most columns behind an address that a load finds at a place, None when it is no allocation's."""
    found: list[int] = []
    for point in view.get(TensorMemory).allocations:
        target = view.get(Places).of(point, view.body.instructions[point].get("dst"), ".shared")
        if target is not None and target.is_same(place):
            found.append(view.get(TensorMemory).columns(point).high)
    return None if not found or _is_written(view, place, load) else max(found)


def _is_written(view: KernelView, place: Place, load: int) -> bool:
    """Tell whether anything but an allocation may write to a place before a load."""
    for access in view.get(find_shared_accesses):
        operation = view.body.instructions[access.point].operation
        is_later = view.cfg.reaches(load, access.point) and not view.cfg.reaches(access.point, load)
        if is_later or not operation.traits & _WRITING:
            continue
        if access.place is not None and access.place.may_overlap(place, access.size, 4):
            return True
    return False


def width(view: KernelView, point: int) -> int:
    """Return how many columns from its address on a load or store reaches.

    Packed registers hold 16 bits of each of two columns. The second half of a split access has an offset of its own.
    """
    return _split_offset(view, point) + half_width(view, point)


def used_width(view: KernelView, point: int) -> int:
    """Return how many columns of a load or store count: of a load, up to the last register that is read, if one is.

    FlashInfer loads 32 columns where it uses 16, at the end of an allocation.
    """
    loaded = view.body.instructions[point].get("d")
    whole = half_width(view, point)
    if not isinstance(loaded, Vector):
        return width(view, point)
    readers = view.facts.uses(point)
    read = {register for reader in readers for register in view.body.instructions[reader].reads()}
    count = len(loaded.elements)
    last = max((index for index, each in enumerate(loaded.elements) if each in read), default=count - 1)
    return _split_offset(view, point) + -(-whole * (last + 1) // count)


def half_width(view: KernelView, point: int) -> int:
    """Return how many columns one half of a split access touches, and any other access."""
    operation = view.body.instructions[point].operation
    repeated = operation.slots.get("num", ".x1").removeprefix(".x")
    packed = 2 if operation.has(Mod.PACK_16B) or operation.has(Mod.UNPACK_16B) else 1
    return _WIDTHS.get(operation.slots.get("shape", ""), 1) * int(repeated) * packed


def _split_offset(view: KernelView, point: int) -> int:
    """Return how many columns behind the first half the second one starts."""
    offset = view.body.instructions[point].get("half_split")
    return max(offset.value, 0) if isinstance(offset, Immediate) else 0


def differs_in_warp(view: KernelView, point: int) -> bool:
    """Tell whether the lanes of a warp surely access different addresses."""
    value = view.facts.value(point, view.body.instructions[point].get("taddr"))
    if value.linear is None or (view.launch.block is not None and view.launch.block[0] == 1):
        return False
    own = [(atom, factor) for atom, factor in value.linear.terms if _is_lane(atom)]
    others = [atom for atom, _ in value.linear.terms if not _is_lane(atom)]
    if len(own) != 1 or own[0][1] % (1 << value.width) == 0:
        return False
    return all(_is_uniform(view, atom) for atom in others)


def _is_lane(atom: Atom) -> bool:
    return atom.kind is AtomKind.SPECIAL and atom.name in _LANES


def _is_uniform(view: KernelView, atom: Atom) -> bool:
    if atom.kind in (AtomKind.PARAMETER, AtomKind.ADDRESS):
        return True
    if atom.kind is not AtomKind.DEFINITION or atom.at < 0:
        return False
    after = atom.at + 1
    block_of = view.cfg.graph.block_of
    if after >= len(block_of) or block_of[after] != block_of[atom.at]:
        return False
    return view.facts.uniform(after, Register(atom.name, atom.scope)) <= Uniformity.WARP


__all__ = [
    "COPIED_COLUMNS", "QUARTER", "SHIFTED_COLUMNS", "TensorAddress", "differs_in_warp", "foreign_lanes", "half_width",
    "tensor_address", "used_width", "warp_addresses", "width",
]  # fmt: skip
