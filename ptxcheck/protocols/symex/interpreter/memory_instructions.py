"""Loads, stores to shared memory, and conversions of addresses.

Property: two loads give one symbol only if they read one number: from memory that does not change, at the same address,
or from shared memory at the same visit of threads that act together.

Argument: a load is named by its address, and for memory that changes also by how often it was read; memory that others
write meanwhile, and memory of a thread, gives a symbol for each read.

Not covered: that global memory does not change while the kernel runs, and that all roles read the same from shared
memory, in the same order: the run assumes it where it decides by such a number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....cfg.optypes import Typing, typing_of
from ....ir import Address, Instruction, Register, Symbol, Vector
from ....opcodes.op import Op
from ....verdict import AssumptionKind
from ..slice.accesses import is_pointer, is_strong
from ..slice.constant_words import INITIALISED
from ..values import lane_arithmetic as lanes
from ..values.comparisons import sign_extended
from ..values.kinds import Kind
from ..values.register_file import lanes_of, set_of
from ..values.substitution import mapped
from ..values.symbol import Form, Lanes, Value
from ..values.trace import OFFSET_MASK, PARAM_WINDOW, RANK_SHIFT, SHARED_WINDOW, ThreadSet
from ..values.value_ranges import fits
from ..values.wraparound import WORD
from .cta import Cta
from .named_results import ANY, opaque_results, returned_results

_ANSWER_BITS = 128
"""An answer of `clusterlaunchcontrol.try_cancel`, which is read as a whole."""


def load(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A load gives a symbol named by its address, and for memory that changes by how often it was read."""
    operand = next((o for o in instruction.operands if isinstance(o, Address)), None)
    if operand is None or (
        isinstance(operand.base, Symbol)
        and instruction.operation.slots.get("space", "").startswith(".param")
        and operand.base.name not in cta.layout.starts
    ):
        returned_results(cta, point, instruction, guard)
        return
    address = cta.operands.value(operand, guard)
    types = typing_of(instruction.operation)
    for number, register in enumerate(instruction.writes()):
        if register in cta.program.wanted:
            value = _loaded(cta, point, instruction, address, number, guard)
            if types.signed and not isinstance(value, Form):
                width = cta.program.width_of(register)
                value = lanes.unsigned(lanes.signed(lanes.unsigned(value, types.width), types.width), width)
            elif types.signed and isinstance(value, Form) and types.width < WORD:
                value = sign_extended(value, types.width)
            cta.registers.write(register, guard, value)


