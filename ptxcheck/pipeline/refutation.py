"""Findings of rules about one thread that verification of the whole kernel has refuted.

Property: a finding loses its certainty (`proved` becomes `possible`) only where every run of the kernel, for the launch
that was verified, keeps all properties that its rule approximates.

Argument: a rule about one thread claims that some path of a thread breaks a property, and tells by guards alone which
paths there are, and by nothing what other threads do meanwhile. Verification with all paths run (`Verification.covers`)
has made each of these paths or shown that there is none, in every schedule, and found the property kept. So the path
that the rule speaks of does not exist, or what other threads do makes it right.

* `proved` refutes. So does `assumes` where all paths were run: the path would need what the verdict says is not so.
  It does not where the verdict takes something of the hardware at the rule's own place: the rule speaks of that.
* `proved-bounded` does not: the path may be in a round, or a combination of branches, that was not run.
* `unknown` has shown nothing, and `violated` has a finding of its own.

The rule's place must have been executed in a run that counts. Code that no run came to, such as code of device
functions, code that other launches execute and instructions that verification does not follow, says nothing against
the rule. What a rule says of other things than those that verification looks at (`Hit.is_beyond`) stands.

Not covered: which properties a rule approximates is its author's word (`Rule.approximates`); the corpus of bad kernels
tests it, as each finding there has to stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..explain.violations import whole_kernel
from ..finding import Confidence
from ..view import KernelView

if TYPE_CHECKING:
    from ..rules import Hit, Rule


def weighed(view: KernelView, rule: Rule, hit: Hit) -> Hit:
    """Return a hit with the confidence that is left to it beside the verdicts on the whole kernel."""
    if not rule.approximates or hit.is_beyond or hit.confidence is not Confidence.PROVED:
        return hit
    whole = view.get(whole_kernel)
    if whole is None or not whole.shows(rule.approximates, hit.point):
        return hit
    names = " and ".join(each.value for each in rule.approximates)
    message = f"{hit.message}; but the runs of the whole kernel keep its {names}"
    return replace(hit, message=message, confidence=Confidence.POSSIBLE)
