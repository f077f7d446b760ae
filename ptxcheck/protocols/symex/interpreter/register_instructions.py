"""What instructions that record no event do to registers: numbers, addresses, lanes and loads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from ....cfg.optypes import Typing, typing_of
from ....ir import (
    Address,
    Component,
    FloatImmediate,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    SymbolOffset,
    Vector,
)
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..values import lane_arithmetic as lanes
from ..values.floating import compared, computed
from ..values.register_file import lanes_of, set_of
from ..values.substitution import mapped
from ..values.symbol import (
    LANE,
    WARP,
    Form,
    Lanes,
    Value,
)
from ..values.trace import (
    OFFSET_MASK,
    PARAM_WINDOW,
    RANK_SHIFT,
    SHARED_TABLE,
    SHARED_WINDOW,
    NotFollowedError,
    ThreadSet,
)
from ..values.value_ranges import fits
from ..values.wraparound import loss_of
from .accesses import is_pointer, is_strong
from .compute import COMPUTE, Compute

if TYPE_CHECKING:
    from .machine import Machine

_ANY = LANE | WARP
_ACTIVE = "lanes of a warp that come to activemask in the same way are active there together"
_CARRYING = frozenset({Op.ADDC, Op.SUBC, Op.MADC})
"""They read the carry of an earlier instruction, which is no register."""
_CHANGED = frozenset({".sat", ".relu"})
"""What makes another number of the result."""
_PACKED = re.compile(r"\.[bsu]\d+x\d+")
"""Types of several integers in one register."""
_ANSWER_BITS = 128
"""An answer of `clusterlaunchcontrol.try_cancel`, which is read as a whole."""


@dataclass(frozen=True, slots=True)
class Computation:
    """An instruction that computes a register from registers and numbers, taken apart once."""

    function: Compute
    types: Typing
    target: Register
    sources: tuple[int | Operand, ...]
    loss: str
    """What symbols may lose by it, or ""."""


Step: TypeAlias = "Computation | Callable[[Machine, int, Instruction, ThreadSet], None]"


def perform(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """Run one instruction for the threads of `guard`. Raises SplitError, NotFollowedError."""
    made = machine.program.made
    step = made.get(point)
    if step is None:
        step = made[point] = _made(instruction)
    if not isinstance(step, Computation):
        step(machine, point, instruction, guard)
        return
    values = [
        source if type(source) is int
        else machine.read(source, guard) if type(source) is Register
        else machine.value(source, guard)  # type: ignore[arg-type]
        for source in step.sources
    ]  # fmt: skip
    if step.loss:
        machine.note_loss(step.loss, step.types, values, point)
    result = step.function(step.types, values, machine.threads)
    machine.registers.write(step.target, guard, result if type(result) is int else lanes.settle(result))


def _made(instruction: Instruction) -> Step:
    """Return how to run an instruction."""
    op = instruction.operation.op
    special = _SPECIAL.get(op)
    if special is not None:
        return special
    function = COMPUTE.get(op)
    if function is None or not instruction.operands:
        return _opaque_results
    modifiers = instruction.operation.modifiers
    if not _CHANGED.isdisjoint(modifiers) or any(map(_PACKED.fullmatch, modifiers)):
        return _opaque_results
    target, *sources = instruction.operands
    if not isinstance(target, Register) or any(isinstance(s, Vector) for s in sources):
        return _move_vector
    types = typing_of(instruction.operation)
    if not types.is_integer and op is not Op.MOV and op is not Op.SELP and op is not Op.CVT:
        return _float_results
    width = types.source_width if op is Op.CVT else types.width
    read = tuple(
        source.value & lanes.mask_of(2 * width if position == 2 and types.has(".wide") else width)
        if type(source) is Immediate
        else source
        for position, source in enumerate(sources)
    )
    return Computation(function, types, target, read, loss_of(op, types))


def _opaque_results(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """Name the results after the operation and what it reads; a volatile one also after the thread and time."""
    traits = instruction.operation.traits
    written = list(dict.fromkeys(instruction.writes()))
    if (
        instruction.operation.op in _CARRYING
        or traits & {Trait.VOLATILE, Trait.ATOMIC, Trait.CALL, Trait.LOAD}
        or Trait.CROSS_LANE in traits
    ):
        one = guard.bit_count() == 1
        visit = machine.count(("volatile", point, guard))
        machine.write_opaque(
            instruction, guard, "volatile", point, hex(guard), visit, differs=0 if one else _ANY
        )
        return
    sources: list[Value | str] = [machine.read(register, guard) for register in instruction.reads()]
    given = [_given(operand) for operand in instruction.operands]
    if any(given):
        sources.append(", ".join(given))
    for number, register in enumerate(written):
        if register in machine.program.wanted:
            symbol = lanes.opaque(instruction.operation.text, number, *sources)
            machine.registers.write(register, guard, symbol)


def _float_results(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A product or a sum of numbers that are known; else a symbol."""
    target, *sources = instruction.operands
    values = [machine.value(each, guard) for each in sources] if all(map(_is_scalar, sources)) else []
    result = computed(instruction.operation.op, typing_of(instruction.operation), values)
    if result is None or not isinstance(target, Register):
        _opaque_results(machine, point, instruction, guard)
    else:
        machine.registers.write(target, guard, result)


