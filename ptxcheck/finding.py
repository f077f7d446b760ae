"""Findings: what a rule reports, and the evidence with it. Renderers are elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from .source import Position, Span

P = TypeVar("P")
Q = TypeVar("Q")


class Severity(Enum):
    """What happens to the user who ignores the finding, worst first."""

    ERROR = "error"
    HANG = "hang"
    UNDEFINED = "undefined"
    WRONG_RESULT = "wrong-result"
    LAUNCH_ERROR = "launch-error"
    SLOW = "slow"
    NOTE = "note"


class Confidence(Enum):
    """`PROVED`: holds on some feasible path of one thread. `POSSIBLE`: the analysis could not exclude it."""

    PROVED = "proved"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of an inline stack: where in the user's or a library's source."""

    position: Position
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """Where a finding is: PTX place, and the inline stack of source lines, innermost first."""

    ptx: Position
    span: Span
    frames: tuple[Frame, ...] = ()
    shown: Position | None = None
    """The frame its author can change: innermost outside library headers; None without line info."""

    @property
    def primary(self) -> Position:
        """Return the position to show first."""
        return self.shown or self.ptx


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that the message speaks of."""

    message: str
    location: Location


@dataclass(frozen=True, slots=True)
class Step(Generic[P]):
    """One step of a role: what it does, where, and its place in the order of the whole run (from 1)."""

    text: str
    place: P
    order: int


@dataclass(frozen=True, slots=True)
class Role(Generic[P]):
    """Threads that act together, named by what they do, and the steps of theirs that matter."""

    name: str
    steps: tuple[Step[P], ...]
    earlier: int = 0
    """Steps before those, which are left out."""


@dataclass(frozen=True, slots=True)
class Counterexample(Generic[P]):
    """One run in which a property fails. Places are program points, or a `Location` each."""

    launch: str
    """The launch, and how often the loops go round."""
    inputs: tuple[str, ...]
    """Numbers that the host may pass, and a place in the grid, with which the run is made; () if none are known."""
    roles: tuple[Role[P], ...]
    """The role that goes wrong first."""
    bad: int
    """Order of the step that must not happen, or never does."""
    state: tuple[str, ...]
    """The barriers concerned, as they are before that step."""
    needed: str
    """What would have had to happen."""

    def placed(self, locate: Callable[[P], Q]) -> Counterexample[Q]:
        """Return the same with other places."""
        roles = tuple(
            Role(
                role.name,
                tuple(Step(step.text, locate(step.place), step.order) for step in role.steps),
                role.earlier,
            )
            for role in self.roles
        )
        return Counterexample(self.launch, self.inputs, roles, self.bad, self.state, self.needed)


class Rank(Enum):
    """How near to a mistake what was found is: a lower one may explain a higher one."""

    CODE = 0
    """What the code of one thread shows."""
    LIFE = 1
    """Initialisation and counts of a barrier."""
    PHASE = 2
    HANG = 3
    ACCESS = 4


@dataclass(frozen=True, slots=True)
class Explained:
    """Instructions at which another mistake would explain something that was found; none explains the code itself."""

    at: frozenset[int] = frozenset()
    rank: Rank = Rank.CODE


BY_NOTHING = Explained()


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of one rule at one place."""

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    location: Location
    kernel: str | None = None
    help: str = ""
    related: tuple[Related, ...] = ()
    counterexample: Counterexample[Location] | None = None
    fingerprint: str = ""
    caused_by: str = ""
    """Fingerprint of the finding that it follows from, or "" when it stands for itself."""
    suppressed: str | None = None
    """Reason given in the source when the finding is suppressed there."""
    baselined: bool = False
    """True when the finding is in the baseline of the run: known, and not to be reported again."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replace the text from one place to another (exclusive) of a file."""

    start: Position
    end: Position
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of one finding, as edits of the text as it is."""

    description: str
    replacements: tuple[Replacement, ...]
