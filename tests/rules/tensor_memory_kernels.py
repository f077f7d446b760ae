"""Kernels for tests of the rules about tensor memory: one warp allocates, the body does something, one warp frees."""

from __future__ import annotations

_HEAD = """
.version 8.8
.target {target}
.address_size 64

.visible .entry kernel(.param .u64 out, .param .u32 n)
{directives}
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 8 .b64 done;
    .shared .align 4 .b32 slot;

    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    setp.eq.u32 %p2, %r1, 0;
    setp.ne.u32 %p3, %r1, %r1;
    ld.param.u32 %r9, [n];
    mov.b32 %r8, 0x8100490;
    mov.b64 %rd1, 0x4000404000010040;
{body}
    ret;
}}
"""

ALLOCATE = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;"
BARRIER = "bar.sync 0;"
ADDRESS = "ld.shared.b32 %r3, [slot];"
FREE = "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];\ntcgen05.wait::ld.sync.aligned;"
OPEN = f"{ALLOCATE}\n{BARRIER}\n{ADDRESS}"
CLOSE = f"{BARRIER}\n{FREE}"
MULTIPLY = "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd1, %r8, %p3;"
COMMIT = "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];"
INIT = "@%p2 mbarrier.init.shared::cta.b64 [done], 1;"
WAIT = "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;\n@!%p4 bra $wait;"


def kernel(*parts: str, directives: str = ".reqntid 128", target: str = "sm_100a") -> str:
    """Return a kernel of these lines. `%p1` is warp 0, `%p2` thread 0, `%p3` false, `%r3` the address."""
    body = "\n".join(f"    {line}" for part in parts for line in part.splitlines())
    return _HEAD.format(body=body, directives=directives, target=target)


def expect(line: str, rule: str) -> str:
    """Return a line with the mark of a rule that fires there."""
    return f"{line} // expect: {rule}"
