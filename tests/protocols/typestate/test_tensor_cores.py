"""Verdicts on tensor cores that need no run of the whole kernel: descriptors, collectives, tensor memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck import check
from ptxcheck.config import Config
from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.tensor_cores import tensor_core_verdicts
from ptxcheck.rules import RULES
from ptxcheck.source import Source
from ptxcheck.verdict import Property, Verdict, VerdictKind
from ptxcheck.view import KernelView

CORPUS = Path(__file__).parents[3] / "corpus"
PROVED, ASSUMES, UNKNOWN, VIOLATED = (
    VerdictKind.PROVED, VerdictKind.ASSUMES, VerdictKind.UNKNOWN, VerdictKind.VIOLATED,
)  # fmt: skip
HEAD = ".version 8.6\n.target {target}\n.address_size 64\n"


def verdict(text: str, which: Property) -> Verdict | None:
    module = parse_module(Source("kernel.ptx", text))
    (function,) = module.entries
    view = KernelView(module, function, launch_of(function, [])[0])
    return next((each for each in tensor_core_verdicts(view) if each.property is which), None)


def kind(text: str, which: Property) -> VerdictKind:
    found = verdict(text, which)
    assert found is not None
    return found.kind


# ---------------------------------------------------------------- descriptors

DESCRIPTORS = Property.MATRIX_DESCRIPTORS


DESCRIPTOR_RULES = (
    "TM019", "TM020", "TM021", "TM022", "TM023", "TM025", "TM026", "WG014", "WG015", "WG016", "WG017", "WG018", "WG020",
)  # fmt: skip
REFUSED = [path for rule in DESCRIPTOR_RULES for path in sorted((CORPUS / "bad" / rule).glob("*.ptx"))]


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_descriptors_that_rules_refuse_are_violated(path: Path) -> None:
    assert kind(path.read_text(), DESCRIPTORS) is VIOLATED


@pytest.mark.parametrize(
    "name", ["descriptors_of_a_tile_in_steps", "ring_of_descriptors", "leading_and_stride_without_swizzle"]
)
def test_descriptors_of_good_kernels_are_proved(name: str) -> None:
    assert kind((CORPUS / "good" / f"{name}.ptx").read_text(), DESCRIPTORS) is PROVED


MULTIPLY = (
    HEAD.format(target="sm_100a")
    + """
.visible .entry kernel(.param .u32 word, .param .u64 high) .reqntid 32
{{
    .reg .pred leads;
    .reg .b32 d, idesc, at;
    .reg .b64 a_desc;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 4 .b32 slot;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    bar.sync 0;
    ld.shared.b32 d, [slot];
    mov.u32 at, tile;
    shr.u32 at, at, 4;
    and.b32 at, at, 16383;
    cvt.u64.u32 a_desc, at;
    {fields}
    {word}
    elect.sync _|leads, -1;
    @leads tcgen05.mma.cta_group::1.kind::f16 [d], a_desc, a_desc, idesc, 1;
    bar.sync 0;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 d, 64;
    ret;
}}
"""
)
RIGHT = "or.b64 a_desc, a_desc, 0x4000404000010000;"
WORD = "mov.b32 idesc, 0x8100490;"


@pytest.mark.parametrize(
    ("fields", "word", "wanted"),
    [
        (RIGHT, WORD, PROVED),
        ("or.b64 a_desc, a_desc, 0x6000404000010000;", WORD, VIOLATED),
        (RIGHT, "mov.b32 idesc, 0x8100498;", VIOLATED),
        (RIGHT, "ld.param.u32 idesc, [word];", ASSUMES),
        (RIGHT, "ld.param.u32 idesc, [word]; or.b32 idesc, idesc, 0x8100490;", UNKNOWN),
        (".reg .b64 more; ld.param.u64 more, [high]; or.b64 a_desc, a_desc, more;", WORD, UNKNOWN),
    ],
)
def test_every_field_has_to_be_known_to_be_legal(fields: str, word: str, wanted: VerdictKind) -> None:
    assert kind(MULTIPLY.format(fields=fields, word=word), DESCRIPTORS) is wanted


def test_what_the_host_passes_is_named() -> None:
    found = verdict(MULTIPLY.format(fields=RIGHT, word="ld.param.u32 idesc, [word];"), DESCRIPTORS)
    assert found is not None
    assert "param+0" in found.reasons[0].text


MASKED = "ld.param.u32 at, [word]; and.b32 at, at, 16383; {add} cvt.u64.u32 a_desc, at; {then}"
LONG = ".reg .b64 more; ld.param.u64 more, [high]; "


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        (MASKED.format(add="", then=RIGHT), PROVED),
        (MASKED.format(add="add.u32 at, at, 2;", then=RIGHT), ASSUMES),
        (MASKED.format(add="add.u32 at, at, 2; and.b32 at, at, 16383;", then=RIGHT), PROVED),
        (MASKED.format(add="add.u32 at, at, 16384;", then=RIGHT), VIOLATED),
        (MASKED.format(add="sub.u32 at, at, 2;", then=RIGHT), ASSUMES),
        (MASKED.format(add="shr.u32 at, at, 7; add.u32 at, at, 1;", then=RIGHT), ASSUMES),
        (f"add.u64 a_desc, a_desc, 64; {RIGHT}", PROVED),
        (f"{LONG} and.b64 more, more, 1023; add.u64 a_desc, a_desc, more; {RIGHT}", PROVED),
        (f"{LONG} add.u64 a_desc, a_desc, more; {RIGHT}", ASSUMES),
        (f"{LONG} shl.b64 more, more, 16; add.u64 a_desc, a_desc, more; {RIGHT}", UNKNOWN),
        (f"{LONG} and.b64 more, more, 7; add.u64 more, more, 1; shl.b64 more, more, 43; {RIGHT}"
         " xor.b64 a_desc, a_desc, more;", UNKNOWN),
    ],
)  # fmt: skip
def test_what_is_added_to_a_start_may_carry_into_other_fields(fields: str, wanted: VerdictKind) -> None:
    assert kind(MULTIPLY.format(fields=fields, word=WORD), DESCRIPTORS) is wanted


ID_OF_FACTORS = (
    HEAD.format(target="sm_100a")
    + """