def _loaded(
    cta: Cta, point: int, instruction: Instruction, address: Value, number: int, guard: ThreadSet
) -> Value:
    types = typing_of(instruction.operation)
    at = lanes.add(address, number * types.width // 8, 64)
    if isinstance(at, int) and at & PARAM_WINDOW:
        return cta.operands.parameter(at - PARAM_WINDOW, types)
    operation = instruction.operation
    space = operation.slots.get("space", "")
    if space.startswith(".shared") or (not space and isinstance(at, int) and at & SHARED_WINDOW):
        held = cta.shared.read(point, instruction, at, guard, number * types.width // 8)
        if held is not None:
            return lanes.settle(held)
        visit = cta.visits.count(("shared", lanes.key_of(at), guard))
        if isinstance(at, int) and _is_told_all(cta, point, number, types.width):
            at &= OFFSET_MASK
        symbol = lanes.opaque(Kind.SHARED, at, types.width, visit)
        cta.log.note_loaded(symbol, point, guard)
        return symbol
    of_thread = cta.program.may_be_local(point) and (bool(space) or not _is_outside(cta, at))
    if of_thread or is_strong(operation) or cta.program.rewrites.is_of(point):
        visit = cta.visits.count(("strong", point, guard))
        differs = 0 if guard.bit_count() == 1 else ANY
        kind = Kind.OWN if of_thread else Kind.STRONG
        return lanes.opaque(kind, at, types.width, point, hex(guard), visit, differs=differs)
    word = _initial_word(cta, at, types.width // 8)
    if word is not None:
        cta.assume(AssumptionKind.CONSTANTS, INITIALISED, point)
        return word
    found = _from_host(cta, point, at, types, guard)
    if found is not None:
        return found
    outside = space.startswith((".global", ".const")) or (isinstance(at, Form) and is_pointer(at))
    return lanes.opaque(Kind.LOAD, at, types.width, *(() if outside else ("anywhere",)))


def _initial_word(cta: Cta, address: Value, size: int) -> int | None:
    """Return what constant memory is initialised with at an address; None where that is not known."""
    if not isinstance(address, Form) or len(address.terms) != 1:
        return None
    ((atom, factor),) = address.terms
    if atom.kind is not Kind.SYMBOL or factor != 1 or not isinstance(address.constant, int):
        return None
    return cta.program.constant_words.word(str(atom[1]), address.constant, size)


def _is_told_all(cta: Cta, point: int, number: int, width: int) -> bool:
    """Tell whether what is read is the same in all CTAs of the cluster: an answer to all, or a word stored in all."""
    if width == _ANSWER_BITS and cta.program.hears_one_answer:
        return True
    return cta.shape.ctas > 1 and number in cta.program.stores.broadcasts.words.get(point, ())


def _is_outside(cta: Cta, address: Value) -> bool:
    """Tell whether a generic address is surely of no local variable."""
    if not isinstance(address, Form):
        return False
    symbols = {name[1] for name, _ in address.terms if name.kind is Kind.SYMBOL}
    return is_pointer(address) and symbols.isdisjoint(cta.program.local_variables)


def store(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A store to shared memory that is kept for who reads it: in the cta's table, or its rings."""
    target, source = instruction.operands[0], instruction.operands[-1]
    address = cta.operands.value(target, guard)
    if isinstance(address, Form):
        cta.shared.forget(point, guard)
        return
    size = typing_of(instruction.operation).width // 8
    elements = source.elements if isinstance(source, Vector) else (source,)
    for number, element in enumerate(elements):
        value = cta.operands.value(element, guard)
        for threads, place, stored in _each_place(cta, address, value, guard):
            cta.note_stored(stored, 8 * size, point)
            known = _low_bytes(stored, size, cta.threads)
            cta.shared.keep(point, place + number * size, size, known, threads)


def _low_bytes(value: Value, size: int, threads: int) -> Value:
    """Return what is stored of a value in so many bytes; symbols of 32 bits and more are not cut."""
    if isinstance(value, int):
        return value & lanes.mask_of(8 * size)
    if not isinstance(value, Form) or size >= 4 or fits(value, 8 * size, threads):
        return value
    return lanes.bitwise(Op.AND, value, lanes.mask_of(8 * size))


def _each_place(
    cta: Cta, address: int | Lanes, value: Value, guard: ThreadSet
) -> Iterator[tuple[ThreadSet, int, Value]]:
    """Yield the threads that store to one place, the place, and what they store there."""
    if isinstance(address, int):
        yield guard, address, value
        return
    active = lanes_of(guard, cta.threads)
    for place in np.unique(address[active]).tolist():
        threads = set_of(active & (address == place))
        first = (threads & -threads).bit_length() - 1
        is_one = threads & threads - 1 == 0
        yield threads, place, int(value[first]) if is_one and isinstance(value, np.ndarray) else value


def convert_address(cta: Cta, _: int, instruction: Instruction, guard: ThreadSet) -> None:
    target, source = instruction.operands
    value = cta.operands.value(source, guard)
    modifiers = instruction.operation.modifiers
    if any(m.startswith(".shared") for m in modifiers):
        if ".to" in modifiers:
            value = lanes.bitwise(Op.AND, value, 0xFFFFFFFF) if not isinstance(value, Form) else value
        else:
            value = lanes.add(value, SHARED_WINDOW, 64)
    elif ".param" in modifiers and ".to" not in modifiers and not isinstance(value, Form):
        value = lanes.bitwise(Op.OR, value, PARAM_WINDOW)  # which the register of 32 bits did not hold
    if isinstance(target, Register):
        cta.registers.write(target, guard, value)


def map_address(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    target, *operands = instruction.operands
    source, rank = (_number(cta, cta.operands.value(o, guard), guard, point) for o in operands)
    if not isinstance(target, Register):
        return
    place = mapped(source, rank, generic=not instruction.operation.slots.get("space", ""))
    cta.registers.write(target, guard, lanes.settle(place))


def _number(cta: Cta, value: Value, guard: ThreadSet, point: int) -> Value:
    """Return the number that the decisions leave a value, if it is only one."""
    cta.operands.note_use(value)
    value = cta.decider.reduced(cta.decider.concrete(value, guard, point))
    return cta.decider.single(value, guard) if isinstance(value, Form) else value


def rank_of_address(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    target, source = instruction.operands
    value = cta.operands.value(source, guard)
    if isinstance(value, Form):
        opaque_results(cta, point, instruction, guard)
    elif isinstance(target, Register):
        rank = lanes.shift_right(lanes.bitwise(Op.AND, value, 0xFFFFFFFF), RANK_SHIFT, 32, arithmetic=False)
        cta.registers.write(target, guard, lanes.settle(rank))


def _from_host(cta: Cta, point: int, address: Value, types: Typing, guard: ThreadSet) -> Value | None:
    """Return what the host has put into global memory, None when it has put no numbers there."""
    host, size, is_float = cta.options.host, types.width // 8, not types.is_integer
    if host is None or size > 8:
        return None
    if isinstance(address, Form):
        return host.load_anywhere(point, address, size, is_float=is_float)
    if isinstance(address, int):
        return host.load(point, address, size, is_float=is_float)
    active = lanes_of(guard, cta.threads)
    held = np.zeros(cta.threads, dtype=np.uint64)
    for place in np.unique(address[active]).tolist():
        held[active & (address == place)] = host.load(point, place, size, is_float=is_float)
    return lanes.settle(held)
