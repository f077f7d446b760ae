"""What other CTAs of a cluster have decided, where only their places in the cluster part the questions."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...symex.values.kinds import Kind
from ...symex.values.symbol import (
    Atom,
    Condition,
    Form,
    plus,
)

_DIVISIONS = frozenset({Kind.MULHI, Kind.SHR, Kind.SAR, Kind.DIV})
_MOST_NESTED = 80


@dataclass(slots=True)
class Ways:
    """Conditions of each branch or guard that were decided or implied: by which CTA first, and their truth."""

    _of: dict[int, dict[Condition, tuple[int, bool]]] = field(default_factory=dict)
    _placeless: dict[Atom, Atom] = field(default_factory=dict)

    def note(self, point: int, rank: int, condition: Condition, truth: bool) -> None:
        """Note what a condition of a branch or guard came out as in a CTA."""
        self._of.setdefault(point, {}).setdefault(condition, (rank, truth))

    def agreed(self, point: int, rank: int, condition: Condition) -> bool | None:
        """Return what a condition came out as in another CTA, where it differs by the place in the grid only.

        Where it asks for equality, only in what divisions leave of the place: which CTA is the first one of a cluster
        is no matter of agreement.
        """
        is_order = condition.relation not in ("eq", "ne")
        best: tuple[int, int] | None = None
        found: bool | None = None
        for other, (whose, truth) in self._of.get(point, {}).items():
            if whose == rank or (other.relation, other.bound) != (condition.relation, condition.bound):
                continue
            distance = _distance(condition.form, other.form) if is_order else None
            distance = distance or self._within(condition.form, other.form)
            if distance is not None and (best is None or distance < best):
                best, found = distance, truth
        return found

    def _within(self, form: Form, other: Form) -> tuple[int, int] | None:
        """Return how far two forms are apart that are one where divisions leave out the place in the cluster."""
        if form.constant != other.constant or len(form.terms) != len(other.terms):
            return None
        is_same = self._terms(form.terms) == self._terms(other.terms)
        return (len(form.terms) + 1, 0) if is_same else None

    def _terms(self, terms: tuple[tuple[Atom, int], ...]) -> tuple[tuple[Atom, int], ...]:
        made = ((self._atom(name), factor) for name, factor in terms)
        return tuple(sorted(made, key=lambda term: (term[0].digest, term[1])))

    def _atom(self, name: Atom) -> Atom:
        """Return an atom whose divisions are of the place of the cluster, with nothing added."""
        found = self._placeless.get(name)
        if found is None:
            kind, *parts = name.inner
            if name.nesting > _MOST_NESTED:
                return name
            if kind in _DIVISIONS:
                parts[0] = _without_place(parts[0])
            if kind == Kind.SUM:
                made: tuple[object, ...] = (kind, self._terms(parts[0]), parts[1])  # type: ignore[arg-type]
            else:
                made = (kind, *(self._part(each) for each in parts))
            if kind == Kind.MUL:
                made = (kind, *sorted(made[1:], key=_order))
            found = self._placeless[name] = name if made == name.inner else Atom(made, name.differs)
        return found

    def _part(self, part: object) -> object:
        if isinstance(part, Atom):
            return self._atom(part)
        return tuple(map(self._part, part)) if isinstance(part, tuple) else part


def _without_place(part: object) -> object:
    """Return a sum that the number of the cluster is in without what is added."""
    if isinstance(part, Atom) and part.inner_kind is Kind.SUM:
        _, terms, constant = part.inner
        assert isinstance(terms, tuple)
        if constant and any(_is_cluster(name) for name, _ in terms):
            return Atom((Kind.SUM, terms, 0), part.differs)
    return part


def _order(part: object) -> bytes:
    return part.digest if isinstance(part, Atom) else repr(part).encode()


def _is_cluster(name: Atom) -> bool:
    return name.kind is Kind.SPECIAL and str(name[1]).startswith("%clusterid.")


def _distance(form: Form, other: Form) -> tuple[int, int] | None:
    """Return how far two forms are apart, None when more than the place of CTAs in the grid parts them."""
    apart = plus(form, other, -1)
    if isinstance(apart, int):
        return 0, abs(apart)
    if any(name.kind is not Kind.SPECIAL for name, _ in apart.terms):
        return None
    return len(apart.terms), abs(apart.constant)
