"""Which findings on one kernel follow from another one: one mistake is told once, with what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..finding import Confidence, Finding, Rank, Severity
from ..rules import Hit

_HARMLESS = frozenset({Severity.SLOW, Severity.NOTE})
_CAUSES = frozenset({Rank.CODE, Rank.LIFE, Rank.PHASE})
Found = tuple[Hit, Finding]


def with_causes(found: Sequence[Found]) -> Iterator[Finding]:
    """Yield findings; those that another one explains name it.

    A cause is certain, and nothing explains it in turn. What the code of one thread shows comes first, then lives and
    counts of barriers, then phases in the order of their steps.
    """
    roots: list[Found] = []
    cause_of: dict[int, str] = {}
    for index in sorted(range(len(found)), key=lambda index: _order(*found[index])):
        hit, finding = found[index]
        root = next((other for at, other in roots if at.point in hit.explained.at), None)
        if root is not None:
            cause_of[index] = root.fingerprint
        elif _is_cause(hit, finding):
            roots.append(found[index])
    for index, (_, finding) in enumerate(found):
        yield replace(finding, caused_by=cause_of[index]) if index in cause_of else finding


def _order(hit: Hit, finding: Finding) -> tuple[int, int, int]:
    run = finding.counterexample
    return hit.explained.rank.value, 0 if run is None else run.bad, hit.point


def _is_cause(hit: Hit, finding: Finding) -> bool:
    is_certain = finding.confidence is Confidence.PROVED
    return is_certain and finding.severity not in _HARMLESS and hit.explained.rank in _CAUSES
