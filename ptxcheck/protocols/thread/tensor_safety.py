"""Whether tensor memory is allocated and freed once, and accessed inside what is allocated (PTX ISA 9.7.17).

Property: allocations are `proved` when in every run each of them has a legal number of columns, is made once, by one
warp, before the permit is given up, none larger than one before it, and all of them fit together; and is freed once,
from its start, with its size: on every way to the end of the kernel of the warp that made it, or by another warp in the
same runs.

Accesses are `proved` when in every run loads, stores, accumulators and copies lie in the columns of their allocation,
and so do other operands in tensor memory, in none of the columns of D; loads and stores name the lanes of their warp,
and one address in the whole warp. The other operands of a multiplication whose D is not known start in the allocation.

`violated` rests on what the analyses of one thread show. Not asked: the order of accesses, allocations and
deallocations of several warps, which slot safety is about, and the columns of CTAs that run together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from ...cfg import Edge, EdgeKind, Name, ThreadSet, Uniformity
from ...cfg.definitions import ENTRY
from ...descriptors.matrix.accumulator import accumulator
from ...descriptors.matrix.operand_columns import BESIDE_D, operand_columns
from ...ir import Register
from ...isa.modifier import Mod
from ...op import Op
from ...spec import Trait
from ...verdict import Property, Reason, Verdict, VerdictKind
from .descriptor_fields import host_descriptor
from .divergence import controlling
from .judgement import Judgement, verdict_of
from .largest_block import Launched
from .matrix_operands import TCGEN05
from .register_flow import unknown_calls
from .same_numbers import SameNumbers
from .same_rounds import SameRounds, Trip
from .tensor_address import COPIED_COLUMNS, SHIFTED_COLUMNS, tensor_address, used_width, warp_addresses
from .tensor_bounds import SLOT, Bounded, Extent, TensorBounds
from .tensor_memory import ALLOCATION, COLUMNS, LEGAL_COLUMNS, LOADS, TENSOR_MEMORY, Pair

if TYPE_CHECKING:
    from ...view import KernelView

_MOVES = LOADS | {Op.TCGEN05_ST}
_QUARTERS = 4
_QUARTER = 32
_QUARTER_STARTS, _ANY_LANE = 0b1100000, 0b1111111
"""Bits that a lane may have."""
_FOUR_ROWS = ".4x256b"
_COPYING = frozenset({Op.TCGEN05_CP, Op.TCGEN05_SHIFT})
_WHOLE_QUARTER = ".32x32b"
_HALF_QUARTER = 16
_SYSTEM_CALLS = frozenset({"vprintf", "malloc", "free", "__assertfail"})
"""What every program may call without a body for it (PTX interoperability guide, "System Calls")."""
_MOST_QUESTIONS = 6
"""Predicates whose answers are combined."""
_FREED = "whether every way to the end of the kernel frees what is allocated here is not known"
_ORDINARY_LOADS = frozenset({Op.LD, Op.LDU, Op.LD_NC})
_OF_LAUNCH = frozenset({".param", ".const"})
"""Spaces whose contents are the same during a launch."""
_OWN_QUARTER = (
    "a warp that names a lane of the first quarter reaches its own one, as released kernels rely on"
)


def tensor_allocation_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on allocations of tensor memory; None for a kernel that uses none."""
    return _verdict(Property.TENSOR_MEMORY_ALLOCATION, launched, _Lives, _flaws_of_allocations)


