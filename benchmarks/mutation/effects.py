"""What the instructions of a kernel do that others can notice, and which two of them may change places.

Arguments about mutants need that without the machine of the verifier: kinds of effects, and pairs that conflict.
Accesses are told apart by their space alone, mbarriers by their addresses where those are constants; an instruction
that is not known conflicts with everything.

What runs on after its instruction (copies, multiplications) conflicts with nothing *behind* it. A barrier does not
wait for it, so a kernel that is right orders it by a wait for its end, which is an effect of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from ptxcheck.cfg import Facts
from ptxcheck.cfg.cfg import Cfg
from ptxcheck.ir import Address, Instruction, Register
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Trait


class Place(NamedTuple):
    """Bytes of a shared variable that something lies in, from `first` to `last`."""

    symbol: str
    first: int
    last: int

    def apart(self, other: Place) -> bool:
        return self.symbol != other.symbol or self.last < other.first or other.last < self.first


class Kind(Enum):
    """An effect that other threads, or asynchronous work, may depend on."""

    __hash__ = object.__hash__

    READ = auto()
    """Of shared memory, in program order."""
    WRITE = auto()
    READ_GLOBAL = auto()
    WRITE_GLOBAL = auto()
    READ_TENSOR = auto()
    WRITE_TENSOR = auto()
    COPY_IN = auto()
    """Starts to read global memory and to write shared memory."""
    COPY_OUT = auto()
    """Starts to read shared memory and to write global memory."""
    MULTIPLY = auto()
    """wgmma: starts to read shared memory."""
    MULTIPLY_TENSOR = auto()
    """tcgen05: starts to read shared memory and tensor memory, and to write tensor memory."""
    ENDS_WRITES = auto()
    """Waits for what this thread started to write: that is then done here."""
    ENDS_READS = auto()
    """Waits for what this thread started to read of shared memory."""
    FENCES = auto()
    """Makes what this thread stored ready for copies and multiplications, which others start behind a barrier."""
    ENDS_TENSOR = auto()
    """Waits for loads and stores of tensor memory by this thread."""
    ALLOCATES = auto()
    """Tensor memory, whose address is written to shared memory."""
    FREES = auto()
    """Tensor memory."""
    GIVES_UP = auto()
    """The right to allocate."""
    EXPECTS = auto()
    """Arrives where a copy behind it has yet to bring bytes: the phase cannot end with this."""
    ARRIVES = auto()
    """Any other arrival, and a commit to an mbarrier."""
    AWAITS = auto()
    """Is told something that others of the group may not be told at this place."""
    AWAITS_ALIKE = auto()
    """Waits for a phase that every thread of the group waits for at this place."""
    INITIALISES = auto()
    INVALIDATES = auto()
    ANYTHING = auto()


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect, with the place of its mbarrier or of the bytes that it accesses, None when not known."""

    kind: Kind
    place: Place | None = None


_STARTED = frozenset({Kind.COPY_IN, Kind.COPY_OUT, Kind.MULTIPLY, Kind.MULTIPLY_TENSOR})
_SHARED = _STARTED | {Kind.READ, Kind.WRITE, Kind.ALLOCATES}
_GLOBAL = frozenset({Kind.READ_GLOBAL, Kind.WRITE_GLOBAL, Kind.COPY_IN, Kind.COPY_OUT})
_TENSOR = frozenset({Kind.READ_TENSOR, Kind.WRITE_TENSOR, Kind.MULTIPLY_TENSOR, Kind.ALLOCATES, Kind.FREES})
_LIFE = frozenset({Kind.INITIALISES, Kind.INVALIDATES})
_ARRIVALS = frozenset({Kind.EXPECTS, Kind.ARRIVES})
_WAITS = frozenset({Kind.AWAITS, Kind.AWAITS_ALIKE})
_AT_MBARRIERS = _ARRIVALS | _WAITS | _LIFE | {Kind.COPY_IN}
_SILENT = _ARRIVALS | {Kind.COPY_IN, Kind.COPY_OUT, Kind.MULTIPLY, Kind.AWAITS_ALIKE}
_TELLS = frozenset({Kind.ARRIVES, Kind.COPY_IN})
_EVERYTHING = frozenset(Kind)
_PLACED = frozenset({Kind.READ, Kind.WRITE}) | _LIFE
_IN_OWN_LANES = frozenset({Kind.READ_TENSOR, Kind.WRITE_TENSOR, Kind.ENDS_TENSOR})

