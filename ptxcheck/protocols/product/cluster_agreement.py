"""Work that comes in whole clusters: CTAs of a cluster that ask the same of the host take the same way.

Property: where each CTA of a cluster gets the answer that the first one gets to a question of `agreed`, the questions
there are those of the first one.

Argument: CTAs of a cluster run one program. Where their automata have the same nodes, and what a node asks is the same
once the place in the cluster is taken away, the questions are one with another place in it. That both have one answer
is taken for granted, and said. `%ctaid.x` of a CTA is `size * %clusterid.x + place`, so what its place has added to a
sum follows from the factors of the cluster's number in it.

Not covered: clusters of which the automata are not alike; questions whether two numbers are equal, and those about the
grid alone: which CTA is the first or the last one is no matter of agreement. Nor are places in anything but sums and
quotients of these, chosen or not: what masks, remainders or products with numbers of the host make of a place parts the
CTAs of a cluster for good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..automata.automaton import Automaton
from ..automata.nodes import Node
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import condition_of
from ..symex.values.substitution import leaves
from ..symex.values.symbol import Atom, Form, plus
from ..symex.values.traversal import walk
from .questions import Asked, Below, Named, Terms
from .readings import At

_CLUSTER = {f"%clusterid.{axis}": number for number, axis in enumerate("xyz")}
_MOST_NESTED = 80
_QUOTIENTS = frozenset({Kind.SHR, Kind.SAR, Kind.DIV, Kind.MULHI})


def agreed(automata: Sequence[Automaton], asked: Mapping[At, Asked]) -> Mapping[At, Asked]:
    """Return what CTAs of a cluster ask apart that may be one question: that of the first one for each."""
    first, found = automata[0], dict[At, Asked]()
    of_first = _Placeless(first)
    for number, automaton in enumerate(automata):
        if not all(map(_is_same, first.nodes, automaton.nodes)) or len(first.nodes) != len(automaton.nodes):
            return {}
        of_own = _Placeless(automaton)
        for node in automaton.nodes:
            own, other = asked.get((number, node.number)), asked.get((0, node.number))
            if own == other or own is None or other is None:
                continue
            is_order = _is_order_of_host(own) and _is_order_of_host(other)
            if is_order and of_own.question(node) == of_first.question(first.nodes[node.number]):
                found[number, node.number] = _one(own, other)
    return found


def _one(own: Asked, other: Asked) -> Asked:
    """Return the question of another CTA, with what is done to the numbers of either."""
    if not (isinstance(own, Below) and isinstance(other, Below)):
        return other
    return replace(other, changes=own.changes | other.changes, is_plain=own.is_plain and other.is_plain)


def _is_same(node: Node, other: Node) -> bool:
    return _shape(node) == _shape(other)


def _shape(node: Node) -> tuple[object, ...]:
    point = None if node.question is None else node.question.point
    return (
        node.block,
        node.loops,
        node.residues,
        point,
        node.not_followed,
        [each.node for each in node.targets],
    )


def _is_order_of_host(asked: Asked) -> bool:
    """Tell whether it is asked which of two numbers is less, one of which is a number of the host."""
    match asked:
        case Below(terms=terms, equal=False):
            numbers = Form(terms) if terms else None
        case Named(truth=truth):
            condition, _ = condition_of(truth)
            numbers = condition.form if condition.relation in ("lt", "below") else None
        case _:
            numbers = None
    return numbers is not None and any(_is_bound_of_host(name) for name, _ in numbers.terms)


def _is_bound_of_host(name: Atom) -> bool:
    """Tell whether a number is none of the grid, and has nothing of a place in it."""
    parts = list(leaves(Form(((name, 1),))))
    return any(each.kind is not Kind.SPECIAL for each in parts) and not any(
        _axis_of(each) is not None for each in walk(name)
    )


@dataclass(slots=True)
class _Placeless:
    """Values of a CTA as those of the first one of its cluster, as far as its place has been added to them."""

    automaton: Automaton
    _made: dict[Atom, Atom] = field(default_factory=dict)

    def question(self, node: Node) -> tuple[Terms, int]:
        """Return what a node asks, as the terms and the constant of a predicate."""
        assert node.question is not None
        truth = node.question.truth
        return self._sum(truth.terms, truth.constant)

    def _sum(self, terms: Terms, constant: int) -> tuple[Terms, int]:
        """Return a sum without what the place has added to it."""
        made: Form | int = constant
        for name, factor in terms:
            made = plus(made, Form(((self._atom(name), 1),)), factor)
            made = plus(made, self._added(name, factor), -1)
        return (made.terms, made.constant) if isinstance(made, Form) else ((), made)

    def _added(self, name: Atom, factor: int) -> Form | int:
        """Return what the place has added to a sum with a multiple of an atom, where that is the cluster's number."""
        axis = _axis_of(name)
        if axis is not None:
            return self._share(axis, factor)
        if name.kind is Kind.MUL:
            for number, other in (name.inner[1:3], name.inner[2:0:-1]):
                axis = _axis_of(number)
                if axis is not None and isinstance(other, Atom) and other.kind is Kind.SPECIAL:
                    share = self._share(axis, factor)
                    return Form(((other, share),)) if share else 0
        return 0

    def _share(self, axis: int, factor: int) -> int:
        shape = self.automaton.shape
        size, place = shape.cluster[axis], shape.place(self.automaton.rank)[axis]
        return factor // size * place if factor % size == 0 else 0

    def _atom(self, name: Atom) -> Atom:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._atom_anew(name)
        return found

    def _atom_anew(self, name: Atom) -> Atom:
        if name.nesting > _MOST_NESTED:
            return name
        kind, *parts = name.inner
        if kind is Kind.SUM:
            made: tuple[object, ...] = (kind, *self._sum(*parts))  # type: ignore[arg-type]
        elif kind in (Kind.CMP, Kind.BELOW):
            at = 1 if kind is Kind.CMP else 0
            sums = self._sum(parts[at], parts[at + 1])  # type: ignore[arg-type]
            made = (kind, *parts[:at], *sums, *(parts[at + 2 :] if kind is Kind.BELOW else ()))
        elif kind is Kind.SELP:
            made = (kind, parts[0], *map(self._part, parts[1:]))
        elif kind in _QUOTIENTS or kind is Kind.NOT:
            made = (kind, self._part(parts[0]), *parts[1:])
        else:
            return name
        return name if made == name.inner else Atom(made, name.differs)

    def _part(self, part: object) -> object:
        return self._atom(part) if isinstance(part, Atom) else part


def _axis_of(part: object) -> int | None:
    """Return the axis of which a part of an atom is the number of the cluster, None for anything else."""
    is_special = isinstance(part, Atom) and part.kind is Kind.SPECIAL
    return _CLUSTER.get(str(part.inner[1])) if is_special and isinstance(part, Atom) else None


__all__ = ["agreed"]
