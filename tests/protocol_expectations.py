"""Notation of the protocol corpus: what a verification of each kernel must say.

Header comments of a file:

    // expect-verdict: all holds                                 every property is proved, proved-bounded or assumes
    // expect-verdict: deadlock-freedom violated @ here          the property is violated, at a line marked `// <- here`
    // expect-verdict: phase-safety|tx-balance violated @ here   one of them is
    // pending: reason                                           the verifier answers `unknown` today
    // pending-bounded: reason                                   proved up to a trip count, or wrongly up to it
    // pending-wrong: reason                                     the verifier gives a wrong answer today

Properties that a file does not name may have any verdict but a wrong one: none is wrong in a broken kernel, whose
other properties may fail as well or be left undecided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ptxcheck.source import Source

_EXPECT = re.compile(r"^// expect-verdict: (all|[a-z|-]+) (holds|violated @ here)$", re.MULTILINE)
_PENDING = re.compile(r"^// pending(?:-(\w+))?: (\S.*)$", re.MULTILINE)
_ANY_MARK = re.compile(r"^//\s*(?:expect-verdict|pending)", re.MULTILINE)
_HERE = re.compile(r"// <- here$", re.MULTILINE)
_CLAIMS = frozenset({"proved", "assumes"})
_HOLDS = _CLAIMS | {"proved-bounded"}


class Status(Enum):
    """How verdicts compare with what a file expects."""

    MET = "met"
    UNDECIDED = "undecided"
    BOUNDED = "bounded"
    """A broken kernel is proved up to a trip count: true only when the failure lies beyond it."""
    WRONG = "wrong"
    """A false alarm, a claim that does not hold, or a violation shown at the wrong place."""


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict as the corpus speaks of it: property, kind, and the lines of its first reason."""

    property: str
    kind: str
    lines: frozenset[int]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one file expects of its kernel."""

    violated: tuple[frozenset[str], ...]
    """Sets of properties of which at least one must be violated; empty for a good kernel."""
    here: frozenset[int]
    pending: str | None
    pending_status: Status

    @property
    def good(self) -> bool:
        return not self.violated


def expectation(source: Source) -> Expectation:
    """Read the header of a file of the corpus. Raises ValueError when it says nothing, or nonsense."""
    expects = _EXPECT.findall(source.text)
    pending = _PENDING.search(source.text)
    marks = len(expects) + len(_PENDING.findall(source.text))
    if not expects or marks != len(_ANY_MARK.findall(source.text)):
        raise ValueError(f"{source.name}: an expect-verdict or pending comment is missing or malformed")
    violated = tuple(frozenset(names.split("|")) for names, kind in expects if kind != "holds")
    mixed = bool(violated) and len(violated) < len(expects)
    if mixed or any((names == "all") != (kind == "holds") for names, kind in expects):
        raise ValueError(f"{source.name}: write `all holds` alone, or name what is violated")
    here = frozenset(source.position(match.start()).line for match in _HERE.finditer(source.text))
    if bool(violated) != bool(here):
        raise ValueError(
            f"{source.name}: a violated property needs a line marked `// <- here`, and a good kernel none"
        )
    if pending is None:
        return Expectation(violated, here, None, Status.MET)
    return Expectation(violated, here, pending[2], Status(pending[1] or "undecided"))


def compare(wanted: Expectation, said: Sequence[Said]) -> Status:
    """Return how the verdicts on a kernel compare with its expectation."""
    found = [each for each in said if each.kind == "violated"]
    if wanted.good:
        if found:
            return Status.WRONG
        return Status.MET if all(each.kind in _HOLDS for each in said) else Status.UNDECIDED
    if all(any(e.property in names and e.lines & wanted.here for e in found) for names in wanted.violated):
        return Status.MET
    if found:
        return Status.WRONG
    named = [{e.kind for e in said if e.property in names} for names in wanted.violated]
    if any(kinds and kinds <= _CLAIMS for kinds in named):
        return Status.WRONG
    return Status.BOUNDED if any(kinds and kinds <= _HOLDS for kinds in named) else Status.UNDECIDED
