"""From violations that whole-kernel verification found to hits, for the rules that are named after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..explain.violations import whole_kernel
from ..finding import Confidence
from ..view import KernelView
from .rule import Hit

_CAUSES = ("arrivals", "bytes")
Check = Callable[[KernelView], Iterator[Hit]]


def of_flaws(
    *flaws: str, mechanisms: tuple[str, ...] = (), causes: tuple[str, ...] = (), strict: bool = False
) -> Check:
    """Return a check for violations with one of these flaws (values of `Flaw`), at barriers of these mechanisms.

    `causes` tells deadlocks apart: missing `arrivals` or `bytes`. `strict`: what released libraries rely on all the
    same, for pedantic rules.
    Each hit has its counterexample; one that rests on something taken for granted is `possible`.
    """

    def check(view: KernelView) -> Iterator[Hit]:
        whole = view.get(whole_kernel)
        for violation in () if whole is None else whole.strict if strict else whole.violations:
            if (
                violation.problem.flaw.value in flaws
                and violation.mechanism in (mechanisms or (violation.mechanism,))
                and (
                    violation.problem.flaw.value != "deadlock" or violation.cause.value in (causes or _CAUSES)
                )
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
