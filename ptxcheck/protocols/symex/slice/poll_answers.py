"""What the answers of polls decide: the polls whose failures leave something, and those whose answers part lanes.

Property: where `leaves_something` is false of a repeated poll, threads do the same whenever it succeeds, after however
many failures. Where a poll is not in `decided_by_lanes`, lanes that find different answers do what they do where all
find the same one, but that some of them poll again.

Argument: both are flows of names through data. A number differs with the failures if it is merged at a block of the
way back to the poll, from two definitions of that way or from one and what was there before; it has to reach nothing
of the slice but what decides the way back. An answer reaches, besides, whatever is merged behind the branches that it
decides; on their sides may be polls alone.

Not covered: numbers that a clock or memory gives to a failing round; they are symbols anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet

from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions, Name
from ....ir import Register, registers_of
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from .branch_sides import between, join_of
from .kernel import Kernel
from .polling import POLLS, Polling

_EXCHANGES = frozenset(
    {Op.VOTE, Op.VOTE_SYNC, Op.SHFL, Op.SHFL_SYNC, Op.MATCH_SYNC, Op.REDUX_SYNC, Op.ACTIVEMASK}
)
"""Instructions by which lanes of a warp learn of each other."""


class PollAnswers:
    """Flows of what polls leave and answer, in the slice of one kernel."""

    def __init__(self, kernel: Kernel, sliced: AbstractSet[int]) -> None:
        self._kernel = kernel
        self._cfg: Cfg = kernel.cfg
        self._definitions: Definitions = kernel.definitions
        self._run = sorted(sliced | kernel.accesses.keys() | kernel.open_masks.keys())
        self._sliced = sliced
        self._polling = Polling(self._cfg, self._definitions)
        self._sources: dict[Name, frozenset[Name]] = {}

    def leaves_something(self, home: int, way: AbstractSet[int], doomed: AbstractSet[int]) -> bool:
        """Tell whether what failures of a poll in block `home` leave matters elsewhere than on the `way` back to it."""
        blocks = {home, *way}
        roots = frozenset(self._merged_on(blocks))
        return bool(roots) and any(
            self._matters(point, home, way)
            for point in self._reached(roots, lambda _: ())
            if self._block_of(point) not in doomed
        )

    def decided_by_lanes(self, polls: Iterable[int]) -> frozenset[int]:
        """Return those of some polls whose answers must not differ between lanes, or something else may happen."""
        return frozenset(point for point in polls if self._parts_lanes(point))

    def _matters(self, point: int, home: int, way: AbstractSet[int]) -> bool:
        """Tell whether a point reads what a failure has left for more than the way back."""
        block = self._block_of(point)
        if block not in way and block != home:
            return True
        traits = self._cfg.instructions[point].operation.traits
        return point in self._kernel.events or point in self._kernel.accesses or Trait.TERMINATOR in traits

    def _merged_on(self, blocks: AbstractSet[int]) -> Iterator[Name]:
        """Yield names that merge what some blocks define, as threads go round in them."""
        written = {
            register
            for block in blocks
            for point in self._cfg.blocks[block].points
            if point in self._sliced
            for register in self._cfg.instructions[point].writes()
        }
        for block in blocks:
            for register in written:
                name = self._entering(block, register)
                if name is None or name.phi_block != block:
                    continue
                inside = {each for edge, each in self._definitions.merged(name) if edge.source in blocks}
                if any(each != name and self._definitions.block_of(each) in blocks for each in inside):
                    yield name

    def _entering(self, block: int, register: Register) -> Name | None:
        points = range(0) if block == self._cfg.exit else self._cfg.blocks[block].points
        return self._definitions.before(points[0], register) if points else None

    def _parts_lanes(self, poll: int) -> bool:
        roots = frozenset(Name(register, poll) for register in self._cfg.instructions[poll].writes())
        return any(self._is_decided(point, poll) for point in self._reached(roots, self._behind_sides))

    def _is_decided(self, point: int, poll: int) -> bool:
        """Tell whether an instruction that reads what a poll decides may do something else where lanes differ."""
        cfg, instruction = self._cfg, self._cfg.instructions[point]
        traits = instruction.operation.traits
        if instruction.operation.op in POLLS:
            return False  # its guard: an address that differs is a predicate away from a branch
        if Trait.BRANCH in traits:
            return self._do_sides_act(self._block_of(point), poll)
        if point in self._kernel.accesses and point not in self._sliced:
            return not self._is_made_by_those_who_found(point, poll)
        return (
            point in self._kernel.events or point in self._kernel.accesses or point in self._kernel.member_masks
            or instruction.operation.op in _EXCHANGES or Trait.TERMINATOR in traits
            or bool(traits & {Trait.STORE, Trait.ATOMIC}) or not cfg.connected(point)
        )  # fmt: skip

    def _is_made_by_those_who_found(self, point: int, poll: int) -> bool:
        """Tell whether an access is made by lanes alone that found the phase complete: fewer of them touch less."""
        guard = self._cfg.instructions[point].guard
        if guard is None:
            return False  # its address goes by the answer
        name = self._definitions.before(point, guard.register)
        return poll in self._polling.succeeded(name, not guard.negated)

    def _do_sides_act(self, block: int, poll: int) -> bool:
        """Tell whether threads do more on the sides of a branch than poll, compute and touch what they waited for."""
        inside = between(self._cfg, block)
        points = {point for each in inside.blocks for point in self._cfg.blocks[each].points}
        instructions = self._cfg.instructions
        if inside.ends or any(
            (point in self._kernel.events and instructions[point].operation.op not in POLLS)
            or point in self._kernel.member_masks or instructions[point].operation.op in _EXCHANGES
            for point in points
        ):  # fmt: skip
            return True
        touching = {self._block_of(point) for point in points & self._kernel.accesses.keys()}
        return bool(touching & self._behind_failure(block, poll))

    def _behind_failure(self, block: int, poll: int) -> set[int]:
        """Return the blocks up to the join of a branch that threads may come to for which the poll has failed."""
        join = join_of(self._cfg, block)
        waiting = [edge.target for edge in self._polling.after_failure(block, poll)]
        seen = set[int]()
        while waiting:
            each = waiting.pop()
            if each not in seen and each not in (join, self._cfg.exit):
                seen.add(each)
                waiting.extend(self._cfg.successors[each])
        return seen

    def _behind_sides(self, point: int) -> Iterator[Name]:
        """Yield names that merge what the sides of a branch define."""
        if Trait.BRANCH not in self._cfg.instructions[point].operation.traits:
            return
        block = self._block_of(point)
        inside = between(self._cfg, block).blocks
        written = {
            register
            for each in inside
            for other in self._cfg.blocks[each].points
            if other in self._sliced
            for register in self._cfg.instructions[other].writes()
        }
        for each in {*inside, join_of(self._cfg, block)}:
            for register in written:
                name = self._entering(each, register)
                if name is not None and name.phi_block == each:
                    yield name

    def _reached(self, roots: frozenset[Name], behind: Callable[[int], Iterable[Name]]) -> Iterator[int]:
        """Yield the points that are run and read what some names hold, or what is computed from it."""
        reached, found = set(roots), set[int]()
        changed = True
        while changed:
            changed = False
            for point in self._run:
                if point in found or not any(
                    not reached.isdisjoint(self._names(n)) for n in self._read(point)
                ):
                    continue
                found.add(point)
                yield point
                fresh = {Name(register, point) for register in self._cfg.instructions[point].writes()}
                reached |= fresh | set(behind(point))
                changed = True

    def _read(self, point: int) -> Iterable[Name]:
        """Return the names that matter of what a point reads."""
        if point in self._sliced:
            return self._kernel.needed(point)
        kind = self._kernel.accesses.get(point)
        operand = self._kernel.open_masks[point] if kind is None else kind.operand
        guard = self._cfg.instructions[point].guard
        registers = {*registers_of(operand), *(() if guard is None else (guard.register,))}
        return [self._definitions.before(point, register) for register in registers]

    def _names(self, name: Name) -> frozenset[Name]:
        """Return a name, and those that it may merge or keep."""
        found = self._sources.get(name)
        if found is not None:
            return found
        seen, waiting = {name}, [name]
        while waiting:
            each = waiting.pop()
            if each.phi_block is not None:
                fresh = {source for _, source in self._definitions.merged(each)}
            elif each.site >= 0 and self._cfg.instructions[each.site].guard is not None:
                fresh = {self._definitions.before(each.site, each.register)}
            else:
                continue
            waiting.extend(fresh - seen)
            seen |= fresh
        found = self._sources[name] = frozenset(seen)
        return found

    def _block_of(self, point: int) -> int:
        return self._cfg.graph.block_of[point]
