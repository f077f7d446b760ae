"""Decisions of a run that contradict each other, seen with every operation taken apart.

While a run decides, an operation that the solver does not follow (see `terms`) is a variable to it. Here it is an
unknown function of its operands: with equal operands results are equal, also where that follows from decisions only.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...smt import Application, Choice, Claim, Sum, Term, contradiction
from .symbol import Atom, Condition
from .terms import Terms

_NOT_COMPUTED = frozenset(
    {
        "param",
        "special",
        "lanes",
        "loop",
        "shared",
        "result",
        "returned",
        "undefined",
        "operand",
        "merged",
        "skipped",
    }
)


def contradicting(path: Sequence[tuple[Condition, bool]]) -> int | None:
    """Return how many decisions of a path are enough to contradict each other, None when none were found to."""
    terms = _Functions()
    core = contradiction([terms.claim(condition, truth) for condition, truth in path])
    return None if core is None else max(core, default=-1) + 1


class _Functions(Terms):
    """Terms in which operations that are not followed are functions of their operands."""

    def _operation(self, name: Atom) -> Term | None:
        found = super()._operation(name)
        kind, *parts = name.inner
        if found is not None or name.differs or kind in _NOT_COMPUTED:
            return found
        texts = [str(part) for part in parts if not isinstance(part, int | Atom)]
        arguments = tuple(self._operand(part) for part in parts if isinstance(part, int | Atom))
        applied = Application("!".join([str(kind), str(len(arguments)), *texts]), arguments)
        return _product(applied) if kind == "mul" else applied


def _product(applied: Application) -> Term:
    """Take a product apart where a factor is 0 or 1."""
    found: Term = applied
    for one, other in (applied.arguments, applied.arguments[::-1]):
        found = Choice(Claim("eq", one, 1), other, found)
        found = Choice(Claim("eq", one, 0), Sum((), 0), found)
    return found