_CONFLICTS: Mapping[Kind, frozenset[Kind]] = {
    Kind.READ: frozenset({Kind.WRITE, Kind.COPY_IN, Kind.ALLOCATES, Kind.INITIALISES}),
    Kind.WRITE: _SHARED | {Kind.INITIALISES},
    Kind.READ_GLOBAL: frozenset({Kind.WRITE_GLOBAL, Kind.COPY_OUT}),
    Kind.WRITE_GLOBAL: _GLOBAL,
    Kind.READ_TENSOR: _TENSOR - {Kind.READ_TENSOR},
    Kind.WRITE_TENSOR: _TENSOR,
    Kind.MULTIPLY_TENSOR: frozenset({Kind.MULTIPLY_TENSOR, Kind.ALLOCATES, Kind.FREES}),
    Kind.ENDS_WRITES: _SHARED | _GLOBAL | {Kind.INITIALISES},
    Kind.ENDS_READS: frozenset({Kind.WRITE, Kind.COPY_IN, Kind.ALLOCATES, Kind.INITIALISES}),
    Kind.ENDS_TENSOR: _TENSOR,
    Kind.FENCES: _STARTED,
    Kind.ALLOCATES: _SHARED | _TENSOR | {Kind.GIVES_UP},
    Kind.FREES: _TENSOR,
    Kind.AWAITS: _EVERYTHING,
    Kind.INVALIDATES: _SHARED,
    Kind.ANYTHING: _EVERYTHING,
}  # fmt: skip
"""What must stay behind an effect of another thread, where a barrier lies between.

No access touches the bytes of an mbarrier while it lives: those of one that is initialised were free before, those of
one that is invalidated are free behind. What waits nowhere in between conflicts with nothing behind it (see above).
"""
_AT_ONE_MBARRIER: Mapping[Kind, frozenset[Kind]] = {
    Kind.EXPECTS: _ARRIVALS | _LIFE,
    Kind.ARRIVES: _ARRIVALS | _LIFE,
    Kind.AWAITS_ALIKE: _LIFE | {Kind.ARRIVES, Kind.COPY_IN},
    Kind.INITIALISES: _AT_MBARRIERS,
    Kind.INVALIDATES: _AT_MBARRIERS,
}
"""The same for two effects that may be at one mbarrier.

Behind a wait for a phase, an arrival, or bytes, may end the next phase before others have seen the first. A wait may
come before an arrival for its phase: then it waits. It is not misled by an older phase that is still open, since that
one was seen to end in front of both: what arrives had to know. Bytes that were on their way to an mbarrier when it ends
have been waited for in between, and that wait counts.
"""


def conflict(first: Effect, then: Effect, *, alone: bool, own_lanes: bool) -> bool:
    """Tell whether `then` may not come before `first`, an effect of another thread that was in front of it.

    `alone`: no threads but those of the group could act on what they are told, or be told by it. `own_lanes`: no two
    warps load and store the same lanes of tensor memory.
    """
    kinds = {first.kind, then.kind}
    if then.kind is Kind.ANYTHING:
        return True
    if not alone and then.kind in _TELLS and first.kind not in _SILENT:
        return True
    is_apart = first.place is not None and then.place is not None and first.place.apart(then.place)
    if (kinds <= _IN_OWN_LANES and own_lanes) or (kinds <= _PLACED and is_apart):
        return False
    at_one = not is_apart and then.kind in _AT_ONE_MBARRIER.get(first.kind, frozenset())
    return at_one or then.kind in _CONFLICTS.get(first.kind, frozenset())


