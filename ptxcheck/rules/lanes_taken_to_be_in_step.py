"""Accesses, or waits, that only lanes running in step keep apart.

Checks: conflicting ordinary accesses of two lanes of one warp, or of a lane and somebody that another lane of its warp
has signalled, with no `bar.warp.sync` or the like between; stores of one value by several threads; waits that another
lane's next phase could overtake, where the lanes only wait (where they also use the bytes, it is a violation).
Why: since sm_70 lanes are scheduled independently; PTX promises no order between them. Code that was compiled for
warps in step mostly runs all the same: the rule is pedantic.
Source: PTX ISA 9.7.14 (`bar.warp.sync`), CUDA C++ Programming Guide, independent thread scheduling.
Not checked: see SM020.
"""

from __future__ import annotations

from .protocol_kernels import STORE, changed
from .rule import Example, Rule, Severity
from .violations import of_flaws

_BAD = changed(
    STORE,
    (
        "    st.shared.u32 [%r2], %r0;\n",
        "    st.shared.u32 [%r2], %r0;\n    and.b32 %r3, %r0, 96;\n    shl.b32 %r3, %r3, 2;\n"
        "    add.u32 %r3, %r1, %r3;\n"
        "    ld.shared.u32 %r4, [%r3];  // expect: SM023\n",
    ),
)


_GOOD = changed(
    STORE,
    (
        "    st.shared.u32 [%r2], %r0;\n",
        "    st.shared.u32 [%r2], %r0;\n    and.b32 %r3, %r0, 96;\n    shl.b32 %r3, %r3, 2;\n"
        "    add.u32 %r3, %r1, %r3;\n"
        "    bar.warp.sync 0xffffffff;\n    ld.shared.u32 %r4, [%r3];\n",
    ),
)


RULE = Rule(
    id="SM023",
    name="lanes-taken-to-be-in-step",
    severity=Severity.WRONG_RESULT,
    pedantic=True,
    since="0.2",
    section="PTX ISA 9.7.14",
    summary="Only lanes of a warp that run in step keep two conflicting accesses, or two phases, apart.",
    consequence="A lane that falls behind reads or overwrites what is not meant for it; nothing in PTX rules that out.",
    advice="Put `bar.warp.sync` (`__syncwarp`) between what one lane writes and another reads or signals.",
    example=Example.between(_BAD, _GOOD),
    check=of_flaws("read-too-early", "overwrite", "writes-collide", "missed-phase", strict=True),
)
