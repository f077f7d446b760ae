"""An access to shared memory whose lanes meet in the same banks.

Checks: loads, stores, ldmatrix and stmatrix executed by whole warps, in kernels of known block size, whose
addresses depend on the thread index and on what the warp has in common. Counted by wavefronts of the worst warp.
Why: a bank serves one word of 4 bytes at a time; lanes that need different words of one bank wait for each other.
Source: CUDA C++ Programming Guide, shared memory; PTX ISA 9.7.9.8 (ldmatrix).
Not checked: guarded accesses, addresses from memory, what the accesses cost beside the rest of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.bank_conflicts import find_conflicts
from ..view import KernelView
from .rule import Hit, Rule

_KERNEL = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(.param .u64 out) .reqntid 128
{
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    .shared .align 1024 .b8 tile[16384];

    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 7;
SWIZZLE
    add.u32 %r6, %r2, %r5;
    ld.shared.v4.b32 {%r7, %r8, %r9, %r10}, [%r6];MARK
    st.global.v4.b32 [%rd1], {%r7, %r8, %r9, %r10};
    ret;
}
"""
_BAD = _KERNEL.replace("SWIZZLE", "    mov.b32 %r5, %r3;").replace("MARK", " // expect: SM007")
_GOOD = _KERNEL.replace(
    "SWIZZLE", "    and.b32 %r4, %r1, 7;\n    shl.b32 %r4, %r4, 4;\n    xor.b32 %r5, %r3, %r4;"
).replace("MARK", "")


def check(view: KernelView) -> Iterator[Hit]:
    for conflict in view.get(find_conflicts):
        message = f"this takes {conflict.wavefronts} wavefronts of shared memory instead of {conflict.needed}"
        if conflict.better is not None:
            mode, count = conflict.better
            message += f"; a {mode.value} of the buffer would need {count}"
        yield Hit(conflict.point, message)


RULE = Rule(
    id="SM007",
    name="shared-bank-conflicts",
    severity=Severity.SLOW,
    since="0.1",
    section="CUDA C++ Programming Guide, shared memory",
    summary="The lanes of a warp access different words of the same banks.",
    consequence="The access takes several times as long.",
    advice="Swizzle or pad the rows of the buffer, for all who write and read it.",
    bad=_BAD,
    good=_GOOD,
    check=check,
    pedantic=True,
)
