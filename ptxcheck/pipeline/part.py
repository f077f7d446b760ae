"""What the check of one input adds to a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from ..finding import Finding
from ..results import KernelResult, Note, Problem, ProblemKind, Report, RuleInfo


@dataclass(frozen=True)
class Part:
    """What one input adds to the report."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    kernels: tuple[KernelResult, ...] = ()
    lines: tuple[tuple[tuple[str, int], str], ...] = ()
    reads: tuple[str, ...] = ()
    """Absolute paths of the other files that this rests on."""

    @property
    def is_lasting(self) -> bool:
        """Tell whether it depends on nothing but files: not on a compiler, on time or on luck."""
        in_time = not any(kernel.verification and kernel.verification.out_of_time for kernel in self.kernels)
        return in_time and all(
            problem.kind not in (ProblemKind.TOOL, ProblemKind.COMPILER) for problem in self.problems
        )


def joined(first: Part, second: Part) -> Part:
    """Return two parts as one."""
    return Part(*(getattr(first, f.name) + getattr(second, f.name) for f in fields(Part)))


def merged(parts: Sequence[Part], inputs: tuple[str, ...], rules: tuple[RuleInfo, ...]) -> Report:
    """Return the report of all parts, sorted, each problem and note once."""
    findings = [finding for part in parts for finding in part.findings]
    problems = dict.fromkeys(problem for part in parts for problem in part.problems)
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Report(
        findings=tuple(sorted(findings, key=_finding_order)),
        problems=tuple(sorted(problems, key=lambda item: (item.position, item.kernel or "", item.message))),
        notes=tuple(sorted(notes, key=lambda item: (item.position, item.kernel or "", item.message))),
        kernels=tuple(kernel for part in parts for kernel in part.kernels),
        inputs=inputs,
        rules=rules,
        lines=dict(line for part in parts for line in part.lines),
    )


def _finding_order(finding: Finding) -> tuple[object, ...]:
    location = finding.location
    return (*location.primary, finding.rule, finding.kernel or "", location.span, finding.message)
