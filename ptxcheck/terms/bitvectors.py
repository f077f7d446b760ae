"""Terms of fixed-width integers: what registers hold, as the solver and replays see it.

Terms are made by `bit_pool.Pool`. Those of width 1 are truth values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto


class Kind(Enum):
    """What computes a term from its parts."""

    __hash__ = object.__hash__

    NUMBER = auto()
    VARIABLE = auto()
    SUM = auto()
    """`number + Σ factor × part`."""
    PRODUCT = auto()
    UDIV = auto()
    UREM = auto()
    SDIV = auto()
    SREM = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    SHL = auto()
    LSHR = auto()
    ASHR = auto()
    EXTRACT = auto()
    """Bits from `number` on."""
    ZEXT = auto()
    SEXT = auto()
    CHOICE = auto()
    EQ = auto()
    ULT = auto()
    SLT = auto()
    APPLY = auto()
    """An uninterpreted function, `name`, of the parts."""


class Bits:
    """One term; `low` and `high` bound its unsigned number, and bits outside `maybe` are 0."""

    __slots__ = ("factors", "high", "kind", "low", "maybe", "name", "number", "parts", "serial", "width")

    def __init__(
        self,
        kind: Kind,
        width: int,
        parts: tuple[Bits, ...],
        factors: tuple[int, ...],
        number: int,
        name: str,
        serial: int,
    ) -> None:
        self.kind = kind
        self.width = width
        self.parts = parts
        self.factors = factors
        self.number = number
        self.name = name
        self.serial = serial
        """Terms are numbered as they are made: parts before what is made of them."""
        self.low = 0
        self.high = self.maybe = (1 << width) - 1

    @property
    def constant(self) -> int | None:
        """The number of a literal."""
        return self.number if self.kind is Kind.NUMBER else None

    def __repr__(self) -> str:
        match self.kind:
            case Kind.NUMBER:
                return str(self.number)
            case Kind.VARIABLE:
                return self.name
            case Kind.SUM:
                terms = [
                    f"{signed(f, self.width)}*{p}" for f, p in zip(self.factors, self.parts, strict=True)
                ]
                return f"({' + '.join((*terms, str(signed(self.number, self.width))))})"
            case _:
                inner = ", ".join(map(repr, self.parts))
                extra = f"+{self.number}" if self.kind is Kind.EXTRACT else ""
                return f"{self.name or self.kind.name.lower()}{extra}:{self.width}({inner})"


Numbers = Mapping[Bits, int]
"""Numbers of variables, unsigned."""


def signed(number: int, width: int) -> int:
    """Return the signed number that a pattern of bits stands for."""
    return number - (1 << width) if number >> (width - 1) & 1 else number


def in_order(*terms: Bits) -> Iterator[Bits]:
    """Yield terms and all that they are made of, each once, parts first."""
    found: dict[Bits, None] = {}
    waiting = list(terms)
    while waiting:
        term = waiting.pop()
        if term not in found:
            found[term] = None
            waiting.extend(term.parts)
    yield from sorted(found, key=lambda each: each.serial)


def variables_of(*terms: Bits) -> tuple[Bits, ...]:
    """Return the variables that terms are made of."""
    return tuple(term for term in in_order(*terms) if term.kind is Kind.VARIABLE)
