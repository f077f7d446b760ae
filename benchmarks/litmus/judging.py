"""What the checker says of every kernel of the suite."""

from __future__ import annotations

from collections.abc import Iterator

from ptxcheck import Source, check
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.results import KernelVerdicts
from ptxcheck.verdict import VerdictKind

from .program import digest, kernel_name, program
from .results import VERDICTS, Judgement, read_judgements, write_judgements
from .table import SUITE


def judge_suite(only: str) -> str:
    """Judge each kernel whose text has changed since, or whose name contains `only`; return how many."""
    known = {judgement.kernel: judgement for judgement in read_judgements()}
    judgements: list[Judgement] = []
    count = 0
    for name, text in kernels():
        old = known.get(name)
        if old is None or old.digest != digest(text) or (only and only in name):
            old = judge(name, text)
            count += 1
        judgements.append(old)
    write_judgements(VERDICTS, tuple(judgements))
    return f"{count} kernels judged, {len(judgements) - count} as before"


def kernels() -> Iterator[tuple[str, str]]:
    """Yield name and PTX of every kernel."""
    for litmus in SUITE:
        for variant in litmus.variants:
            yield kernel_name(litmus, variant), program(litmus, variant)


def judge(name: str, text: str) -> Judgement:
    """Return the checker's answer to one kernel. Raises ValueError where it cannot be checked."""
    report = check(Source(f"{name}.ptx", text))
    if report.problems:
        raise ValueError(f"{name}: {report.problems[0].message}")
    found = tuple(sorted({finding.rule for finding in report.active}))
    verification = report.kernels[0].verification
    if verification is None:
        return Judgement(name, digest(text), "", (), (), found)
    return Judgement(
        name, digest(text), verification.kind.value, _at_fault(verification), _axioms(verification), found
    )


def _at_fault(verification: KernelVerdicts) -> tuple[str, ...]:
    kinds = (VerdictKind.VIOLATED, VerdictKind.UNKNOWN)
    return tuple(verdict.property.value for verdict in verification.verdicts if verdict.kind in kinds)


def _axioms(verification: KernelVerdicts) -> tuple[str, ...]:
    texts = {remark.text for remark in verification.assumptions}
    named = {axiom.id for axiom in AXIOMS if any(axiom.text in text for text in texts)}
    others = {text for text in texts if not any(axiom.text in text for axiom in AXIOMS)}
    return tuple(sorted(named | others))