.visible .entry kernel(.param .u32 n) .reqntid 32
{{
    .reg .pred leads;
    .reg .b32 d, sa, sb, idesc, id, at;
    .reg .b64 desc;
    .shared .align 4 .b32 slot;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], {columns};
    bar.sync 0;
    {before}
    ld.shared.b32 d, [slot];
    add.u32 sa, d, {a};
    add.u32 sb, d, {b};
    mov.b64 desc, 0x4000404000010000;
    and.b32 idesc, sa, 0xC0000000; shr.u32 idesc, idesc, 1;
    and.b32 id, sb, 0xC0000000; shr.u32 id, id, 26;
    or.b32 idesc, idesc, id; or.b32 idesc, idesc, 0x8900480;
    elect.sync _|leads, -1;
    @leads tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [d], desc, desc, idesc, [sa], [sb], 1;
    bar.sync 0;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 d, {columns};
    ret;
}}
"""
)


@pytest.mark.parametrize(
    ("columns", "a", "b", "before", "wanted"),
    [
        (512, 64, 80, "", PROVED),
        (512, 64, 0x8000_0000 + 80, "", PROVED),
        (512, 0x4000_0000 + 64, 80, "", UNKNOWN),
        (512, 64, 0xC000_0000 + 80, "", UNKNOWN),
        (256, 64, 80, "", UNKNOWN),
        (512, 64, 80, "st.shared.b32 [slot], 7;", UNKNOWN),
        (
            512,
            64,
            80,
            "ld.param.u32 at, [n]; mov.u32 d, slot; add.u32 at, at, d; st.shared.b32 [at], 7;",
            ASSUMES,
        ),
    ],
)
def test_ids_of_scale_factors_come_from_their_address(
    columns: int, a: int, b: int, before: str, wanted: VerdictKind
) -> None:
    text = ID_OF_FACTORS.format(columns=columns, a=a, b=b, before=before)
    assert kind(text, DESCRIPTORS) is wanted


# ---------------------------------------------------------------- collectives

COLLECTIVES = Property.COLLECTIVE_EXECUTION
TOGETHER = (
    HEAD.format(target="sm_90a")
    + """
.visible .entry kernel(.param .u64 words) {block}
{{
    .reg .pred out;
    .reg .b32 thread, lane, word;
    .reg .b64 at, own;
    ld.param.u64 at, [words];
    mov.u32 thread, %tid.x;
    {decide}
    @out bra DONE;
    wgmma.fence.sync.aligned;
DONE:
    bar.sync 0;
    ret;
}}
"""
)
LOADED = "mul.wide.u32 own, thread, 4; add.u64 at, at, own; ld.global.u32 word, [at];"
ALL_LANES_OF_ONE = "shfl.sync.idx.b32 word, word, 0, 31, -1; setp.eq.u32 out, word, 0;"


@pytest.mark.parametrize(
    ("block", "decide", "wanted"),
    [
        (".reqntid 128", "setp.eq.b64 out, at, 0;", PROVED),
        (".reqntid 256", "setp.lt.u32 out, thread, 128;", PROVED),
        (".maxntid 256", "setp.lt.u32 out, thread, 128;", ASSUMES),
        (".reqntid 256", "setp.lt.u32 out, thread, 64;", VIOLATED),
        (".reqntid 128", "and.b32 lane, thread, 31; setp.ne.u32 out, lane, 0;", VIOLATED),
        (".reqntid 160", "setp.ge.u32 out, thread, 128;", PROVED),
        (".reqntid 160", "setp.eq.b64 out, at, 0;", VIOLATED),
        ("", "setp.eq.b64 out, at, 0;", UNKNOWN),
        (".reqntid 128", f"{LOADED} setp.eq.u32 out, word, 0;", UNKNOWN),
        (".reqntid 128", f"{LOADED} {ALL_LANES_OF_ONE}", ASSUMES),
    ],
)
def test_who_comes_to_an_instruction_of_a_warpgroup(block: str, decide: str, wanted: VerdictKind) -> None:
    assert kind(TOGETHER.format(block=block, decide=decide), COLLECTIVES) is wanted


def test_kernels_without_tensor_cores_are_not_asked() -> None:
    text = HEAD.format(target="sm_90a") + ".visible .entry kernel() .reqntid 32\n{\n bar.sync 0;\n ret;\n}\n"
    assert verdict(text, COLLECTIVES) is None


# ---------------------------------------------------------------- tensor memory

ALLOCATION, ACCESS = Property.TENSOR_MEMORY_ALLOCATION, Property.TENSOR_MEMORY_ACCESS
TENSOR = (
    HEAD.format(target="sm_100a")
    + """
