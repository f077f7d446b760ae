"""Kernels that make tensor maps, as text with holes: a matrix of 16-bit numbers, a map in shared memory."""

from __future__ import annotations

from collections.abc import Mapping

from ptxcheck.config import Config
from ptxcheck.launch import GivenValue, Launch
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.view import KernelView

FIELDS: Mapping[str, str] = {
    "global_address.b64": "%rd0",
    "rank.b32": "1",
    "box_dim.b32 0": "64",
    "box_dim.b32 1": "128",
    "global_dim.b32 0": "%r21",
    "global_dim.b32 1": "%r20",
    "global_stride.b64 0": "%rd4",
    "element_stride.b32 0": "1",
    "element_stride.b32 1": "1",
    "elemtype.b32": "6",
    "swizzle_mode.b32": "3",
}
FILL = """
    mov.u32 %r3, 0;
    st.shared.u32 [%r1], %r3;
    bar.warp.sync -1;
"""
COPY = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [map], 128;"
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"
PLACE = """
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ctaid.y;
    mov.u32 %r6, %ctaid.z;
    mov.u32 %r7, %nctaid.x;
    mov.u32 %r8, %nctaid.y;
    cvt.u64.u32 %rd5, %r5;
    mad.wide.u32 %rd6, %r6, %r8, %rd5;
    cvt.u64.u32 %rd7, %r4;
    cvt.u64.u32 %rd8, %r7;
    mad.lo.s64 %rd9, %rd6, %rd8, %rd7;
    mad.lo.s64 %rd1, %rd9, 128, %rd1;
"""


def replacements(changed: Mapping[str, str | None] | None = None) -> str:
    """Return the replacements of all fields but those that are None."""
    lines = []
    for name, value in {**FIELDS, **(changed or {})}.items():
        if value is None:
            continue
        head, _, index = name.partition(" ")
        field, _, width = head.partition(".")
        entry = f"{index}, {value}" if index else value
        lines.append(f"    tensormap.replace.tile.{field}.shared::cta.b1024.{width} [map], {entry};")
    return "\n".join(lines)


def kernel(
    changed: Mapping[str, str | None] | None = None,
    *,
    fill: str = FILL,
    place: str = PLACE,
    copy: str = COPY,
    acquire: str = ACQUIRE,
    middle: str = "bar.sync 0;",
    user: int = 0,
    use: str = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [tile], [%rd1, {%r10, %r10}], [full];",
    version: str = "8.6",
    target: str = "sm_90a",
    before: str = "",
) -> str:
    """Return a module: warp 0 makes the map, thread `user` loads a box through it."""
    return f"""
.version {version}
.target {target}
.address_size 64
.visible .entry made(.param .u64 source, .param .u64 workspace, .param .u32 rows, .param .u32 columns) .reqntid 128
{{
    .reg .pred %p<8>;
    .reg .b32 %r<24>;
    .reg .b64 %rd<16>;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 128 .b8 map[128];
    .shared .align 8 .b64 full;
    ld.param.u64 %rd0, [source];
    ld.param.u64 %rd1, [workspace];
    ld.param.u32 %r20, [rows];
    ld.param.u32 %r21, [columns];
    mov.u32 %r0, %tid.x;
    mov.u32 %r10, 0;
    mul.wide.u32 %rd4, %r21, 2;
    {place}
    {before}
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra MADE;
    shl.b32 %r1, %r0, 2;
    mov.u32 %r2, map;
    add.u32 %r1, %r1, %r2;
    {fill}
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra COPY;
{replacements(changed)}
COPY:
    bar.warp.sync -1;
    {copy}
    {acquire}
MADE:
    setp.ne.u32 %p2, %r0, {user};
    @%p2 bra READY;
    mbarrier.init.shared::cta.b64 [full], 1;
READY:
    {middle}
    @%p2 bra DONE;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16384;
    {use}
AGAIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
    @!%p3 bra AGAIN;
DONE:
    ret;
}}
"""


def view(text: str, *, given: Mapping[int, int] | None = None) -> KernelView:
    """Return the view of the module's kernel; `given` are 8-byte values by offset in parameter space."""
    module = parse_module(Source("made.ptx", text))
    values = tuple(GivenValue(f"param+{at}", number, at, 8) for at, number in (given or {}).items())
    return KernelView(module, module.functions[0], Launch((128, 1, 1), True, None, 128, values))


LINT = Config(verify=False)
"""Rules on their own."""
