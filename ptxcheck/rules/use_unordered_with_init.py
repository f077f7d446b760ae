"""An mbarrier that another thread may use before it is initialised.

Checks: whether each operation on an mbarrier comes after its initialisation, as far as the thread can know: through a
barrier of the CTA, or the cluster barrier for other CTAs and for copies from them.
Why: which of the two comes first depends on the schedule.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB027",
    name="use-unordered-with-mbarrier-init",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.12",
    summary="Nothing orders a use of an mbarrier after its initialisation by another thread.",
    consequence="Undefined; some runs hang, or lose arrivals.",
    advice=(
        "Put a barrier of all threads (`bar.sync`, the cluster barrier for other CTAs) between initialisation and "
        "first use."
    ),
    example=Example.variant(
        RING,
        """
+     bar.sync 0;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: MB027
""",
    ),
    check=of_flaws("unordered-init"),
)
