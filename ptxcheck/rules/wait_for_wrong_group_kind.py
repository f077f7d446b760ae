"""A wait for groups of the other kind: `cp.async` and bulk copies are counted apart.

Checks: waits of one kind in kernels that start copies of the other kind only, behind such a copy that
nothing waits for.
Why: `cp.async.wait_group` never waits for a bulk copy, nor `cp.async.bulk.wait_group` for a `cp.async`.
Source: PTX ISA 9.7.9.26.1.1.
Not checked: kernels that use both kinds.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.copy_groups import bulk_groups, wrong_waits
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(.param .u64 out) .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 128 .b8 tile[512];

    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra DONE;
    fence.proxy.async.shared::cta;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
    cp.async.bulk.commit_group;
    cp.async.wait_group 0; // expect: BG005
DONE:
    ret;
}
"""

_GOOD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(.param .u64 out) .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 128 .b8 tile[512];

    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra DONE;
    fence.proxy.async.shared::cta;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
DONE:
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for slip in view.get(wrong_waits):
        is_bulk = slip.copy in view.get(bulk_groups).copies
        pending, waited = ("a bulk copy", "cp.async") if is_bulk else ("a cp.async", "bulk copies")
        message = f"{pending} is pending, but this waits for {waited} only, of which there are none"
        yield Hit(slip.point, message, related=((slip.copy, "the copy"),))


RULE = Rule(
    id="BG005",
    name="wait-for-wrong-group-kind",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.26.1.1",
    summary="The wait is for the other kind of asynchronous copies.",
    consequence="The copy is not waited for; what follows races with it.",
    advice="Use cp.async.bulk.wait_group for bulk copies and cp.async.wait_group for cp.async.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
