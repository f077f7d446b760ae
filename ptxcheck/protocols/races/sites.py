"""Accesses in the rounds of an interval, as terms of one thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...terms.bitvectors import Bits
from .accesses import Access
from .passages import Context


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An access in the rounds of an interval's visit."""

    access: Access
    context: Context
    condition: Bits
    address: Bits
    stored: Callable[[], Bits | None]

    @property
    def value(self) -> Bits | None:
        """Return what a write stores: made when it is asked for, as most sites are of other places anyway."""
        return self.stored()
