"""Whether the solver knows all about a path: else a path that it takes for possible may not be.

Property: a path for which `doubt_of` returns None is possible if the solver says so.

Argument: every variable of the solver is then an input, which may be any number, a comparison that may come out
either way, or an operation that is free and shares no input with another one.

Not covered: inputs that the host relates to each other; see `related_loop`, `empty_sizes` and `scales` for those that
are known.

To the solver, an operation that it does not follow (see `terms`) is a variable of its own. There may be no operands
that give the number which a path needs, and where something else that is decided depends on the same parameters or
loads, the two may be related in a way that the solver does not see.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from .kinds import Kind
from .scales import possible_scales
from .symbol import (
    CHOSEN,
    LOOPS,
    OF_HOST,
    Atom,
    Condition,
    Form,
    plus,
    show_parameter,
)
from .terms import Terms
from .traversal import walk

SOURCES = frozenset(
    {
        Kind.PARAM,
        Kind.SPECIAL,
        Kind.LOAD,
        Kind.SHARED,
        Kind.RECEIVED,
        Kind.STRONG,
        Kind.VOLATILE,
        Kind.RESULT,
        Kind.RETURNED,
        *LOOPS.values(),
    }
)
"""Kinds of atoms that nothing of the run is behind."""
_BEGINNINGS = SOURCES | {Kind.DEEP}
_EQUAL = frozenset({"eq", "ne"})
_QUOTIENTS = frozenset({Kind.SAR, Kind.SHR, Kind.DIV})
_RESTS = frozenset({Kind.REM, Kind.XOR})
_EXPONENTS = (0x7C00, 0x7F80, 0x7F800000, 0x7FF << 52)
"""Exponents of infinity and NaN: f16, bf16, f32 and f64."""
_ROUNDING = 1 << 30
"""Masks from here on round a number down; smaller ones leave some of its bits."""


def doubt_of(path: Collection[tuple[Condition, bool]], free: AbstractSet[str] = frozenset()) -> Atom | None:
    """Return an atom that may not have the numbers that the solver gives it, as it does not follow it, or None.

    An operation may have no such result at all (no word has 33 bits), or none that agrees with what else is computed
    from the same. Where nothing else depends on the same, these give either of their truths: comparisons of
    floating-point numbers that nothing is behind, and operations that are `free`. So do comparisons of scales.
    """
    variables = variables_of(path)
    sources = {atom: frozenset(sources_of(atom)) for atom in variables}
    scales = possible_scales(path)
    others = {source for atom in variables if atom not in scales for source in sources[atom]}
    if any(not others.isdisjoint(each) for each in scales.values()):
        scales = {}
    for atom in variables:
        if atom.kind in SOURCES or atom in scales:
            continue
        is_free = atom[0] in free or _is_free_order(atom)
        if not is_free or any(other != atom and sources[atom] & sources[other] for other in variables):
            return atom
    return None


def _is_free_order(atom: Atom) -> bool:
    """Tell whether an atom orders a floating-point number that nothing is behind and another such, or a finite one."""
    if atom.kind is not Kind.SETP:
        return False
    _, _, *compared = atom.inner
    known = [each for each in compared if isinstance(each, int)]
    inputs = {each for each in compared if _is_input(each)}
    return len(known) + len(inputs) == 2 and len(known) < 2 and all(map(_is_finite, known))


def _is_input(part: object) -> bool:
    """Tell whether a part is an atom that nothing is behind, or one of two such, whichever is chosen."""
    if not isinstance(part, Atom):
        return False
    if part.kind is Kind.SELP:
        return part[2] != part[3] and all(map(_is_input, part.inner[2:]))
    return part.kind in SOURCES


def _is_finite(pattern: int) -> bool:
    """Tell whether bits stand for a finite number in each format of 16 to 64 bits that they may be of."""
    return not any(pattern & exponent == exponent for exponent in _EXPONENTS)


def related_loop(path: Iterable[tuple[Condition, bool]]) -> Atom | None:
    """Return what a loop leaves that is not followed and that may be related to something else of a path, or None.

    Loops that are not named alike may compute the same all the same, or what the host has passed. One that reads memory
    is related to no parameter, as memory may hold anything.
    """
    sources = {source for atom in variables_of(path) for source in sources_of(atom)}
    loops = sorted((each for each in sources if each.kind in LOOPS.values()), key=lambda each: each.digest)
    if len(loops) > 1:
        return loops[0]
    return next((each for each in loops if each.kind is LOOPS[0] and len(sources) > 1), None)


def rests_on_loops(path: Iterable[tuple[Condition, bool]]) -> bool:
    """Tell whether a path decides about something that a loop leaves which is not followed."""
    kinds = frozenset(LOOPS.values())
    return any(source.kind in kinds for atom in variables_of(path) for source in sources_of(atom))


def empty_sizes(path: Iterable[tuple[Condition, bool]]) -> tuple[Atom, ...]:
    """Return what a path takes for less than one: numbers that the host gives and that the path compares.

    The host passes them as parameters or has put them into tables in global memory.

    A comparison with zero for equality alone is about a flag, or says that the kernel has thought of it. Beside one of
    the order of numbers without a sign, it tells that the number is the least of these.
    """
    found: dict[Atom, None] = {}
    ordered: set[Atom] = set()
    are_zero: dict[Atom, None] = {}
    for condition, truth in path:
        if len(condition.form.terms) != 1:
            continue
        (name, factor), *_ = condition.form.terms
        limit = condition.bound - condition.form.constant
        if condition.relation == "below":
            ordered.add(name)
        elif condition.relation == "eq" and truth and limit == 0:
            are_zero[name] = None
        none = limit <= factor if truth else limit >= 0
        if condition.relation == "lt" and none and truth == (factor > 0) and _is_size(name):
            found[name] = None
    found.update(dict.fromkeys(name for name in are_zero if name in ordered and _is_size(name)))
    return tuple(found)


def compared_sizes(path: Iterable[tuple[Condition, bool]]) -> Iterator[Atom]:
    """Yield the sizes that a path compares in the order of signed numbers."""
    for condition, _ in path:
        if condition.relation == "lt" and len(condition.form.terms) == 1:
            (name, _), *_ = condition.form.terms
            if _is_size(name):
                yield name


def _is_size(name: Atom) -> bool:
    """Tell whether the host gives a number: by itself, or as rounds of a CTA by lengths that are taken from each other.

    The latter are those of queries and keys in attention that is aligned at the ends of both: CTAs of the first
    queries make no round where these have too few keys.
    """
    if _is_rest(name):
        return False
    kinds = {source[0] for source in sources_of(name)}
    return kinds <= OF_HOST or (kinds <= OF_HOST | {Kind.SPECIAL} and _is_of_difference(name))


def _is_rest(part: object) -> bool:
    """Tell whether a number is what a division leaves, or some bits of another: zero for sizes like any other."""
    if not isinstance(part, Atom):
        return False
    kind, *parts = part.inner
    if kind == Kind.AND:
        return all(not isinstance(each, int) or each < _ROUNDING for each in parts)
    if kind == Kind.SUM:
        return all(_is_rest(each) for each, _ in parts[0])  # type: ignore[attr-defined]
    return kind in _RESTS or (kind in _QUOTIENTS and _is_rest(parts[0]))


def _is_of_difference(name: Atom) -> bool:
    """Tell whether an atom is a quotient of a sum in which the host gives one number that another is taken from."""
    kind, inner, *_ = name.inner
    if kind not in _QUOTIENTS or not isinstance(inner, Atom) or inner.inner_kind is not Kind.SUM:
        return False
    signs = {factor > 0 for each, factor in inner.inner[1] if each.kind in OF_HOST}  # type: ignore[attr-defined]
    return len(signs) > 1


def zeros(path: Iterable[tuple[Condition, bool]]) -> Mapping[Atom, bool]:
    """Return which parameters a path compares with zero for equality, and whether they are zero in it."""
    found: dict[Atom, bool] = {}
    for condition, truth in path:
        is_of_one = len(condition.form.terms) == 1 and not condition.form.constant
        if not is_of_one or condition.bound or condition.relation not in _EQUAL:
            continue
        ((name, factor),) = condition.form.terms
        if factor != 1:
            continue
        is_zero = truth == (condition.relation == "eq")
        if name[:2] == (Kind.SETP, ".eq") and name[3] == 0:
            name, is_zero = name[2], not is_zero  # type: ignore[assignment]
        if isinstance(name, Atom) and name.kind is Kind.PARAM:
            found.setdefault(name, is_zero)
    return found


def variables_of(path: Iterable[tuple[Condition, bool]]) -> list[Atom]:
    """Return what the solver takes for variables in a path, in order."""
    terms = Terms()
    found = {atom for condition, _ in path for atom in terms.variables_in(condition)}
    return sorted(found, key=lambda each: each.digest)


@lru_cache(maxsize=1 << 14)
def unwritten_in(value: Form) -> str:
    """Return the register that has not been written and that a value is computed from, "" when there is none."""
    for name, _ in value.terms:
        for each in atoms_in(name):
            if each.kind is Kind.UNDEFINED:
                return str(each[1])
    return ""


def may_be_unwritten(value: Form) -> bool:
    """Tell whether a choice in a value may be a register that was not written."""
    return bool(value.origin & CHOSEN and unwritten_in(value))


def choices_in(truth: Form) -> Iterator[Form]:
    """Yield the conditions of the choices in a predicate that have no choice in themselves."""
    for name in walk(truth.terms):
        condition = name.inner[1] if name.inner_kind is Kind.SELP else None
        if isinstance(condition, Atom) and not condition.differs and not condition.origin & CHOSEN:
            yield Form(((condition, 1),))


def sources_of(atom: Atom) -> Iterator[Atom]:
    """Yield the parameters, loads and other beginnings that an atom is computed from; `deep` ones hide others."""
    return _beginnings(atom, _BEGINNINGS)


def inputs_of(atom: object) -> Iterator[Atom]:
    """Yield the parameters, loads and other beginnings that an atom is computed from, each once, in order."""
    return _beginnings(atom, SOURCES)


def numbers_wanted(part: object) -> tuple[str, ...]:
    """Return what `--assume` would say of the parameters that something is computed from, in order."""
    return tuple(f"{show_parameter(each)}=NUMBER" for each in inputs_of(part) if each.kind is Kind.PARAM)


def _beginnings(atom: object, kinds: frozenset[Kind]) -> Iterator[Atom]:
    """Yield the atoms of some kinds that one is computed from, each once, in order, and nothing behind them."""
    return (each for each in atoms_in(atom, kinds) if each.kind in kinds)


def atoms_in(part: object, ends: frozenset[Kind] = frozenset()) -> Iterator[Atom]:
    """Yield the atoms in a part and in what they are computed from, each once, in order; nothing behind some kinds."""
    return walk(part, lambda atom: atom.kind not in ends)


def within_grid(path: Iterable[tuple[Condition, bool]]) -> list[tuple[Condition, bool]]:
    """Return that a CTA of which a path asks its place is one of the grid."""
    specials = {
        source for atom in variables_of(path) for source in inputs_of(atom) if source.kind is Kind.SPECIAL
    }
    named = {str(each[1]): each for each in specials}
    found = []
    for axis in "xyz":
        place = named.get(f"%clusterid.{axis}")
        for size in (f"%nclusterid.{axis}", f"%nctaid.{axis}"):
            if place is not None and size in named:
                apart = plus(Form(((place, 1),)), Form(((named[size], 1),)), -1)
                assert isinstance(apart, Form)
                found.append((Condition("lt", apart, 0), True))
    return found
