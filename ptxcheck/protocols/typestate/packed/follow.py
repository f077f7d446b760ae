"""Follow a register back through the code that packs it, to a `Word`.

Property: as for `Word`. What is not followed becomes one opaque segment, as long as the known bits of the value
say. Merges of paths and loops keep the parts that all ways agree on: at a loop the parts that change are taken to
be opaque, and that is checked against what one round makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ....cfg import (
    AtomKind,
    Name,
    Uniformity,
    Value,
)
from ....cfg.linear import Atom
from ....cfg.optypes import Typing, typing_of
from ....ir import (
    Immediate,
    Instruction,
    Operand,
    Register,
    SymbolOffset,
    Vector,
)
from ....ir import Symbol as SymbolOperand
from ....opcodes.op import Op
from .word import (
    SHARED_BITS,
    Piece,
    Segment,
    Sum,
    Word,
)

if TYPE_CHECKING:
    from ....view import KernelView

MAX_DEPTH = 120
MAX_STEPS = 60_000
_WIDEST = 64
_AND, _OR, _XOR = 0xC0, 0xFC, 0x3C


class Follower:
    """Words of one kernel's registers."""

    def __init__(self, view: KernelView, known: Callable[[int], int | None] = lambda load: None) -> None:
        """`known` gives the number that a load finds, by its point, None where that is not known."""
        self._view = view
        self._facts = view.facts
        self._known = known
        self._words: list[dict[Name, Word]] = [{}]
        """Known words; those beyond the first hold while a loop's assumption does."""
        self._assumed: dict[Name, Word] = {}
        self._depth = 0
        self._steps = 0

    def word(self, point: int, operand: Operand | None, width: int = _WIDEST) -> Word:
        """Return the word that a point reads."""
        found = self._of(point, operand, width)
        return found if found is not None else Word(width, (Segment(0, width, _unknown(point, width)),))

    # ---- operands

    def _of(self, point: int, operand: Operand | None, width: int) -> Word | None:
        match operand:
            case Register():
                found = self._named(self._facts.name(point, operand))
                return found.resized(width)
            case Immediate(value=number):
                return Word(width, (), number & ((1 << width) - 1))
            case SymbolOperand() | SymbolOffset():
                return _leaf(self._facts.value(point, operand), None).resized(width)
            case _:
                value = None if operand is None else self._facts.value(point, operand)
                return None if value is None else _leaf(value, None).resized(width)

    def _named(self, name: Name) -> Word:
        for layer in reversed(self._words):
            if name in layer:
                return layer[name]
        if name in self._assumed:
            return self._assumed[name]
        value = self._facts.value_of(name)
        if value is None:
            return Word(_WIDEST)
        if value.constant is not None:
            return Word(value.width, (), value.constant)
        number = self._known(name.site) if name.site >= 0 else None
        if number is not None:
            return Word(value.width, (), number)
        self._steps += 1
        if self._depth >= MAX_DEPTH or self._steps > MAX_STEPS:
            return _leaf(value, name)
        self._depth += 1
        try:
            found = self._merged(name) if name.phi_block is not None else self._defined(name)
        finally:
            self._depth -= 1
        word = found if found is not None else _leaf(value, name)
        self._words[-1][name] = word
        return word

    # ---- merges

    def _merged(self, name: Name) -> Word | None:
        block = name.phi_block
        assert block is not None
        into = self._facts.merged(name)
        dominates = self._view.cfg.dominators.dominates
        before = list(dict.fromkeys(source for edge, source in into if not dominates(block, edge.source)))
        around = list(dict.fromkeys(source for edge, source in into if dominates(block, edge.source)))
        opaque = Sum(((_atom(name, _WIDEST), 1),))
        entering = self._joined(before, opaque)
        if entering is None or not around:
            return entering
        if not entering.segments:
            return None
        return (
            self._through(name, around, entering, None)
            or self._through(name, around, _hidden(entering, opaque, carries=False), opaque)
            or self._through(name, around, _hidden(entering, opaque, carries=True), opaque)
        )

    def _joined(self, names: list[Name], opaque: Sum) -> Word | None:
        words = [self._named(one) for one in names if self._facts.value_of(one) is not None]
        if not words:
            return None
        total: Word | None = words[0]
        for word in words[1:]:
            if total is not None and total.width != word.width:
                width = max(total.width, word.width)
                total, word = (
                    Word(width, total.segments, total.constant),
                    Word(width, word.segments, word.constant),
                )
            total = None if total is None else total.either(word, opaque)
        return total

    def _through(self, name: Name, around: list[Name], assumption: Word, opaque: Sum | None) -> Word | None:
        """Return the assumption about a loop's merge when a round of the loop leaves it true."""
        self._assumed[name] = assumption
        self._words.append({})
        try:
            held = all(_is_within(self._named(one), assumption, opaque) for one in around)
        finally:
            self._words.pop()
            del self._assumed[name]
        return assumption if held else None

    # ---- definitions

    def _defined(self, name: Name) -> Word | None:
        if name.site < 0:
            return None
        instruction = self._view.body.instructions[name.site]
        found = self._result(name, instruction)
        if found is None or instruction.guard is None:
            return found
        guard = self._facts.value(name.site, instruction.guard.register).constant
        if guard is not None and bool(guard) != instruction.guard.negated:
            return found
        previous = self._named(self._facts.name(name.site, name.register))
        return previous.either(found, Sum(((_atom(name, _WIDEST), 1),)))

    def _result(self, name: Name, instruction: Instruction) -> Word | None:
        handler = _HANDLERS.get(instruction.operation.op)
        if handler is None:
            return None
        typing = typing_of(instruction.operation)
        if not typing.is_integer:
            return None
        return handler(self, _Call(self, name, instruction, typing))

    def is_uniform(self, point: int, operand: Operand) -> bool:
        """Tell whether the lanes of each warp read one number."""
        return self._facts.uniform(point, operand) <= Uniformity.WARP

    def value(self, point: int, operand: Operand | None) -> Value:
        return self._facts.value(point, operand)


