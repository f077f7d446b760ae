"""Symbolic values of the SIMT machine: linear forms over opaque atoms, and what decisions say of them.

Property: equal atoms stand for equal numbers in a run, for threads between which they do not differ; an answer of
`Decisions.implied` follows from what was assumed.

Argument: an atom is named by what it is computed from, and for memory that changes by which read it was; intervals
and excluded numbers follow from the decisions on the same form.

Not covered: wrap-around: a linear form is read as an integer.

An atom stands for something that the kernel's text does not fix: a parameter, a value loaded from memory, a CTA
index, or the result of an operation on such values that is not linear. Equal texts are equal atoms, so two
roles that compute the same trip count agree about it.

A symbol may stand for another number in each thread (`differs`): what was computed from lanes, or loaded from
addresses that differ. Such a symbol is never decided for several threads at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import gcd
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .kinds import ENCODED, KINDS, Kind

Lanes: TypeAlias = npt.NDArray[np.uint64]
"""One value for each thread of a CTA."""

LANE, WARP = 1, 2
"""Bits of `differs`: the lanes of a warp may hold different numbers; equal lanes of different warps may."""


FROM_SHARED, FROM_GLOBAL, INEXACT, CHOSEN, VARYING, MOVED = 1, 2, 4, 8, 16, 32
"""Bits of `origin`: loaded from shared memory, from global memory; left behind by code that was not followed; chosen by
a predicate; computed from variables of automata; a quotient, or such, of a sum that a register may not hold."""
LOOPS = {
    0: Kind.LOOP,
    FROM_SHARED: Kind.LOOP_SHARED,
    FROM_GLOBAL: Kind.LOOP_GLOBAL,
    FROM_SHARED | FROM_GLOBAL: Kind.LOOP_MEMORY,
}
"""Kinds of what loops leave behind, by the memory that they read."""
OF_HOST = frozenset({Kind.PARAM, Kind.LOAD})
"""Kinds of what the host passes, or has put into global memory."""
_ORIGINS = {
    Kind.SHARED: FROM_SHARED, Kind.RECEIVED: FROM_SHARED, Kind.LOAD: FROM_GLOBAL, Kind.MERGED: INEXACT,
    Kind.SELP: CHOSEN, Kind.VARIABLE: VARYING,
} | {kind: INEXACT | memory for memory, kind in LOOPS.items()}  # fmt: skip
_OF_HIGH_BITS = frozenset({Kind.SHR, Kind.SAR, Kind.DIV, Kind.REM, Kind.MULHI, Kind.CVT, Kind.BFE})
"""What depends on more than the low bits of an argument: not the same of an integer and of what a register holds."""
_SMALL = frozenset(
    {
        Kind.SPECIAL,
        Kind.VARIABLE,
        Kind.ORDINAL,
        Kind.WIDENED,
        Kind.LANES,
        Kind.AND,
        Kind.SHR,
        Kind.SAR,
        Kind.DIV,
        Kind.REM,
    }
)
"""What is far from the ends of the range of a register, or counted by loops."""
_OF_KERNEL = re.compile(r"\A_Z\w+_(?=param_\d+\Z)")
"""What nvcc puts before the number of a parameter: the name of the kernel."""
_DEEPEST = 24
_WIDE = 8
"""Bytes of a parameter whose type `--assume` has to be told."""
_MARKS = 1024
_HALF = 1 << 31


class Atom(tuple[object, ...]):
    """Kind and arguments, for example `("param", "n", 0, 4)` or `("shr", <argument>, 5)`.

    Arguments are numbers, texts, bytes, atoms, and tuples of them. Atoms with equal digests are equal; one that is
    nested too deep is cut down to its kind and digest (kind `deep`).
    """

    kind: Kind
    """`DEEP` where the atom is cut down, else `inner_kind`."""
    inner_kind: Kind
    """Kind of what the atom is computed by."""
    digest: bytes
    differs: int
    origin: int
    depth: int
    inner: tuple[object, ...]
    """What the atom is computed by, also when it is cut down."""
    nesting: int
    """How deep atoms are nested in that."""
    hash_number: int
    """Part of the digest: hashes are asked for more often than atoms are made."""
    marks: int
    """A bit for each atom in that, and for itself: atoms without a common bit have no atom in common."""

    def __new__(cls, parts: tuple[object, ...], differs: int | None = None) -> Atom:
        digest = blake2b(_encoded(parts), digest_size=12).digest()
        kind = inner_kind = KINDS.get(parts[0], Kind.OPCODE)  # type: ignore[call-overload]
        if kind is not parts[0] and kind is not Kind.OPCODE:
            parts = (kind, *parts[1:])
        inner = parts
        among = origin = depth = nesting = marks = 0
        for each in children(parts):
            among |= each.differs
            origin |= each.origin
            depth = max(depth, each.depth)
            nesting = max(nesting, each.nesting)
            marks |= each.marks
        if depth >= _DEEPEST:
            kind, depth = Kind.DEEP, 0
            parts = (Kind.DEEP, parts[0], digest.hex())
        self = super().__new__(cls, parts)
        self.kind = kind
        self.inner_kind = inner_kind
        self.digest = digest
        self.hash_number = int.from_bytes(digest[:8], "little") >> 2
        self.inner = inner
        self.nesting = 1 + nesting
        self.marks = marks | self.mark
        self.differs = among if differs is None else differs
        self.origin = origin | _ORIGINS.get(kind, 0) | (MOVED if _is_moved(inner_kind, inner) else 0)
        self.depth = depth + 1
        return self

    @property
    def mark(self) -> int:
        """Return the bit of the atom itself."""
        return 1 << int.from_bytes(self.digest[8:10], "little") % _MARKS

    def __hash__(self) -> int:
        return self.hash_number

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.digest == other.digest)

    def __ne__(self, other: object) -> bool:
        return not self == other


def _encoded(part: object) -> bytes:
    if isinstance(part, Atom):
        return b"a" + part.digest
    if type(part) is Kind:
        return ENCODED[part]
    if isinstance(part, tuple):
        return b"(" + b"".join(_encoded(each) for each in part) + b")"
    text = part if isinstance(part, bytes) else str(part).encode()
    return b"%s%d:%s" % (type(part).__name__.encode(), len(text), text)


def children(parts: tuple[object, ...]) -> Iterator[Atom]:
    """Yield the atoms among some arguments, in order, and nothing inside these."""
    for part in parts:
        if isinstance(part, Atom):
            yield part
        elif isinstance(part, tuple):
            yield from children(part)


def _is_moved(kind: Kind, parts: tuple[object, ...]) -> bool:
    """Tell whether something depends on the high bits of a sum or multiple that a register may not hold."""
    return kind in _OF_HIGH_BITS and any(
        part.inner_kind is Kind.SUM
        and any(name.inner_kind not in _SMALL or factor not in (1, -1) for name, factor in part.inner[1])  # type: ignore[attr-defined]
        for part in parts
        if isinstance(part, Atom)
    )


@dataclass(frozen=True, slots=True)
class Form:
    """`constant + Σ coefficient × atom`; terms sorted, no zero coefficient, at least one term."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int = 0

    @property
    def differs(self) -> int:
        """Between which threads the number may differ: bits `LANE` and `WARP`, 0 for none."""
        found = 0
        for name, _ in self.terms:
            found |= name.differs
        return found

    @property
    def origin(self) -> int:
        """Where the number comes from: bits `FROM_SHARED`, `FROM_GLOBAL`, `INEXACT`, `CHOSEN`."""
        found = 0
        for name, _ in self.terms:
            found |= name.origin
        return found

    def __str__(self) -> str:
        parts = [name if k == 1 else f"{k}*{name}" for name, k in ((show_atom(a), k) for a, k in self.terms)]
        if self.constant:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