def _is_scalar(operand: Operand) -> bool:
    return isinstance(operand, Register | FloatImmediate)


def _given(operand: Operand) -> str:
    """Return what the text of an operand gives besides registers."""
    match operand:
        case Immediate() | FloatImmediate() | Symbol() | SymbolOffset() | Component():
            return str(operand)
        case Negated():
            return "!"
        case Vector(elements=elements):
            given = [_given(element) for element in elements]
            return f"{{{', '.join(given)}}}" if any(given) else ""
        case _:
            return ""


def _move_vector(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`mov` that packs or unpacks a vector."""
    if instruction.operation.op is not Op.MOV or len(instruction.operands) != 2:
        _opaque_results(machine, point, instruction, guard)
        return
    target, source = instruction.operands
    width = typing_of(instruction.operation).width
    if isinstance(source, Vector) and isinstance(target, Register):
        machine.registers.write(target, guard, _packed(machine, source, width, guard))
    elif isinstance(target, Vector):
        value = machine.value(source, guard)
        part = width // len(target.elements)
        for position, element in enumerate(target.elements):
            if isinstance(element, Register):
                machine.registers.write(element, guard, _part(value, position, part))


def _packed(machine: Machine, source: Vector, width: int, guard: ThreadSet) -> Value:
    part = width // len(source.elements)
    return lanes.pack(part, [machine.value(element, guard) for element in source.elements])


def _part(value: Value, position: int, width: int) -> Value:
    """Return one element of a packed value."""
    if isinstance(value, Form):
        name = value.terms[0][0]
        if len(value.terms) == 1 and name[0] == "pack" and name[1] == width and value.terms[0][1] == 1:
            element = name[2 + position]
            if isinstance(element, int):
                return element
            return _value_of(element)
        return lanes.opaque("part", value, position, width)
    shifted = lanes.shift_right(value, position * width, 64, arithmetic=False)
    return lanes.unsigned(shifted, width) if not isinstance(shifted, Form) else shifted


def _value_of(key: object) -> Value:
    """Return the value that an argument of an atom stands for."""
    assert isinstance(key, tuple)
    if key[0] == "lanes":
        return np.frombuffer(key[1], dtype=np.uint64)
    if key[0] == "sum":
        return Form(key[1], key[2])
    return Form(((key, 1),))  # type: ignore[arg-type]


# -- lanes


def _elect(machine: Machine, _: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`elect.sync`: the lowest active lane of each warp leads, or the highest (the ISA only fixes that it is one)."""
    leaders: ThreadSet = 0
    chosen = np.zeros(machine.threads, dtype=np.uint64)
    for warp in range(0, machine.threads, 32):
        active = guard >> warp & 0xFFFFFFFF
        if active:
            lane = active.bit_length() - 1 if machine.elects_last else (active & -active).bit_length() - 1
            leaders |= 1 << lane + warp
            chosen[warp : warp + 32] = lane
    result = instruction.operands[0]
    targets = (result.first, result.second) if isinstance(result, Pair) else (result,)
    if isinstance(targets[-1], Register):
        holds = lanes_of(leaders, machine.threads).astype(np.uint64)
        machine.registers.write(targets[-1], guard, holds)
    if len(targets) == 2 and isinstance(targets[0], Register):
        machine.registers.write(targets[0], guard, chosen)


def _is_parted(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> bool:
    """Tell whether lanes get what others bring that are not there: no number is known then."""
    if point not in machine.program.member_masks or not machine.is_parted(point, guard):
        return False
    machine.write_opaque(instruction, guard, "parted", point, machine.count(("parted", point)), differs=_ANY)
    return True


def _shuffle(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    if _is_parted(machine, point, instruction, guard):
        return
    target, source, lane, *rest = instruction.operands
    value, index = machine.value(source, guard), machine.value(lane, guard)
    result: Value
    if isinstance(value, int) or (isinstance(value, Form) and not value.differs):
        result = value
    elif instruction.operation.has(".idx") and not isinstance(index, Form):
        result = _from_lane(machine, value, index, machine.value(rest[0], guard) if rest else 31)
    else:
        result = lanes.opaque("shfl", *instruction.operation.modifiers, value, index, differs=_ANY)
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    inside: Value = 1 if instruction.operation.has(".idx") else lanes.opaque("in-range", value, differs=_ANY)
    source_lanes = _source_lanes(machine, instruction, index, machine.value(rest[0], guard) if rest else 31)
    if source_lanes is not None and not isinstance(value, Form):
        result = lanes.as_lanes(value, machine.threads)[source_lanes[0]]
        inside = lanes.settle(source_lanes[1])
    for each, held in zip(targets, (lanes.settle(result), inside), strict=False):
        if isinstance(each, Register):
            machine.registers.write(each, guard, held)


def _from_lane(machine: Machine, value: Value, index: Value, clamp: Value) -> Value:
    """The value of a lane of the same warp, or of the same segment of it."""
    if isinstance(value, Form):
        if isinstance(index, int) and clamp == 31:
            return lanes.opaque("lane", index & 31, value, differs=value.differs & WARP)
        return lanes.opaque("shfl", value, index, clamp, differs=_ANY)
    if not isinstance(clamp, int) or clamp & 31 != 31 or isinstance(index, Form):
        return lanes.opaque("shfl", value, index, clamp, differs=_ANY)
    segment = clamp >> 8 & 31
    every = np.arange(machine.threads, dtype=np.int64)
    wanted = lanes.as_lanes(index, machine.threads).astype(np.int64) & 31
    source = every // 32 * 32 + (every % 32 & segment) + (wanted & (31 & ~segment))
    held: Lanes = lanes.as_lanes(value, machine.threads)[np.minimum(source, machine.threads - 1)]
    return held


def _source_lanes(
    machine: Machine, instruction: Instruction, index: Value, clamp: Value
) -> tuple[npt.NDArray[np.int64], Lanes] | None:
    """Return the threads that lanes get numbers from, and whether each is in range (PTX ISA 9.7.9.6, "shfl.sync")."""
    move = _MOVES.get(next((each for each in instruction.operation.modifiers if each in _MOVES), ""))
    if move is None or not isinstance(clamp, int) or isinstance(index, Form):
        return None
    every = np.arange(machine.threads, dtype=np.int64)
    lane, by = every % 32, lanes.as_lanes(index, machine.threads).astype(np.int64) & 31
    segment = clamp >> 8 & 31
    last = (lane & segment) | (clamp & 31 & ~segment)
    wanted = move(lane, by)
    inside = wanted >= last if move is np.subtract else wanted <= last
    source = every - lane + np.where(inside, wanted, lane)
    return np.clip(source, 0, machine.threads - 1), inside.astype(np.uint64)


_MOVES: Mapping[str, Callable[..., npt.NDArray[np.int64]]] = {
    ".up": np.subtract,
    ".down": np.add,
    ".bfly": np.bitwise_xor,
}


def _vote(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`vote`: what the active lanes of a warp say together."""
    target, source, *_ = instruction.operands
    if not isinstance(target, Register):
        _opaque_results(machine, point, instruction, guard)
        return
    if _is_parted(machine, point, instruction, guard):
        return
    value = machine.value(source, guard)
    operation = instruction.operation
    if isinstance(value, Form):
        kind = next((m for m in (".any", ".all", ".uni", ".ballot") if operation.has(m)), "")
        uniform = not value.differs and kind in (".any", ".all")
        result: Value = value if uniform else lanes.opaque("vote", kind, value, differs=value.differs & WARP)
        if not uniform and not value.differs and kind == ".uni":
            result = 1
        machine.registers.write(target, guard, result)
        return
    holds = lanes.as_lanes(value, machine.threads)
    answers = np.zeros(machine.threads, dtype=np.uint64)
    for warp in range(0, machine.threads, 32):
        active = guard >> warp & 0xFFFFFFFF
        said = sum(1 << n for n, each in enumerate(holds[warp : warp + 32].tolist()) if each & 1) & active
        if operation.has(".ballot"):
            answer = said
        elif operation.has(".any"):
            answer = int(said != 0)
        elif operation.has(".all"):
            answer = int(said == active)
        else:
            answer = int(said in (0, active))
        answers[warp : warp + 32] = answer
    machine.registers.write(target, guard, lanes.settle(answers))


def _active(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`activemask`: the lanes that are here together are taken to be active together, which PTX does not promise."""
    machine.assume("active-lanes", _ACTIVE, point)
    masks = np.zeros(machine.threads, dtype=np.uint64)
    for warp in range(0, machine.threads, 32):
        masks[warp : warp + 32] = guard >> warp & 0xFFFFFFFF
    target = instruction.operands[0]
    if isinstance(target, Register):
        machine.registers.write(target, guard, lanes.settle(masks))


# -- memory and addresses


def _load(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A load gives a symbol named by its address, and for memory that changes by how often it was read."""
    operand = next((o for o in instruction.operands if isinstance(o, Address)), None)
    if operand is None or (
        isinstance(operand.base, Symbol)
        and instruction.operation.slots.get("space", "").startswith(".param")
        and operand.base.name not in machine.layout.starts
    ):
        _returned(machine, point, instruction, guard)
        return
    address = machine.value(operand, guard)
    types = typing_of(instruction.operation)
    for number, register in enumerate(instruction.writes()):
        if register in machine.program.wanted:
            value = _loaded(machine, point, instruction, address, number, guard)
            if types.signed and not isinstance(value, Form):
                width = machine.program.width_of(register)
                value = lanes.unsigned(lanes.signed(lanes.unsigned(value, types.width), types.width), width)
            machine.registers.write(register, guard, value)


def _is_told_all(machine: Machine, point: int, number: int, width: int) -> bool:
    """Tell whether what is read is the same in all CTAs of the cluster: an answer to all, or a word stored in all."""
    if width == _ANSWER_BITS and machine.program.hears_one_answer:
        return True
    return machine.shape.ctas > 1 and number in machine.program.broadcasts.words.get(point, ())


def _returned(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """The result of a call."""
    visit = machine.count(("returned", point, guard))
    machine.write_opaque(instruction, guard, "returned", point, hex(guard), visit, differs=_ANY)


def _loaded(
    machine: Machine, point: int, instruction: Instruction, address: Value, number: int, guard: ThreadSet
) -> Value:
    types = typing_of(instruction.operation)
    at = lanes.add(address, number * types.width // 8, 64)
    if isinstance(at, int) and at & PARAM_WINDOW:
        return machine.parameter(at - PARAM_WINDOW, types)
    operation = instruction.operation
    space = operation.slots.get("space", "")
    if space.startswith(".shared") or (not space and isinstance(at, int) and at & SHARED_WINDOW):
        if not isinstance(at, Form):
            held = machine.table.read(at, types.width // 8, guard, lanes_of(guard, machine.threads))
            if held is not None:
                text = "nothing else writes the variables in shared memory that hand numbers to other warps"
                if machine.program.reads_tables:
                    machine.assume(SHARED_TABLE, text, point)
                return lanes.settle(held)
            turn = machine.read_ring(point, at, types.width // 8, guard)
            if turn is not None:
                return turn
        visit = machine.count(("shared", lanes.key_of(at), guard))
        if isinstance(at, int) and _is_told_all(machine, point, number, types.width):
            at &= OFFSET_MASK
        symbol = lanes.opaque("shared", at, types.width, visit)
        machine.note_loaded(symbol, point, guard)
        return symbol
    of_thread = machine.program.may_be_local(point) and (bool(space) or not _is_outside(machine, at))
    if of_thread or is_strong(operation):
        visit = machine.count(("strong", point, guard))
        differs = 0 if guard.bit_count() == 1 else _ANY
        kind = "own" if of_thread else "strong"
        return lanes.opaque(kind, at, types.width, point, hex(guard), visit, differs=differs)
    found = machine.from_host(point, at, types, guard)
    if found is not None:
        return found
    outside = space.startswith((".global", ".const")) or (isinstance(at, Form) and is_pointer(at))
    return lanes.opaque("load", at, types.width, *(() if outside else ("anywhere",)))


def _is_outside(machine: Machine, address: Value) -> bool:
    """Tell whether a generic address is surely of no local variable."""
    if not isinstance(address, Form):
        return False
    symbols = {name[1] for name, _ in address.terms if name[0] == "symbol"}
    return is_pointer(address) and symbols.isdisjoint(machine.program.local_variables)


def _convert_address(machine: Machine, _: int, instruction: Instruction, guard: ThreadSet) -> None:
    target, source = instruction.operands
    value = machine.value(source, guard)
    modifiers = instruction.operation.modifiers
    if any(m.startswith(".shared") for m in modifiers):
        if ".to" in modifiers:
            value = lanes.bitwise(Op.AND, value, 0xFFFFFFFF) if not isinstance(value, Form) else value
        else:
            value = lanes.add(value, SHARED_WINDOW, 64)
    elif ".param" in modifiers and ".to" not in modifiers and not isinstance(value, Form):
        value = lanes.bitwise(Op.OR, value, PARAM_WINDOW)  # which the register of 32 bits did not hold
    if isinstance(target, Register):
        machine.registers.write(target, guard, value)


def _map_address(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    target, *operands = instruction.operands
    source, rank = (_number(machine, machine.value(o, guard), guard, point) for o in operands)
    if not isinstance(target, Register):
        return
    place = mapped(source, rank, generic=not instruction.operation.slots.get("space", ""))
    machine.registers.write(target, guard, lanes.settle(place))


def _number(machine: Machine, value: Value, guard: ThreadSet, point: int) -> Value:
    """Return the number that the decisions leave a value, if it is only one."""
    machine.observe_use(value)
    value = machine.decider.reduced(machine.decider.concrete(value, guard, point))
    return machine.decider.single(value, guard) if isinstance(value, Form) else value


def _rank_of_address(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    target, source = instruction.operands
    value = machine.value(source, guard)
    if isinstance(value, Form):
        _opaque_results(machine, point, instruction, guard)
    elif isinstance(target, Register):
        rank = lanes.shift_right(lanes.bitwise(Op.AND, value, 0xFFFFFFFF), RANK_SHIFT, 32, arithmetic=False)
        machine.registers.write(target, guard, lanes.settle(rank))


# -- predicates


def _set_predicate(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    operation = instruction.operation
    types = typing_of(operation)
    target, a, b, *rest = instruction.operands
    relation = next(m for m in operation.modifiers if m in _ALL_RELATIONS)
    left, right = machine.value(a, guard), machine.value(b, guard)
    machine.observe_comparison(point, guard, left, right)
    known = None if types.is_integer else compared(relation, types, left, right)
    truth: Value
    if types.is_integer:
        truth = lanes.compare(
            relation, _masked(left, types.width), _masked(right, types.width), types.width,
            signed_operands=types.signed,
        )  # fmt: skip
    elif known is not None:
        truth = known
    elif relation in _OPPOSITES:
        truth = lanes.negate(lanes.opaque("setp", _OPPOSITES[relation], left, right))
    else:
        truth = lanes.opaque("setp", relation, left, right)
    combine = next((m for m in operation.modifiers if m in _COMBINE), None)
    values = [truth, lanes.negate(truth)]
    if combine is not None and rest:
        third = machine.value(rest[0], guard)
        values = [logic(_COMBINE[combine], value, third) for value in values]
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    for each, value in zip(targets, values, strict=False):
        if isinstance(each, Register):
            machine.registers.write(each, guard, lanes.settle(value))


def _masked(value: Value, width: int) -> Value:
    return value if isinstance(value, Form) else lanes.unsigned(value, width)


def logic(op: Op, a: Value, b: Value) -> Value:
    """and, or, xor of predicates."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int):
            if op is Op.AND:
                return other if one & 1 else 0
            if op is Op.OR:
                return 1 if one & 1 else other
            return lanes.negate(other) if one & 1 else other
    return lanes.bitwise(op, a, b)


def _logic_step(op: Op) -> Callable[[Machine, int, Instruction, ThreadSet], None]:
    def step(machine: Machine, _: int, instruction: Instruction, guard: ThreadSet) -> None:
        target, *sources = instruction.operands
        a, b = (machine.value(source, guard) for source in sources)
        types = typing_of(instruction.operation)
        result = logic(op, a, b) if types.width == 1 else COMPUTE[op](types, [a, b], machine.threads)
        if isinstance(target, Register):
            machine.registers.write(target, guard, lanes.settle(result))

    return step


def _call(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A call of a function that does not synchronise: its results are symbols."""
    _returned(machine, point, instruction, guard)


def _store(machine: Machine, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A store to shared memory that is kept for who reads it: in the machine's table, or its rings."""
    target, source = instruction.operands[0], instruction.operands[-1]
    address = machine.value(target, guard)
    if isinstance(address, Form):
        machine.forget_stored(point, guard)
        return
    size = typing_of(instruction.operation).width // 8
    elements = source.elements if isinstance(source, Vector) else (source,)
    for number, element in enumerate(elements):
        value = machine.value(element, guard)
        for threads, place, stored in _each_place(machine, address, value, guard):
            machine.note_stored(stored, 8 * size, point)
            known = _low_bytes(stored, size, machine.threads)
            machine.keep_stored(point, place + number * size, size, known, threads)


def _low_bytes(value: Value, size: int, threads: int) -> Value:
    """Return what is stored of a value in so many bytes; symbols of 32 bits and more are not cut."""
    if isinstance(value, int):
        return value & lanes.mask_of(8 * size)
    if not isinstance(value, Form) or size >= 4 or fits(value, 8 * size, threads):
        return value
    return lanes.bitwise(Op.AND, value, lanes.mask_of(8 * size))


def _each_place(
    machine: Machine, address: int | Lanes, value: Value, guard: ThreadSet
) -> Iterator[tuple[ThreadSet, int, Value]]:
    """Yield the threads that store to one place, the place, and what they store there."""
    if isinstance(address, int):
        yield guard, address, value
        return
    active = lanes_of(guard, machine.threads)
    for place in np.unique(address[active]).tolist():
        threads = set_of(active & (address == place))
        first = (threads & -threads).bit_length() - 1
        is_one = threads & threads - 1 == 0
        yield threads, place, int(value[first]) if is_one and isinstance(value, np.ndarray) else value


_ALL_RELATIONS = frozenset(
    {
        ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu", ".leu", ".gtu",
        ".geu", ".num", ".nan",
    }
)  # fmt: skip
_OPPOSITES = {
    ".ne": ".equ", ".neu": ".eq", ".geu": ".lt", ".gtu": ".le", ".leu": ".gt", ".ltu": ".ge", ".nan": ".num",
}  # fmt: skip
"""Relations of floating-point numbers that hold just where another one does not (PTX ISA 9.7.6.2, "setp")."""
_COMBINE = {".and": Op.AND, ".or": Op.OR, ".xor": Op.XOR}

_SPECIAL: Mapping[Op, Callable[[Machine, int, Instruction, ThreadSet], None]] = {
    Op.SETP: _set_predicate,
    Op.AND: _logic_step(Op.AND),
    Op.OR: _logic_step(Op.OR),
    Op.XOR: _logic_step(Op.XOR),
    Op.ELECT_SYNC: _elect,
    Op.SHFL_SYNC: _shuffle,
    Op.VOTE: _vote,
    Op.VOTE_SYNC: _vote,
    Op.ACTIVEMASK: _active,
    Op.LD: _load,
    Op.LD_NC: _load,
    Op.LDU: _load,
    Op.CVTA: _convert_address,
    Op.MAPA: _map_address,
    Op.GETCTARANK: _rank_of_address,
    Op.CALL: _call,
    Op.ST: _store,
}

__all__ = ["NotFollowedError", "logic", "perform"]