class _Call:
    """One instruction, as the handlers see it; operands in the order of the PTX manual."""

    def __init__(self, follower: Follower, name: Name, instruction: Instruction, typing: Typing) -> None:
        self.follower = follower
        self.name = name
        self.instruction = instruction
        self.typing = typing

    @property
    def width(self) -> int:
        return self.typing.width

    def operand(self, index: int) -> Operand | None:
        operands = self.instruction.operands
        return operands[index] if index < len(operands) else None

    def word(self, index: int, width: int | None = None) -> Word | None:
        return self.follower._of(self.name.site, self.operand(index), width or self.width)

    def number(self, index: int) -> int | None:
        return self.follower.value(self.name.site, self.operand(index)).constant

    def is_multiple(self, index: int, divisor: int) -> bool:
        return bool(self.follower.value(self.name.site, self.operand(index)).divisible(divisor))


_Handler = Callable[[Follower, _Call], Word | None]


def _move(follower: Follower, call: _Call) -> Word | None:
    source, target = call.operand(1), call.operand(0)
    if isinstance(source, Vector):
        size = call.width // len(source.elements)
        total: Word | None = Word(call.width)
        for index, element in enumerate(source.elements):
            part = follower._of(call.name.site, element, size)
            wide = None if part is None else part.resized(call.width)
            placed = None if wide is None else wide.left(index * size)
            total = None if total is None or placed is None else total.plus(placed)
        return total
    if isinstance(target, Vector):
        size = call.width // len(target.elements)
        index = target.elements.index(call.name.register)
        whole = call.word(1)
        part = None if whole is None else whole.right(index * size)
        return None if part is None else part.resized(size)
    return call.word(1)


def _convert(follower: Follower, call: _Call) -> Word | None:
    typing = call.typing
    if len(typing.types) != 2 or typing.has(".sat"):
        return None
    source = call.word(1, typing.source_width)
    if source is None:
        return None
    if typing.source_signed and typing.width > typing.source_width and not _is_positive(source):
        return None
    return source.resized(typing.width)


def _is_positive(word: Word) -> bool:
    return (word.occupied | word.constant) >> (word.width - 1) == 0


def _shift_left(follower: Follower, call: _Call) -> Word | None:
    amount, word = call.number(2), call.word(1)
    return None if amount is None or word is None else word.left(min(amount, call.width))


def _shift_right(follower: Follower, call: _Call) -> Word | None:
    amount, word = call.number(2), call.word(1)
    if amount is None or word is None or (call.typing.signed and not _is_positive(word)):
        return None
    return word.right(min(amount, call.width))


