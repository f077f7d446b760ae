"""What guards say, in a form in which two guards can contradict each other.

A guard that holds says in which threads it can hold, where that follows from the thread index alone, and
facts about numbers: `key relation number`, where the key is a linear expression of atoms. An atom that is
defined again (the next round of a loop) is another number: its facts are dropped, or moved along where a
loop counter comes from its old value. All elected threads of one member mask are one thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...cfg.arithmetic import add
from ...cfg.compare import Relation, constrain, decide
from ...cfg.definitions import Name
from ...cfg.linear import Atom, AtomKind, Linear
from ...cfg.linear import atom as atom_form
from ...cfg.threads import ThreadSet
from ...cfg.values import Value, exactly, top
from ...ir import (
    Guard,
    Immediate,
    Negated,
    Operand,
    Register,
)
from ...opcodes.op import Op
from ...opcodes.spec import Trait

if TYPE_CHECKING:
    from ...cfg import Cfg, Facts

_DEPTH = 4
_MAX_KEPT = 200_000
"""Assumptions to remember from search to search."""
_INPUTS = frozenset({Trait.LOAD, Trait.ATOMIC, Trait.WAIT, Trait.VOLATILE, Trait.CALL, Trait.ANYTHING})
"""Results of such instructions are new each time."""


class Comparison(NamedTuple):
    """`key relation number`, as numbers of `width` bits."""

    key: Linear
    relation: Relation
    number: int
    signed: bool
    width: int


class Literal(NamedTuple):
    """What one guard says when it holds. `never` when it cannot hold."""

    threads: ThreadSet | None
    comparisons: tuple[Comparison, ...]
    never: bool = False
    merges: frozenset[Atom] = frozenset()
    """Merged registers, loop counters among them, that the predicate is computed from."""
    predicate: tuple[Name, bool] | None = None
    """What holds, and whether it or its opposite, where it is computed from one merged register."""


Assumptions: TypeAlias = tuple[tuple[Linear, Value], ...]
"""Numbers that keys are known to be among, sorted by key."""


class Conditions:
    """Guards of one kernel."""

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._facts = facts
        self._memo: dict[tuple[Name, bool], Literal] = {}
        self._both: dict[int, tuple[Literal, Literal]] = {}
        self._computed_from: dict[Name, frozenset[Atom]] = {}
        self._kept = 0
        self._shared: dict[Assumptions, Assumptions] = {(): ()}
        self._assumed: dict[tuple[int, int], tuple[Assumptions, Literal, Assumptions | None]] = {}
        self._entered: dict[tuple[int, int, int], tuple[Assumptions, Assumptions]] = {}

    def of(self, point: int, guard: Guard) -> Literal:
        """Return what holds when the guard holds at the point."""
        return self._literal(self._facts.name(point, guard.register), not guard.negated)

    def both(self, point: int) -> tuple[Literal, Literal]:
        """Return what holds where the guard of a point holds, and where it does not."""
        if point not in self._both:
            guard = self._cfg.instructions[point].guard
            assert guard is not None
            self._both[point] = (self.of(point, guard), self.of(point, _opposite(guard)))
        return self._both[point]

    def assume(self, assumed: Assumptions, literal: Literal) -> Assumptions | None:
        """Return the assumptions with what the literal says, None when they contradict.

        Equal assumptions that this and `entering` return are one object. Searches ask the same again and again.
        """
        key = (id(assumed), id(literal))
        known = self._assumed.get(key)
        if known is None or known[0] is not assumed or known[1] is not literal:
            result = self._with(assumed, literal)
            known = self._assumed[key] = (assumed, literal, None if result is None else self.share(result))
        return known[2]

    def _with(self, assumed: Assumptions, literal: Literal) -> Assumptions | None:
        if literal.never:
            return None
        known = dict(assumed)
        if literal.predicate is not None and self._is_refuted(literal, *literal.predicate, known):
            return None
        changed = False
        for one in literal.comparisons:
            before = known.get(one.key)
            numbers = constrain(before or top(one.width), one.relation, one.number, one.signed)
            if numbers is None:
                return None
            if numbers != before and (before is not None or one.key in self.relevant):
                known[one.key] = numbers
                changed = True
        return tuple(sorted(known.items())) if changed else assumed

    def _is_refuted(
        self, literal: Literal, predicate: Name, truth: bool, known: Mapping[Linear, Value]
    ) -> bool:
        """Tell whether a predicate is the opposite where the one merge that it is computed from has a known number."""
        (atom,) = literal.merges
        numbers = known.get(atom_form(atom))
        if numbers is None or numbers.constant is None:
            return False
        merge = Name(Register(atom.name, atom.scope), -2 - atom.at)
        value = self._facts.value_given(predicate, {merge: numbers})
        return value is not None and value.constant is not None and bool(value.constant) != truth

    def is_sure(self, assumed: Assumptions, literal: Literal) -> bool:
        """Tell whether a run can surely choose the literal, or refuse it.

        Threads are free to differ and inputs to be anything, but merged registers such as loop counters have
        a history: a predicate that is computed from them is sure only where their numbers are known.
        """
        if literal.threads is not None or not literal.merges:
            return True
        known = {key for key, _ in assumed}
        if all(one.key in known for one in literal.comparisons):
            return True
        return all(atom_form(atom) in known for atom in literal.merges) and len(literal.merges) == 1

    def entering(self, block: int, source: int, assumed: Assumptions) -> Assumptions:
        """Return what is left on entry to a block by the edge from `source`."""
        key = (id(assumed), block, source)
        known = self._entered.get(key)
        if known is None or known[0] is not assumed:
            result = self._left(block, source, assumed)
            known = self._entered[key] = (assumed, self.share(result))
        return known[1]

    def share(self, assumed: Assumptions) -> Assumptions:
        """Return the one object for equal assumptions."""
        shared = self._shared.setdefault(assumed, assumed)
        if shared is assumed:
            self._kept += len(assumed)
        return shared

    def begin(self) -> bool:
        """Say that a search begins: return whether what earlier ones learnt is kept, as it is while it is small."""
        if self._kept <= _MAX_KEPT:
            return True
        self._kept = 0
        self._shared = {(): ()}
        self._assumed.clear()
        self._entered.clear()
        return False

    def _left(self, block: int, source: int, assumed: Assumptions) -> Assumptions:
        counters, renewed = self.counters.get(block, ()), self.renewed.get(block, ())
        if not counters and not renewed:
            return assumed
        kept = {key: value for key, value in assumed if key not in renewed}
        known = dict(assumed)
        for atom in counters:
            numbers = self._carried(atom, source, known)
            if numbers is not None:
                kept[atom_form(atom)] = numbers
        return tuple(sorted(kept.items()))

    def _carried(self, atom: Atom, source: int, known: dict[Linear, Value]) -> Value | None:
        """Return the numbers that a merge gets along an edge, from those of what it merges."""
        value = self._merged_from(atom, source)
        if value is not None and value.constant is not None:
            return exactly(value.constant, value.width)
        origin = self.origin(atom, source)
        old = None if origin is None else known.get(origin)
        if value is None or value.linear is None or old is None or old.width != value.width:
            return None
        return add(old, exactly(value.linear.constant, old.width)).with_linear(None)

    def origin(self, atom: Atom, source: int) -> Linear | None:
        """Return the key whose number a merge gets along an edge from `source`, but for a constant sum."""
        value = self._merged_from(atom, source)
        if value is None or value.linear is None or value.constant is not None:
            return None
        terms = value.linear.terms
        return Linear(terms, 0) if len(terms) == 1 and terms[0][1] == 1 else None

    def _merged_from(self, atom: Atom, source: int) -> Value | None:
        value = self._facts.value_of(self._facts.leaving(source, Register(atom.name, atom.scope)))
        return None if value is None or value.linear is None else value

    @cached_property
    def renewed(self) -> dict[int, frozenset[Linear]]:
        """Keys of assumptions that each block defines an atom of anew."""
        block_of = self._cfg.graph.block_of
        merges = (atom_form(atom) for atoms in self.counters.values() for atom in atoms)
        found: dict[int, set[Linear]] = {}
        for key in self.relevant.union(merges):
            for atom, _ in key.terms:
                if atom.kind is AtomKind.PHI:
                    found.setdefault(atom.at, set()).add(key)
                elif atom.kind is AtomKind.DEFINITION and atom.at >= 0:
                    found.setdefault(block_of[atom.at], set()).add(key)
        return {block: frozenset(keys) for block, keys in found.items()}

    @cached_property
    def relevant(self) -> frozenset[Linear]:
        """Keys that two guards speak of, or that one guard in a loop speaks of again and again."""
        uses: Counter[Linear] = Counter()
        for point, instruction in enumerate(self._cfg.instructions):
            if instruction.guard is None or not self._cfg.connected(point):
                continue
            weight = 1 if self._cfg.loop_of(point) is None else 2
            keys = {one.key for literal in self.both(point) for one in literal.comparisons}
            uses.update(dict.fromkeys(keys, weight))
        return frozenset(key for key, count in uses.items() if count > 1)

    @cached_property
    def counters(self) -> dict[int, tuple[Atom, ...]]:
        """Merges that relevant keys speak of, by block."""
        found: dict[int, dict[Atom, None]] = {}
        for key in self.relevant:
            for atom, _ in key.terms:
                if atom.kind is AtomKind.PHI:
                    found.setdefault(atom.at, {})[atom] = None
        return {block: tuple(atoms) for block, atoms in found.items()}

    # ---- what a predicate says

    def _literal(self, name: Name, truth: bool) -> Literal:
        key = (name, truth)
        if key not in self._memo:
            value = self._facts.value_of(name)
            never = value is None or (value.constant is not None and bool(value.constant) != truth)
            threads = None if never else self._facts.holding(name, truth)
            never = never or (threads is not None and not len(threads))
            comparisons = () if never else tuple(dict.fromkeys(self._said(name, truth, _DEPTH)))
            merges = frozenset() if never or threads is not None else self._merges(name)
            predicate = key if len(merges) == 1 else None
            self._memo[key] = Literal(threads, comparisons, never, merges, predicate)
        return self._memo[key]

    def _merges(self, name: Name) -> frozenset[Atom]:
        """Return the merged registers that a register is computed from, memory and other lanes aside."""
        done, opened = self._computed_from, set[Name]()
        work = [] if name in done else [name]
        while work:
            current = work[-1]
            sources = tuple(self._sources(current)) if current.phi_block is None and current.site >= 0 else ()
            if current not in opened:
                opened.add(current)
                work += (source for source in sources if source not in done and source not in opened)
                continue
            work.pop()
            own = (
                frozenset[Atom]() if current.phi_block is None else frozenset({self._predicate_atom(current)})
            )
            done[current] = own.union(*(done[source] for source in sources if source in done))
        return done[name]

    def _sources(self, name: Name) -> Iterator[Name]:
        """Yield what an instruction computes a register from; nothing where the result is an input."""
        instruction = self._cfg.instructions[name.site]
        if not instruction.operation.traits & _INPUTS:
            for register in instruction.reads():
                yield self._facts.name(name.site, register)
        if instruction.guard is not None:
            yield self._facts.name(name.site, instruction.guard.register)
            yield self._facts.name(name.site, name.register)

    def _said(self, name: Name, truth: bool, depth: int) -> Iterator[Comparison]:
        yield Comparison(atom_form(self._predicate_atom(name)), Relation.EQ, int(truth), False, 1)
        for fact in self._facts.said_by(name, truth):
            yield from self._comparison(fact.name, fact.relation, fact.number, fact.signed, depth)

    def _predicate_atom(self, name: Name) -> Atom:
        register = name.register
        if name.phi_block is not None:
            return Atom(AtomKind.PHI, register.name, name.phi_block, scope=register.scope)
        if name.site >= 0:
            instruction = self._cfg.instructions[name.site]
            if instruction.operation.op is Op.ELECT_SYNC and instruction.guard is None:
                mask = self._facts.constant(name.site, instruction.operands[-1])
                members = instruction.operands[-1] if mask is None else mask & 0xFFFFFFFF
                return Atom(AtomKind.SPECIAL, f"elected by {members}")
        return Atom(AtomKind.DEFINITION, register.name, name.site, 1, scope=register.scope)

    def _comparison(
        self, name: Name, relation: Relation, number: int, signed: bool, depth: int
    ) -> Iterator[Comparison]:
        value = self._facts.value_of(name)
        if value is not None and value.linear is not None and value.linear.terms:
            yield _normal(value, relation, number, signed)
            yield _outcome(value, relation, number, signed)
            if signed or relation is Relation.EQ:
                yield _ordered(value, relation, number)
        if depth:
            yield from self._chosen(name, relation, number, signed, depth)
            yield from self._united(name, relation, number, depth)

    def _united(self, name: Name, relation: Relation, number: int, depth: int) -> Iterator[Comparison]:
        """Yield what `a | b == 0` says of both."""
        if name.site < 0 or relation is not Relation.EQ or number != 0:
            return
        instruction = self._cfg.instructions[name.site]
        if instruction.operation.op is Op.OR and instruction.guard is None:
            for operand in instruction.operands[1:]:
                if isinstance(operand, Register):
                    source = self._facts.name(name.site, operand)
                    yield from self._comparison(source, Relation.EQ, 0, False, depth - 1)

    def _chosen(
        self, name: Name, relation: Relation, number: int, signed: bool, depth: int
    ) -> Iterator[Comparison]:
        """Yield what follows for the predicate that chose between two numbers (`selp`, guarded `mov`)."""
        choice = self._choice(name)
        if choice is None:
            return
        predicate, if_true, if_false = choice
        possible = [
            truth
            for truth, value in ((True, if_true), (False, if_false))
            if value is None or decide(relation, exactly(value, 32), exactly(number, 32), signed) is not False
        ]
        if len(possible) == 1:
            yield from self._said(predicate, possible[0], depth - 1)

    def _choice(self, name: Name) -> tuple[Name, int | None, int | None] | None:
        """Return the predicate and the two numbers behind a definition; None for a number not known."""
        if name.site < 0:
            return None
        instruction = self._cfg.instructions[name.site]
        operands, before = instruction.operands, self._facts.name
        if instruction.operation.op is Op.SELP and instruction.guard is None and len(operands) == 4:
            tested = operands[3]
            inverted = isinstance(tested, Negated)
            register = tested.operand if isinstance(tested, Negated) else tested
            if not isinstance(register, Register):
                return None
            numbers = self._number(operands[1], name.site), self._number(operands[2], name.site)
            return before(name.site, register), numbers[inverted], numbers[not inverted]
        if instruction.operation.op is Op.MOV and instruction.guard is not None and len(operands) == 2:
            guard = instruction.guard
            old = self._facts.constant(name.site, name.register)
            numbers = self._number(operands[1], name.site), old
            return before(name.site, guard.register), numbers[guard.negated], numbers[not guard.negated]
        return None

    def _number(self, operand: Operand, point: int) -> int | None:
        return self._facts.constant(point, operand) if isinstance(operand, (Immediate, Register)) else None


def _normal(value: Value, relation: Relation, number: int, signed: bool) -> Comparison:
    """Return the comparison of a value with a number, equalities without the constant of the expression."""
    form = value.linear
    assert form is not None
    if relation in (Relation.EQ, Relation.NE):
        mask = (1 << value.width) - 1
        return Comparison(
            Linear(form.terms, 0), relation, (number - form.constant) & mask, False, value.width
        )
    return Comparison(form, relation, number, signed, value.width)


def _outcome(value: Value, relation: Relation, number: int, signed: bool) -> Comparison:
    """Return the comparison as a truth of its own: what intervals cannot hold must not be taken both ways.

    `x != 5` leaves two intervals, and so does a signed bound on an unsigned number.
    """
    form = value.linear
    assert form is not None
    truth = relation in (Relation.EQ, Relation.LT, Relation.LE)
    if relation in (Relation.LE, Relation.GT):
        number += 1
    if relation in (Relation.EQ, Relation.NE):
        number, form, signed = number - form.constant, Linear(form.terms, 0), False
    kind = "==" if relation in (Relation.EQ, Relation.NE) else "s<" if signed else "<"
    test = Atom(AtomKind.SPECIAL, f"{kind} {number & (1 << value.width) - 1}")
    return Comparison(Linear((*form.terms, (test, 1)), form.constant), Relation.EQ, int(truth), False, 1)


def _ordered(value: Value, relation: Relation, number: int) -> Comparison:
    """Return a signed comparison as one of numbers that are moved up by half of what there are.

    `x <= 0` leaves the numbers below 2^31 and above in two intervals, and these in one.
    """
    form = value.linear
    assert form is not None
    key = Linear((*form.terms, (Atom(AtomKind.SPECIAL, "signed"), 1)), form.constant)
    return Comparison(key, relation, number + (1 << value.width - 1), False, value.width)


def _opposite(guard: Guard) -> Guard:
    return Guard(guard.register, not guard.negated)


__all__ = ["Assumptions", "Comparison", "Conditions", "Literal"]