Value: TypeAlias = int | Lanes | Form
"""Uniform number, number per thread, or a symbol (see `Form.differs`)."""


def atom(*parts: object, differs: int | None = None) -> Form:
    """Return the form that is one atom; `differs` is that of its arguments unless it is given."""
    return Form(((Atom(parts, differs), 1),))


def show_atom(parts: object, depth: int = 4) -> str:
    """Return an atom for people; what is nested deep is left out."""
    if not isinstance(parts, tuple):
        return str(parts)
    if not depth:
        return "…"
    if not parts or not isinstance(parts[0], str):
        return ", ".join(show_atom(part, depth) for part in parts)
    kind, *rest = parts
    if kind == Kind.PARAM:
        name, offset, _ = rest
        name = _OF_KERNEL.sub("", str(name))
        return f"{name}+{offset}" if offset else name
    if kind == Kind.SPECIAL:
        return str(rest[0])
    if kind in (Kind.LANES, Kind.DEEP):
        return str(kind)
    return f"{kind}({', '.join(show_atom(part, depth - 1) for part in rest)})"


def show_parameter(name: Atom) -> str:
    """Return what the host gives; a parameter as `--assume` names it, with its type where that would take a word."""
    is_wide = name.kind is Kind.PARAM and name[3] == _WIDE
    return f"{show_atom(name)}{'.u64' if is_wide else ''}"


def stating_sizes(names: Iterable[Atom]) -> tuple[str, ...]:
    """Return what `--assume` would say of sizes that are not empty: of those that are parameters."""
    return tuple(f"{show_atom(name)}.s{8 * name[3]} >= 1" for name in names if name.kind is Kind.PARAM)  # type: ignore[operator]