def _and(follower: Follower, call: _Call) -> Word | None:
    return _bitwise_and(call.word(1), call.word(2))


def _bitwise_and(a: Word | None, b: Word | None) -> Word | None:
    if a is None or b is None:
        return None
    if b.number is not None:
        return a.masked(b.number)
    return b.masked(a.number) if a.number is not None else None


def _or(follower: Follower, call: _Call) -> Word | None:
    return _bitwise_or(call, False)


def _xor(follower: Follower, call: _Call) -> Word | None:
    return _bitwise_or(call, True)


def _bitwise_or(call: _Call, flip: bool) -> Word | None:
    """An `or` (or `xor`) of disjoint words is their sum. Within an address it is, where alignment says so."""
    a, b = call.word(1), call.word(2)
    if a is None or b is None:
        return None
    if (a.occupied | a.constant) & (b.occupied | b.constant) == 0:
        return a.plus(b)
    for one, other, index in ((a, b, 1), (b, a, 2)):
        number = other.number
        if number is None:
            continue
        inside = number & one.occupied
        outside = number & ~one.occupied
        constant = one.constant ^ outside if flip else one.constant | outside
        combined = replace(one, constant=constant)
        if not inside:
            return combined
        if call.is_multiple(index, 1 << inside.bit_length()):
            return combined.plus_constant(inside)
        touched = [s for s in one.segments if s.mask & inside]
        if all(s.is_address for s in touched):
            opaque = Sum(((_atom(call.name, _WIDEST), 1),))
            hidden = (
                replace(s, sum=_hidden_sum(s, opaque), room=0) if s in touched else s for s in one.segments
            )
            return replace(combined, segments=tuple(hidden))
    return None


def _add(follower: Follower, call: _Call) -> Word | None:
    a, b = call.word(1), call.word(2)
    return None if a is None or b is None or call.typing.has(".sat") else a.plus(b)


def _subtract(follower: Follower, call: _Call) -> Word | None:
    a, b = call.word(1), call.word(2)
    return None if a is None or b is None or call.typing.has(".sat") else a.minus(b)


def _insert(follower: Follower, call: _Call) -> Word | None:
    field, base = call.word(1), call.word(2)
    start, length = call.number(3), call.number(4)
    if field is None or base is None or start is None or length is None:
        return None
    start, length = start & 0xFF, min(length & 0xFF, call.width - (start & 0xFF))
    if length <= 0:
        return base
    mask = (1 << length) - 1
    low = field.masked(mask)
    rest = base.masked(~(mask << start) & ((1 << call.width) - 1))
    placed = None if low is None else low.left(start)
    return None if placed is None or rest is None else rest.plus(placed)


def _extract(follower: Follower, call: _Call) -> Word | None:
    word, start, length = call.word(1), call.number(2), call.number(3)
    if word is None or start is None or length is None or call.typing.signed:
        return None
    shifted = word.right(min(start & 0xFF, call.width))
    return None if shifted is None else shifted.masked((1 << (length & 0xFF)) - 1)


def _lop3(follower: Follower, call: _Call) -> Word | None:
    table, words = call.number(4), [call.word(index) for index in (1, 2, 3)]
    if table is None or any(word is None for word in words):
        return None
    a, b, c = words
    match table & 0xFF:
        case 0xC0:
            return _bitwise_and(a, b)
        case 0xFC | 0x3C:
            return _bitwise_or(call, table & 0xFF == 0x3C)
        case 0x80:
            return _bitwise_and(_bitwise_and(a, b), c)
        case 0xEA | 0x6A:
            return _bitwise_or_plain(_bitwise_and(a, b), c)
        case 0xF8 | 0x78:
            return _bitwise_or_plain(a, _bitwise_and(b, c))
        case 0xFE | 0x96:
            return _bitwise_or_plain(_bitwise_or_plain(a, b), c)
    return None


def _bitwise_or_plain(a: Word | None, b: Word | None) -> Word | None:
    if a is None or b is None or (a.occupied | a.constant) & (b.occupied | b.constant):
        return None
    return a.plus(b)


def _select(follower: Follower, call: _Call) -> Word | None:
    taken, other = call.word(1), call.word(2)
    if taken is None or other is None:
        return None
    return taken.either(other, Sum(((_atom(call.name, _WIDEST), 1),)))


