"""From violations that whole-kernel verification found to hits, for the rules that are named after them."""

from collections.abc import Callable

from ..explain.violations import Cause, whole_kernel
from ..protocols.model.outcome import Flaw
from .rule import Confidence, Hit, Hits, KernelView


def of_flaws(
    *flaws: Flaw,
    mechanisms: tuple[str, ...] = (),
    but: tuple[str, ...] = (),
    cause: Cause | None = None,
    strict: bool = False,
) -> Callable[[KernelView], Hits]:
    """Return a check for violations with one of these flaws, at barriers of these mechanisms.

    `but` names those of other rules instead: of the rules for one flaw one takes the rest, so that none is lost.
    `cause` tells deadlocks apart. `strict`: what released libraries rely on all the same, for pedantic rules.
    Each hit has its counterexample; one that rests on something taken for granted is `possible`.
    """

    def check(view: KernelView) -> Hits:
        whole = view.get(whole_kernel)
        for violation in () if whole is None else whole.strict if strict else whole.violations:
            flaw = violation.problem.flaw
            if (
                flaw in flaws
                and violation.mechanism in (mechanisms or (violation.mechanism,))
                and violation.mechanism not in but
                and (flaw is not Flaw.DEADLOCK or violation.cause in (cause or violation.cause,))
            ):
                from ..explain.counterexample import Story

                story = Story(view, violation)
                yield Hit(
                    violation.problem.point,
                    story.message(),
                    tuple(story.related()),
                    Confidence.PROVED if violation.certain else Confidence.POSSIBLE,
                    counterexample=story.counterexample(),
                )

    return check