.visible .entry kernel(.param .u32 steps, .param .u64 out) {block}
{{
    .reg .pred first, last, stop;
    .reg .b32 thread, warp, base, at, lane, value, step, n, stage;
    .reg .b64 to;
    .shared .align 4 .b32 slot;
    .shared .align 4 .b32 others[64];
    ld.param.u32 n, [steps];
    ld.param.u64 to, [out];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    setp.eq.u32 first, warp, 0;
    setp.eq.u32 last, warp, 3;
    {before}
    {alloc}
    bar.sync 0;
    ld.shared.b32 base, [slot];
    {access}
    bar.sync 0;
    {free}
DONE:
    ret;
}}
"""
)
ALLOC = "@first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;"
FREE = "@first tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, 64;"
BY_ANOTHER = FREE.replace("first", "last")
PACKED = "mov.b64 to, {step, step}; setp.ne.b64 stop, to, 5; @stop bra DONE;"
LANES = "shl.b32 lane, warp, 21; add.u32 at, base, lane;"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {value}, [at]; tcgen05.wait::ld.sync.aligned;"
STAGES = f"""mov.u32 step, 0; mov.u32 stage, 0; {LANES}
NEXT:
    shl.b32 lane, stage, 5; {{add}} add.u32 lane, lane, at;
    tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{{{", ".join(["value"] * 32)}}}}}, [lane];
    tcgen05.wait::ld.sync.aligned;
    add.u32 stage, stage, 1; setp.eq.u32 stop, stage, {{stages}}; selp.b32 stage, 0, stage, stop;
    add.u32 step, step, 1; setp.lt.u32 stop, step, n; @stop bra NEXT;