def tensor_access_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on columns and lanes of accesses; None for a kernel that accesses no tensor memory."""
    return _verdict(Property.TENSOR_MEMORY_ACCESS, launched, _Accesses, _flaws_of_accesses)


def _verdict(
    which: Property,
    launched: Launched,
    judge: type[_Lives | _Accesses],
    flaws_of: Callable[[KernelView], Iterator[Reason]],
) -> Verdict | None:
    view = launched.view
    if not any(i.operation.op in TENSOR_MEMORY for i in view.body.instructions):
        return None
    found = verdict_of(which, _judgements(launched, judge))
    if found.kind is not VerdictKind.UNKNOWN:
        return found
    flaws = tuple(dict.fromkeys(flaws_of(view)))
    return Verdict(which, VerdictKind.VIOLATED, flaws) if flaws else found


def _judgements(launched: Launched, judge: type[_Lives | _Accesses]) -> Iterator[Judgement]:
    view = launched.view
    for call in sorted(unknown_calls(view)):
        if view.facts.calls[call].callee not in _SYSTEM_CALLS:
            yield _unknown("what this call does to tensor memory is not known", call)
    if not view.function.is_entry:
        yield _unknown("what calls this function is not known", -1)
    if not view.tensor_memory.allocations:
        yield _unknown("nothing is allocated", min(view.tensor_memory.of(TENSOR_MEMORY), default=-1))
        return
    found: tuple[Judgement, ...] = ()
    for under, taken in launched.each():
        found = tuple(judge(under, taken is None).judgements())
        if taken is not None:
            found = (*found, (VerdictKind.ASSUMES, taken))
        if not any(kind is VerdictKind.UNKNOWN for kind, _ in found):
            break
    yield from found


class _Lives:
    """Allocations, from their making to their end."""

    def __init__(self, view: KernelView, is_block_known: bool) -> None:
        self._view = view
        self._memory = view.tensor_memory
        self._bounds = TensorBounds(view)
        self._numbers = SameNumbers(view)
        self._rounds = SameRounds(view)

    def judgements(self) -> Iterator[Judgement]:
        allocations = sorted(self._memory.allocations)
        for point in allocations:
            yield from self._made(point)
            yield from self._freed(point)
        yield from self._together(allocations)
        yield from self._permits(allocations)
        mixed = self._view.tensor_memory_use.mixed_groups()
        if mixed is not None:
            yield _unknown("instructions are of one CTA here, and of pairs elsewhere", mixed[1])

    def _made(self, point: int) -> Iterator[Judgement]:
        columns = self._memory.columns(point).constant
        if columns not in LEGAL_COLUMNS:
            yield _unknown("the number of columns that are allocated is not known to be legal", point)
        if self._comes_back(point):
            yield _unknown("how often a loop allocates is not followed", point)
        if self._warp(point) is None:
            yield _unknown(f"whether one warp alone allocates is not known{self._of_block}", point)
        if self._view.body.instructions[point].operation.has(Mod.CTA_GROUP_2):
            yield from self._of_pair(point)

    def _of_pair(self, point: int) -> Iterator[Judgement]:
        size = self._view.launch.cluster_size
        if size is None:
            yield VerdictKind.ASSUMES, Reason("clusters have an even number of CTAs", point)
        elif size % 2:
            yield _unknown(f"a cluster of {size} CTAs has a CTA with no peer", point)
        for block, _ in controlling(self._view.cfg, self._view.cfg.graph.block_of[point]):
            last = self._view.cfg.blocks[block].last
            guard = self._view.body.instructions[last].guard
            if guard is None or self._holding(last, guard.register) is not None:
                continue
            if self._view.facts.uniform(last, guard.register) > Uniformity.CLUSTER:
                yield (
                    VerdictKind.ASSUMES,
                    Reason("both CTAs of a pair go the same way here, to allocate", last),
                )

    def _freed(self, point: int) -> Iterator[Judgement]:
        """Yield why an allocation may live longer than its kernel, or be freed amiss."""
        columns, warp = self._memory.columns(point).constant, self._warp(point)
        slot = self._bounds.slot_of(point)
        frees = []
        for free in sorted(self._memory.deallocations):
            threads = self._view.facts.execution(free).threads
            if threads is not None and not len(threads):
                continue
            found = self._bounds.allocation_of(free)
            if found is None:
                yield _unknown("which allocation is freed here is not followed", free)
                return
            if found.slot not in (None, slot):
                continue
            if self._memory.columns(free).constant != found.columns or found.columns != columns:
                yield _unknown("whether as many columns are freed as were allocated is not known", free)
                return
            if not found.is_sure:
                yield VerdictKind.ASSUMES, Reason(SLOT, point)
            if self._warp(free) is None:
                yield _unknown(f"whether one warp alone frees is not known{self._of_block}", free)
            if self._comes_back(free):
                yield _unknown("how often a loop frees is not followed", free)
            frees.append(free)
        if len(self._memory.allocations) > 1 and len(frees) > 1:
            yield _unknown("which of several allocations is freed here is not followed", frees[0])
        elif not frees:
            yield _unknown(_FREED, point)
        elif warp is not None:
            yield from self._freed_once(point, warp, frees)

    def _freed_once(self, point: int, warp: ThreadSet, frees: list[int]) -> Iterator[Judgement]:
        slot = self._bounds.slot_of(point)
        same = [
            p for p in self._memory.allocations if slot is None or self._bounds.slot_of(p) in (None, slot)
        ]
        own = [free for free in frees if self._runs_for(free, warp)]
        for other in same:
            if other != point and self._may_reach(point, warp, other, {}, own):
                yield _unknown("whether this is freed before the next allocation is not known", other)
        made = [p for p in same if self._runs_for(p, warp)]
        if any(self._may_reach(None, warp, free, {}, made) for free in own) or not self._is_freed_by(
            point, warp, own
        ):
            yield from self._freed_by_another(point, warp, frees)

    def _comes_back(self, point: int) -> bool:
        """Tell whether a thread may execute a point more than once."""
        if not self._view.cfg.reaches(point, point) and self._view.cfg.loop_of(point) is None:
            return False
        warp = self._warp(point)
        return warp is None or (
            self._may_reach(point, warp, point, {}) and not self._rounds.once(Trip(point, warp))
        )

    def _is_freed_by(self, point: int, warp: ThreadSet, own: list[int]) -> bool:
        """Tell whether a warp that allocates frees once, on all its ways to the end."""
        if not own or self._may_end(point, warp, own, {}):
            return False
        return not any(self._may_reach(one, warp, other, {}) for one in own for other in own)

    def _freed_by_another(self, point: int, warp: ThreadSet, frees: list[int]) -> Iterator[Judgement]:
        """Yield why another warp may not free in the same runs; what it rests on that it does."""
        other = self._warp(frees[0]) if len(frees) == 1 else None
        common = self._common_branches((point, *frees))
        found: frozenset[int] | None = None
        if other is not None and self._runs_for(frees[0], other) and self._runs_for(point, warp):
            made, freed = Trip(point, warp), Trip(frees[0], other)
            if all(self._goes_along(made, freed, ways) for ways in self._ways(common)):
                found = frozenset()
            else:
                found = self._rounds.together(made, freed, self._ways(common))
        if found is None:
            yield _unknown(_FREED, point)
            return
        lasts = (
            self._view.cfg.blocks[block].last for block in common if not self._is_common(block, _OF_LAUNCH)
        )
        for last in sorted({*lasts, *found}):
            text = "all warps of a CTA find the same in global memory, for this branch"
            yield VerdictKind.ASSUMES, Reason(text, last)

    def _goes_along(self, made: Trip, freed: Trip, ways: Mapping[int, int]) -> bool:
        """Tell whether of two points both are surely passed by their warps, or none, when branches go given ways."""
        sides = [
            (
                not self._may_end(None, trip.warp, [trip.point], ways),
                not self._may_reach(None, trip.warp, trip.point, ways),
            )
            for trip in (made, freed)
        ]
        return all(passed for passed, _ in sides) or all(never for _, never in sides)

    def _common_branches(self, points: tuple[int, ...]) -> list[int]:
        """Return branches over some points at which the whole CTA goes one way, once."""
        cfg = self._view.cfg
        above = {block for point in points for block, _ in controlling(cfg, cfg.graph.block_of[point])}
        return [block for block in sorted(above) if self._is_common(block)]

    def _ways(self, blocks: list[int]) -> Iterator[Mapping[int, int]]:
        """Yield where branches may go together; those that ask the same go the same way."""
        asked = {block: self._asked(block) for block in blocks}
        questions = sorted(set(asked.values()))[:_MOST_QUESTIONS]
        for answers in product((False, True), repeat=len(questions)):
            answered = dict(zip(questions, answers, strict=True))
            yield {
                block: edge.target
                for block in blocks
                for edge in self._view.cfg.edges_from(block)
                if edge.guard is not None
                and asked[block] in answered
                and answered[asked[block]] != edge.guard.negated
            }

    def _asked(self, block: int) -> int:
        """Return what a branch asks, as a key of its predicate."""
        last = self._view.cfg.blocks[block].last
        guard = self._view.body.instructions[last].guard
        assert guard is not None
        return self._numbers.key(self._view.facts.name(last, guard.register))

    def _is_common(self, block: int, spaces: frozenset[str] = _OF_LAUNCH | {".global"}) -> bool:
        """Tell whether all threads take the same way at a branch: numbers in some spaces decide, outside loops."""
        cfg, facts = self._view.cfg, self._view.facts
        last = cfg.blocks[block].last
        guard = self._view.body.instructions[last].guard
        if (
            guard is None
            or cfg.loop_of(last) is not None
            or facts.uniform(last, guard.register) > Uniformity.CTA
        ):
            return False
        seen: set[Name] = set()
        work = [facts.name(last, guard.register)]
        while work:
            name = work.pop()
            if name in seen or name.site == ENTRY:
                continue
            seen.add(name)
            if name.phi_block is not None:
                return False
            instruction = self._view.body.instructions[name.site]
            traits, op = instruction.operation.traits, instruction.operation.op
            is_load = op in _ORDINARY_LOADS and instruction.operation.slots.get("space", "") in spaces
            if not (is_load or Trait.PURE in traits or op is Op.MOV):
                return False
            work.extend(facts.name(name.site, register) for register in instruction.reads())
        return True

    def _may_end(self, start: int | None, warp: ThreadSet, stops: list[int], ways: Mapping[int, int]) -> bool:
        """Tell whether a warp may come to its end from a point, or from the entry, without any of some points."""
        return self._walk(start, warp, frozenset(stops), None, ways)

    def _may_reach(
        self,
        start: int | None,
        warp: ThreadSet,
        goal: int,
        ways: Mapping[int, int],
        stops: Iterable[int] = (),
    ) -> bool:
        """Tell whether a warp may come to a goal from a point, or from the entry, without any of some points."""
        return self._walk(start, warp, frozenset(stops), goal, ways)

    def _walk(
        self,
        start: int | None,
        warp: ThreadSet,
        stops: frozenset[int],
        goal: int | None,
        ways: Mapping[int, int],
    ) -> bool:
        """Follow all ways that a warp can take, as far as its threads decide; to a point, or to the end (None)."""
        cfg = self._view.cfg
        first = 0 if start is None else cfg.graph.block_of[start]
        work = [(first, 0 if start is None else start + 1)]
        seen: set[int] = set()
        while work:
            block, begin = work.pop()
            points = [p for p in cfg.blocks[block].points if p >= begin]
            met = next((p for p in points if p == goal or p in stops), None)
            if met is not None:
                if met == goal:
                    return True
                continue
            for edge in cfg.edges_from(block):
                if edge.kind is EdgeKind.TRAP or ways.get(block, edge.target) != edge.target:
                    continue
                if not self._passes(cfg.blocks[block].last, edge, warp):
                    continue
                if edge.target == cfg.exit:
                    if goal is None:
                        return True
                elif edge.target not in seen:
                    seen.add(edge.target)
                    work.append((edge.target, cfg.blocks[edge.target].start))
        return False

    def _passes(self, last: int, edge: Edge, warp: ThreadSet) -> bool:
        """Tell whether some thread of a warp may take an edge."""
        if edge.guard is None:
            return True
        holding = self._holding(last, edge.guard.register, not edge.guard.negated)
        return holding is None or bool((holding & warp).bits)

    def _runs_for(self, point: int, warp: ThreadSet) -> bool:
        """Tell whether a warp that comes to a point executes it, whatever its guard."""
        guard = self._view.body.instructions[point].guard
        if guard is None:
            return True
        holding = self._holding(point, guard.register, not guard.negated)
        return holding is not None and not (warp - holding).bits

    def _holding(self, point: int, register: Register, truth: bool = True) -> ThreadSet | None:
        return self._view.facts.holding(self._view.facts.name(point, register), truth)

    def _together(self, allocations: list[int]) -> Iterator[Judgement]:
        sizes = {point: self._memory.columns(point).constant or COLUMNS for point in allocations}
        if sum(sizes.values()) > COLUMNS:
            yield _unknown(
                f"whether all allocations fit into {COLUMNS} columns is not known", allocations[-1]
            )
        for first in allocations:
            for then in allocations:
                if sizes[then] > sizes[first] and self._view.cfg.reaches(first, then):
                    yield _unknown("a larger allocation may follow a smaller one", then)

    def _permits(self, allocations: list[int]) -> Iterator[Judgement]:
        for permit in sorted(self._memory.points[Op.TCGEN05_RELINQUISH_ALLOC_PERMIT]):
            for point in allocations:
                mine, its = self._warp(point), self._warp(permit)
                same = mine is not None and its is not None and mine.warps == its.warps
                if not same or self._view.cfg.reaches(permit, point):
                    yield _unknown("whether the permit is given up before an allocation is not known", permit)

    def _warp(self, point: int) -> ThreadSet | None:
        """Return the threads of the only warp that may come to a point; None when it may be more."""
        threads = self._view.facts.execution(point).threads
        return threads if threads is not None and len(threads.warps) == 1 else None

    @property
    def _of_block(self) -> str:
        return (
            "" if self._view.launch.threads is not None else ": the block size is not, give it with --launch"
        )


class _Accesses:
    """Columns and lanes of what instructions read and write."""

    def __init__(self, view: KernelView, is_block_known: bool) -> None:
        self._view = view
        self._memory = view.tensor_memory
        self._bounds = TensorBounds(view)
        self._is_block_known = is_block_known
        self._words = {word.point: word for word in view.matrix_tiles.operands.instruction_words}

    def judgements(self) -> Iterator[Judgement]:
        for point in sorted(self._memory.of(_MOVES)):
            yield from self._inside(point, "taddr", used_width(self._view, point))
            yield from self._in_lanes(point)
        for point in sorted(self._memory.points[Op.TCGEN05_CP]):
            shape = self._view.body.instructions[point].operation.slots.get("shape", "")
            yield from self._inside(point, "taddr", COPIED_COLUMNS.get(shape, 1))
            yield from self._starts_at_lane(point, "taddr", _ANY_LANE if shape == _FOUR_ROWS else 0)
        for point in sorted(self._memory.points[Op.TCGEN05_SHIFT]):
            yield from self._inside(point, "taddr", SHIFTED_COLUMNS)
            yield from self._starts_at_lane(point, "taddr", _QUARTER_STARTS)
        for point in sorted(self._memory.of(TCGEN05)):
            yield from self._multiplication(point)

    def _multiplication(self, point: int) -> Iterator[Judgement]:
        instruction, word = self._view.body.instructions[point], self._words.get(point)
        m, n = (None, None) if word is None else (word.fields.get("m"), word.fields.get("n"))
        d = None if word is None or m is None or n is None else accumulator(word.shape, m, n)
        if word is not None and not word.fields and (name := host_descriptor(self._view, point)) is not None:
            text = (
                f"D of the instruction descriptor that the host passes in {name} fits into what is allocated"
            )
            yield VerdictKind.ASSUMES, Reason(text, point)
            yield from self._inside(point, "taddr", 1)
        elif d is None:
            yield _unknown("the columns of D are not known, as its shape is not", point)
        else:
            yield from self._inside(point, "taddr", d.columns)
            yield from self._starts_at_lane(point, "taddr", 0 if d.all_lanes else _HALF_QUARTER)
        for operand, what in BESIDE_D.items():
            if instruction.get(operand) is None:
                continue
            if word is None or d is None:
                yield from self._inside(point, operand, 1)
                continue
            columns = operand_columns(operand, word.shape, word.fields).most
            yield from self._inside(point, operand, columns)
            yield from self._starts_at_lane(point, operand, 0 if d.all_lanes else _HALF_QUARTER)
            if not self._bounds.are_apart(point, Extent("taddr", d.columns), Extent(operand, columns)):
                yield _unknown(f"whether {what} and D have no column in common is not known", point)
        if d is not None and not d.all_lanes:
            yield from self._in_half_of_d(point)

    def _starts_at_lane(self, point: int, name: str, bits: int) -> Iterator[Judgement]:
        """Yield why an operand may start at a lane with other bits than these."""
        place = self._bounds.of(point, name)
        if place is not None and place.lane_bits & ~bits:
            what = "D" if name == "taddr" and point not in self._memory.of(_COPYING) else "this operand"
            yield _unknown(f"whether {what} starts at a lane of its layout is not known", point)

    def _in_half_of_d(self, point: int) -> Iterator[Judgement]:
        """Yield why A or metadata may start in another half of each quarter of lanes than D."""
        for operand in ("a_taddr", "metadata"):
            if self._view.body.instructions[point].get(operand) is None:
                continue
            places = [self._bounds.of(point, name) for name in ("taddr", operand)]
            known = [tensor_address(self._view, point, name) for name in ("taddr", operand)]
            halves = {None if each is None else each.lane & _HALF_QUARTER for each in known}
            in_first = all(place is not None and not place.lane_bits & _HALF_QUARTER for place in places)
            if not in_first and (None in halves or len(halves) > 1):
                yield _unknown(
                    "whether D and the operands beside it have the same half of the lanes is not known", point
                )

    def _inside(self, point: int, name: str, width: int) -> Iterator[Judgement]:
        """Yield why an operand may reach beyond its allocation."""
        place: Bounded | None = self._bounds.of(point, name)
        if place is None:
            yield _unknown("where in tensor memory this operand lies is not followed", point)
        elif place.last_column + width > place.columns:
            text = f"whether this operand ends within the {place.columns} columns that are allocated is not known"
            yield _unknown(text, point)
        elif place.rests_on_slot:
            yield VerdictKind.ASSUMES, Reason(SLOT, min(self._memory.allocations))

    def _in_lanes(self, point: int) -> Iterator[Judgement]:
        lanes = self._bounds.lanes(point)
        if lanes is None:
            yield _unknown("which lanes of tensor memory each warp names is not followed", point)
            return
        shape = self._view.body.instructions[point].operation.slots.get("shape", "")
        step = _QUARTER if shape == _WHOLE_QUARTER else _HALF_QUARTER
        own = {warp: place.lane for warp, place in warp_addresses(self._view, point)}
        for warp, lane in lanes.items():
            quarter = lane // _QUARTER
            if lane % step or quarter not in (0, warp % _QUARTERS):
                yield _unknown(f"warp {warp} may name lane {lane}, which it does not reach", point)
                return
            if quarter != warp % _QUARTERS:
                if warp in own and self._is_block_known:
                    yield (
                        VerdictKind.VIOLATED,
                        Reason(f"warp {warp} names lane {lane}, which it does not reach", point),
                    )
                    return
                yield VerdictKind.ASSUMES, Reason(_OWN_QUARTER, point)


def _flaws_of_allocations(view: KernelView) -> Iterator[Reason]:
    """Yield what is surely wrong with the allocations of a kernel."""
    memory, use = view.tensor_memory, view.tensor_memory_use
    pairs: tuple[tuple[Callable[[], Iterable[Pair]], str], ...] = (
        (memory.never_freed, "a way to the end of the kernel does not free what is allocated here"),
        (memory.growing, "a larger allocation follows this one"),
        (memory.after_relinquish, "the permit is given up before an allocation"),
        (memory.oversubscribed, f"this allocation and a later one have more than {COLUMNS} columns"),
        (use.freed_twice, "what is freed here is freed a second time"),
        (use.lost_allocations, "the address of this allocation is overwritten before it is read"),
    )
    for find, text in pairs:
        yield from (Reason(text, pair.first) for pair in find())
    ctas = view.launch.cluster_size or 0
    for point in sorted(memory.of(ALLOCATION)) if ctas % 2 else ():
        if view.body.instructions[point].operation.has(Mod.CTA_GROUP_2):
            yield Reason(f"a cluster of {ctas} CTAs has a CTA with no peer", point)
    for point, columns in memory.wrong_sizes():
        yield Reason(f"{columns} columns are freed, which nothing allocates", point)
    for point, _ in use.freed_elsewhere():
        yield Reason("another address is freed than the start of the allocation", point)
    never = memory.never_allocated()
    if never is not None:
        yield Reason("tensor memory is used, and nobody allocates any", never)
    for point in sorted(memory.allocations):
        size = memory.columns(point)
        if not any(size.may_be(legal) for legal in LEGAL_COLUMNS):
            yield Reason(f"{size} columns are allocated: no power of two from 32 to {COLUMNS}", point)


def _flaws_of_accesses(view: KernelView) -> Iterator[Reason]:
    """Yield what is surely wrong with the columns and lanes of accesses."""
    use = view.tensor_memory_use
    for overlap in use.overlaps():
        yield Reason(f"{overlap.what} from column {overlap.column} on and D share columns", overlap.point)
    for point, last, address in use.d_beyond():
        yield Reason(f"D reaches column {last}, but {address.columns} are allocated", point)
    for point, lane, _ in use.d_off_its_lanes():
        yield Reason(f"no layout of D starts at lane {lane}", point)
    for point, what, lane, of_d in use.operands_off_d():
        yield Reason(
            f"{what} starts at lane {lane} and D at lane {of_d}, in another half of the lanes", point
        )
    for point in sorted(view.tensor_memory.of(_MOVES)):
        for warp, place in warp_addresses(view, point):
            if place.lane // _QUARTER != warp % _QUARTERS:
                yield Reason(f"warp {warp} names lane {place.lane}, which it does not reach", point)
            elif place.column + used_width(view, point) > place.columns:
                last = place.column + used_width(view, point) - 1
                yield Reason(f"this reaches column {last}, but {place.columns} are allocated", point)


def _unknown(text: str, point: int) -> Judgement:
    return VerdictKind.UNKNOWN, Reason(text, point)


__all__ = ["tensor_access_verdict", "tensor_allocation_verdict"]
