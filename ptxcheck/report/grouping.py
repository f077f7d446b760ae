"""Findings for people: each mistake once, with those like it at other places and with what follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..finding import Finding

_NUMBER = re.compile(r"0x[\da-f]+|\d+")


@dataclass(frozen=True, slots=True)
class Group:
    """A finding, those that differ from it in numbers and places alone, and groups of those that follow from these."""

    first: Finding
    similar: tuple[Finding, ...] = ()
    follow: tuple[Group, ...] = ()


def grouped(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Return the groups of findings, in the order of their first ones."""
    found = tuple(findings)
    known = {_identity(finding) for finding in found}
    caused: dict[object, list[Finding]] = {}
    roots: list[Finding] = []
    for finding in found:
        cause = (finding.kernel, finding.location.primary.file, finding.caused_by)
        if finding.caused_by and cause in known:
            caused.setdefault(cause, []).append(finding)
        else:
            roots.append(finding)
    return tuple(_grouped(roots, caused))


@dataclass(frozen=True, slots=True)
class Mistake:
    """A finding that stands for itself, and those that follow from it."""

    finding: Finding
    follow: tuple[Finding, ...] = ()


def mistakes(findings: Iterable[Finding]) -> tuple[Mistake, ...]:
    """Return each mistake once, in the order of the findings, for reports that show one place at a time."""
    found = tuple(findings)
    following: dict[object, list[Finding]] = {}
    known = {_identity(finding) for finding in found}
    for finding in found:
        cause = (finding.kernel, finding.location.primary.file, finding.caused_by)
        if finding.caused_by and cause in known:
            following.setdefault(cause, []).append(finding)
    hidden = {id(each) for same in following.values() for each in same}
    return tuple(
        Mistake(each, tuple(following.pop(_identity(each), ()))) for each in found if id(each) not in hidden
    )


def _identity(finding: Finding) -> object:
    return finding.kernel, finding.location.primary.file, finding.fingerprint


def _grouped(findings: Iterable[Finding], caused: dict[object, list[Finding]]) -> Iterator[Group]:
    similar: dict[object, list[Finding]] = {}
    for finding in findings:
        similar.setdefault(_kind(finding), []).append(finding)
    for same in similar.values():
        following = [each for finding in same for each in caused.get(_identity(finding), ())]
        yield Group(same[0], tuple(same[1:]), tuple(_grouped(following, {})))


def _kind(finding: Finding) -> object:
    """Return what findings that are similar have in common."""
    message = _NUMBER.sub("0", finding.message)
    return finding.rule, finding.kernel, finding.severity, finding.confidence, message
