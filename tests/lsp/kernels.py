"""Kernels that the editor in the tests opens."""

from __future__ import annotations

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"

GOOD = (
    HEADER
    + """.visible .entry meet()
{
  bar.sync 0;
  ret;
}
"""
)
BAD = GOOD.replace("bar.sync 0;", "bar.sync 17;")
"""Breaks NB001 and PT003."""

NESTED = (
    HEADER
    + """.global .align 4 .b32 bar;
.func (.param .b32 out) helper(.param .b32 in) { ret; }
.visible .entry names(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<4>, x;
  .reg .b64 %rd<3>;
  .reg .pred q;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n]; // n is the number of elements
TOP:
  mov.u32 %r2, bar;
  bar.sync 0;
  {
    .reg .b32 %r1;
    mov.u32 %r1, x;
    setp.eq.u32 q, %r1, 0;
    @q bra TOP;
TOP:
    mov.u32 x, %r2;
  }
  mov.u32 %r3, %tid.x;
  setp.eq.u32 q, %r1, %r3;
  @!q bra TOP;
  call (x), helper, (%r3);
  ret;
}
"""
)

RING = (
    HEADER
    + """.visible .entry two_roles(.param .u64 source) .reqntid 64
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 128 .b8 stage[512];
    .shared .align 8 .b64 full;

    ld.param.u64 %rd1, [source];
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra CONSUMER;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra DONE;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [full], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [stage], [%rd1], 512, [full];
    bra DONE;
CONSUMER:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
    @!%p2 bra CONSUMER;
DONE:
    ret;
}
"""
)
"""Breaks MB003: nobody waits until the mbarrier is initialised. `ptxcheck fix` adds a barrier."""

HANG = (
    (
        HEADER
        + """.visible .entry waits() .reqntid 32
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .shared .align 8 .b64 done;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [done], 33;
READY:
  bar.sync 0;
  mbarrier.arrive.shared::cta.b64 _, [done];
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [done], 0;
  @!%p1 bra AGAIN;
  ret;
}
"""
    )
    .replace("arrive.shared::cta.b64 _,", "arrive.shared::cta.b64 %rd0,")
    .replace("  .reg .b32 %r<2>;\n", "  .reg .b32 %r<2>;\n  .reg .b64 %rd<1>;\n")
)
"""32 threads arrive at a barrier of 33: only the verification of the whole kernel sees that it hangs (MB020)."""


def slow(functions: int = 60, instructions: int = 1500) -> str:
    """Return a text that takes a while to check."""
    body = "\n".join(f"  add.u32 %r{i % 90}, %r{(i + 1) % 90}, {i};" for i in range(instructions))
    kernels = (
        f".visible .entry k{number}()\n{{\n  .reg .b32 %r<90>;\n{body}\n  ret;\n}}\n"
        for number in range(functions)
    )
    return HEADER + "".join(kernels)
