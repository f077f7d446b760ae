"""What one row of the suite says: roles of a small kernel, what its variants put in, and which claim it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

HOPPER, BLACKWELL = "sm_90a", "sm_100a"


class Kind(Enum):
    """Why a variant is there."""

    CONTROL = "control"
    """Synchronised as PTX asks for: it must never show a weak outcome."""
    ASKED = "asked"
    """The claim: PTX forbids or leaves open what it does, and hardware may keep the order all the same."""
    BROKEN = "broken"
    """Broken deliberately, so that the harness has something to see."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One kernel of a row."""

    name: str
    kind: Kind
    holes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Steps, separated by `|`, for the holes of the row's roles; a hole that is not named stays empty."""
    about: str = ""
    """What is different about it, in a few words; empty for a control that says it all."""
    may_hang: bool = False
    """Its weak outcome is a hang, or a fault: it runs last and once."""


@dataclass(frozen=True, slots=True)
class Role:
    """Warps that execute the same steps in each round."""

    warps: int
    steps: str
    """Separated by `|`: names of `fragments.FRAGMENTS` with an argument, PTX that ends with `;`, holes `?name`.

    `leads: step & step` is for the threads of a predicate, and `!leads: …` for the others.
    """


@dataclass(frozen=True, slots=True)
class Litmus:
    """One row: a kernel in some variants, and the claims that they measure."""

    name: str
    asks: str
    claims: tuple[str, ...]
    """Axioms and rules, by id."""
    roles: tuple[Role, ...]
    variants: tuple[Variant, ...]
    setup: str = ""
    """Steps before the first round, in front of a barrier of the CTA or the cluster."""
    end: str | None = None
    """Steps behind the last round; None for what a cluster needs: its barrier."""
    size: int = 2048
    """Bytes of the tile."""
    cluster: int = 1
    partner: int = 32
    """A thread checks what the thread with this exclusive or of its index stored."""
    dynamic: bool = False
    """The tile is dynamic shared memory, because it is larger than 48 KB."""
    registers: int = 0
    """`.maxnreg`, 0 for none."""
    ctas: int = 528
    rounds: bool = True
    """False where a launch is one trial of each CTA."""
    dependent: bool = False
    """Launches may overlap: programmatic stream serialisation."""
    target: str = HOPPER
    """What the kernel is assembled for. The GPU has to be one of these: rows of another one are not run."""

    @property
    def threads(self) -> int:
        """Return the threads of a CTA."""
        return 32 * sum(role.warps for role in self.roles)
