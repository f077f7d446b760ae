"""From violations that whole-kernel verification found to hits, for the rules that are named after them."""

from collections.abc import Callable
from dataclasses import dataclass

from ..explain.violations import Cause, Violation, whole_kernel
from ..opcodes.op import Op
from ..protocols.model.outcome import Flaw
from .rule import Confidence, Hit, Hits, KernelView


def of_flaws(
    *flaws: Flaw,
    mechanisms: tuple[str, ...] = (),
    but: tuple[str, ...] = (),
    cause: Cause | None = None,
) -> Callable[[KernelView], Hits]:
    """Return a check for violations with one of these flaws, at barriers of these mechanisms.

    `but` names those of other rules instead: of the rules for one flaw one takes the rest, so that none is lost.
    `cause` tells deadlocks apart.
    Each hit has its counterexample; one that rests on something taken for granted is `possible`.
    """

    def check(view: KernelView) -> Hits:
        whole = view.get(whole_kernel)
        for violation in () if whole is None else whole.violations:
            flaw = violation.problem.flaw
            if (
                flaw in flaws
                and violation.mechanism in (mechanisms or (violation.mechanism,))
                and violation.mechanism not in but
                and (flaw is not Flaw.DEADLOCK or violation.cause in (cause or violation.cause,))
            ):
                yield _told(view, violation)

    return check


@dataclass(frozen=True, slots=True)
class Beside:
    """A check, and behind it what runs of the whole kernel show of some operations where it says nothing."""

    check: Callable[[KernelView], Hits]
    of_runs: Callable[[KernelView], Hits]
    ops: frozenset[Op]

    def __call__(self, view: KernelView) -> Hits:
        """Yield the hits of the check, then those of runs."""
        told = set()
        for hit in self.check(view):
            told.add(hit.point)
            yield hit
        yield from (hit for hit in self.by_runs(view) if hit.point not in told)

    def by_runs(self, view: KernelView) -> Hits:
        """Yield what runs show of the operations."""
        for hit in self.of_runs(view):
            if view.cfg.instructions[hit.point].operation.op in self.ops:
                yield hit


def of_axioms(rule: str) -> Callable[[KernelView], Hits]:
    """Return a check for what only axioms of the hardware profile remove: those whose row names a pedantic rule."""

    def check(view: KernelView) -> Hits:
        whole = view.get(whole_kernel)
        for violation in () if whole is None else whole.strict:
            axiom = violation.problem.axiom
            if axiom is not None and axiom.rule == rule:
                yield _told(view, violation)

    return check


def _told(view: KernelView, violation: Violation) -> Hit:
    from ..explain.counterexample import Story

    story = Story(view, violation)
    return Hit(
        violation.problem.point,
        story.message(),
        tuple(story.related()),
        Confidence.PROVED if violation.certain else Confidence.POSSIBLE,
        counterexample=story.counterexample(),
        explained=story.explained(),
    )