_QUIET = frozenset(
    {
        Op.BAR_WARP_SYNC, Op.CP_ASYNC_COMMIT_GROUP, Op.CP_ASYNC_BULK_COMMIT_GROUP, Op.WGMMA_COMMIT_GROUP,
        Op.WGMMA_FENCE, Op.PREFETCH, Op.PREFETCH_TENSORMAP, Op.NANOSLEEP, Op.RET, Op.EXIT, Op.ELECT_SYNC,
        Op.SHFL_SYNC, Op.VOTE_SYNC, Op.REDUX_SYNC, Op.MATCH_SYNC, Op.ACTIVEMASK, Op.MOVMATRIX, Op.MMA, Op.BRA,
        Op.BRX_IDX, Op.LD_NC, Op.CREATEPOLICY, Op.SETMAXNREG,
    }
)  # fmt: skip
"""What no other thread can notice, beyond its own warp; `wgmma.fence` orders registers."""
_WHOLE: Mapping[Op, tuple[Kind, ...]] = {
    Op.LDMATRIX: (Kind.READ,),
    Op.STMATRIX: (Kind.WRITE,),
    Op.CP_ASYNC: (Kind.COPY_IN,),
    Op.CP_ASYNC_WAIT_GROUP: (Kind.ENDS_WRITES,),
    Op.CP_ASYNC_WAIT_ALL: (Kind.ENDS_WRITES,),
    Op.WGMMA_WAIT_GROUP: (Kind.ENDS_READS,),
    Op.WGMMA_MMA_ASYNC: (Kind.MULTIPLY,),
    Op.TCGEN05_WAIT: (Kind.ENDS_TENSOR,),
    Op.TCGEN05_LD: (Kind.READ_TENSOR,),
    Op.TCGEN05_ST: (Kind.WRITE_TENSOR,),
    Op.TCGEN05_MMA: (Kind.MULTIPLY_TENSOR,),
    Op.TCGEN05_CP: (Kind.MULTIPLY_TENSOR,),
    Op.TCGEN05_ALLOC: (Kind.ALLOCATES,),
    Op.TCGEN05_DEALLOC: (Kind.FREES,),
    Op.TCGEN05_RELINQUISH_ALLOC_PERMIT: (Kind.GIVES_UP,),
    Op.TENSORMAP_CP_FENCEPROXY: (Kind.READ, Kind.WRITE_GLOBAL, Kind.FENCES),
    Op.TENSORMAP_REPLACE: (Kind.READ, Kind.WRITE, Kind.WRITE_GLOBAL),
    Op.MBARRIER_INIT: (Kind.INITIALISES,),
    Op.MBARRIER_INVAL: (Kind.INVALIDATES,),
    Op.TCGEN05_COMMIT: (Kind.ARRIVES,),
    Op.BARRIER_CLUSTER_ARRIVE: (Kind.ARRIVES,),
}
_BY_SPACE: Mapping[tuple[Op, str], Kind | None] = {
    (Op.LD, ".shared"): Kind.READ,
    (Op.LD, ".shared::cta"): Kind.READ,
    (Op.LD, ".global"): Kind.READ_GLOBAL,
    (Op.LD, ".param"): None,
    (Op.LD, ".const"): None,
    (Op.ST, ".shared"): Kind.WRITE,
    (Op.ST, ".shared::cta"): Kind.WRITE,
    (Op.ST, ".global"): Kind.WRITE_GLOBAL,
    (Op.RED, ".global"): Kind.WRITE_GLOBAL,
}
_BYTES = 8
"""Of an mbarrier."""
_WIDEST = 128
"""Bytes of the widest access of one thread: a tensor map."""
_ACCESSES = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.ANYTHING})
_STRONG = frozenset({".acquire", ".release", ".acq_rel", ".volatile", ".mmio"})
_COPIES = frozenset(
    {Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR, Op.CP_REDUCE_ASYNC_BULK, Op.CP_REDUCE_ASYNC_BULK_TENSOR}
)
POLLS = frozenset({Op.MBARRIER_TRY_WAIT, Op.MBARRIER_TEST_WAIT})
_TOGETHER = POLLS | {Op.BARRIER_CLUSTER_WAIT, Op.GRIDDEPCONTROL_WAIT}


def effects(facts: Facts, point: int, *, together: bool) -> tuple[Effect, ...]:
    """Return what an instruction does. `together`: all threads of the group execute it, for the same operands."""
    return tuple(Effect(kind, _place(facts, point, kind)) for kind in _kinds(facts, point, together))


def _kinds(facts: Facts, point: int, together: bool) -> tuple[Kind, ...]:
    instruction = facts.cfg.instructions[point]
    operation = instruction.operation
    op = operation.op
    if op in _QUIET or Trait.PURE in operation.traits:
        return ()
    if op in _WHOLE:
        return _WHOLE[op]
    if op is Op.CP_ASYNC_BULK_WAIT_GROUP:
        ends = Kind.ENDS_READS if ".read" in operation.modifiers else Kind.ENDS_WRITES
        return (ends,) if follows_bulk_copy(facts.cfg, point) else ()
    if op is Op.FENCE_PROXY:
        return _kinds_of_fence(facts.cfg, point, together)
    if op in _TOGETHER:
        return (Kind.AWAITS_ALIKE if together else Kind.AWAITS,)
    if op in (Op.LD, Op.ST, Op.RED) and not _STRONG & set(operation.modifiers):
        found = _BY_SPACE.get((op, operation.slots.get("space", "")), Kind.ANYTHING)
        return () if found is None else (found,)
    if op is Op.MBARRIER_ARRIVE:
        return (Kind.EXPECTS if _has_copy_behind(facts, point) else Kind.ARRIVES,)
    if op in _COPIES and instruction.get("mbar") is not None:
        return (Kind.COPY_IN if operation.slots["dst_space"].startswith(".shared") else Kind.ANYTHING,)
    return (Kind.COPY_OUT if op in _COPIES and starts_bulk_group(instruction) else Kind.ANYTHING,)