"""


def tensor(**parts: str) -> str:
    usual = {
        "block": ".reqntid 128", "before": "", "alloc": ALLOC, "access": f"{LANES} {LOAD}", "free": FREE,
    }  # fmt: skip
    return TENSOR.format(**(usual | parts))


def test_an_allocation_with_its_accesses_is_proved() -> None:
    assert kind(tensor(), ALLOCATION) is PROVED


def test_a_bound_on_the_block_is_an_assumption() -> None:
    assert kind(tensor(block=".maxntid 128"), ALLOCATION) is ASSUMES
    assert kind(tensor(block=""), ALLOCATION) is ASSUMES
    assert kind(tensor(block=".maxntid 128"), ACCESS) is ASSUMES
    assert kind(tensor(block=""), ACCESS) is UNKNOWN


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("bad/TM013/each_warp_loads_lanes_of_the_next.ptx", VIOLATED),
        ("bad/TM013/each_warp_loads_lanes_of_the_last.ptx", VIOLATED),
        ("good/all_warps_name_lane_0.ptx", ASSUMES),
        ("bad/TM015/second_accumulator_outside.ptx", VIOLATED),
        ("bad/TM016/left_operand_in_the_other_half.ptx", VIOLATED),
        ("good/left_operand_in_the_same_half.ptx", PROVED),
        ("good/two_accumulators.ptx", PROVED),
    ],
)
def test_columns_and_lanes_of_the_corpus(path: str, wanted: VerdictKind) -> None:
    assert kind((CORPUS / path).read_text(), ACCESS) is wanted


@pytest.mark.parametrize(
    ("free", "wanted"),
    [
        ("@last tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, 64;", PROVED),
        ("", VIOLATED),
        ("@first tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, 32;", VIOLATED),
        (f"{FREE} {FREE}", VIOLATED),
        (f"setp.eq.u32 stop, n, 7; @stop bra DONE; {FREE}", VIOLATED),
        (f"add.u32 base, base, 32; {FREE}", VIOLATED),
        ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, 64;", UNKNOWN),
        (f"ld.global.u32 value, [to]; setp.eq.u32 stop, value, 7; @stop bra DONE; {FREE}", VIOLATED),
    ],
)
def test_every_way_to_the_end_frees_once(free: str, wanted: VerdictKind) -> None:
    assert kind(tensor(free=free), ALLOCATION) is wanted


@pytest.mark.parametrize(
    ("before", "free", "wanted"),
    [
        ("setp.eq.u32 stop, n, 0; @stop bra DONE;", FREE, PROVED),
        ("setp.eq.u32 stop, n, 0; @stop bra DONE;", BY_ANOTHER, PROVED),
        ("ld.global.u32 value, [to]; setp.eq.u32 stop, value, 0; @stop bra DONE;", BY_ANOTHER, ASSUMES),
        ("setp.eq.u32 stop, n, 0; @stop bra DONE;",
         f"setp.eq.u32 stop, n, 1; @stop bra DONE; {BY_ANOTHER}", UNKNOWN),
        (f"ld.global.u32 step, [to]; @!first bra KEPT; {PACKED} KEPT:",
         f"@!last bra DONE; {PACKED} {BY_ANOTHER}", ASSUMES),
        (f"ld.global.u32 step, [to]; @!first bra KEPT; {PACKED} KEPT:",
         f"@!last bra DONE; add.u32 step, step, 1; {PACKED} {BY_ANOTHER}", UNKNOWN),
    ],
)  # fmt: skip
def test_another_warp_may_free_in_the_same_runs(before: str, free: str, wanted: VerdictKind) -> None:
    assert kind(tensor(before=before, free=free), ALLOCATION) is wanted


@pytest.mark.parametrize(
    ("alloc", "wanted"),
    [
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;", UNKNOWN),
        ("@first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 48;", VIOLATED),
        ("@first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], n;", UNKNOWN),
        (f"{ALLOC} @first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", PROVED),
        (f"@first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; {ALLOC}", VIOLATED),
        (f"@last tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; {ALLOC}", UNKNOWN),
        (f"mov.u32 step, 0; AGAIN: {ALLOC} add.u32 step, step, 1; setp.lt.u32 stop, step, n; @stop bra AGAIN;",
         VIOLATED),
    ],
)  # fmt: skip
def test_one_warp_allocates_once(alloc: str, wanted: VerdictKind) -> None:
    assert kind(tensor(alloc=alloc), ALLOCATION) is wanted


@pytest.mark.parametrize(
    ("access", "wanted"),
    [
        (f"mov.u32 at, base; {LOAD}", ASSUMES),
        (f"mov.u32 at, base; @first {LOAD.split('; ')[0]}; tcgen05.wait::ld.sync.aligned;", PROVED),
        (f"{LANES} add.u32 at, at, 63; {LOAD}", PROVED),
        (f"{LANES} add.u32 at, at, 64; {LOAD}", VIOLATED),
        (f"{LANES} add.u32 at, at, 2097152; {LOAD}", VIOLATED),
        (f"{LANES} add.u32 at, at, n; {LOAD}", UNKNOWN),
        (f"add.u32 at, base, thread; {LOAD}", UNKNOWN),
        (f"mov.u32 at, 0; {LOAD}", UNKNOWN),
        (STAGES.format(stages=2, add=""), PROVED),
        (STAGES.format(stages=3, add=""), UNKNOWN),
        (STAGES.format(stages=2, add="add.u32 lane, lane, 1;"), UNKNOWN),
        (f"{LANES} {LOAD} and.b32 n, n, 63; mov.u32 lane, others; add.u32 lane, lane, n; st.shared.b32 [lane], 0;",
         PROVED),
    ],
)  # fmt: skip
def test_accesses_lie_in_the_columns_and_lanes_of_their_warp(access: str, wanted: VerdictKind) -> None:
    assert kind(tensor(access=access), ACCESS) is wanted


SCALED = """{{
    .reg .pred leads;
    .reg .b32 d, sa, sb, offset;
    .reg .b64 a_desc;
    setp.eq.u32 leads, thread, 0;
    mov.b64 a_desc, 0x4000404000010000;
    {d} {sa} {sb}
    @leads tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [d], a_desc, a_desc, {word}, [sa], [sb], 1;
}}"""
OF_STAGE = "and.b32 offset, n, 1; shl.b32 offset, offset, 4; add.u32 {operand}, base, offset;"
D_OF_STAGE = OF_STAGE.format(operand="d")


def scaled(d: str = "mov.u32 d, base;", sa: int | str = 32, sb: int = 36, word: str = "0x8840480") -> str:
    """Return a multiplication of 16 columns: D, four columns of factors of A, and one of B."""
    factors = sa if isinstance(sa, str) else f"add.u32 sa, base, {sa};"
    return tensor(access=SCALED.format(d=d, sa=factors, sb=f"add.u32 sb, base, {sb};", word=word))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (scaled(), PROVED),
        (scaled(sa=16, sb=20), PROVED),
        (scaled(sa=15), VIOLATED),
        (scaled(sa=1), VIOLATED),
        (scaled(sb=15), VIOLATED),
        (scaled(sb=16), PROVED),
        (scaled(d="add.u32 d, base, 36;"), VIOLATED),
        (scaled(d="add.u32 d, base, 35;", sb=60), VIOLATED),
        (scaled(d="add.u32 d, base, 36;", sb=60), PROVED),
        (scaled(sa=60), PROVED),
        (scaled(sa=61), UNKNOWN),
        (scaled(sa=0x4000_0020), PROVED),
        (scaled(sa=0x4000_0000 + 17, d=D_OF_STAGE), UNKNOWN),
        (scaled(d=D_OF_STAGE), PROVED),
        (scaled(d=D_OF_STAGE, sa=17), UNKNOWN),
        (scaled(d=D_OF_STAGE, sa=31), UNKNOWN),
        (scaled(d=D_OF_STAGE, sb=31), UNKNOWN),
        (scaled(d=D_OF_STAGE, sa="add.u32 sa, d, 16;", sb=48), PROVED),
        (scaled(d=D_OF_STAGE, sa="add.u32 sa, d, 15;", sb=48), UNKNOWN),
        (scaled(d="add.u32 d, base, 12;", sa=OF_STAGE.format(operand="sa"), sb=48), UNKNOWN),
        (scaled(sa="add.u32 sa, base, n;"), UNKNOWN),
        (scaled(word="0x88c0480"), VIOLATED),
        (scaled(word="0x8880480"), PROVED),
    ],
)
def test_operands_share_no_column_with_the_accumulator(text: str, wanted: VerdictKind) -> None:
    assert kind(text, ACCESS) is wanted


@pytest.mark.parametrize(
    ("column", "wanted"), [(16, PROVED), (56, PROVED), (57, UNKNOWN), (15, VIOLATED), (0, VIOLATED)]
)
def test_a_in_tensor_memory_shares_no_column_with_the_accumulator(column: int, wanted: VerdictKind) -> None:
    access = f"""{{{{
    .reg .pred leads; .reg .b64 desc;
    setp.eq.u32 leads, thread, 0; mov.b64 desc, 0x4000404000010000; add.u32 at, base, {column};
    @leads tcgen05.mma.cta_group::1.kind::f16 [base], [at], desc, 0x8040490, 1;
    }}}}"""
    assert kind(tensor(access=access.replace("{{", "{").replace("}}", "}")), ACCESS) is wanted


@pytest.mark.parametrize(
    ("access", "wanted"),
    [
        ("tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {{value}}, [at + 62];", PROVED),
        ("tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {{value}}, [at + 63];", VIOLATED),
        ("tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [at + 63], {{value}};", VIOLATED),
        ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {{value}}, [at], 63;", PROVED),
        ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {{value}}, [at], 64;", VIOLATED),
        ("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [at + 1], 63, {{value}};", VIOLATED),
        ("@first tcgen05.shift.cta_group::1.down [base + 56];", PROVED),
        ("@first tcgen05.shift.cta_group::1.down [base + 57];", UNKNOWN),
    ],
)
def test_columns_of_packed_and_split_accesses(access: str, wanted: VerdictKind) -> None:
    plain = access.replace("{{", "{").replace("}}", "}")
    waited = f"{LANES} {plain} tcgen05.wait::ld.sync.aligned; tcgen05.wait::st.sync.aligned;"
    assert kind(tensor(access=waited), ACCESS) is wanted


def test_lanes_of_the_first_quarter_are_taken_for_those_of_each_warp() -> None:
    assert kind(tensor(access=f"mov.u32 at, base; {LOAD}"), ACCESS) is ASSUMES
    assert kind(tensor(access=f"mov.u32 at, base; {LOAD}", block=".maxntid 128"), ACCESS) is ASSUMES


def test_stores_to_where_the_address_is_kept() -> None:
    overwritten = tensor(before="mov.u32 lane, slot; st.shared.b32 [lane], n;")
    perhaps = tensor(before="mov.u32 lane, slot; add.u32 lane, lane, n; st.shared.b32 [lane], n;")
    assert kind(overwritten, ACCESS) is UNKNOWN
    assert kind(perhaps, ACCESS) is ASSUMES


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("bad/TM017/each_warp_allocates.ptx", UNKNOWN),
        ("bad/TM018/nobody_allocates.ptx", VIOLATED),
        ("bad/TM027/freed_by_the_early_exit_too.ptx", VIOLATED),
        ("bad/TM028/address_of_the_second_accumulator.ptx", VIOLATED),
        ("good/freed_on_either_way.ptx", PROVED),
        ("good/two_accumulators.ptx", PROVED),
    ],
)
def test_the_corpus(path: str, wanted: VerdictKind) -> None:
    assert kind((CORPUS / path).read_text(), ALLOCATION) is wanted


SECOND = "@first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [others], 64;"
SKIPPED = "setp.eq.u32 stop, n, 3;"


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ({"alloc": f"{ALLOC} {SECOND}"}, UNKNOWN),
        ({"alloc": f"{ALLOC} {SECOND}", "free": f"{FREE} ld.shared.b32 base, [others]; {FREE}"}, PROVED),
        ({"alloc": f"{ALLOC} {ALLOC}"}, VIOLATED),
        ({"before": SKIPPED, "alloc": f"@stop bra SKIP; {ALLOC} SKIP:"}, UNKNOWN),
        ({"before": SKIPPED, "alloc": f"@stop bra SKIP; {ALLOC} SKIP:", "free": f"@stop bra DONE; {FREE}"}, PROVED),
        ({"before": SKIPPED, "alloc": f"@stop bra SKIP; {ALLOC} SKIP:", "free": f"@!stop bra DONE; {FREE}"},
         VIOLATED),
        ({"before": SKIPPED, "alloc": f"@stop bra THIS; {ALLOC} bra THAT; THIS: {ALLOC} THAT:"}, PROVED),
        ({"before": SKIPPED, "alloc": f"@stop bra THIS; {ALLOC} THIS: {SECOND}"}, UNKNOWN),
        ({"before": "setp.eq.and.u32 stop, n, 3, first;", "alloc": ALLOC.replace("@first", "@stop")}, UNKNOWN),
    ],
)  # fmt: skip
def test_what_is_freed_was_allocated(parts: dict[str, str], wanted: VerdictKind) -> None:
    assert kind(tensor(**({"access": ""} | parts)), ALLOCATION) is wanted


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        (".reqntid 128 .reqnctapercluster 2", PROVED),
        (".reqntid 128", ASSUMES),
        (".reqntid 128 .reqnctapercluster 3", VIOLATED),
    ],
)
def test_pairs_need_clusters_of_pairs(block: str, wanted: VerdictKind) -> None:
    text = tensor(block=block, access="").replace("cta_group::1", "cta_group::2")
    assert kind(text, ALLOCATION) is wanted


ONE_MULTIPLICATION = """{{
    .reg .pred leads; .reg .b64 desc; .reg .b32 d;
    setp.eq.u32 leads, thread, 0; mov.b64 desc, 0x4000404000010000;
    {place}
    @leads tcgen05.mma.cta_group::1.kind::f16 [d], desc, desc, {word}, 1;
}}"""
COPIED = (
    "{ .reg .b64 desc; mov.b64 desc, 0x4000404000010000; "
    "@first tcgen05.cp.cta_group::1.128x256b [at], desc; }"
)


@pytest.mark.parametrize(
    ("access", "wanted"),
    [
        (ONE_MULTIPLICATION.format(place="mov.u32 d, base;", word="0x8040490"), PROVED),
        (ONE_MULTIPLICATION.format(place="add.u32 d, base, 0x40000000;", word="0x8040490"), UNKNOWN),
        (ONE_MULTIPLICATION.format(place="add.u32 d, base, 0x100000;", word="0x4040490"), PROVED),
        (f"mov.u32 at, base; {COPIED}", PROVED),
        (f"add.u32 at, base, 0x200000; {COPIED}", UNKNOWN),
        (f"shl.b32 at, n, 16; add.u32 at, at, base; {COPIED}", UNKNOWN),
        ("@first tcgen05.shift.cta_group::1.down [base + 0x200000];", PROVED),
        ("shl.b32 at, n, 20; add.u32 at, at, base; @first tcgen05.shift.cta_group::1.down [at];", UNKNOWN),
    ],
)
def test_operands_start_at_lanes_of_their_layout(access: str, wanted: VerdictKind) -> None:
    assert kind(tensor(access=access), ACCESS) is wanted


def test_scale_factors_start_at_the_first_lane() -> None:
    assert kind(scaled(sa=0x20_0020), ACCESS) is UNKNOWN


# ---------------------------------------------------------------- flags that rounds of loops set

ROUND = """
    {start} mov.u16 flag, 0;
{at}ROUND:
    mul.wide.u32 to, step, 4; add.u64 to, to, table;
    {length}
    setp.ge.u32 stop, {count}, length; {skip}
    {body}
{at}NEXT:
    {again}
    {advance} setp.lt.u32 stop, step, n; @stop bra {at}ROUND;
