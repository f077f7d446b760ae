"""The vocabulary of the rows: named fragments of PTX.

`$T` is the number of threads, `$B` the bytes of the tile, `$A` the argument of the step, `$U` a number of its own
for labels. A line that begins with `*` is repeated for each 16 bytes of the tile that a thread owns, with `$O` for
their offset, and `$S` for that in a second tile behind it.
"""

from __future__ import annotations

_LATE = """
    mad.lo.u32 t0, round, 0x9E3779B1, {salt};
    shr.u32 t0, t0, 12;
    and.b32 t0, t0, late_$A;
    mov.u32 t1, %clock;
LATE$U:
    mov.u32 t2, %clock;
    sub.u32 t2, t2, t1;
    setp.lt.u32 busy, t2, t0;
    @busy bra LATE$U;
"""
_WORDS = "".join(f"* setp.ne.u32 wrong, w{i}, $A;\n* @wrong add.u32 wrongs, wrongs, 1;\n" for i in range(4))
_SUMS = "".join(f"add.f32 sum, sum, c{i};\n" for i in range(32))
_ZEROS = "mov.f32 sum, 0f00000000;\n"
_ACCUMULATORS = ", ".join(f"c{i}" for i in range(32))
_MULTIPLY = (
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
    + _ACCUMULATORS
    + "}, a_desc, b_desc, %s, 1, 1, 0, 0;\n"
)
_LOAD = (
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{multicast} "
    "[{to}], [from], {size}, [{barrier}]{mask};"
)
_TRY = (
    "WAIT$U:\nmbarrier.try_wait.parity{acquire}.shared::cta.b64 ready, [$A], {parity};\n@!ready bra WAIT$U;"
)

_POLL = """POLL$U:
    {polls}
    vote.sync.all.pred p, ready, -1;
    vote.sync.any.pred busy, ready, -1;
    xor.pred wrong, p, busy;
    @wrong add.u32 wrongs, wrongs, 1;
    @!p bra POLL$U;"""
_AT_LANE = (
    "@p mapa.shared::cluster.u32 i, full, lane;\n"
    "@p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [i];"
)
_TEST = "mbarrier.test_wait.parity.shared::cta.b64 ready, [$A], parity;"
_MAP = "tensormap.replace.tile.{field}.shared::cta.b1024.{width} [landing], {values};\n"
_MAP_FIELDS = (
    ("rank", "0"), ("box_dim", "0, 256"), ("global_dim", "0, 256"), ("element_stride", "0, 1"), ("elemtype", "4"),
    ("interleave_layout", "0"), ("swizzle_mode", "0"), ("fill_mode", "0"),
)  # fmt: skip
"""One row of 256 numbers of 64 bits."""