def plus(a: Form | int, b: Form | int, factor: int = 1) -> Form | int:
    """Return a + factor × b."""
    if isinstance(a, int) and isinstance(b, int):
        return a + factor * b
    terms: dict[Atom, int] = dict(a.terms) if isinstance(a, Form) else {}
    for name, k in b.terms if isinstance(b, Form) else ():
        terms[name] = terms.get(name, 0) + factor * k
    constant = (a.constant if isinstance(a, Form) else a) + factor * (
        b.constant if isinstance(b, Form) else b
    )
    kept = tuple(sorted(((n, k) for n, k in terms.items() if k), key=_order))
    return Form(kept, constant) if kept else constant


def _order(term: tuple[Atom, int]) -> bytes:
    return term[0].digest


def times(a: Form, factor: int) -> Form | int:
    """Return factor × a."""
    if factor == 0:
        return 0
    return Form(tuple((name, k * factor) for name, k in a.terms), a.constant * factor)


@dataclass(frozen=True, slots=True)
class Condition:
    """`form < bound`, `form == bound` or `form != bound`; `below` is `<` of the 32-bit patterns, unsigned."""

    relation: str
    """`lt`, `below`, `eq` or `ne`."""
    form: Form
    bound: int

    def holds(self, number: int) -> bool:
        """Tell whether the condition holds when the form is a number, given as the bits of a register."""
        value = number - (1 << 32) if 1 << 31 <= number < 1 << 32 else number
        if self.relation == "below":
            return number & 0xFFFFFFFF < self.bound
        if self.relation == "lt":
            return value < self.bound
        return (value == self.bound) == (self.relation == "eq")


class ImpossibleError(Exception):
    """The decisions of a run contradict each other: there is no such run."""


class Oracle(Protocol):
    """Something that knows more than intervals: a solver over the decisions of one run."""

    def implied(self, condition: Condition) -> bool | None: ...

    def assume(self, condition: Condition, truth: bool) -> None: ...

    def only(self, form: Form) -> int | None: ...

    def example(self, name: Atom) -> int | None: ...

    def is_consistent(self) -> bool: ...


