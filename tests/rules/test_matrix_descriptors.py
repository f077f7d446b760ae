"""Rules about matrix descriptors: each field broken in turn, and code that builds the same word in other ways."""

from __future__ import annotations

import pytest

from ptxcheck.descriptors.matrix import instruction
from ptxcheck.rules.matrix_kernels import (
    BLACKWELL_A,
    BLACKWELL_WORD,
    HOPPER_A,
    blackwell,
    hopper,
    packed,
)
from ptxcheck.source import Source

from .kernels import agrees, proved, rule

FIELD_RULES = {
    "WG014", "WG015", "WG016", "WG017", "WG018", "WG019", "WG020", "TM019", "TM020", "TM021", "TM022", "TM023",
    "TM024", "TM025", "TM026",
}  # fmt: skip


def fired(text: str) -> set[str]:
    return {one for one in FIELD_RULES if proved(one, Source("k.ptx", text))}


@pytest.mark.parametrize(
    ("word", "rules"),
    [
        (HOPPER_A, set()),
        (HOPPER_A | 1 << 14, {"WG014"}),
        (HOPPER_A | 1 << 30, {"WG014"}),
        (HOPPER_A | 1 << 46, {"WG014"}),
        (HOPPER_A | 1 << 52, {"WG014"}),
        (HOPPER_A | 1 << 49, {"WG017"}),
        (0xC000_0010_0001_0000, set()),
        (0x8000_0020_0001_0000, set()),
        (0xC000_0008_0001_0000, {"WG018"}),
        (0x4000_0010_0001_0000, {"WG018"}),
        (0x4000_0080_0001_0000, {"WG019"}),
    ],
)
def test_hopper_words(word: int, rules: set[str]) -> None:
    assert fired(hopper(packed(word))) == rules


@pytest.mark.parametrize(
    ("word", "rules"),
    [
        (BLACKWELL_A, set()),
        (BLACKWELL_A & ~(1 << 46), {"TM019"}),
        (BLACKWELL_A | 1 << 47, {"TM019"}),
        (BLACKWELL_A | 1 << 53, {"TM019"}),
        (BLACKWELL_A | 1 << 52, {"TM019"}),
        (BLACKWELL_A | 1 << 61, {"TM019"}),
        (0xE000_4040_0001_0000, {"TM019"}),
        (0xC000_4010_0001_0000, set()),
        (0x8000_4020_0001_0000, set()),
        (BLACKWELL_A | 1 << 49, {"TM022"}),
        (0x4000_4010_0001_0000, {"TM023"}),
        (0x4000_4080_0001_0000, {"TM024"}),
    ],
)
def test_blackwell_words(word: int, rules: set[str]) -> None:
    assert fired(blackwell(packed(word))) == rules


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        (BLACKWELL_WORD, False),
        (BLACKWELL_WORD | 1 << 6, True),
        (BLACKWELL_WORD | 1 << 2, True),
        (BLACKWELL_WORD | 1 << 3, True),
        (BLACKWELL_WORD & ~(0x1F << 24) | 2 << 24, True),
        (BLACKWELL_WORD & ~(0x1F << 24) | 4 << 24, False),
        (BLACKWELL_WORD & ~(0x3F << 17), True),
        (BLACKWELL_WORD | 2 << 4, True),
        (BLACKWELL_WORD | 1 << 30, True),
    ],
)
def test_instruction_words(word: int, wrong: bool) -> None:
    assert (fired(blackwell(packed(BLACKWELL_A), instruction=word)) == {"TM025"}) is wrong


@pytest.mark.parametrize(("kind", "number"), [("f16", 1), ("tf32", 2), ("f8f6f4", 0)])
def test_types_of_kinds(kind: str, number: int) -> None:
    fields = instruction.PLAIN.encode({"d_type": 1, "a_type": number, "b_type": number, "m": 128, "n": 64})
    assert fired(blackwell(packed(BLACKWELL_A), instruction=fields, kind=kind)) == set()
    wrong = instruction.PLAIN.encode({"d_type": 1, "a_type": 6, "b_type": number, "m": 128, "n": 64})
    assert "TM025" in fired(blackwell(packed(BLACKWELL_A), instruction=wrong, kind=kind))


SAME_WORD = {
    "shift and mask": packed(HOPPER_A, "and.b32 %r7, %r1, 0x3FFFF;\nshr.u32 %r8, %r7, 4;"),
    "mask after shift": packed(HOPPER_A, "shr.u32 %r7, %r1, 4;\nand.b32 %r8, %r7, 0x3FFF;"),
    "halves": "bfe.u32 %r8, %r1, 4, 14;\nor.b32 %r8, %r8, 0x10000;\n"
    "mov.b32 %r7, 0x40000040;\nmov.b64 %rd2, {%r8, %r7};",
    "inserted": "bfe.u32 %r8, %r1, 4, 14;\ncvt.u64.u32 %rd4, %r8;\nmov.b64 %rd6, 0x4000004000010000;\n"
    "bfi.b64 %rd2, %rd4, %rd6, 0, 14;",
    "added": packed(HOPPER_A).replace("or.b64", "add.s64"),
    "broadcast": "bfe.u32 %r7, %r1, 4, 14;\nshfl.sync.idx.b32 %r8, %r7, 0, 31, -1;\ncvt.u64.u32 %rd4, %r8;\n"
    "or.b64 %rd2, %rd4, 0x4000004000010000;",
}


@pytest.mark.parametrize("name", SAME_WORD)
def test_ways_to_build_a_word(name: str) -> None:
    assert fired(hopper(SAME_WORD[name])) == set()
    assert fired(hopper(SAME_WORD[name].replace("40000040", "40004040").replace("4000004", "4000404"))) == {
        "WG014"
    }


@pytest.mark.parametrize("shift", [5, 6])
def test_descriptors_of_warps(shift: int) -> None:
    lines = (
        f"mov.u32 %r4, %tid.x;\nshr.u32 %r5, %r4, {shift};\nshl.b32 %r6, %r5, 10;\nadd.u32 %r7, %r1, %r6;\n"
    )
    assert fired(hopper(packed(HOPPER_A, lines + "bfe.u32 %r8, %r7, 4, 14;"))) == {"WG020"}


def test_what_is_not_known_is_not_said() -> None:
    lines = "ld.param.u64 %rd4, [out];\nmov.b64 %rd2, %rd4;"
    assert fired(hopper(lines)) == set()


def test_rank_bits_are_possible_in_clusters_only() -> None:
    text = packed(HOPPER_A, "shr.u32 %r8, %r1, 4;")
    alone, cluster = hopper(text), hopper(text, "WG015", ".reqntid 128\n.reqnctapercluster 2, 1, 1")
    assert agrees("WG015", Source("k.ptx", alone))
    assert agrees("WG015", Source("k.ptx", cluster))
    assert proved("WG015", Source("k.ptx", cluster)) == []


def test_zero_stride_is_possible() -> None:
    text = hopper(packed(0x4000_0000_0001_0000), "WG018")
    assert agrees("WG018", Source("k.ptx", text))
    assert proved("WG018", Source("k.ptx", text)) == []


def test_rules_exist() -> None:
    for one in FIELD_RULES:
        assert rule(one).id == one