"""
LENGTH = "ld.global.u32 length, [to];"
ASK = "and.b16 word, flag, 255; setp.ne.s16 stop, word, 0; @stop bra MADE;"
MAKE = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;"
REMEMBER = "mov.u16 flag, 1;"
HAVE = "setp.eq.s16 stop, flag, 0; @stop bra DONE; ld.shared.b32 base, [slot];"
LET_GO = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, 64;"
PERSISTENT = (
    HEAD.format(target="sm_100a")
    + """
.visible .entry kernel(.param .u64 lengths, .param .u32 tiles, .param .u32 columns) .reqntid 64
{{
    .reg .pred other, stop;
    .reg .b16 flag, word;
    .reg .b32 thread, base, step, n, m, length, grid;
    .reg .b64 to, table;
    .shared .align 4 .b32 slot;
    ld.param.u64 table, [lengths];
    ld.param.u32 n, [tiles];
    ld.param.u32 m, [columns];
    mov.u32 thread, %tid.x;
    mov.u32 grid, %nctaid.x;
    setp.ge.u32 other, thread, 32;
    @other bra OTHER;
    {first}
    bra DONE;
OTHER:
    {then}
    {have} {free}
DONE:
    ret;
}}
"""
)


def rounds(have: str = HAVE, free: str = LET_GO, makes: dict[str, str] | None = None, **frees: str) -> str:
    """Return a kernel whose first warp allocates in the first round with work, and whose second one frees."""
    usual = {
        "start": "mov.u32 step, %ctaid.x;", "length": LENGTH, "count": "m", "skip": "@stop bra {at}NEXT;", "again": "",
        "advance": "add.u32 step, step, grid;",
    }  # fmt: skip
    first = usual | {"body": f"{ASK} {MAKE} MADE: {REMEMBER}"} | (makes or {})
    then = usual | {"body": REMEMBER} | frees
    parts = {"first": ROUND.format(at="A", **first).replace("{at}", "A"),
             "then": ROUND.format(at="B", **then).replace("{at}", "B")}  # fmt: skip
    return PERSISTENT.format(**parts, have=have, free=free)


PARAMETER = "ld.param.u32 length, [columns]; add.u32 length, length, step;"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (rounds(), ASSUMES),
        (rounds(makes={"length": PARAMETER}, length=PARAMETER), PROVED),
        (rounds(have="setp.ne.s16 stop, flag, 1; @stop bra DONE; ld.shared.b32 base, [slot];"), ASSUMES),
        (
            rounds(makes={"again": "setp.eq.u32 stop, m, 9; @stop bra AMORE; mov.u32 length, 0; AMORE:"}),
            ASSUMES,
        ),
    ],
)
def test_another_warp_frees_what_the_first_round_with_work_allocates(text: str, wanted: VerdictKind) -> None:
    assert kind(text, ALLOCATION) is wanted


@pytest.mark.parametrize(
    "text",
    [
        rounds(start="mov.u32 step, %ctaid.x; add.u32 step, step, 1;"),
        rounds(start="mov.u32 step, %ctaid.y;"),
        rounds(advance="add.u32 step, step, 1;"),
        rounds(advance="add.u32 step, step, grid; setp.eq.u32 stop, m, 3; @stop add.u32 step, step, 1;"),
        rounds(advance="add.u32 step, step, grid; setp.eq.u32 stop, length, 3; @stop bra BODD; bra BEVEN;"
               " BODD: add.u32 step, step, grid; BEVEN:"),
        rounds(length="ld.global.u32 length, [to+4];"),
        rounds(length="ld.volatile.global.u32 length, [to];"),
        rounds(length="ld.relaxed.gpu.global.u32 length, [to];"),
        rounds(length="ld.shared.u32 length, [slot];", makes={"length": "ld.shared.u32 length, [slot];"}),
        rounds(length="mov.u32 length, thread;", makes={"length": "mov.u32 length, thread;"}),
        rounds(length="mov.u32 length, %clock;", makes={"length": "mov.u32 length, %clock;"}),
        rounds(count="n"),
        rounds(skip=""),
        rounds(makes={"skip": ""}),
        rounds(body=f"setp.eq.u32 stop, m, 7; @stop bra BNEXT; {REMEMBER}"),
        rounds(body=""),
        rounds(makes={"body": f"{MAKE} {REMEMBER}"}),
        rounds(makes={"body": f"{ASK} {MAKE} MADE:"}),
        rounds(makes={"again": "mov.u16 flag, 0;"}),
        rounds(makes={"again": "setp.eq.u32 stop, length, 5; @stop mov.u16 flag, 0;"}),
        rounds(again="mov.u16 flag, 0;"),
        rounds(again="setp.eq.u32 stop, m, 5; @stop bra BEND; bra BKEEP; BEND: mov.u16 flag, 0; BKEEP:"),
        rounds(have=HAVE.replace(".eq.s16 stop, flag, 0", ".ne.s16 stop, flag, 0")),
        rounds(have=HAVE.replace("flag, 0", "flag, 1")),
        rounds(have="ld.shared.b32 base, [slot];"),
        rounds(free=f"{LET_GO} setp.eq.u32 stop, m, 4; @stop bra DONE; {LET_GO}"),
        rounds(free=""),
        rounds(again="setp.eq.u32 stop, m, 5; @stop bra DONE;"),
    ],
)  # fmt: skip
def test_rounds_that_differ_are_not_proved(text: str) -> None:
    assert kind(text, ALLOCATION) in (UNKNOWN, VIOLATED)


# ---------------------------------------------------------------- ends of asynchronous operations

COMPLETION = Property.TENSOR_MEMORY_COMPLETION
ISSUED = (
    HEAD.format(target="sm_100a")
    + """
