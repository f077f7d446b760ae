"""The axioms of the ISA profile: what each sense of "known" (`clock.Row`) rests on in the words of PTX.

Property: every order that the judge counts on without naming it in a verdict is a row here, with its section of the
PTX ISA. What goes beyond these words is a row of `axioms`, and verdicts name it.

Argument: the judge orders two accesses by a row of a clock alone, and each row of a clock has its axiom here
(`tests/protocols/order/test_axioms.py`), but `IN_ORDER` and `RELEASED`, which axioms of the hardware look at.

Not covered: whether `clock` learns in a row what its axiom gives, and nothing more: that is tested by litmus kernels.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model.axiom import Axiom, Profile
from .clock import Row


def _row(id_: str, text: str, source: str) -> Axiom:
    return Axiom(id_, text, f"PTX ISA {source}", is_stated=False, profile=Profile.ISA)


ISA: Mapping[Row, Axiom] = {
    Row.EXECUTED: _row(
        "execution",
        "what a thread executes in front of an arrival is executed before a wait that sees the phase complete",
        "8.9.1 (program order), 9.7.14.16 (mbarrier phases), 9.7.14.1 (barrier)",
    ),
    Row.VISIBLE: _row(
        "release-acquire",
        "accesses in front of a release are visible behind the acquire that synchronises with it, within a CTA",
        "8.10 (causality order)",
    ),
    Row.FENCED: _row(
        "proxy-fence-of-the-writer",
        "generic writes in front of a proxy fence of their thread are visible to the async proxy behind it",
        "8.7 (proxies), 9.7.14.4 (fence.proxy)",
    ),
    Row.CROSSED: _row(
        "proxy-fence-on-the-way",
        "generic writes that a thread has seen are visible to the async proxy behind a proxy fence of that thread",
        "8.7 (proxies), 8.10 (causality order), 9.7.14.4 (fence.proxy)",
    ),
    Row.INITIALISED: _row(
        "mbarrier-init",
        "an mbarrier is initialised for those that come behind a barrier or fence that follows its initialisation",
        "9.7.14.4 (fence.mbarrier_init), 9.7.14.16.12 (mbarrier.init)",
    ),
    Row.WIDE: _row(
        "cluster-scope",
        "accesses in front of a release of scope cluster are visible to other CTAs behind the acquire of that scope",
        "8.6 (scope), 8.10 (causality order)",
    ),
}
"""A row for each sense of "known" that orders accesses."""
