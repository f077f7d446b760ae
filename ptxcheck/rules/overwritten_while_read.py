"""Shared memory that is overwritten while it may still be read.

Checks: as SM020, for a write after a read: the slot must be released by all its readers, after they have read.
Why: the reader gets bytes of the next round.
Source: PTX ISA 8.10 (causality order); 9.7.14.16.
Not checked: see SM020.
"""

from __future__ import annotations

from .protocol_kernels import RING, changed
from .rule import Example, Rule, Severity
from .violations import of_flaws

_BAD = changed(
    RING,
    (
        "    ld.shared.u32 %r13, [%r14];\n    mbarrier.arrive.shared::cta.b64 _, [%r9];",
        "    mbarrier.arrive.shared::cta.b64 _, [%r9];\n    ld.shared.u32 %r13, [%r14];",
    ),
    ("[%r10], [%rd0], 1024, [%r8];", "[%r10], [%rd0], 1024, [%r8];  // expect: SM021"),
)


RULE = Rule(
    id="SM021",
    name="overwritten-while-read",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 8.10, 9.7.14.16",
    summary="Shared memory is written, and nothing orders the write after an earlier read of the same bytes.",
    consequence="The reader gets data of the next round: wrong results, in some runs only.",
    advice="Release the slot after the last read of it, by every thread that reads, and wait for that before writing.",
    example=Example.between(_BAD, RING),
    check=of_flaws("overwrite", mechanisms=("shared",)),
)