FRAGMENTS: dict[str, str] = {
    # delays: of each warp, or of each lane
    "late": _LATE.format(salt="salt"),
    "late lanes": _LATE.format(salt="lane_salt"),
    # what threads store and read
    "store tile": "* st.shared.v4.u32 [own+$O], {value, value, value, value};",
    "store garbage": "* st.shared.v4.u32 [own+$O], {garbage, garbage, garbage, garbage};",
    "store operand": "* st.shared.v4.u32 [own+$O], {half, half, half, half};",
    "store global": "* st.global.v4.u32 [mine+$O], {value, value, value, value};",
    "store peer": "* st.shared::cluster.v4.u32 [peer_own+$O], {value, value, value, value};",
    "check tile": "* ld.shared.v4.u32 {w0, w1, w2, w3}, [other+$O];\n" + _WORDS.replace("$A", "value"),
    "check own": "* ld.shared.v4.u32 {w0, w1, w2, w3}, [own+$O];\n" + _WORDS.replace("$A", "value"),
    "check peer": "* ld.shared::cluster.v4.u32 {w0, w1, w2, w3}, [peer_other+$O];\n" + _WORDS.replace("$A", "value"),
    "check global": "* ld.volatile.global.v4.u32 {w0, w1, w2, w3}, [theirs+$O];\n" + _WORDS,
    "check second": "* ld.volatile.global.v4.u32 {w0, w1, w2, w3}, [theirs+$S];\n" + _WORDS.replace("$A", "value"),
    "check landing": "* ld.shared.v4.u32 {w0, w1, w2, w3}, [other_landing+$O];\n" + _WORDS.replace("$A", "value"),
    "check peer global": "* ld.global.v4.u32 {w0, w1, w2, w3}, [peer_theirs+$O];\n" + _WORDS.replace("$A", "value"),
    "store word": "st.shared.u32 [word], $A;",
    "check word": "ld.shared.u32 w0, [word];\nsetp.ne.u32 wrong, w0, value;\n@wrong add.u32 wrongs, wrongs, 1;",
    "store one": "* st.shared::cluster.v4.u32 [peer_own+$O], {one, one, one, one};",
    "check one": "* ld.shared.v4.u32 {w0, w1, w2, w3}, [own+$O];\n" + _WORDS.replace("$A", "one"),
    "check barrier": (
        "ld.shared.v2.u32 {w0, w1}, [full];\nsetp.ne.u32 wrong, w0, value;\n@wrong add.u32 wrongs, wrongs, 1;\n"
        "setp.ne.u32 wrong, w1, garbage;\n@wrong add.u32 wrongs, wrongs, 1;"
    ),
    "compare first": "setp.ne.u32 wrong, w0, value;\n@wrong add.u32 wrongs, wrongs, 1;",
    "read tile": "ld.shared.v4.u32 {w0, w1, w2, w3}, [other];",
    "compare": _WORDS.replace("$A", "value").replace("* ", ""),
    # barriers
    "barrier": "bar.sync 0;",
    "fence": "fence.proxy.async.shared::cta;",
    "init": "mbarrier.init.shared::cta.b64 [$A], 1;",
    "init threads": "mbarrier.init.shared::cta.b64 [$A], $T;",
    "init warp": "mbarrier.init.shared::cta.b64 [$A], 32;",
    "init two": "mbarrier.init.shared::cta.b64 [$A], 2;",
    "init four": "mbarrier.init.shared::cta.b64 [$A], 4;",
    "inval": "mbarrier.inval.shared::cta.b64 [$A];",
    "expect": "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$A], $B;",
    "arrive": "mbarrier.arrive.shared::cta.b64 _, [$A];",
    "wait": _TRY.format(acquire="", parity="parity"),
    "wait relaxed": _TRY.format(acquire=".relaxed.cta", parity="parity"),
    "wait cluster relaxed": _TRY.format(acquire=".relaxed.cluster", parity="parity"),
    "wait cluster": _TRY.format(acquire=".acquire.cluster", parity="parity"),
    "wait first": _TRY.format(acquire="", parity="0"),
    "wait before": _TRY.format(acquire="", parity="parity_before"),
    "wait cluster before": _TRY.format(acquire=".acquire.cluster", parity="parity_before"),
    "poll": _POLL.format(polls=_TEST),
    "poll and try": _POLL.format(polls=_TEST.replace("test_wait", "try_wait")),
    "poll by halves": _POLL.format(polls=f"@upper {_TEST}\n@!upper {_TEST}"),
    "cluster barrier": "barrier.cluster.arrive;\nbarrier.cluster.wait;",
    "cluster barrier relaxed": "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;",
    "arrive at each": "setp.lt.u32 p, lane, 2;\n" + _AT_LANE,
    "arrive peer": "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [peer_$A];",
    # bulk copies
    "load pieces": (
        "mov.u32 i, 0;\nPIECE$U:\nadd.u32 w0, tile, i;\n"
        + _LOAD.format(multicast="", to="w0", size="8192", barrier="full", mask="")
        + "\nadd.u32 i, i, 8192;\nsetp.lt.u32 p, i, $B;\n@p bra PIECE$U;"
    ),
    "load tile": _LOAD.format(multicast="", to="tile", size="$B", barrier="full", mask=""),
    "load operand": "add.u64 from, operands, 0;\n"
    + _LOAD.format(multicast="", to="b_tile", size="2048", barrier="full", mask=""),
    "expect operand": "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$A], 2048;",
    "load both": _LOAD.format(multicast=".multicast::cluster", to="tile", size="$B", barrier="full", mask=", both"),
    "load mine": _LOAD.format(multicast="", to="tile", size="$B", barrier="full", mask="").replace("from", "region"),
    "load landing": _LOAD.format(multicast="", to="landing", size="$B", barrier="full", mask=""),
    "bulk store": "cp.async.bulk.global.shared::cta.bulk_group [region], [tile], $B;",
    "bulk store second": "add.u64 addr, region, $B;\ncp.async.bulk.global.shared::cta.bulk_group [addr], [tile], $B;",
    "send word": (
        "* st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
        "[peer_own+$O], {value, value, value, value}, [peer_full];"
    ),
    "bulk to peer": (
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
        "[peer_landing], [tile], $B, [peer_full];"
    ),
    "commit": "cp.async.bulk.commit_group;",
    "wait group": "cp.async.bulk.wait_group $A;",
    "wait group read": "cp.async.bulk.wait_group.read $A;",
    # tensor maps that the kernel makes
    "make map": (
        "mov.u32 t0, 0;\n"
        + "".join(f"st.shared.v4.u32 [landing+{16 * i}], {{t0, t0, t0, t0}};\n" for i in range(8))
        + _MAP.format(field="global_address", width="b64", values="source")
        + "".join(_MAP.format(field=field, width="b32", values=values) for field, values in _MAP_FIELDS)
    ),
    "change map": _MAP.format(field="global_address", width="b64", values="from"),
    "publish map": (
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[region], [landing], 128;"
    ),
    "acquire map": "fence.proxy.tensormap::generic.acquire.gpu [region], 128;",
    "acquire other map": "add.u64 addr, region, 128;\nfence.proxy.tensormap::generic.acquire.gpu [addr], 128;",
    "load by map": (
        "mov.u32 t0, 0;\ncp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[tile], [region, {t0}], [full];"
    ),
    # copies of threads
    "copy": "* cp.async.cg.shared.global [own+$O], [pattern+$O], 16;",
    "copy operand": "cp.async.cg.shared.global [own], [half_pattern], 16;",
    # tensor memory: of the lanes of a warp's quarter
    "allocate": "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;",
    "free": "tcgen05.dealloc.cta_group::1.sync.aligned.b32 column, 32;",
    "allocate pair": "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32;",
    "free pair": "tcgen05.dealloc.cta_group::2.sync.aligned.b32 column, 32;",
    "take column": "ld.shared.u32 column, [slot];",
    "take quarter": (
        "ld.shared.u32 column, [slot];\nand.b32 i, warp, 3;\nshl.b32 i, i, 21;\nadd.u32 quarter, column, i;"
    ),
    "store tensor": "tcgen05.st.sync.aligned.32x32b.x1.b32 [quarter], {value};",
    "commit to": "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$A];",
    "stored": "tcgen05.wait::st.sync.aligned;",
    "check tensor": (
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {w0}, [quarter];\ntcgen05.wait::ld.sync.aligned;\n"
        "setp.ne.u32 wrong, w0, value;\n@wrong add.u32 wrongs, wrongs, 1;"
    ),
    "tell": "tcgen05.fence::before_thread_sync;",
    "told": "tcgen05.fence::after_thread_sync;",
    # matrix multiplication
    "ones": "st.shared.v4.u32 [a_own], {one, one, one, one};\nst.shared.v4.u32 [own], {one, one, one, one};",
    "multiply": "wgmma.fence.sync.aligned;\n" + _MULTIPLY % "0" + "wgmma.commit_group.sync.aligned;",
    "multiply long": (
        "wgmma.fence.sync.aligned;\n" + _MULTIPLY % "0" + (_MULTIPLY % "1") * 7 + "wgmma.commit_group.sync.aligned;"
    ),
    "multiplied": "wgmma.wait_group.sync.aligned 0;",
    "check product": _ZEROS + _SUMS + "setp.neu.f32 wrong, sum, product;\n@wrong add.u32 wrongs, wrongs, 1;",
    "check long product": (
        _ZEROS
        + _SUMS
        + "mul.f32 sum, sum, 0f3E000000;\nsetp.neu.f32 wrong, sum, product;\n@wrong add.u32 wrongs, wrongs, 1;"
    ),
}  # fmt: skip