def _shuffle(follower: Follower, call: _Call) -> Word | None:
    source = call.operand(1)
    if source is None or not follower.is_uniform(call.name.site, source):
        return None
    return call.word(1, 32)


def _multiply(follower: Follower, call: _Call) -> Word | None:
    if call.typing.has(".hi") or (call.typing.has(".wide") and call.typing.signed):
        return None
    width = call.width * 2 if call.typing.has(".wide") else call.width
    for index, other in ((1, 2), (2, 1)):
        factor, word = call.number(index), call.word(other)
        if factor is not None and word is not None:
            wide = word.resized(width)
            return None if wide is None else wide.times(factor)
    return None


def _multiply_add(follower: Follower, call: _Call) -> Word | None:
    product = _multiply(follower, call)
    if product is None:
        return None
    added = call.word(3, product.width)
    return None if added is None else product.plus(added)


_HANDLERS: Mapping[Op, _Handler] = {
    Op.MOV: _move,
    Op.CVT: _convert,
    Op.SHL: _shift_left,
    Op.SHR: _shift_right,
    Op.AND: _and,
    Op.OR: _or,
    Op.XOR: _xor,
    Op.ADD: _add,
    Op.SUB: _subtract,
    Op.BFI: _insert,
    Op.BFE: _extract,
    Op.LOP3: _lop3,
    Op.SELP: _select,
    Op.SHFL_SYNC: _shuffle,
    Op.SHFL: _shuffle,
    Op.MUL: _multiply,
    Op.MAD: _multiply_add,
}


# ---- leaves


def _leaf(value: Value, name: Name | None) -> Word:
    """Return the word of a value by itself: its sum of atoms as far as its known bits reach."""
    if value.constant is not None:
        return Word(value.width, (), value.constant)
    form = value.linear
    if form is None:
        if name is None:
            raise ValueError("a value without a name has a symbolic form")
        return Word(value.width, (Segment(0, value.width, Sum(((_atom(name, value.width), 1),))),))
    total = Sum(form.terms, form.constant)
    shared = [atom for atom, _ in form.addresses if atom.space == ".shared"]
    if len(shared) == 1 and dict(form.terms)[shared[0]] == 1:
        generic = shared[0].window == "generic"
        return Word(value.width, (Segment(0, SHARED_BITS, total, 0, value.width, generic),))
    length = max(value.maybe.bit_length(), 1)
    low = (value.maybe & -value.maybe).bit_length() - 1
    halved = total.divided(1 << low) if low else None
    if halved is not None:
        return Word(value.width, (Segment(low, length - low, halved),))
    return Word(value.width, (Segment(0, length, total, room=(1 << length) - 1 - value.high),))


def _unknown(point: int, width: int) -> Sum:
    return Sum(((Atom(AtomKind.DEFINITION, "?", point, width), 1),))


def _atom(name: Name, width: int) -> Atom:
    block = name.phi_block
    if block is not None:
        return Atom(AtomKind.PHI, name.register.name, block, scope=name.register.scope)
    return Atom(AtomKind.DEFINITION, name.register.name, name.site, width, scope=name.register.scope)


def _hidden(word: Word, opaque: Sum, *, carries: bool) -> Word:
    """Return the word with every sum replaced by an unknown one of the same place, which may carry beyond it."""
    segments = tuple(
        replace(s, sum=_hidden_sum(s, opaque), room=0, carries=s.carries or (carries and not s.is_address))
        for s in word.segments
    )
    return Word(word.width, segments, word.constant)


def _hidden_sum(segment: Segment, opaque: Sum) -> Sum:
    return Sum(((Piece(opaque, segment.shift, segment.length), 1),))


def _is_within(word: Word, assumption: Word, opaque: Sum | None) -> bool:
    """Tell whether every number of a word is one of an assumption's, whose hidden parts `opaque` stands for."""
    if word == assumption:
        return True
    if opaque is None or word.constant != assumption.constant:
        return False
    if len(word.segments) != len(assumption.segments):
        return False
    return all(
        a == b
        or (
            b.sum == _hidden_sum(b, opaque)
            and (a.shift, a.dropped, a.generic) == (b.shift, b.dropped, b.generic)
            and a.end <= b.end
            and a.top <= b.top
            and a.carries <= b.carries
        )
        for a, b in zip(word.segments, assumption.segments, strict=True)
    )