@dataclass(slots=True)
class Decisions:
    """What a run has assumed of symbols: an interval and excluded numbers for each primitive form."""

    oracle: Oracle | None = None
    """Asked when intervals do not decide; None leaves everything open."""
    _low: dict[tuple[tuple[Atom, int], ...], int] = field(default_factory=dict)
    _high: dict[tuple[tuple[Atom, int], ...], int] = field(default_factory=dict)
    _not: dict[tuple[tuple[Atom, int], ...], frozenset[int]] = field(default_factory=dict)
    taken: list[tuple[Condition, bool]] = field(default_factory=list)
    _known: set[tuple[Condition, bool]] = field(default_factory=set)
    """The same, to look them up."""
    truths: dict[Form, bool] = field(default_factory=dict)
    """Predicates that were decided: what holds once holds for the rest of the run."""
    pins: dict[Atom, int] = field(default_factory=dict)
    """Atoms that the decisions leave one number, if it is a signed one of 32 bits: no other is put into values."""
    equals: dict[Atom, Atom] = field(default_factory=dict)
    """Atoms that were decided to be another one, which stands for them."""
    tellers: set[int] = field(default_factory=set)
    """CTAs that stored numbers in all CTAs of the cluster (see `broadcasts`)."""

    def implied(self, condition: Condition) -> bool | None:
        """Return what earlier decisions imply of a condition, or None."""
        known = self._by_interval(condition)
        if known is None and self.oracle is not None:
            return self.oracle.implied(condition)
        return known

    def stated(self, condition: Condition) -> bool | None:
        """Return what earlier decisions on the same form say of a condition, or None."""
        return self._by_interval(condition)

    def only(self, form: Form) -> int | None:
        """Return the one number that a form can be, None when there are more, or when that is not known."""
        return None if self.oracle is None else self.oracle.only(form)

    def example(self, name: Atom) -> int | None:
        """Return a number that an atom can be, None when none is found."""
        return None if self.oracle is None else self.oracle.example(name)

    def _by_interval(self, condition: Condition) -> bool | None:
        key, scale, offset = _primitive(condition.form)
        low, high = self._low.get(key), self._high.get(key)
        if condition.relation == "below":
            return self._below(low, high, scale, offset, condition.bound)
        if condition.relation == "lt":
            limit = condition.bound - offset
            least, most = _scaled(low, high, scale)
            if most is not None and most < limit:
                return True
            return False if least is not None and least >= limit else None
        value, remainder = divmod(condition.bound - offset, scale)
        equal: bool | None = None
        outside = (low is not None and value < low) or (high is not None and value > high)
        if remainder or outside or value in self._not.get(key, ()):
            equal = False
        elif low is not None and low == high:
            equal = True
        return equal if condition.relation == "eq" or equal is None else not equal

    @staticmethod
    def _below(low: int | None, high: int | None, scale: int, offset: int, bound: int) -> bool | None:
        least, most = _scaled(low, high, scale)
        if least is None:
            return None
        if least + offset < 0:
            wraps = most is not None and most + offset < 0 and least + offset >= -(1 << 31)
            return False if wraps and bound <= 1 << 31 else None
        if most is not None and most + offset < bound:
            return True
        return False if least + offset >= bound else None

    def assume(self, condition: Condition, truth: bool) -> None:
        """Record a decision. The caller has asked `implied` before."""
        self._assume(condition, truth)
        if condition.relation in ("eq", "ne") and truth == (condition.relation == "eq"):
            self._equate(condition.form, condition.bound)
        key, _, _ = _primitive(condition.form)
        low = self._low.get(key)
        if len(key) == 1 and low is not None and low == self._high.get(key) and -_HALF <= low < _HALF:
            self.pins[key[0][0]] = low

    def _equate(self, form: Form, bound: int) -> None:
        """Note that two atoms are one, where their difference was decided to be zero."""
        if form.constant != bound or [factor for _, factor in form.terms] not in ([1, -1], [-1, 1]):
            return
        first, second = (self.equals.get(name, name) for name, _ in form.terms)
        is_within = first.marks & second.mark or second.marks & first.mark
        if is_within or first.differs or second.differs or {first, second} & self.pins.keys():
            return
        if second.digest < first.digest:
            first, second = second, first
        for name in [second, *(name for name, other in self.equals.items() if other == second)]:
            self.equals[name] = first

    def restate(self, reduce: Callable[[Form], Value]) -> None:
        """State earlier decisions again, with `reduce` applied. Raises ImpossibleError when they contradict."""
        for condition, truth in tuple(self.taken):
            form = reduce(condition.form)
            if isinstance(form, int):
                if condition.holds(form) != truth:
                    raise ImpossibleError
            elif isinstance(form, Form) and form != condition.form:
                self._assume(replace(condition, form=form), truth)
        if self.oracle is not None and not self.oracle.is_consistent():
            raise ImpossibleError

    def _assume(self, condition: Condition, truth: bool) -> None:
        if (condition, truth) in self._known:
            return
        self._known.add((condition, truth))
        self.taken.append((condition, truth))
        if self.oracle is not None:
            self.oracle.assume(condition, truth)
        key, scale, offset = _primitive(condition.form)
        if condition.relation == "below":
            if truth and condition.bound <= 1 << 31:
                self._assume_below(key, scale, condition.bound - offset, True)
                self._assume_below(key, scale, -offset, False)
            least, _ = _scaled(self._low.get(key), self._high.get(key), scale)
            if not truth and least is not None and least + offset >= 0:
                self._assume_below(key, scale, condition.bound - offset, False)
            return
        if condition.relation == "lt":
            self._assume_below(key, scale, condition.bound - offset, truth)
            return
        value, remainder = divmod(condition.bound - offset, scale)
        if remainder:
            return
        if truth == (condition.relation == "eq"):
            self._low[key] = self._high[key] = value
        else:
            self._not[key] = self._not.get(key, frozenset()) | {value}
            if self._low.get(key) == value:
                self._low[key] = value + 1
            if self._high.get(key) == value:
                self._high[key] = value - 1

    def _assume_below(self, key: tuple[tuple[Atom, int], ...], scale: int, limit: int, truth: bool) -> None:
        """Record scale × x < limit, or its negation."""
        ceiling, floor = -(-limit // scale), limit // scale
        if (scale > 0) == truth:
            self._raise_or_lower(self._high, key, ceiling - 1 if scale > 0 else floor, min)
        else:
            self._raise_or_lower(self._low, key, ceiling if scale > 0 else floor + 1, max)

    @staticmethod
    def _raise_or_lower(
        table: dict[tuple[tuple[Atom, int], ...], int],
        key: tuple[tuple[Atom, int], ...],
        bound: int,
        pick: Callable[[int, int], int],
    ) -> None:
        known = table.get(key)
        table[key] = bound if known is None else pick(known, bound)


def _scaled(low: int | None, high: int | None, scale: int) -> tuple[int | None, int | None]:
    ends = (None if low is None else low * scale, None if high is None else high * scale)
    return ends if scale > 0 else (ends[1], ends[0])


def _primitive(form: Form) -> tuple[tuple[tuple[Atom, int], ...], int, int]:
    """Return (terms divided by their common factor with the first positive, that factor, constant)."""
    factor = gcd(*(k for _, k in form.terms))
    if form.terms[0][1] < 0:
        factor = -factor
    return tuple((name, k // factor) for name, k in form.terms), factor, form.constant
