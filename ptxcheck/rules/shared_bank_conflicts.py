"""An access to shared memory whose lanes meet in the same banks.

Checks: loads, stores, ldmatrix and stmatrix executed by whole warps, in kernels of known block size, whose addresses
depend on the thread index and on what the warp has in common. Counted by wavefronts of the worst warp.
Why: a bank serves one word of 4 bytes at a time; lanes that need different words of one bank wait for each other.
Source: CUDA C++ Programming Guide, shared memory; PTX ISA §9.7.9.8 (ldmatrix).
Not checked: guarded accesses, addresses from memory, what the accesses cost beside the rest of the kernel.
"""

from ..protocols.typestate.bank_conflicts import find_conflicts
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
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
    section="CUDA C++ Programming Guide, shared memory",
    summary="The lanes of a warp access different words of the same banks.",
    consequence="The access takes several times as long.",
    advice="Swizzle or pad the rows of the buffer, for all who write and read it.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 1024 .b8 tile[16384];
      ld.param.u64 %rd1, [out];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, tile;
      shl.b32 %r3, %r1, 7;
-     mov.b32 %r5, %r3;
+     and.b32 %r4, %r1, 7;
+     shl.b32 %r4, %r4, 4;
+     xor.b32 %r5, %r3, %r4;
      add.u32 %r6, %r2, %r5;
      ld.shared.v4.b32 {%r7, %r8, %r9, %r10}, [%r6]; // expect: SM007
      st.global.v4.b32 [%rd1], {%r7, %r8, %r9, %r10};
      ret;
"""),
    check=check,
    pedantic=True,
)
