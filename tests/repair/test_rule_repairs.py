"""Repairs of what single rules find: who executes a statement, directives, tensor memory, descriptors, tensor maps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptxcheck.config import Config
from ptxcheck.descriptors.matrix.swizzle_mode import SwizzleMode
from ptxcheck.descriptors.matrix.tile import Tile
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.gate import Judgement
from ptxcheck.repair.patch import Patch
from ptxcheck.repair.search import repair
from ptxcheck.repair.strategies import propose
from ptxcheck.repair.strategies.descriptor import canonical_strides
from ptxcheck.repair.subject import subject_of
from ptxcheck.repair.weighing import Assembler, Outcome, Safety
from ptxcheck.rules import RULES, select_rules

_BAD = {rule.id: rule.bad for rule in RULES}


def _judge() -> TextJudge:
    config = Config(verify_seconds=10, possible=True)
    rules = select_rules(RULES, config.select, config.ignore, pedantic=True, possible=True)
    return TextJudge("k.ptx", rules, config)


def _repaired(text: str) -> Outcome:
    return repair(text, _judge(), Assembler(None, "sm_90a"))


def _proposed(text: str, rule: str, strategy: str) -> Iterator[Patch]:
    judged: Judgement = _judge()(text)
    finding = next(f for f in judged.findings if f.rule == rule)
    yield from (p for p in propose(subject_of(judged.views["kernel"], finding)) if p.strategy == strategy)


@pytest.mark.parametrize(
    ("rule", "strategy", "written"),
    [
        ("MB007", "guard", "setp.eq.u32 %ptxcheck_one0, %ptxcheck_who0, 0;"),
        ("TM017", "guard", "setp.lt.u32 %ptxcheck_one0, %ptxcheck_who0, 32;"),
        ("TM007", "uniform", "setp.lt.u32"),
        ("NB006", "uniform", "barrier.sync 5, 128;"),
        ("NB010", "uniform", "trans.b16 %r3, %r2; @%p1 bra $done;"),
        ("MB011", "poll", "bra PTXCHECK_POLL"),
        ("PT004", "directive", ".version 8.3"),
        ("PT005", "directive", ".target sm_90a"),
        ("TM002", "tensor memory", "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %ptxcheck_columns"),
        ("TM003", "tensor memory", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;"),
        ("TM044", "tensor memory", "shl.b32 %ptxcheck_lane"),
        ("WG014", "descriptor", "and.b64 %rd2, %rd2, 0xfffe3fffffffffff;"),
        ("WG017", "descriptor", "and.b64 %rd2, %rd2, 0xfff1ffffffffffff;"),
        ("TD051", "map field", "tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 1;"),
        ("TD053", "map field", "shl.b64 %ptxcheck_stride"),
        ("TD054", "map field", "[map], 10;"),
        ("TD055", "map field", "element_stride.shared::cta.b1024.b32 [map], 1, 1;"),
        ("TD067", "insertion", "bar.warp.sync -1;\n    tensormap.cp_fenceproxy"),
        ("TD058", "insertion", "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;"),
        ("PX004", "insertion", "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;"),
    ],
)
def test_the_bad_kernel_of_a_rule_is_repaired(rule: str, strategy: str, written: str) -> None:
    outcome = _repaired(_BAD[rule])
    assert not [f.rule for f in outcome.left if f.rule == rule]
    assert strategy in [patch.strategy for done in outcome.repairs for patch in done.patches]
    assert written in outcome.text
    assert written not in _BAD[rule]


def test_one_of_two_bounds_is_left_out() -> None:
    outcome = _repaired(_BAD["PT010"])
    assert [patch.strategy for done in outcome.repairs for patch in done.patches] == ["directive"]
    assert (".maxntid" in outcome.text) != (".reqntid" in outcome.text)


def test_who_executes_is_settled_for_every_statement_of_the_kind() -> None:
    outcome = _repaired(_BAD["MB026"])
    assert outcome.text.count("mbarrier.init.shared::cta.b64") == 4
    assert outcome.text.count("setp.eq.u32 %ptxcheck_one") == 4


def test_a_guard_keeps_the_one_that_is_there() -> None:
    text = _BAD["MB007"].replace(
        "    mbarrier.init.shared::cta.b64 [bar], 128;  // expect: MB007",
        "    mov.u32 %r1, %tid.x;\n    setp.ge.u32 %p1, %r1, 64;\n    @!%p1 mbarrier.init.shared::cta.b64 [bar], 128;",
    )
    patch = next(_proposed(text, "MB007", "guard"))
    written = patch.edits[0].replacement
    assert "not.pred %ptxcheck_not2, %p1;" in written
    assert "and.pred %ptxcheck_one2, %ptxcheck_one2, %ptxcheck_not2;" in written
    assert "@%ptxcheck_one2 mbarrier.init" in written


@pytest.mark.parametrize(("right", "wrong"), [(", 21;", ", 20;"), (", 5;", ", 6;")])
def test_the_rules_follow_the_lanes_that_a_repair_computes(right: str, wrong: str) -> None:
    text = _repaired(_BAD["TM044"]).text
    written = text.index("%ptxcheck_lane")
    assert not _judge().rules_only(text).findings
    broken = text[:written] + text[written:].replace(right, wrong, 1)
    assert "TM013" in {finding.rule for finding in _judge().rules_only(broken).findings}


def test_a_poll_with_a_guard_is_left_alone() -> None:
    text = _BAD["MB011"].replace("    mbarrier.try_wait", "    @%p0 mbarrier.try_wait")
    assert not list(_proposed(text, "MB011", "poll"))


def test_a_repair_of_a_tensor_map_is_only_suggested_while_its_order_is_not_proved() -> None:
    assert {done.safety for done in _repaired(_BAD["TD058"]).repairs} == {Safety.SUGGESTED}


@pytest.mark.parametrize("k_major", [True, False])
@pytest.mark.parametrize(
    "mode", [SwizzleMode.NONE, SwizzleMode.BYTES_32, SwizzleMode.BYTES_64, SwizzleMode.BYTES_128]
)
def test_canonical_strides_let_no_parts_of_a_tile_share_bytes(mode: SwizzleMode, k_major: bool) -> None:
    tile = Tile(mode, k_major, 32 if k_major else 256, 64 if k_major else 16)
    for numbers in canonical_strides(tile):
        assert tile.overlap(numbers["leading"], numbers["stride"]) is None
