"""What a rule is: texts, metadata, and one pure function over a kernel's views; and the names to write one with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ..finding import BY_NOTHING, Confidence, Counterexample, Explained, Severity
from ..source import Span
from ..verdict import Property
from ..view import KernelView
from .example import Example, sm_80, sm_90a, sm_100a

if TYPE_CHECKING:
    from ..hostcode.view import HostView

__all__ = [
    "Confidence", "Example", "Hit", "Hits", "HostHit", "KernelView", "Property", "Rule", "Severity",
    "sm_80", "sm_90a", "sm_100a",
]  # fmt: skip


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
    explained: Explained = BY_NOTHING
    """Where another mistake would explain this one."""
    is_of_block: bool = False
    """What the threads of a block do together shows it, though no run is at hand."""
    is_beyond: bool = False
    """True for what verification of the whole kernel does not look at, such as global memory."""


Hits: TypeAlias = Iterator[Hit]
"""What the check of a rule gives."""


@dataclass(frozen=True, slots=True)
class HostHit:
    """One place in host code where a rule fires, and the way of calls that leads to it, innermost first."""

    message: str
    span: Span
    related: tuple[tuple[Span, str], ...] = ()
    frames: tuple[tuple[str, Span], ...] = ()
    """The functions on the way: name, and where in it the argument or the next call stands."""
    confidence: Confidence = Confidence.PROVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule. `id` is for ever; `name` names the bad pattern and reads well in "allow ⟨name⟩"."""

    id: str
    name: str
    severity: Severity
    since: str = "0.1"
    """Version of ptxcheck that introduced it."""
    section: str
    """PTX ISA section or driver document that the rule rests on."""
    summary: str
    """What is wrong, one sentence."""
    consequence: str
    """Why it matters: hang, wrong result, launch error."""
    advice: str
    """What to do."""
    example: Example = field(repr=False)
    """The rule fires on the bad kernel at the lines marked `// expect: ID`, and says nothing on the good one."""
    check: Callable[[KernelView], Hits] = field(repr=False)
    confidence: Confidence = Confidence.PROVED
    """Highest confidence that the rule claims; `POSSIBLE` rules are off by default."""
    pedantic: bool = False
    """True for what the documents forbid but released libraries rely on: off by default."""
    approximates: tuple[Property, ...] = ()
    """The properties of whole kernels that the rule tells of by looking at one thread: where verification shows that
    all of them are kept, a hit is no more than possible (see `pipeline.refutation`). None in rules about other things,
    and in those that name what verification itself has found."""
    of_form: bool = False
    """It is about the alignment or the size of one access alone: what is wrong with the order of that access is another
    mistake, and told as well."""
    host: Callable[[HostView], Iterator[HostHit]] | None = field(default=None, repr=False)
    """For a rule about host code: the example is C++ then, and `check` finds nothing."""

    def __hash__(self) -> int:
        """Hash the id alone: rules are looked up for every input, and their texts are long."""
        return hash(self.id)

    @property
    def bad(self) -> str:
        """Return the bad kernel of the example."""
        return self.example.bad

    @property
    def good(self) -> str:
        """Return the good kernel of the example."""
        return self.example.good

    @property
    def language(self) -> str:
        """Return what the example is written in: "ptx" or "cpp"."""
        return self.example.language

    @property
    def difference(self) -> str:
        """Return both kernels as one text, each line with its margin."""
        return self.example.text
