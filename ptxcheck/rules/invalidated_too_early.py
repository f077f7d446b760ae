"""An mbarrier that is invalidated while another thread may still use it.

Checks: whether each invalidation comes after the last operation of every thread and copy on the mbarrier, as far as
the invalidating thread can know. MB005 finds uses after the invalidation in the code of one thread.
Why: an operation on an object that is no mbarrier any more is undefined; its bytes may belong to something else.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import TWO_PHASES
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB028",
    name="invalidated-too-early",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.13",
    summary="An mbarrier is invalidated, and nothing orders that after its last use by another thread.",
    consequence="Undefined; the other thread hangs, or changes what lies there now.",
    advice="Put a barrier of all users in front of the invalidation.",
    example=Example.variant(
        TWO_PHASES,
        """
+     bar.sync 0;
      @!%p0 mbarrier.inval.shared::cta.b64 [bar];  // expect: MB028
""",
    ),
    check=of_flaws("early-invalidation"),
)
