"""BG, CA and PX rules: near misses and cases beyond the kernels of the rules themselves."""

from __future__ import annotations

import pytest

import ptxcheck
from ptxcheck.config import Config

from .kernels import agrees, kernel, proved

START = """
ld.param.u64 %rd1, [in];
ld.param.u32 %r7, [n];
mov.u32 %r1, %tid.x;
"""
FENCE = "fence.proxy.async;\n"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [data], 512;"
COMMIT = "cp.async.bulk.commit_group;\n"
WAIT = "cp.async.bulk.wait_group.read 0;\n"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%rd1], %r2, [bar];"
OWN = "mul.wide.u32 %rd2, %r1, 16;\nadd.u64 %rd2, %rd1, %rd2;\nmov.u32 %r2, 16;\n"
COPY = "cp.async.ca.shared.global [data], [%rd1], 16;"
MINE = "shl.b32 %r2, %r1, 4;\nmov.u32 %r3, data;\nadd.u32 %r3, %r3, %r2;\n"

CASES = {
    # sizes and addresses
    "BG001 may be a multiple": ("BG001", "mov.u32 %r2, %r7;\n" + LOAD),
    "BG001 multiple by shift": ("BG001", "shl.b32 %r2, %r7, 4;\n" + LOAD),
    "BG001 never a multiple": (
        "BG001",
        "shl.b32 %r2, %r7, 4;\nor.b32 %r2, %r2, 8;\n" + LOAD + " // expect: BG001",
    ),
    "BG001 too large": ("BG001", "mov.u32 %r2, 1048576;\n" + LOAD + " // expect: BG001"),
    "BG001 dead code": ("BG001", "bra $e;\nmov.u32 %r2, 24;\n" + LOAD + "\n$e:"),
    "BG002 global": (
        "BG002",
        "shl.b64 %rd1, %rd1, 4;\nadd.u64 %rd1, %rd1, 8;\nmov.u32 %r2, 16;\n" + LOAD + " // expect: BG002",
    ),
    "BG002 unknown parameter": ("BG002", "add.u64 %rd1, %rd1, 8;\nmov.u32 %r2, 16;\n" + LOAD),
    # groups of bulk copies
    "BG003 commit under the same predicate": (
        "BG003",
        f"setp.eq.u32 %p1, %r1, 0;\n@%p1 {STORE}\n@%p1 cp.async.bulk.commit_group;\n",
    ),
    "BG003 commit under another predicate": (
        "BG003",
        f"setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 32;\n"
        f"@%p1 {STORE} // expect: BG003\n@%p2 cp.async.bulk.commit_group;\n",
    ),
    "BG003 elected twice": (
        "BG003",
        f"elect.sync _|%p1, -1;\n@%p1 {STORE}\nelect.sync _|%p2, -1;\n@%p2 cp.async.bulk.commit_group;\n",
    ),
    "BG003 commit of the other kind": ("BG003", STORE + " // expect: BG003\ncp.async.commit_group;\n" + WAIT),
    "BG003 loads need no group": ("BG003", "mov.u32 %r2, 16;\n" + LOAD),
    "BG003 trap": ("BG003", f"setp.eq.u32 %p1, %r7, 0;\n{STORE}\n@%p1 trap;\n{COMMIT}{WAIT}"),
    "BG004 wait for fewer": (
        "BG004",
        f"{STORE}\n{COMMIT}{STORE} // expect: BG004\n{COMMIT}cp.async.bulk.wait_group 1;",
    ),
    "BG004 wait in a loop": (
        "BG004",
        f"$l:\n{STORE}\n{COMMIT}{WAIT}setp.ne.u32 %p1, %r7, 0;\nsub.u32 %r7, %r7, 1;\n@%p1 bra $l;",
    ),
    "BG005 both kinds are used": (
        "BG005",
        f"{COPY}\ncp.async.commit_group;\n{STORE}\n{COMMIT}cp.async.wait_group 0;",
    ),
    "BG005 useless wait beside a right one": ("BG005", f"{STORE}\n{COMMIT}cp.async.wait_all;\n{WAIT}"),
    "BG005 bulk wait for cp.async": (
        "BG005",
        f"{COPY}\ncp.async.commit_group;\ncp.async.bulk.wait_group 0; // expect: BG005",
    ),
    "BG006 other bytes": ("BG006", f"{STORE}\n{COMMIT}{WAIT}ld.global.u32 %r2, [%rd1+512];"),
    "BG006 full wait later": (
        "BG006",
        f"{STORE}\n{COMMIT}{WAIT}cp.async.bulk.wait_group 0;\nld.global.u32 %r2, [%rd1+508];",
    ),
    "BG006 pointer moves on": (
        "BG006",
        f"{STORE}\n{COMMIT}{WAIT}add.u64 %rd1, %rd1, 512;\nld.global.u32 %r2, [%rd1];",
    ),
    "BG006 flag": (
        "BG006",
        f"{STORE}\n{COMMIT}{WAIT}red.release.gpu.global.add.u32 [%rd1+4096], 1; // expect: BG006",
    ),
    "BG009 unknown": (
        "BG009",
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r7}], [data];",
    ),
    "BG009 loads may start outside": (
        "BG009",
        "mov.u32 %r2, -1;\ncp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [data], [%rd1, {%r2}], [bar];",
    ),
    "BG011 alignment of the variable decides": (
        "BG011",
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r7}], [data];",
    ),
    "BG012 other bytes": ("BG012", f"{STORE}\n{COMMIT}st.shared.u32 [data+512], 0;\n{WAIT}"),
    "BG012 wait for an older group": (
        "BG012",
        f"{STORE}\n{COMMIT}cp.async.bulk.global.shared::cta.bulk_group [%rd1+512], [data+512], 512;\n{COMMIT}"
        "cp.async.bulk.wait_group.read 1;\nst.shared.u32 [data], 0;\n"
        "st.shared.u32 [data+512], 0; // expect: BG012\n" + WAIT,
    ),
    "BG012 wait before the commit": (
        "BG012",
        f"{STORE}\n{WAIT}{COMMIT}st.shared.u32 [data], 0; // expect: BG012\n{WAIT}",
    ),
    "BG012 thread by thread": (
        "BG012",
        f"{MINE}setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $e;\n{STORE}\n"
        f"{COMMIT}st.shared.u32 [%r3], 0; // expect: BG012\n"
        f"{WAIT}$e:",
    ),
    "BG012 another thread": (
        "BG012",
        f"setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $w;\n{STORE}\n{COMMIT}bra $e;\n$w:\n"
        f"st.shared.u32 [data], 0;\n$e:",
    ),
    "BG012 tensor map": (
        "BG012",
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r7}], [data];\n"
        + COMMIT
        + "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], %r7; // expect: BG012\n"
        + WAIT,
    ),
    # cp.async
    "CA001 thread by thread": (
        "CA001",
        "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, data;\nadd.u32 %r3, %r3, %r2;\n"
        "cp.async.ca.shared.global [%r3], [%rd1], 16; // expect: CA001\ncp.async.wait_all;",
    ),
    "CA002 mbarrier": ("CA002", COPY + "\ncp.async.mbarrier.arrive.shared.b64 [bar];"),
    "CA002 last prefetch is dropped": (
        "CA002",
        f"$l:\n{COPY}\ncp.async.commit_group;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra $e;\nsub.u32 %r7, %r7, 1;\n"
        "cp.async.wait_group 0;\nbra $l;\n$e:",
    ),
    "CA003 other bytes": ("CA003", COPY + "\nld.shared.u32 %r2, [data+16];\ncp.async.wait_all;"),
    "CA003 extern call is a read": (
        "CA003",
        COPY
        + "\ncp.async.commit_group;\nld.shared.u32 %r2, [data+12]; // expect: CA003\ncp.async.wait_group 0;",
    ),
    "CA003 wait before commit": (
        "CA003",
        COPY + "\ncp.async.wait_group 0;\ncp.async.commit_group;\nbar.sync 0;\n"
        "ld.shared.u32 %r2, [data]; // expect: CA003",
    ),
    "CA003 older group": (
        "CA003",
        f"{COPY}\ncp.async.commit_group;\ncp.async.ca.shared.global [data+16], [%rd1], 16;\n"
        f"cp.async.commit_group;\n"
        "cp.async.wait_group 1;\nld.shared.u32 %r2, [data];\nld.shared.u32 %r3, [data+16]; // expect: CA003\n"
        "cp.async.wait_all;",
    ),
    "CA003 empty group counts": (
        "CA003",
        f"{COPY}\ncp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
        f"ld.shared.u32 %r2, [data];",
    ),
    "CA003 own row": (
        "CA003",
        MINE + "cp.async.ca.shared.global [%r3], [%rd1], 16;\nld.shared.u32 %r2, [%r3+4]; // expect: CA003\n"
        "cp.async.wait_all;",
    ),
    "CA003 address computed anew": (
        "CA003",
        "$l:\ncp.async.ca.shared.global [%r3], [%rd1], 16;\nld.param.u32 %r3, [n];\n"
        "ld.shared.u32 %r3, [%r3];\n"
        "ld.shared.u32 %r2, [%r3];\ncp.async.wait_all;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra $l;",
    ),
    "CA003 mbarrier": (
        "CA003",
        COPY + "\ncp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n$w:\n"
        "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra $w;\nld.shared.u32 %r2, [data];",
    ),
    "CA004 loop": (
        "CA004",
        f"{COPY}\ncp.async.commit_group;\n$l:\ncp.async.ca.shared.global [data+16], [%rd1], 16;\n"
        "cp.async.commit_group;\ncp.async.wait_group 1;\nsetp.ne.u32 %p1, %r7, 0;\n"
        "sub.u32 %r7, %r7, 1;\n@%p1 bra $l;",
    ),
    "CA004 nothing pending": ("CA004", f"cp.async.wait_group 1;\n{COPY}\ncp.async.wait_all;"),
    "CA005 wait_all commits": ("CA005", COPY + "\ncp.async.wait_all;"),
    "CA005 other branch": (
        "CA005",
        f"setp.eq.u32 %p1, %r7, 0;\n@%p1 {COPY}\n@%p1 cp.async.commit_group;\ncp.async.wait_group 0;",
    ),
    "CA006 may fit": ("CA006", "cp.async.ca.shared.global [data], [%rd1], 8, %r7;\ncp.async.wait_all;"),
    "CA006 as large": (
        "CA006",
        "mov.u32 %r2, 8;\ncp.async.ca.shared.global [data], [%rd1], 8, %r2;\ncp.async.wait_all;",
    ),
    "CA007 one or the other": (
        "CA007",
        f"setp.eq.u32 %p1, %r7, 0;\n@%p1 {COPY}\n@!%p1 cp.async.ca.shared.global [data], [%rd1+64], 16;\n"
        "cp.async.wait_all;",
    ),
    "CA007 in a loop": (
        "CA007",
        f"$l:\n{COPY} // expect: CA007\ncp.async.commit_group;\nsetp.ne.u32 %p1, %r7, 0;\n"
        f"sub.u32 %r7, %r7, 1;\n"
        "@%p1 bra $l;\ncp.async.wait_all;",
    ),
    # proxies
    "PX001 other bytes": ("PX001", f"st.shared.u32 [data+512], 1;\n{STORE}\n{COMMIT}{WAIT}"),
    "PX001 cp.async": (
        "PX001",
        f"{COPY}\ncp.async.wait_all;\nbar.sync 0;\n{STORE} // expect: PX001\n{COMMIT}{WAIT}",
    ),
    "PX001 bytes come from a bulk copy": (
        "PX001",
        f"st.shared.u32 [data], 1;\nmov.u32 %r2, 512;\n{LOAD}\n{STORE}\n{COMMIT}{WAIT}",
    ),
    "PX001 fence in another branch": (
        "PX001",
        f"setp.eq.u32 %p1, %r7, 0;\nst.shared.u32 [data], 1;\n@%p1 fence.proxy.async.shared::cta;\n"
        f"{STORE} // expect: PX001\n{COMMIT}{WAIT}",
    ),
    "PX001 fence before the write": (
        "PX001",
        f"{FENCE}st.shared.u32 [data], 1;\nbar.sync 0;\n{STORE} // expect: PX001\n{COMMIT}{WAIT}",
    ),
    "PX001 by one thread for all": (
        "PX001",
        f"{MINE}st.shared.u32 [%r3], 1;\nbar.sync 0;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra $e;\n"
        f"elect.sync _|%p2, -1;\n"
        f"@%p2 {STORE} // expect: PX001\n$e:",
    ),
    "PX001 another thread wrote": (
        "PX001",
        f"{MINE}add.u32 %r3, %r3, 256;\nst.shared.u32 [%r3], 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $e;\n"
        f"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [data], 128;\n{COMMIT}{WAIT}$e:",
    ),
    "PX001 swizzled offset": (
        "PX001",
        "shl.b32 %r2, %r1, 4;\nshr.u32 %r3, %r1, 3;\nand.b32 %r3, %r3, 7;\nshl.b32 %r3, %r3, 4;\n"
        "xor.b32 %r2, %r2, %r3;\nmov.u32 %r3, data;\nadd.u32 %r3, %r3, %r2;\nsetp.ge.u32 %p1, %r1, 32;\n"
        f"@%p1 bra $e;\nst.shared.u32 [%r3], 1;\nbar.warp.sync -1;\nelect.sync _|%p2, -1;\n"
        f"@%p2 {STORE} // expect: PX001\n$e:",
    ),
    "PX001 matrix store": (
        "PX001",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [data], {%r1, %r1, %r1, %r1};\n"
        + STORE
        + " // expect: PX001",
    ),
    "PX002 global bytes": (
        "PX002",
        "st.global.u32 [%rd1], %r1;\nfence.proxy.async.shared::cta; // expect: PX002\nmov.u32 %r2, 16;\n"
        + LOAD,
    ),
    "PX002 both fences": (
        "PX002",
        f"st.shared.u32 [data], 1;\nfence.proxy.async.global;\nfence.proxy.async.shared::cta;\n{STORE}",
    ),
    "PX003 bytes of the thread that copies": (
        "PX003",
        OWN + "setp.eq.u32 %p1, %r1, 0;\nst.global.u32 [%rd2], %r1;\n@%p1 " + LOAD + " // expect: PX003",
    ),
    "PX003 bytes of another thread": (
        "PX003",
        OWN + "setp.eq.u32 %p1, %r1, 1;\nst.global.u32 [%rd2], %r1;\n@%p1 " + LOAD,
    ),
    "PX002 bytes of the thread that copies": (
        "PX002",
        OWN + "setp.eq.u32 %p1, %r1, 0;\nst.global.u32 [%rd2], %r1;\n"
        "fence.proxy.async.shared::cta; // expect: PX002\n@%p1 " + LOAD,
    ),
    "PX003 other bytes": ("PX003", "st.global.u32 [%rd1+16], %r1;\nmov.u32 %r2, 16;\n" + LOAD),
    "PX003 last bytes": (
        "PX003",
        "st.global.u32 [%rd1+12], %r1;\nmov.u32 %r2, 16;\n" + LOAD + " // expect: PX003",
    ),
    "PX004 other map": (
        "PX004",
        "tensormap.replace.tile.rank.global.b1024.b32 [%rd1+128], %r7;\n"
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r7}], [data];",
    ),
    "PX004 no release": (
        "PX004",
        "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], %r7;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n"
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r7}], [data]; // expect: PX004",
    ),
    "PX004 fused copy without acquire": (
        "PX004",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
        " [%rd1], [data], 128;\n"
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r7}], [data+128];"
        " // expect: PX004",
    ),
    "PX005 proxy fence too": (
        "PX005",
        f"st.shared.u32 [data], 1;\nfence.acq_rel.cta;\nfence.proxy.async.shared::cta;\n{STORE}",
    ),
    "PX005 membar": (
        "PX005",
        f"st.shared.u32 [data], 1;\nmembar.cta; // expect: PX005\nbar.sync 0;\n{STORE}",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, body = CASES[name]
    assert agrees(rule_id, kernel(START + body))


def test_cluster_must_be_known() -> None:
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    body = f"{START}.reg .b16 %h<2>;\nmov.b16 %h0, 8;\n{copy} [data], [%rd1], 16, [bar], %h0;"
    assert proved("BG007", kernel(body)) == []
    assert len(proved("BG007", kernel(body, ".reqnctapercluster 2"))) == 1
    assert proved("BG007", kernel(body, ".reqnctapercluster 4")) == []
    assert proved("BG007", kernel(body.replace(" 8;", " 0;"))) != []


def test_a_last_store_that_is_left_open_is_possible() -> None:
    others = f"{STORE}\n{COMMIT}{WAIT}"
    last = STORE.replace("[data]", "[data+512]") + f"\n{COMMIT}"
    assert proved("BG004", kernel(START + others + last)) == []
    assert proved("BG004", kernel(START + last)) != []
    again = "$l:\n" + last + "sub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra $l;"
    assert proved("BG004", kernel(START + others + again)) != []


def test_skipped_waits_are_possible() -> None:
    body = START + f"setp.eq.u32 %p1, %r7, 0;\n{STORE}\n{COMMIT}@%p1 cp.async.bulk.wait_group.read 0;"
    assert proved("BG004", kernel(body)) == []
    assert not agrees("BG004", kernel(body))


def test_flags_after_read_waits_are_possible() -> None:
    body = START + f"{STORE}\n{COMMIT}{WAIT}red.release.gpu.global.add.u32 [%rd1+4096], 1;"
    assert proved("BG006", kernel(body)) == []


def test_a_copy_that_may_never_be_behind_those_that_are_waited_for_is_possible() -> None:
    copied = f"{COPY}\ncp.async.commit_group;\n"
    rest = f"setp.lt.u32 %p1, %r7, 3;\n@%p1 {COPY}\ncp.async.commit_group;"
    assert proved("CA002", kernel(f"{START}{copied}cp.async.wait_group 0;\n{rest}")) == []
    assert not agrees("CA002", kernel(f"{START}{copied}cp.async.wait_group 0;\n{rest}"))
    found = ptxcheck.check(kernel(START + rest), config=Config(possible=True)).findings
    assert [each.rule for each in found] == ["CA002"]
    assert proved("CA002", kernel(f"{START}{copied}cp.async.wait_group 0;\n{copied}")) != []


@pytest.mark.parametrize(
    ("size", "mark"),
    [
        ("mov.u64 %rd1, 12;", " // expect: SM028"),
        ("mov.u64 %rd1, 16;", ""),
        ("ld.param.u64 %rd1, [in];", ""),
        ("ld.param.u64 %rd1, [in];\nshl.b64 %rd1, %rd1, 3;\nadd.u64 %rd1, %rd1, 4;", " // expect: SM028"),
    ],
)
def test_a_fill_is_of_multiples_of_8_bytes(size: str, mark: str) -> None:
    text = f"{size}\nst.bulk.weak.shared::cta [data], %rd1, 0;{mark}"
    assert agrees("SM028", kernel(text, target="sm_100a"))
