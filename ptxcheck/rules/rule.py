"""What a rule is: texts, metadata, and one pure function over a kernel's views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..finding import Confidence, Counterexample, Severity
from ..source import Span
from ..view import KernelView

if TYPE_CHECKING:
    from ..hostcode.view import HostView


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule fires: a program point, what is wrong with which values, related points."""

    point: int
    message: str
    related: tuple[tuple[int, str], ...] = ()
    confidence: Confidence = Confidence.PROVED
    span: Span | None = None
    """The text to point at when it is no instruction: a directive or a declaration."""
    counterexample: Counterexample[int] | None = None
    """The run that shows it, for what takes more than one thread."""


@dataclass(frozen=True, slots=True)
class HostHit:
    """One place in host code where a rule fires, and the way of calls that leads to it, innermost first."""

    message: str
    span: Span
    related: tuple[tuple[Span, str], ...] = ()
    frames: tuple[tuple[str, Span], ...] = ()
    """The functions on the way: name, and where in it the argument or the next call stands."""
    confidence: Confidence = Confidence.PROVED


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `id` is for ever; `name` names the bad pattern and reads well in "allow ⟨name⟩".

    `bad` and `good` are complete PTX kernels: the rule fires on `bad` at the lines marked
    `// expect: ID` and says nothing on `good`.
    """

    id: str
    name: str
    severity: Severity
    since: str
    """Version of ptxcheck that introduced it."""
    section: str
    """PTX ISA section or driver document that the rule rests on."""
    summary: str
    """What is wrong, one sentence."""
    consequence: str
    """Why it matters: hang, wrong result, launch error."""
    advice: str
    """What to do."""
    bad: str = field(repr=False)
    good: str = field(repr=False)
    check: Callable[[KernelView], Iterator[Hit]] = field(repr=False)
    confidence: Confidence = Confidence.PROVED
    """Highest confidence that the rule claims; `POSSIBLE` rules are off by default."""
    pedantic: bool = False
    """True for what the documents forbid but released libraries rely on: off by default."""
    host: Callable[[HostView], Iterator[HostHit]] | None = field(default=None, repr=False)
    """For a rule about host code: `bad` and `good` are C++ then, and `check` finds nothing."""
    language: str = "ptx"
    """What `bad` and `good` are written in: "ptx" or "cpp"."""