def _kinds_of_fence(cfg: Cfg, point: int, together: bool) -> tuple[Kind, ...]:
    instruction = cfg.instructions[point]
    if instruction.operation.slots.get("kind") == ".tensormap::generic":
        return (Kind.READ_GLOBAL, Kind.FENCES)
    if not is_proxy_fence(instruction) or not together:
        return (Kind.ANYTHING,)
    return () if is_fenced_before(cfg, point, copies=False) else (Kind.FENCES,)


def follows_bulk_copy(cfg: Cfg, point: int) -> bool:
    """Tell whether a bulk copy that is in a group may have been started in front of a point."""
    return any(starts_bulk_group(each) and cfg.reaches(p, point) for p, each in enumerate(cfg.instructions))


def starts_bulk_group(instruction: Instruction) -> bool:
    """Tell whether a wait for bulk groups waits for what an instruction starts."""
    traits = instruction.operation.traits
    is_bulk = Trait.ASYNC in traits and bool(traits & {Trait.ASYNC_PROXY_READ, Trait.ASYNC_PROXY_WRITE})
    return is_bulk and ".bulk_group" in instruction.operation.text


def is_proxy_fence(instruction: Instruction) -> bool:
    """Tell whether an instruction is `fence.proxy.async`, of all or of shared memory."""
    operation = instruction.operation
    is_whole = operation.op is Op.FENCE_PROXY and operation.slots.get("kind") == ".async"
    return is_whole and operation.slots.get("space") != ".global"


_READ_ONLY = (".param", ".const")
_THREAD_COPIES = frozenset({Op.CP_ASYNC, Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL})
_UNFENCED = frozenset({Op.CALL, Op.OPAQUE})


def is_fenced_before(cfg: Cfg, point: int, *, copies: bool = True) -> bool:
    """Tell whether a thread has accessed nothing in its own order since its last proxy fence, or at all.

    Without `copies`, what it brought by `cp.async` does not count. A fence behind the barrier is enough for that, as
    released kernels for sm_90a have it.
    """
    unfenced = _UNFENCED | _THREAD_COPIES if copies else _UNFENCED
    seen: set[int] = set()
    work = [point]
    while work:
        at = work.pop()
        block = cfg.block_at(at)
        before = [at - 1] if at > block.start else [cfg.blocks[b].last for b in cfg.predecessors[block.index]]
        for each in before:
            instruction = cfg.instructions[each]
            if each in seen or (is_proxy_fence(instruction) and instruction.guard is None):
                continue
            is_access = (
                instruction.operation.traits & _ACCESSES
                and instruction.operation.slots.get("space") not in _READ_ONLY
            )
            if is_access or instruction.operation.op in unfenced:
                return False
            seen.add(each)
            work.append(each)
    return True


def _place(facts: Facts, point: int, kind: Kind) -> Place | None:
    """Return the bytes of shared memory that an effect is about, None when they are not known."""
    if kind not in _PLACED | _AT_MBARRIERS:
        return None
    instruction = facts.cfg.instructions[point]
    operand = instruction.get("mbar") or next(
        (o for o in instruction.operands if isinstance(o, Address)), None
    )
    pointer = facts.address(point, operand, ".shared")
    if pointer is None or not pointer.is_variable or pointer.symbol is None:
        return None
    low, high = pointer.offset.signed_range
    return Place(pointer.symbol, low, high + (_BYTES if kind in _AT_MBARRIERS else _WIDEST) - 1)


def _has_copy_behind(facts: Facts, point: int) -> bool:
    """Tell whether bytes are expected that a copy behind brings, to the mbarrier of the same register."""
    instruction = facts.cfg.instructions[point]
    here = instruction.get("addr")
    if instruction.get("tx_count") is None or not isinstance(here, Address):
        return False
    for copy, other in enumerate(facts.cfg.instructions):
        there = other.get("mbar") if other.operation.op in _COPIES else None
        if not isinstance(there, Address) or there.offset != here.offset:
            continue
        a, b = here.base, there.base
        is_same = a == b
        if isinstance(a, Register) and isinstance(b, Register):
            is_same = facts.same_definition(point, a, copy, b)
        if is_same and facts.cfg.dominates(point, copy) and facts.cfg.postdominates(copy, point):
            return True
    return False
