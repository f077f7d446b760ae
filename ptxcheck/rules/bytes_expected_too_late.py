"""Bytes that are expected only when the phase may already have completed without them.

Checks: whether some arrival of the phase comes after each `expect_tx`, so that the phase cannot complete before it.
Why: with all arrivals in and a byte count of zero, the phase completes; the bytes then count in the next one.
Source: PTX ISA 9.7.14.16.6, 9.7.14.16.8.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING, changed
from .rule import Example, Rule, Severity
from .violations import of_flaws

_BAD = changed(
    RING,
    ("[full], 1;", "[full], 2;"),
    ("[full+8], 1;", "[full+8], 2;"),
    (
        "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;",
        "    mbarrier.arrive.shared::cta.b64 _, [%r8];\n"
        "    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r8], 1024;  // expect: TX004",
    ),
    (
        "WAIT_FULL:\n",
        "    setp.ne.u32 %p5, %r0, 32;\n    @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r8];\nWAIT_FULL:\n",
    ),
)


_GOOD = changed(
    RING,
    ("[full], 1;", "[full], 2;"),
    ("[full+8], 1;", "[full+8], 2;"),
    (
        "WAIT_FULL:\n",
        "    setp.ne.u32 %p5, %r0, 32;\n    @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r8];\nWAIT_FULL:\n",
    ),
)


RULE = Rule(
    id="TX004",
    name="bytes-expected-too-late",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.14.16.6",
    summary="Bytes are expected after the last arrival of the phase.",
    consequence="The phase can complete before the copy has brought anything, and the data is read too early.",
    advice="Expect the bytes before arriving, or use `mbarrier.arrive.expect_tx`.",
    example=Example.between(_BAD, _GOOD),
    check=of_flaws("late-expect"),
)