.visible .entry kernel(.param .u64 a, .param .u32 steps) .reqntid 128
{{
    .reg .pred first, leads, again, stop, ready;
    .reg .b32 thread, warp, d, idesc, n, value, at;
    .reg .b64 a_desc;
    .shared .align 4 .b32 slot;
    .shared .align 8 .b64 done;
    ld.param.u64 a_desc, [a];
    ld.param.u32 n, [steps];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    setp.eq.u32 first, warp, 0;
    setp.eq.u32 leads, thread, 0;
    mov.b32 idesc, 0x8100490;
    @first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    bar.sync 0;
    ld.shared.b32 d, [slot];
    shl.b32 at, warp, 21;
    add.u32 at, at, d;
    {code}
    bar.sync 0;
    @first tcgen05.dealloc.cta_group::1.sync.aligned.b32 d, 64;
DONE:
    ret;
}}
"""
)
MMA = "tcgen05.mma.cta_group::1.kind::f16 [d], a_desc, a_desc, idesc, 1;"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];"
STORE = "tcgen05.st.sync.aligned.32x32b.x1.b32 [at], {thread};"
STORED, LOADED_ALL = "tcgen05.wait::st.sync.aligned;", "tcgen05.wait::ld.sync.aligned;"
LOAD_ONE = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {value}, [at];"
ELECTED = "@!first bra OTHERS; elect.sync _|leads, -1;"


FLAG = "mov.b32 value, 0; @leads mov.b32 value, 1;"
WITHOUT_LEADER = f"{ELECTED} {FLAG} setp.eq.u32 again, value, 0; @again bra OTHERS;"
ELECTED_AGAIN = f"elect.sync _|leads, -1; {FLAG} setp.ne.u32 again, value, 0;"
OF_FIRST = "setp.eq.u32 stop, n, 7; elect.sync _|again, -1; and.pred again, again, first;"
ONLY_FOR_SOME = "setp.ne.u32 stop, n, 0; and.pred leads, leads, stop;"


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (f"@leads {MMA} @leads {COMMIT}", PROVED),
        (f"{ELECTED} @leads {MMA} @leads {COMMIT} OTHERS:", PROVED),
        (f"{ELECTED} @!leads bra OTHERS; {MMA} {COMMIT} OTHERS:", PROVED),
        (f"{ELECTED} @leads {MMA} elect.sync _|again, -1; @again {COMMIT} OTHERS:", PROVED),
        (f"{WITHOUT_LEADER} {MMA} {ELECTED_AGAIN} @again {COMMIT} OTHERS:", PROVED),
        (f"{ELECTED} @leads {MMA} {ONLY_FOR_SOME} @leads {COMMIT} OTHERS:", VIOLATED),
        (f"@leads {MMA} {ELECTED} @leads {COMMIT} OTHERS:", VIOLATED),
        (f"@leads {MMA}", VIOLATED),
        (f"@leads {COMMIT} @leads {MMA}", UNKNOWN),
        (f"@leads {MMA} @leads {COMMIT.replace('group::1', 'group::2')}", UNKNOWN),
        (f"@leads {MMA} setp.eq.u32 stop, n, 7; @stop bra DONE; @leads {COMMIT}", VIOLATED),
        (f"@first {MMA} @first {COMMIT}", VIOLATED),
        (f"elect.sync _|leads, -1; @leads {MMA} @leads {COMMIT}", UNKNOWN),
        (f"{ELECTED} @leads {MMA} OTHERS: {OF_FIRST} @again {COMMIT}", PROVED),
        (f"{ELECTED} @leads {MMA} OTHERS: {OF_FIRST.replace('first', 'stop')} @again {COMMIT}", UNKNOWN),
        (f"{ELECTED} @leads {MMA} OTHERS: {OF_FIRST.replace(', first', ', !first')} @again {COMMIT}", UNKNOWN),
        (f"{ELECTED} @leads {MMA} OTHERS: setp.eq.u32 stop, warp, 1; {OF_FIRST.replace('first', 'stop')}"
         f" @again {COMMIT}", UNKNOWN),
        (f"{ELECTED} @leads {MMA} OTHERS: {OF_FIRST.replace('and', 'or')} @again {COMMIT}", UNKNOWN),
        (f"{STORE} {STORED}", PROVED),
        (STORE, VIOLATED),
        (f"{STORE} setp.eq.u32 stop, thread, n; @!stop {STORED}", VIOLATED),
        (f"{LOAD_ONE} {LOADED_ALL} st.shared.b32 [slot], value;", PROVED),
        (f"{LOAD_ONE} st.shared.b32 [slot], value; {LOADED_ALL}", ASSUMES),
    ],
)  # fmt: skip
def test_who_issues_and_what_comes_behind(code: str, wanted: VerdictKind) -> None:
    assert kind(ISSUED.format(code=code), COMPLETION) is wanted


HANDED = (
    HEAD.format(target="sm_100a")
    + """
