"""Rules about matrix descriptors come in pairs: one flaw, of wgmma on Hopper and of tcgen05 on Blackwell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ..protocols.typestate.matrix_tiles import Flaw, MatrixTiles
from .rule import Confidence, Example, Hit, Hits, KernelView, Rule, Severity

Found: TypeAlias = Callable[[MatrixTiles], Iterator[Flaw]]


@dataclass(frozen=True, slots=True)
class Generation:
    """What the rule of one generation has of its own."""

    id: str
    name: str
    section: str
    bad: str
    good: str


def both(
    found: Found,
    *,
    severity: Severity,
    summary: str,
    consequence: str,
    advice: str,
    wgmma: Generation,
    tcgen05: Generation,
) -> tuple[Rule, Rule]:
    """Return the rules about one flaw, of wgmma and of tcgen05; what is not sure of it is possible."""

    def rule(own: Generation, *, is_hopper: bool) -> Rule:
        return Rule(
            id=own.id,
            name=own.name,
            severity=severity,
            section=own.section,
            summary=summary,
            consequence=consequence,
            advice=advice,
            example=Example.between(own.bad, own.good),
            check=partial(_check, found, is_hopper),
        )

    return rule(wgmma, is_hopper=True), rule(tcgen05, is_hopper=False)


def _check(found: Found, is_hopper: bool, view: KernelView) -> Hits:
    for flaw in view.get(MatrixTiles).first(found(view.get(MatrixTiles))):
        if flaw.operand.is_hopper is is_hopper:
            confidence = Confidence.PROVED if flaw.sure else Confidence.POSSIBLE
            yield Hit(flaw.operand.point, f"{flaw.operand.title}: {flaw.message}", confidence=confidence)
