"""A kernel that keeps caches and shared memory busy beside a litmus test: its loads and stores miss L1 and L2."""

from __future__ import annotations

WORDS = 1 << 26
"""Of its buffer: 256 MB, five times the L2 cache of an H100."""
THREADS = 512
KERNEL = "pressure"
TEXT = f"""
.version 8.6
.target sm_90a
.address_size 64
.visible .entry {KERNEL}(.param .u64 p_words, .param .u64 p_ns) .reqntid {THREADS}
{{
    .shared .align 16 .b8 busy[2048];
    .reg .pred p;
    .reg .b32 at, word, i, own;
    .reg .b64 words, ns, start, now, addr;
    ld.param.u64 words, [p_words];
    ld.param.u64 ns, [p_ns];
    mov.u32 at, %ctaid.x;
    mov.u32 i, %tid.x;
    mad.lo.u32 at, at, {THREADS}, i;
    mul.lo.u32 at, at, 0x9E3779B1;
    mov.u32 own, busy;
    shl.b32 i, i, 2;
    add.u32 own, own, i;
    mov.u64 start, %globaltimer;
AGAIN:
    mad.lo.u32 at, at, 1664525, 1013904223;
    shr.u32 i, at, 6;
    mul.wide.u32 addr, i, 4;
    add.u64 addr, addr, words;
    ld.global.u32 word, [addr];
    add.u32 word, word, 1;
    st.global.u32 [addr], word;
    atom.shared.add.u32 word, [own], word;
    mov.u64 now, %globaltimer;
    sub.u64 now, now, start;
    setp.lt.u64 p, now, ns;
    @p bra AGAIN;
    ret;
}}
"""