.visible .entry kernel(.param .u64 a, .param .u32 steps) .reqntid 160
{{
    .reg .pred first, worker, leads, stop;
    .reg .b32 thread, warp, at, role, d, n;
    .reg .b64 a_desc;
    .shared .align 4 .b32 slot;
    .shared .align 8 .b64 done;
    .shared .align 8 .b8 roles[16];
ROLES: .branchtargets MULTIPLIES, WAITS;
    ld.param.u64 a_desc, [a];
    ld.param.u32 n, [steps];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    setp.eq.u32 first, warp, 0;
    @first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    {store}
    bar.sync 0;
    ld.shared.b32 d, [slot];
    setp.ge.u32 worker, warp, 1;
    @!worker bra WAITS;
    mov.u32 at, roles;
    add.u32 at, at, warp;
    ld.shared.{kind} role, [at{offset}];
    brx.idx role, ROLES;
MULTIPLIES:
    {elect}
    @leads tcgen05.mma.cta_group::1.kind::f16 [d], a_desc, a_desc, 0x8100490, 1;
    @leads tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
WAITS:
    {behind}
    bar.sync 0;
    @first tcgen05.dealloc.cta_group::1.sync.aligned.b32 d, 64;
    ret;
}}
"""
)
ONE_MULTIPLIES, TWO_MULTIPLY = "st.shared.b32 [roles+4], 0x01010001;", "st.shared.b32 [roles+4], 0x01000001;"


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ({}, ASSUMES),
        ({"store": f"{ONE_MULTIPLIES} st.shared.v2.b16 [roles+4], {{257, 257}};"}, ASSUMES),
        ({"store": "st.shared.v2.b16 [roles+4], {1, 257};"}, ASSUMES),
        ({"store": "st.shared.b64 [roles], 0x0101000101010101;"}, ASSUMES),
        ({"store": TWO_MULTIPLY}, UNKNOWN),
        ({"store": f"{ONE_MULTIPLIES} {TWO_MULTIPLY}"}, UNKNOWN),
        ({"store": f"{ONE_MULTIPLIES} st.shared.b8 [roles+7], 0;"}, UNKNOWN),
        ({"store": f"{ONE_MULTIPLIES} st.shared.b8 [roles+7], n;"}, UNKNOWN),
        ({"store": "st.shared.b32 [roles+4], n;"}, UNKNOWN),
        ({"store": ""}, UNKNOWN),
        ({"store": ONE_MULTIPLIES.replace("+4", "+5")}, UNKNOWN),
        ({"offset": "+1"}, UNKNOWN),
        ({"offset": "+2"}, UNKNOWN),
        ({"kind": "b16"}, UNKNOWN),
        ({"elect": "setp.eq.u32 leads, n, 1;"}, UNKNOWN),
        ({"behind": f"elect.sync _|leads, -1; @leads {COMMIT}"}, UNKNOWN),
    ],
)
def test_one_warp_multiplies_if_it_alone_is_handed_the_role(
    parts: dict[str, str], wanted: VerdictKind
) -> None:
    usual = {
        "store": ONE_MULTIPLIES, "kind": "b8", "offset": "+3", "elect": "elect.sync _|leads, -1;", "behind": "",
    }  # fmt: skip
    assert kind(HANDED.format(**(usual | parts)), COMPLETION) is wanted


# ---------------------------------------------------------------- rules and verdicts

ABOUT = {
    DESCRIPTORS: DESCRIPTOR_RULES,
    COLLECTIVES: ("TM007", "WG004", "WG005"),
    ALLOCATION: (
        "TM001",
        "TM002",
        "TM003",
        "TM004",
        "TM005",
        "TM006",
        "TM017",
        "TM018",
        "TM027",
        "TM028",
        "TM030",
    ),
    ACCESS: ("TM012", "TM013", "TM015", "TM016"),
    COMPLETION: ("TM009", "TM010", "TM011"),
}
BY_ID = {rule.id: rule for rule in RULES}


@pytest.mark.parametrize(
    ("which", "rule"), [(which, rule) for which, found in ABOUT.items() for rule in found]
)
def test_no_verdict_holds_where_a_rule_shows_that_it_does_not(which: Property, rule: str) -> None:
    assert kind(BY_ID[rule].bad, which) in (VIOLATED, UNKNOWN)


@pytest.mark.parametrize("rule", sorted(BY_ID))
def test_what_is_violated_is_a_finding_of_some_rule(rule: str) -> None:
    source = Source("kernel.ptx", BY_ID[rule].good)
    if not source.text.lstrip().startswith(".version"):
        return
    module = parse_module(source)
    views = [KernelView(module, function, launch_of(function, [])[0]) for function in module.entries]
    if any(each.kind is VIOLATED for view in views for each in tensor_core_verdicts(view)):
        assert check(source, config=Config(verify=False, pedantic=True, possible=True)).active
