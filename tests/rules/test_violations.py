"""Every flaw that verification can find belongs to one rule, at every kind of barrier."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ptxcheck.explain import counterexample
from ptxcheck.explain.violations import Cause
from ptxcheck.finding import BY_NOTHING, Confidence, Explained
from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.model.axiom import Axiom
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.rules import RULES, Rule
from ptxcheck.rules.violations import Beside, of_axioms, of_flaws

FAMILIES = ("MB", "TX", "NB", "CL", "SM", "PX", "TM", "BG")
ABOUT = {
    Flaw.TX_MISMATCH: ("mbarrier",),
    Flaw.READ_TOO_EARLY: ("shared", "tmem"),
    Flaw.OVERWRITE: ("shared", "tmem"),
    Flaw.WRITES_COLLIDE: ("shared", "tmem"),
    Flaw.MISSING_PROXY_FENCE: ("shared",),
    Flaw.EXIT_WITH_REMOTE_ACCESS: ("cta",),
    Flaw.DEADLOCK: ("mbarrier", "bar", "cluster", "registers", "warp", ""),
    Flaw.COUNT_MISMATCH: ("bar", "cluster"),
    Flaw.OVER_ARRIVAL: ("mbarrier", "bar", "cluster"),
    Flaw.EARLY_ARRIVAL: ("mbarrier", "bar", "cluster"),
}
"""What a flaw can be about; mbarriers when it is not listed."""
OPS = {Flaw.MISALIGNED_COPY: (Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR)}
"""Instructions that one flaw is told of by rules of their own."""


class NoStory:
    def __init__(self, *_: object) -> None: ...
    def message(self) -> str:
        return "told"

    def related(self) -> tuple[()]:
        return ()

    def counterexample(self) -> None:
        return None

    def explained(self) -> Explained:
        return BY_NOTHING


NEVER_ELSE = (
    Flaw.AWAITED_BY_ANOTHER_WARP, Flaw.STORED_BY_ANOTHER_WARP, Flaw.UNAWAITED_STORE, Flaw.UNFENCED_COPY,
    Flaw.FENCED_BEHIND_BARRIER, Flaw.FENCED_ON_THE_WAY, Flaw.UNRELEASED_STORE, Flaw.NARROW_ACQUIRE, Flaw.LATE_OBSERVER,
)  # fmt: skip
"""What is never reported but as one of these."""


def fake(
    flaw: Flaw,
    mechanism: str,
    cause: Cause = Cause.ARRIVALS,
    *,
    op: Op = Op.CP_ASYNC_BULK,
    certain: bool = True,
    axiom: Axiom | None = None,
) -> Any:
    violation = SimpleNamespace(
        problem=SimpleNamespace(flaw=flaw, point=3, axiom=axiom),
        mechanism=mechanism,
        cause=cause,
        certain=certain,
    )
    found, tolerated = ((violation,), ()) if axiom is None else ((), (violation,))
    instruction = SimpleNamespace(operation=SimpleNamespace(op=op))
    return SimpleNamespace(
        get=lambda _: SimpleNamespace(violations=found, strict=tolerated),
        cfg=SimpleNamespace(instructions=[instruction] * 4),
    )


def owners(view: Any) -> list[Rule]:
    """Return the rules that a violation belongs to; some are about other kernels, or about one thread, too."""
    named = [rule for rule in RULES if rule.check.__module__ == of_flaws.__module__]
    checks = [(rule, rule.check) for rule in named if not isinstance(rule.check, Beside)]
    checks += [(rule, of_axioms(rule.id)) for rule in RULES if rule.id in ("SM023", "TM034")]
    checks += [(rule, rule.check.by_runs) for rule in RULES if isinstance(rule.check, Beside)]
    return [rule for rule, check in checks if list(check(view))]


@pytest.mark.parametrize(
    "flaw", [each for each in Flaw if each not in NEVER_ELSE], ids=lambda flaw: flaw.value
)
def test_each_flaw_belongs_to_one_rule(flaw: Flaw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counterexample, "Story", NoStory)
    for mechanism in ABOUT.get(flaw, ("mbarrier",)):
        for cause in Cause if flaw is Flaw.DEADLOCK and mechanism == "mbarrier" else (Cause.ARRIVALS,):
            for op in OPS.get(flaw, (Op.CP_ASYNC_BULK,)):
                found = owners(fake(flaw, mechanism, cause, op=op))
                assert len(found) == 1, (mechanism, cause, op, [rule.id for rule in found])
                assert found[0].id[:2] in FAMILIES
                assert (found[0].pedantic, found[0].confidence) == (False, Confidence.PROVED)


@pytest.mark.parametrize("axiom", [each for each in AXIOMS if each.rule], ids=lambda axiom: axiom.id)
def test_what_libraries_rely_on_belongs_to_one_pedantic_rule(
    axiom: Axiom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counterexample, "Story", NoStory)
    (rule,) = owners(fake(Flaw.OVERWRITE, "shared", axiom=axiom))
    assert rule.pedantic
    assert rule.id == axiom.rule


def test_what_rests_on_assumptions_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counterexample, "Story", NoStory)
    check = of_flaws(Flaw.DEADLOCK)
    for certain, confidence in ((True, Confidence.PROVED), (False, Confidence.POSSIBLE)):
        (hit,) = check(fake(Flaw.DEADLOCK, "mbarrier", certain=certain))
        assert (hit.confidence, hit.point, hit.message) == (confidence, 3, "told")


def test_nothing_is_said_without_verification() -> None:
    view: Any = SimpleNamespace(get=lambda _: None)
    assert list(of_flaws(Flaw.DEADLOCK)(view)) == []
