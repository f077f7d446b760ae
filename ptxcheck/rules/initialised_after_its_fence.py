"""An mbarrier that is initialised after the `fence.mbarrier_init` that is to publish it.

Checks: uses by other CTAs, or by copies, of an mbarrier whose initialisation no fence makes visible, though the thread
has executed `fence.mbarrier_init` before. MB027 finds uses without any such fence.
Why: the fence publishes earlier initialisations only. A cluster barrier mostly does the rest: the rule is pedantic.
Source: PTX ISA 9.7.14.4 (`fence.mbarrier_init`).
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import PAIR, changed
from .rule import Example, Rule, Severity
from .violations import of_flaws

_GOOD = changed(
    PAIR,
    ("barrier.cluster.arrive.aligned;", "barrier.cluster.arrive.relaxed.aligned;"),
)


_BAD = changed(
    _GOOD,
    ("    @!%p0 fence.mbarrier_init.release.cluster;\n", ""),
    (
        "    @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n",
        "    @!%p0 fence.mbarrier_init.release.cluster;\n    @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n",
    ),
    ("shared::cluster.b64 _, [%r4];", "shared::cluster.b64 _, [%r4];  // expect: MB031"),
    ("%p2, [bar], 0;", "%p2, [bar], 0;  // expect: MB031"),
)


RULE = Rule(
    id="MB031",
    name="initialised-after-its-fence",
    severity=Severity.UNDEFINED,
    pedantic=True,
    since="0.2",
    section="PTX ISA 9.7.14.4",
    summary="An mbarrier is initialised after `fence.mbarrier_init`, which publishes earlier initialisations only.",
    consequence="Other CTAs and copies may find an mbarrier that is not initialised.",
    advice="Put `fence.mbarrier_init.release.cluster` behind all initialisations.",
    example=Example.between(_BAD, _GOOD),
    check=of_flaws("unordered-init", strict=True),
)
