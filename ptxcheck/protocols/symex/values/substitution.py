"""Choices inside a symbol: a number that depends on open predicates becomes one when those are decided.

Property: a value with numbers, decided predicates or the lanes of one thread put in is the number that it is then, or
a symbol for it.

Argument: atoms are computed again from their arguments by the functions that made them.

Not covered: atoms nested deeper than `_MOST_NESTED`, and those that are named by their opcode: they stay as they are.

`selp`, and logic on predicates, keep their arguments in the atom. `rebuild` computes the value again with every
predicate that is the same for all threads decided; what is left is a number, a number per thread, or a symbol
whose text has no such choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_

import numpy as np

from ....opcodes.op import Op
from . import lane_arithmetic as lanes
from .comparison_marks import is_of_64_bits, marks_of, with_marks
from .kinds import Kind
from .register_file import set_of
from .symbol import (
    CHOSEN,
    Atom,
    Form,
    Value,
    children,
    plus,
    times,
)
from .trace import (
    OFFSET_MASK,
    RANK_SHIFT,
    SHARED_WINDOW,
    ThreadSet,
)
from .traversal import walk
from .widths import is_wide

Decide = Callable[[Form], bool]
"""Decides an open predicate that is the same for all threads."""
Known = Callable[[Form], bool | None]
"""Tells what a predicate is that was decided before, None when it was not."""
PREDICATES = frozenset({Kind.CMP, Kind.BELOW, Kind.COMPARE, Kind.SETP})
LOGIC = {Kind.AND: Op.AND, Kind.OR: Op.OR, Kind.XOR: Op.XOR}
_CHOICES = frozenset({Kind.SELP, *LOGIC, *PREDICATES, Kind.NOT})
_COMPUTED = frozenset(
    {
        Kind.LANES, Kind.SUM, Kind.CMP, Kind.BELOW, Kind.NOT, Kind.SELP, Kind.ADD, Kind.SUB,
        Kind.MUL, Kind.MULHI, Kind.SHL, Kind.SHR, Kind.SAR, Kind.COMPARE,
        Kind.PACK, Kind.MAPA, *LOGIC,
    }
)  # fmt: skip
"""Kinds of atoms that are numbers once their arguments are."""
_DIVISIONS = {Kind.DIV: lanes.divide, Kind.REM: lanes.remainder}
"""The same, but the solver does not follow them: numbers are sought for them, and not for their arguments."""
_SYMBOLIC = frozenset({Kind.MUL, *_DIVISIONS})
_MOST_NESTED = 80
_WIDEST = 64


def has_choice(value: Form) -> bool:
    """Tell whether deciding a predicate may make the value simpler."""
    return any(name.kind in _CHOICES for name in walk(value.terms, _is_shown))


def _is_shown(name: Atom) -> bool:
    """Tell whether an atom is not cut down."""
    return name.kind is not Kind.DEEP


def is_deep(value: Form) -> bool:
    """Tell whether a value is nested deeper than is looked at."""
    return any(name.nesting > _MOST_NESTED for name, _ in value.terms)


def is_predicate(value: Form) -> bool:
    """Tell whether the value is one open predicate, which nothing makes simpler."""
    (name, factor), *others = value.terms
    return not others and factor == 1 and not value.constant and name.kind in PREDICATES


def rebuild(value: Form, decide: Known, threads: int) -> Value:
    """Return the value with its open predicates decided, as far as they are known."""
    return lanes.settle(_Rebuild(decide, threads).form(value.terms, value.constant))


def at_thread(value: Form, thread: int, threads: int) -> Value:
    """Return the value with the numbers that one thread holds in place of those of all."""
    return lanes.settle(_Rebuild(None, threads, thread).form(value.terms, value.constant))


@dataclass(frozen=True, slots=True)
class Division:
    """A number that is divided, by what, and the rest."""

    dividend: Form
    divisor: int
    rest: int | Form


def with_pins(
    value: Form,
    pins: Mapping[Atom, int | Form],
    threads: int,
    divisions: Mapping[Atom, Division] | None = None,
) -> Value:
    """Return the value with numbers, or other forms, in place of the atoms that have one.

    `divisions`: of quotients with a known rest; where a multiple is taken from what was divided, that is the rest.
    """
    rebuild = _Rebuild(None, threads, pins=pins, divisions=divisions)
    return lanes.settle(rebuild.form(value.terms, value.constant))


def _is_computed(name: Atom) -> bool:
    """Tell whether an atom is a number once its arguments are, as far as they are looked at."""
    return name.inner_kind in _COMPUTED and name.nesting <= _MOST_NESTED


def arguments(name: Atom) -> Iterator[Atom]:
    """Yield the atoms that an atom is computed from at once, the last one first."""
    if _is_computed(name):
        yield from reversed(list(children(name.inner)))


def leaves(value: Form) -> Iterator[Atom]:
    """Yield the atoms that a value is computed from by what `with_pins` computes, each once, in order."""
    return (name for name in walk(value.terms, _is_computed) if not _is_computed(name))


@lru_cache(maxsize=1 << 16)
def holds_64_bits(name: Atom) -> bool:
    """Tell whether an atom is computed from a number that was read as one of 64 bits."""
    return any(is_wide(each.inner) for each in walk((name,), _is_computed))


def is_number_of(value: Form, kind: Kind) -> bool:
    """Tell whether a value is a number once the atoms of one kind are: it is computed from those alone."""
    return all(
        name.kind is kind or (_is_computed(name) or name.inner_kind in _DIVISIONS)
        for name in walk(value.terms, lambda name: name.kind is not kind)
    )


def mapped(address: Value, rank: Value, *, generic: bool) -> Value:
    """Return the place of a shared address in the CTA of a rank, as `mapa` gives it."""
    if isinstance(address, Form) or isinstance(rank, Form):
        return lanes.opaque(Kind.MAPA, address, rank, int(generic))
    offset = lanes.bitwise(Op.AND, address, OFFSET_MASK)
    place = lanes.add(offset, lanes.shift_left(rank, RANK_SHIFT, 64), 64)
    return lanes.add(place, SHARED_WINDOW, 64) if generic else place


def failing(truth: Value, threads: int) -> ThreadSet:
    """Return threads in which a predicate surely does not hold, whatever open ones it is made of are."""
    return _settled(truth, threads)[1]


def _settled(truth: Value | object, threads: int) -> tuple[ThreadSet, ThreadSet]:
    """Return threads in which a predicate surely holds, and those in which it surely does not."""
    everybody = (1 << threads) - 1
    if isinstance(truth, Form):
        (name, factor), *others = truth.terms
        return _settled(name, threads) if factor == 1 and not others and not truth.constant else (0, 0)
    if isinstance(truth, int):
        return (everybody, 0) if truth & 1 else (0, everybody)
    if isinstance(truth, np.ndarray):
        holds = set_of(truth != 0)
        return holds, everybody & ~holds
    assert isinstance(truth, Atom)
    match truth.inner_kind:
        case Kind.LANES:
            return _settled(np.frombuffer(truth.inner[1], dtype=np.uint64), threads)  # type: ignore[call-overload]
        case Kind.NOT:
            holds, fails = _settled(truth.inner[1], threads)
            return fails, holds
        case Kind.AND | Kind.OR as kind:
            (one, not_one), (other, not_other) = (_settled(part, threads) for part in truth.inner[1:3])
            return (
                (one | other, not_one & not_other) if kind == Kind.OR else (one & other, not_one | not_other)
            )
        case Kind.SELP:
            (first, second), (one, not_one), (other, not_other) = (
                _settled(part, threads) for part in truth.inner[1:4]
            )
            holds = first & one | second & other | one & other
            return holds, first & not_one | second & not_other | not_one & not_other
    return 0, 0


class _Rebuild:
    _looks_deep = False
    """Looks into atoms that are cut down, though no number is put in."""

    def __init__(
        self,
        decide: Known | None,
        threads: int,
        thread: int = -1,
        pins: Mapping[Atom, int | Form] | None = None,
        divisions: Mapping[Atom, Division] | None = None,
    ) -> None:
        self._decide = decide
        self._threads = threads
        self._thread = thread
        self._pins = pins or {}
        self._divisions = divisions or {}
        self._parts: dict[Atom, Value] = {}
        self._marks = -1
        """Bits of the atoms that change, when nothing but numbers for atoms is put in."""
        if decide is None and thread < 0:
            self._marks = reduce(or_, (name.mark for name in (*self._pins, *self._divisions)), 0)

    def form(self, terms: tuple[tuple[Atom, int], ...], constant: int, *, is_wide: bool = False) -> Value:
        """Return a sum; a negative one as it is in a register of 64 bits when it is wide, else in one of 32."""
        if self._divisions:
            terms, constant = self._with_rests(terms, constant)
        if len(terms) == 1 and terms[0][1] == 1 and not constant:
            found = self.part(terms[0][0])
            return _extended(found) if is_wide else found
        if not any(name.marks & self._marks for name, _ in terms):
            if terms:
                return Form(terms, constant)
            return constant & lanes.mask_of(32 if constant < 0 and not is_wide else _WIDEST)
        total: Value = constant & lanes.mask_of(_WIDEST)
        for name, factor in terms:
            scaled = lanes.multiply(_extended(self.part(name)), factor & lanes.mask_of(_WIDEST), _WIDEST)
            total = lanes.add(total, scaled, _WIDEST)
        if is_wide or isinstance(total, Form):
            return total
        if isinstance(total, int):
            return total & lanes.mask_of(32) if total >> 63 else total
        return np.where(total >> np.uint64(63) != 0, total & np.uint64(lanes.mask_of(32)), total)

    def _with_rests(
        self, terms: tuple[tuple[Atom, int], ...], constant: int
    ) -> tuple[tuple[tuple[Atom, int], ...], int]:
        """Return a sum with numbers for `x - d * q`, where q is a quotient of x by d with a known rest."""
        for name, factor in terms:
            known = self._divisions.get(name)
            if known is None or factor % known.divisor:
                continue
            times, factors = -factor // known.divisor, dict(terms)
            if all(factors.get(each) == times * k for each, k in known.dividend.terms):
                divided = {name, *(each for each, _ in known.dividend.terms)}
                left = tuple(each for each in terms if each[0] not in divided)
                rest = plus(known.rest, -known.dividend.constant)
                total = plus(Form(left, constant) if left else constant, rest, times)
                return (
                    self._with_rests(total.terms, total.constant) if isinstance(total, Form) else ((), total)
                )
        return terms, constant

    def _wide(self, key: object) -> Value:
        """Return an operand of 64 bits."""
        if isinstance(key, Atom) and key.inner_kind is Kind.SUM and key not in self._pins:
            return self.form(key.inner[1], key.inner[2], is_wide=True)  # type: ignore[arg-type]
        return _extended(self.part(key)) if key in self._pins else self.part(key)

    def part(self, key: object) -> Value:
        if isinstance(key, int):
            return key
        assert isinstance(key, Atom), key
        if not key.marks & self._marks and key.kind not in (Kind.SUM, Kind.LANES):
            return Form(((key, 1),))
        found = self._parts.get(key)
        if found is None:
            pin = self._pins.get(key)
            found = self._parts[key] = self._put_in(pin) if pin is not None else self._atom(key)
        return found

    @staticmethod
    def _put_in(pin: int | Form) -> Value:
        return pin & lanes.mask_of(32) if isinstance(pin, int) else pin

    def _atom(self, key: Atom) -> Value:
        parts = key.inner
        kind = key.inner_kind
        if kind not in PREDICATES and kind not in _DIVISIONS and not _is_computed(key):
            return Form(((key, 1),))
        if key.kind is not kind and not self._pins and not self._looks_deep:
            return Form(((key, 1),))
        if kind in _SYMBOLIC:
            return self._product(key) if kind == Kind.MUL else self._quotient(key)
        if kind == Kind.LANES:
            held = np.frombuffer(parts[1], dtype=np.uint64)  # type: ignore[call-overload]
            return held if self._thread < 0 else int(held[self._thread])
        if kind == Kind.SUM:
            return self.form(parts[1], parts[2])  # type: ignore[arg-type]
        truth = self._truth(Form(((key, 1),))) if kind in PREDICATES else None
        if truth is not None:
            return int(truth)
        if kind in (Kind.CMP, Kind.BELOW):
            return self._compared(parts)
        if kind in LOGIC:
            read = self._wide if holds_64_bits(key) else self.part
            return lanes.bitwise(LOGIC[kind], read(parts[1]), read(parts[2]))
        if kind == Kind.NOT:
            return lanes.negate(self.part(parts[1]))
        if kind == Kind.SELP:
            return self._select(parts)
        if kind == Kind.MULHI:
            a, b, width = self.part(parts[1]), self.part(parts[2]), _number(parts[3])
            return lanes.multiply_high(a, b, width, signed_operands=bool(parts[4]))
        return Form(((key, 1),)) if kind == Kind.SETP else self._arithmetic(kind, parts)

    def _truth(self, predicate: Form) -> bool | None:
        return None if predicate.differs or self._decide is None else self._decide(predicate)

    def _product(self, key: Atom) -> Value:
        """A product of symbols, which stays one until a factor is a number, but for choices in them."""
        a, b = (_extended(self.part(part)) for part in key.inner[1:3])
        if isinstance(a, Form) and isinstance(b, Form) and self._decide is None:
            return Form(((key, 1),))
        product = lanes.multiply(a, b, _WIDEST)
        return product & lanes.mask_of(32) if isinstance(product, int) and product >> 63 else product

    def _quotient(self, key: Atom) -> Value:
        """A division of symbols, which stays one until the divisor is a number, but for choices in them."""
        _, *operands, width, signed = key.inner
        a, b = (self._wide(each) if width == _WIDEST else self.part(each) for each in operands)
        if (isinstance(b, Form) and self._pins) or key.nesting > _MOST_NESTED:
            return Form(((key, 1),))
        return _DIVISIONS[key.inner_kind](a, b, _number(width), signed_operands=bool(signed))

    def _compared(self, parts: tuple[object, ...]) -> Value:
        """A comparison of a form with zero, or with a bound, whose parts may have become numbers."""
        bound = parts[3] if parts[0] == Kind.BELOW else 0
        relation, terms, constant = (".lo", *parts[1:3]) if parts[0] == Kind.BELOW else parts[1:4]
        form = self.form(terms, constant)  # type: ignore[arg-type]
        if parts[0] == Kind.CMP and relation in lanes.UNSIGNED_ORDERS and isinstance(form, int):
            assert isinstance(terms, tuple)
            assert isinstance(constant, int)
            numbers = [(self._without_sign(name), factor) for name, factor in terms]
            if any(
                number is None for number, _ in numbers
            ):  # symbols that cancel, each of which may wrap around
                return self._uncancelled(str(relation), terms, constant)
            form = constant + sum(factor * number for number, factor in numbers if number is not None)
            return int(lanes.compare(str(relation), max(-1, min(form, 1)), 0, 32, signed_operands=True))  # type: ignore[arg-type]
        signed = parts[0] == Kind.CMP
        width = _WIDEST if self._is_compared_wide(parts, str(relation)) else 32
        if width == _WIDEST:
            form = self.form(terms, constant, is_wide=True)  # type: ignore[arg-type]
        found = lanes.compare(str(relation), form, _number(bound), width, signed_operands=signed)
        return found if parts[0] == Kind.BELOW else with_marks(found, marks_of(parts))

    @staticmethod
    def _is_compared_wide(parts: tuple[object, ...], relation: str) -> bool:
        """Tell whether numbers are compared as integers of up to 64 bits, and not modulo 2^32."""
        if parts[0] == Kind.CMP:
            return relation in lanes.ORDERS or is_of_64_bits(parts)
        terms, bound = parts[1], _number(parts[3])
        assert isinstance(terms, tuple)
        return bool(bound >> 32) or any(holds_64_bits(name) for name, _ in terms)

    def _uncancelled(self, relation: str, terms: tuple[tuple[Atom, int], ...], constant: int) -> Value:
        """Return a comparison of unsigned numbers as a symbol of its own."""
        above = self.form(tuple((name, factor) for name, factor in terms if factor > 0), constant)
        below = self.form(tuple((name, -factor) for name, factor in terms if factor < 0), 0)
        return lanes.opaque(Kind.COMPARE, relation, above, below, 32, 0)

    def _without_sign(self, name: Atom) -> int | None:
        number = self.part(name)
        if not isinstance(number, int):
            return None
        return number & lanes.mask_of(32) if number < 0 or number >> 63 else number

    def _select(self, parts: tuple[object, ...]) -> Value:
        condition = self.part(parts[1])
        truth = self._truth(condition) if isinstance(condition, Form) else None
        condition = condition if truth is None else int(truth)
        if isinstance(condition, int):  # what is not chosen is not asked: nothing depends on it
            return self.part(parts[2] if condition else parts[3])
        return lanes.choose(condition, self.part(parts[2]), self.part(parts[3]), self._threads)

    def _arithmetic(self, kind: Kind, parts: tuple[object, ...]) -> Value:
        if kind == Kind.COMPARE:
            width = _number(parts[4])
            a, b = (self._wide(each) if width == _WIDEST else self.part(each) for each in parts[2:4])
            return lanes.compare(str(parts[1]), a, b, width, signed_operands=bool(parts[5]))
        if kind == Kind.MAPA:
            return mapped(self.part(parts[1]), self.part(parts[2]), generic=bool(parts[3]))
        if kind == Kind.PACK:
            return lanes.pack(_number(parts[1]), [self.part(part) for part in parts[2:]])
        width = _number(parts[3])
        a, b = self._wide(parts[1]) if width == _WIDEST else self.part(parts[1]), self.part(parts[2])
        match kind:
            case Kind.ADD:
                return lanes.add(a, b, width)
            case Kind.SUB:
                return lanes.subtract(a, b, width)
            case Kind.SHL:
                return lanes.shift_left(a, b, width)
            case _:
                return lanes.shift_right(a, b, width, arithmetic=kind == Kind.SAR)


class Restated(_Rebuild):
    """Values with the choices in them made that were decided before, also inside operations that are not followed.

    Of atoms that were decided to be equal one stands for all: what is loaded with them is one number.
    Roles that compute one thing before and after a decision have the same symbol for it then.
    """

    _looks_deep = True

    def __init__(self, known: Known, threads: int, equals: Mapping[Atom, Atom]) -> None:
        super().__init__(known, threads)
        self._equals = dict(equals)
        self._of_equals = reduce(or_, (name.mark for name in equals), 0)
        self.open: set[Form] = set()
        """Predicates that were asked about and not known: while they are not, values stay as they were restated."""

    def knows(self, equals: Mapping[Atom, Atom]) -> bool:
        """Tell whether no atom was decided to be another one since: each decision adds one."""
        return len(equals) == len(self._equals)

    def concerns(self, value: Form) -> bool:
        """Tell whether a value may be stated in another way."""
        return bool(value.origin & CHOSEN) or any(name.marks & self._of_equals for name, _ in value.terms)

    def of(self, value: Form) -> Value:
        """Return the value restated."""
        return lanes.settle(self.form(value.terms, value.constant))

    def inside(self, value: Form) -> Value:
        """Return the value restated, but for what it is itself if that was decided."""
        name = value.terms[0][0]
        is_decided = len(value.terms) == 1 and _is_function(name) and name.nesting <= _MOST_NESTED
        if not is_decided:
            return self.of(value)
        return plus(times(self._again(name), value.terms[0][1]), value.constant)

    def part(self, key: object) -> Value:
        is_open = isinstance(key, Atom) and (
            key.origin & CHOSEN or key.marks & self._of_equals or key.kind in (Kind.SUM, Kind.LANES)
        )
        return super().part(key) if is_open or isinstance(key, int) else Form(((key, 1),))  # type: ignore[arg-type]

    def _truth(self, predicate: Form) -> bool | None:
        truth = super()._truth(predicate)
        if truth is None and not predicate.differs:
            self.open.add(predicate)
        return truth

    def _atom(self, key: Atom) -> Value:
        if key in self._equals:
            return Form(((self._equals[key], 1),))
        if key.nesting > _MOST_NESTED:
            return Form(((key, 1),))
        if not _is_function(key):
            return super()._atom(key)
        truth = self._truth(Form(((key, 1),))) if key.inner_kind is Kind.SETP else None
        return self._again(key) if truth is None else int(truth)

    def _again(self, key: Atom) -> Form:
        """Return an operation on its arguments restated."""
        kind, *parts = key.inner
        made = tuple(lanes.key_of(self.part(each)) if isinstance(each, Atom) else each for each in parts)
        return Form(((Atom((kind, *made), None if key.differs == _differs(parts) else key.differs), 1),))


def _is_function(name: Atom) -> bool:
    """Tell whether what an operation gives follows from its arguments alone: loads of memory that the host has filled,
    comparisons, and what is named by its opcode."""
    return name.inner_kind in (Kind.LOAD, Kind.SETP) or "." in str(name.inner[0])


def _differs(parts: Iterable[object]) -> int:
    return reduce(or_, (part.differs for part in parts if isinstance(part, Atom)), 0)


def _extended(value: Value) -> Value:
    """Numbers in forms are signed: one that fills a 32-bit register stands for a negative number."""
    if isinstance(value, Form):
        return value
    if isinstance(value, int):
        return (value - (1 << 32)) & lanes.mask_of(_WIDEST) if 1 << 31 <= value < 1 << 32 else value
    return np.where(
        value >> np.uint64(31) == 1, value | np.uint64(lanes.mask_of(_WIDEST) ^ lanes.mask_of(32)), value
    )


def _number(part: object) -> int:
    assert isinstance(part, int)
    return part
