"""An mbarrier that is used before it is surely initialised.

Checks: objects with a constant address. A use is reported when nothing in the kernel initialises the
object, or when a feasible path from the entry comes to it without initialising it and without any
synchronisation that another thread's initialisation could be ordered by.
Why: an operation on storage that holds no mbarrier is undefined; most often it hangs.
Source: PTX ISA 9.7.14.16. Seen as one thread initialising and the rest not waiting for it, and as an
arrive-and-expect call mistaken for an initialisation.
Not checked: barriers passed in by pointer, and kernels that call functions which may initialise them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.mbarrier_lifecycle import find_lifecycle
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 8 .b64 bar;

    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [bar], 128;
READY:
    mbarrier.arrive.shared::cta.b64 %rd0, [bar];  // expect: MB003
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd0;
    @!%p1 bra WAIT;
    ret;
}
"""

_GOOD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 8 .b64 bar;

    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [bar], 128;
READY:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %rd0, [bar];
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd0;
    @!%p1 bra WAIT;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for breach in view.get(find_lifecycle).never_initialised:
        yield Hit(breach.point, f"nothing in this kernel initialises the mbarrier {breach.place}")
    for breach in view.get(find_lifecycle).used_too_early:
        assert breach.cause is not None
        yield Hit(
            breach.point,
            f"a thread gets here without waiting for the one that initialises the mbarrier {breach.place}",
            ((breach.cause, "initialised here"),),
        )


RULE = Rule(
    id="MB003",
    name="uninitialised-mbarrier",
    severity=Severity.HANG,
    since="0.1",
    section="PTX ISA 9.7.14.16.12",
    summary=(
        "An mbarrier is used though it is not initialised, or though another thread may not have "
        "initialised it yet."
    ),
    consequence=(
        "The operation works on whatever the memory holds: a hang, or a phase that completes at the "
        "wrong time."
    ),
    advice=(
        "Initialise the barrier in one thread, then synchronise the CTA (or cluster) before any thread "
        "uses it."
    ),
    bad=_BAD,
    good=_GOOD,
    check=check,
)
