"""How far the threads agree on registers, and which of them execute a point together.

Properties:

* `Levels.of(name)`: all threads of one group (of that `Uniformity`) that execute the definition together get
  the same number. Loads are taken to give one number to threads that read one address at one time.
  Without that (`loads_agree=False`), also threads of a group that execute the definition apart, in the same round of
  the loops around it, get the same number.
* `Executions.at(point)`: whenever one thread of a group executes the point, all threads of the group do, in
  the same round of the loops around it.

Lattice: GRID < CLUSTER < CTA < WARPGROUP < WARP < DIVERGENT, join is `max`. Both follow the divergence of
branches: a merge differs where a branch that decides it does, and a point is divergent under a divergent
branch up to that branch's post-dominator. A register that is set in a loop and read behind it differs as far
as the loop's exits do.

Not modelled: agreement between threads other than by these groups; calls (their results are divergent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache

from ..ir import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
)
from ..isa.lookup import CALL_PARAMETERS
from ..opcodes.op import Op
from ..opcodes.spec import Operation, Trait
from .addresses import PARAMETER_SPACES, Addresses, linear_uniformity
from .cfg import Cfg
from .definitions import ENTRY, Definitions, Name
from .evaluate import Values
from .graph import Edge
from .sparse import Sparse
from .special import special_name, special_uniformity
from .threads import WARP, WARPGROUP, Lanes
from .uniform import Uniformity

Read = Callable[[Name], Uniformity | None]
_WARP_RESULTS = frozenset({Op.VOTE_SYNC, Op.VOTE, Op.REDUX_SYNC, Op.ACTIVEMASK})
_WITH_MASK = frozenset({Op.SHFL_SYNC, Op.VOTE_SYNC, Op.REDUX_SYNC, Op.ELECT_SYNC})
_FOLLOWED = frozenset({Op.MAPA, Op.CVTA, Op.GETCTARANK, Op.MOV, Op.ISSPACEP})


_SEGMENTS, _LAST_LANE, _ALL_LANES = 8, 31, 0xFFFFFFFF
"""Where the mask of segments is in the last number of a shuffle (PTX ISA, "shfl.sync"), and lanes."""


def _warp_wide(is_one: bool) -> Uniformity:
    return Uniformity.WARP if is_one else Uniformity.DIVERGENT


@lru_cache(maxsize=4096)
def may_agree(operation: Operation) -> bool:
    """Tell whether threads can agree on a result, so that its operands are worth a look."""
    op, traits = operation.op, operation.traits
    if Trait.PURE in traits or op in _FOLLOWED or op in _WARP_RESULTS:
        return True
    return op in (Op.SHFL_SYNC, Op.SHFL, Op.ELECT_SYNC, Op.LD, Op.LD_NC, Op.LDU)


class Levels:
    """Uniformity of the registers of one function."""

    def __init__(
        self,
        cfg: Cfg,
        definitions: Definitions,
        addresses: Addresses,
        lanes: Lanes,
        values: Values,
        *,
        loads_agree: bool = True,
    ) -> None:
        self._loads_agree = loads_agree
        self._cfg = cfg
        self._definitions = definitions
        self._addresses = addresses
        self._lanes = lanes
        self._values = values
        self._sparse: Sparse[Name, Uniformity] = Sparse(self)
        self._deciders: dict[tuple[int, tuple[tuple[int, int], ...]], tuple[Name, ...]] = {}

    def of(self, name: Name) -> Uniformity:
        level = self._sparse.get(name)
        return Uniformity.GRID if level is None else level

    def at(self, point: int, register: Register) -> Uniformity:
        """Return how far threads agree on a register that they read at a point."""
        name = self._definitions.before(point, register)
        return max((self.of(n) for n in (name, *self._left_behind(name, point))), default=Uniformity.GRID)

    def of_branch(self, block: int) -> Uniformity:
        """Return how far threads agree on where the jump at the end of a block goes."""
        return max((self.of(name) for name in self._deciding(block)), default=Uniformity.GRID)

    # ---- the problem for the sparse solver

    def inputs(self, key: Name) -> Sequence[Name]:
        if self._exact(key) is not None or key.site == ENTRY:
            return ()
        block = key.phi_block
        if block is not None:
            merged = self._definitions.merged(key)
            return [*(name for _, name in merged), *self._merge_deciders(block, merged)]
        instruction = self._cfg.instructions[key.site]
        if not may_agree(instruction.operation):
            return ()
        names = list(self._definitions.read_at(key.site))
        if instruction.guard is not None:
            names.append(self._definitions.before(key.site, key.register))
        return [*names, *(behind for name in names for behind in self._left_behind(name, key.site))]

    def evaluate(self, key: Name, read: Read) -> Uniformity | None:
        known = self._exact(key)
        if known is not None:
            return known
        if key.site == ENTRY:
            name = special_name(key.register)
            return Uniformity.GRID if name is None else special_uniformity(name)
        levels = [level for name in self.inputs(key) if (level := read(name)) is not None]
        joined = max(levels, default=Uniformity.GRID)
        if key.phi_block is not None:
            return joined
        return self._result(self._cfg.instructions[key.site], key, joined, read)

    def closes_cycle(self, key: Name) -> bool:
        return key.phi_block is not None

    def merge(
        self, key: Name, old: Uniformity, new: Uniformity, turn: int, cycle: Sequence[Name]
    ) -> Uniformity:
        return max(old, new)

    # ---- parts of it

    def _exact(self, key: Name) -> Uniformity | None:
        words = self._lanes.of(key)
        if words is None:
            return self._of_constant(key) if key.phi_block is not None else None
        if (words == words[0]).all():
            return Uniformity.GRID
        for level, group in ((Uniformity.WARPGROUP, WARPGROUP), (Uniformity.WARP, WARP)):
            if all(
                (part == part[0]).all()
                for part in (words[n : n + group] for n in range(0, len(words), group))
            ):
                return level
        return Uniformity.DIVERGENT

    def _of_constant(self, key: Name) -> Uniformity | None:
        """Return the level of a merge of one number of the launch, whichever way a thread has come."""
        value = self._values.of(key)
        if value is None or value.linear is None:
            return None
        level = linear_uniformity(value.linear)
        return level if level < Uniformity.DIVERGENT else None

    def _result(self, instruction: Instruction, key: Name, joined: Uniformity, read: Read) -> Uniformity:
        """Return the level of a result whose operands have level `joined`."""
        op, traits = instruction.operation.op, instruction.operation.traits
        symbols = max((self._of_symbol(operand) for operand in instruction.operands), default=Uniformity.GRID)
        joined = max(joined, symbols)
        if op in (Op.SHFL_SYNC, Op.SHFL):
            is_one = instruction.operation.has(".idx") and self._same_source(instruction, key.site, read)
            is_one = is_one and self._is_of_warp(instruction, key.site, read)
            return joined if joined <= Uniformity.WARP else _warp_wide(is_one)
        if op in _WARP_RESULTS:
            is_one = self._is_of_warp(instruction, key.site, read)
            return min(joined, Uniformity.WARP) if is_one and op is not Op.ACTIVEMASK else _warp_wide(is_one)
        if op is Op.ELECT_SYNC:
            lane = instruction.operands[0]
            first = getattr(lane, "first", lane)
            return _warp_wide(first == key.register and self._is_of_warp(instruction, key.site, read))
        if Trait.PURE in traits or op in _FOLLOWED:
            return joined
        return self._loaded(instruction, joined) if Trait.LOAD in traits else Uniformity.DIVERGENT

    def _loaded(self, instruction: Instruction, joined: Uniformity) -> Uniformity:
        if instruction.operation.op not in (Op.LD, Op.LD_NC, Op.LDU):
            return Uniformity.DIVERGENT
        space = instruction.operation.slots.get("space", "")
        if space in PARAMETER_SPACES:
            return joined if self._addresses.function.is_entry else Uniformity.DIVERGENT
        if space in (".local", CALL_PARAMETERS) or not self._loads_agree:
            return Uniformity.DIVERGENT
        ordered = instruction.operation.slots.get("sem") is not None
        floor = (
            Uniformity.WARP if ordered else Uniformity.CTA if space.startswith(".shared") else Uniformity.GRID
        )
        return max(joined, floor)

    def _same_source(self, shuffle: Instruction, point: int, read: Read) -> bool:
        """Tell whether a shuffle reads one lane for its whole warp: no segments of it, each for itself."""
        lane, clamp = shuffle.operands[2:4]
        number = self._number(clamp, point)
        if number is None or number >> _SEGMENTS & _LAST_LANE:
            return False
        return not isinstance(lane, Register) or self._is_alike(lane, point, read)

    def _is_of_warp(self, instruction: Instruction, point: int, read: Read) -> bool:
        """Tell whether all lanes that execute a warp-collective together have one result of it.

        Lanes with masks of their own have their own. Those that may come apart have one only where they wait for all.
        """
        mask = instruction.operands[-1] if instruction.operation.op in _WITH_MASK else None
        if self._loads_agree:
            return not isinstance(mask, Register) or self._is_alike(mask, point, read)
        return mask is not None and self._number(mask, point) == _ALL_LANES

    def _number(self, operand: Operand, point: int) -> int | None:
        """Return the number of 32 bits that an operand is, None where it is not known."""
        if isinstance(operand, Immediate):
            return operand.value & _ALL_LANES
        if not isinstance(operand, Register):
            return None
        value = self._values.of(self._definitions.before(point, operand))
        return None if value is None else value.constant

    def _is_alike(self, register: Register, point: int, read: Read) -> bool:
        level = read(self._definitions.before(point, register))
        return level is None or level <= Uniformity.WARP

    def _of_symbol(self, operand: Operand) -> Uniformity:
        base = operand.base if isinstance(operand, Address) else operand
        symbol = base.symbol if isinstance(base, SymbolOffset) else base
        if not isinstance(symbol, Symbol):
            return Uniformity.GRID
        variable = self._addresses.variable(symbol)
        space = "" if variable is None else variable.space
        return {".shared": Uniformity.CTA, ".local": Uniformity.DIVERGENT}.get(space, Uniformity.GRID)

    def _deciding(self, block: int) -> tuple[Name, ...]:
        """Return the registers that decide where the jump at the end of a block goes."""
        if len(self._cfg.successors[block]) < 2:
            return ()
        point = self._cfg.blocks[block].last
        return self._definitions.read_at(point)

    def _left_behind(self, name: Name, point: int) -> tuple[Name, ...]:
        """Return what decides when threads leave the loops between a definition and a read behind them."""
        if name.site == ENTRY:
            return ()
        block = self._cfg.graph.block_of[point]
        home = self._definitions.block_of(name)
        if home == block or self._cfg.loop_forest.innermost[home] is None:
            return ()
        left = (loop for loop in self._cfg.loops_around(home) if block not in loop.blocks)
        return tuple(found for loop in left for source, _ in loop.exits for found in self._deciding(source))

    def _merge_deciders(self, block: int, merged: Sequence[tuple[Edge, Name]]) -> tuple[Name, ...]:
        """Return the registers of the branches that decide which of several names comes into a block."""
        numbers: dict[Name, int] = {}
        groups = {edge.source: numbers.setdefault(name, len(numbers)) for edge, name in merged}
        key = (block, tuple(groups.items()))
        if key not in self._deciders:
            header = next((loop for loop in self._cfg.loops if loop.header == block), None)
            branches: set[int] = set()
            if header is None:
                branches = self._branches_between(block, groups, None)
            else:
                inside = {source: group for source, group in groups.items() if source in header.blocks}
                outside = {source: group for source, group in groups.items() if source not in header.blocks}
                branches = self._branches_between(block, outside, None)
                branches |= self._branches_between(block, inside, header.blocks)
            self._deciders[key] = tuple(name for b in sorted(branches) for name in self._deciding(b))
        return self._deciders[key]

    def _branches_between(
        self, block: int, groups: Mapping[int, int], region: frozenset[int] | None
    ) -> set[int]:
        """Return branches from which different groups of sources can be reached before the merge itself.

        The region ends at the merge's dominator, or is the given loop, whose header the merge is.
        """
        if len(set(groups.values())) < 2:
            return set()
        top = self._cfg.dominators.parent[block] if region is None else block
        reaching: dict[int, set[int]] = {}
        for group in sorted(set(groups.values())):
            work = [source for source, number in groups.items() if number == group]
            while work:
                current = work.pop()
                inner = top is None or self._cfg.dominators.dominates(top, current)
                outside = not inner or (region is not None and current not in region)
                if outside or group in reaching.setdefault(current, set()):
                    continue
                reaching[current].add(group)
                if current != top:
                    work.extend(p for p in self._cfg.predecessors[current] if p != block)
        controlling = self._controlling(groups, set(reaching))
        return {b for b in controlling if len(reaching[b]) > 1 and len(self._cfg.successors[b]) > 1}

    def _controlling(self, sources: Iterable[int], region: Set[int]) -> set[int]:
        """Return the sources and the blocks of the region that they are control dependent on."""
        found: set[int] = set()
        work = list(sources)
        while work:
            current = work.pop()
            if current in region and current not in found:
                found.add(current)
                work.extend(dependence.branch for dependence in self._cfg.control[current])
        return found
