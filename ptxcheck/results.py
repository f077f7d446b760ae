"""What one run of the checker gives back: findings, problems, notes, and what was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .finding import (
    Confidence,
    Finding,
    Location,
    Severity,
)
from .launch import Dim, Launch
from .source import Position
from .verdict import (
    EVIDENCE_OF,
    SEVERITY,
    WEAKNESS,
    AssumptionSource,
    Evidence,
    Openness,
    Property,
    VerdictKind,
)


class ProblemKind(Enum):
    """Why something could not be checked."""

    INPUT = "input"
    """The file cannot be read, or is not text."""
    COMPILER = "compiler"
    """nvcc is missing or refused the file."""
    SYNTAX = "syntax"
    """The PTX is malformed at this place; the rest was checked."""
    SETTING = "setting"
    """A setting contradicts the kernel."""
    TOOL = "tool"
    """ptxcheck itself failed: a bug of ptxcheck."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be checked, located. Any problem makes the run fail with exit code 2."""

    kind: ProblemKind
    message: str
    position: Position
    """Line 0 when the whole file is meant."""
    kernel: str | None = None
    detail: str = ""
    """Text to show as it is, such as the compiler's own messages."""


class NoteKind(Enum):
    """What a note is about."""

    OPAQUE = "opaque-instruction"
    """An instruction that the table does not know: the kernel was not checked in full."""
    LINE_INFO = "no-line-information"
    SUPPRESSION = "suppression"
    """A suppression that does nothing, or lacks its reason."""
    HOST_CODE = "host-code-given-up"
    """Host code that encodes tensor maps was not followed to its end."""
    LAUNCH = "launch-of-no-kernel"
    """A launch that the user gives names no kernel that was checked."""
    HOST_LAUNCH = "host-launch"
    """A launch by host code that the kernel is not compiled for, or that was not judged."""
    NO_KERNELS = "no-kernels"
    """A cache of a compiler that holds no kernel yet."""
    BASELINE = "baseline"
    """The baseline lists findings that are gone."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something the user should know that is no finding."""

    kind: NoteKind
    message: str
    position: Position
    kernel: str | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A reason of a verdict or something taken for granted, and where; None for nowhere in particular."""

    text: str
    location: Location | None = None
    advice: str = ""
    """What to pass so that it is decided, or "" where no option helps."""
    source: AssumptionSource | None = None
    """Who is to make it true, where it is assumed; None for a reason that is no assumption."""


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """The answer to one question about one kernel."""

    property: Property
    kind: VerdictKind
    reasons: tuple[Remark, ...] = ()
    openness: Openness | None = None
    """What keeps it from being plainly proved or violated; None where nothing does."""
    evidence: Evidence = None  # type: ignore[assignment]
    """What it is shown by: that of its kind where nothing else is said."""
    assumptions: tuple[Remark, ...] = ()
    """What it takes for granted, each with its source."""

    def __post_init__(self) -> None:
        if self.evidence is None:
            object.__setattr__(self, "evidence", EVIDENCE_OF[self.kind])


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """What a second solver said of the answers that no numbers exist with which some claims hold."""

    solver: str
    version: str
    confirmed: int
    undecided: int
    """It could not tell within its effort."""
    refuted: int
    """It found numbers: one of the two is wrong."""


@dataclass(frozen=True, slots=True)
class KernelVerdicts:
    """What whole-kernel verification showed of one kernel, for one launch."""

    block: Dim | None
    cluster: Dim | None
    inferred: bool
    """True when nothing states the cluster shape, and the first that its counts admit was taken."""
    verdicts: tuple[PropertyVerdict, ...]
    trips: tuple[int, ...] = ()
    """How often the loops with open trip counts went round in the runs."""
    runs: int = 0
    equations: tuple[str, ...] = ()
    """What the host must make true, in terms of parameters and boxes of tensor maps."""
    assumptions: tuple[Remark, ...] = ()
    given: tuple[str, ...] = ()
    """Values of parameters that the user gave, such as `param+640=8192`, and conditions on them."""
    facts: tuple[str, ...] = ()
    """What the compiler or the kernel's source says of parameters, and the verdicts may rest on."""
    block_origin: str = ""
    """Who says the block, where the kernel itself does not: `__launch_bounds__`, `<<<>>> at ring.cu:42`."""
    cluster_origin: str = ""
    """Who says the cluster, where the kernel itself does not."""
    other_launches: tuple[str, ...] = ()
    """The verdicts for further launches of the kernel by host code, none worse than this one."""
    out_of_time: bool = False
    """True when more time might have decided more."""
    cross_check: CrossCheck | None = None
    """None unless it was asked for."""

    @property
    def is_open(self) -> bool:
        """Tell whether some property was not decided, and none is violated."""
        return self.kind is VerdictKind.UNKNOWN

    @property
    def is_plain(self) -> bool:
        """Tell whether all properties hold, and nothing is asked of the host."""
        return self.kind in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)

    @property
    def kind(self) -> VerdictKind:
        """Return the worst of the verdicts."""
        return min((verdict.kind for verdict in self.verdicts), key=SEVERITY.index)

    @property
    def evidence(self) -> Evidence:
        """Return the weakest evidence of the verdicts."""
        return min((verdict.evidence for verdict in self.verdicts), key=WEAKNESS.index)


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One function that was checked. `complete` is False when something in it was not decided."""

    name: str
    position: Position
    launch: Launch
    instructions: int
    complete: bool = True
    entry: bool = True
    verification: KernelVerdicts | None = None
    """None when it was turned off, or the kernel has nothing that it is about."""


class PluginError(Exception):
    """A package whose rules cannot be used; the message names it and says why."""


class UnknownSelectorError(ValueError):
    """A selector that names no rule; the message suggests one that does."""


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """The texts of a rule that renderers show; what `Rule` holds without its check."""

    id: str
    name: str
    severity: Severity
    confidence: Confidence
    pedantic: bool
    since: str
    section: str
    summary: str
    consequence: str
    advice: str
    bad: str = field(repr=False)
    good: str = field(repr=False)
    difference: str = field(repr=False)
    """Both as one text: `- ` before lines of the bad one, `+ ` before lines of the good one, blanks before others."""
    language: str = "ptx"
    """What `bad` and `good` are written in."""


@dataclass(frozen=True)
class Report:
    """The result of one run. Everything is sorted; equal inputs give equal reports."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    kernels: tuple[KernelResult, ...] = ()
    inputs: tuple[str, ...] = ()
    """Names of the files that were asked for, in the order checked."""
    rules: tuple[RuleInfo, ...] = field(default=(), repr=False)
    """The rules that ran, in the order of their ids."""
    lines: Mapping[tuple[str, int], str] = field(default_factory=dict, repr=False)
    """Text of each source line that a renderer may show, by file and line."""

    @property
    def active(self) -> tuple[Finding, ...]:
        """Return the findings that no comment in the source suppresses and no baseline lists."""
        return tuple(
            finding for finding in self.findings if finding.suppressed is None and not finding.baselined
        )

    @property
    def baselined(self) -> tuple[Finding, ...]:
        """Return the findings that the baseline lists."""
        return tuple(finding for finding in self.findings if finding.baselined)

    @property
    def suppressed(self) -> tuple[Finding, ...]:
        """Return the findings that a comment in the source suppresses."""
        return tuple(finding for finding in self.findings if finding.suppressed is not None)

    @property
    def incomplete(self) -> tuple[KernelResult, ...]:
        """Return the kernels in which something was not decided."""
        return tuple(kernel for kernel in self.kernels if not kernel.complete)

    def line(self, position: Position) -> str | None:
        """Return the source line at a position, or None when its text is not at hand."""
        return self.lines.get((position.file, position.line))

    def rule(self, rule_id: str) -> RuleInfo | None:
        """Return the texts of a rule that ran."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)


def exit_code(report: Report, fail_on: Severity = Severity.NOTE, *, strict: bool = False) -> int:
    """Return 2 for a problem, 1 for a finding at or above `fail_on`; if strict, 3 for what is not checked in full."""
    if report.problems:
        return 2
    order = list(Severity)
    limit = order.index(fail_on)
    if any(order.index(finding.severity) <= limit for finding in report.active):
        return 1
    given_up = any(note.kind is NoteKind.HOST_CODE for note in report.notes)
    return 3 if strict and (report.incomplete or given_up) else 0
