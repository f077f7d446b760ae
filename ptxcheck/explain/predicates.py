"""Predicates that decide where threads go on, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..protocols.symex.values.kinds import Kind
from ..protocols.symex.values.symbol import Atom, Form, show_atom

_SIGNS: Mapping[str, str] = {
    ".eq": "==", ".ne": "!=", ".lt": "<", ".le": "<=", ".gt": ">", ".ge": ">=", ".lo": "<", ".ls": "<=", ".hi": ">",
    ".hs": ">=",
}  # fmt: skip
"""Relations of `setp`, of numbers with and without a sign (PTX ISA, 9.3)."""


def predicate_text(truth: Form) -> str:
    """Return a predicate as a comparison where it is one: `round >= tiles`. That sums may wrap around is left out."""
    ((name, factor), *others) = truth.terms
    if others or (factor, truth.constant) not in ((1, 0), (-1, 1)):
        return str(truth)
    text = _comparison(name.inner)
    if text is None:
        return str(truth)
    return text if factor == 1 else f"not ({text})"


def _comparison(parts: tuple[object, ...]) -> str | None:
    match parts:
        case (Kind.CMP, str(relation), tuple(terms), int(constant), *_) if relation in _SIGNS:
            left = [_term(name, k) for name, k in terms if k > 0]
            right = [_term(name, -k) for name, k in terms if k < 0]
            if constant > 0 and right:
                left.append(str(constant))
            elif constant:
                right.append(str(-constant))
            return f"{_sum(left)} {_SIGNS[relation]} {_sum(right)}"
        case (Kind.BELOW, tuple(terms), int(constant), int(bound)):
            texts = [_term(name, k) for name, k in terms]
            return f"{_sum([*texts, str(constant)] if constant else texts)} < {bound}"
        case _:
            return None


def _term(name: Atom, factor: int) -> str:
    text = "round" if name.kind is Kind.ORDINAL else show_atom(name)
    return text if factor == 1 else f"{factor}*{text}"


def _sum(texts: Iterable[str]) -> str:
    return " + ".join(texts).replace("+ -", "- ") or "0"


__all__ = ["predicate_text"]
