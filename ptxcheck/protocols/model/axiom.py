"""A row of the table of axioms (`order/axioms.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...verdict import Property


class Profile(Enum):
    """Who says that there is this order."""

    ISA = "isa"
    """The words of the PTX ISA: the judge works by it, and no verdict names it."""
    HARDWARE = "hardware"
    """What hardware does beyond them, as far as it was measured or released kernels rely on it."""


@dataclass(frozen=True, slots=True)
class Axiom:
    """Order between accesses that a judge may count on."""

    id: str
    text: str
    """What a verdict says that rests on it, behind "taking"."""
    source: str
    """What it rests on itself: a section of the PTX ISA, a measurement, or kernels that rely on it."""
    rule: str = ""
    """Id of the pedantic rule that tells where it is relied on; empty where no place is at fault."""
    properties: tuple[Property, ...] = ()
    """Properties that rest on it; empty for the one of the flaw that it removes."""
    is_stated: bool = True
    """Each verdict that rests on it names it. False where every kernel would, or where only some uses matter."""
    profile: Profile = Profile.HARDWARE
