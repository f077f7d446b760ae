"""Repairs: what a broken kernel becomes, and what the gate refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.assemble import assemble, find_ptxas
from ptxcheck.repair.gate import (
    Proof,
    Refusal,
    is_proved,
    proof,
    refusal,
)
from ptxcheck.repair.original import fixes_of
from ptxcheck.repair.search import repair
from ptxcheck.repair.weighing import Assembler, Outcome, Safety
from ptxcheck.rules import RULES, select_rules
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

_KERNEL = """// ptxcheck: launch block=64 cluster=1
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 result) .reqntid 64 {
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    .shared .align 128 .b8 buffer[1024];
    .shared .align 8 .b64 bar;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, bar;
    mov.u32 %r3, buffer;
    ld.param.u64 %rd1, [source];
    cvta.to.global.u64 %rd1, %rd1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], COUNT;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;
    @%p1 bra again;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], BYTES;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1024, [%r2];
again:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], PARITY;
    @!%p2 bra again;
    mad.lo.s32 %r4, %r1, 4, %r3;
    ld.shared.b32 %r5, [%r4];
    ld.param.u64 %rd2, [result];
    cvta.to.global.u64 %rd2, %rd2;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
    st.global.b32 [%rd2], %r5;
    ret;
}
"""


def _kernel(count: int = 1, bytes_: int = 1024, parity: int = 0) -> str:
    return _KERNEL.replace("COUNT", str(count)).replace("BYTES", str(bytes_)).replace("PARITY", str(parity))


@pytest.fixture
def judge() -> TextJudge:
    config = Config()
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _repaired(judge: TextJudge, text: str) -> Outcome:
    return repair(text, judge, Assembler(None, "sm_90a"))


def test_a_good_kernel_is_left_alone(judge: TextJudge) -> None:
    outcome = _repaired(judge, _kernel())
    assert (outcome.text, outcome.repairs, outcome.left) == (_kernel(), (), ())


@pytest.mark.parametrize(
    ("broken", "summary"),
    [
        (_kernel(bytes_=2048), "expect 1024 bytes instead of 2048"),
        (_kernel(count=2), "initialise with 1 arrivals instead of 2"),
    ],
)
def test_numbers_come_from_the_equations_of_the_machine(judge: TextJudge, broken: str, summary: str) -> None:
    outcome = _repaired(judge, broken)
    assert outcome.text == _kernel()
    assert [patch.summary for done in outcome.repairs for patch in done.patches] == [summary]
    assert outcome.left == ()
    assert is_proved(judge(outcome.text), "k")


def test_two_faults_are_repaired_one_after_the_other(judge: TextJudge) -> None:
    outcome = _repaired(judge, _kernel(count=3, bytes_=512))
    assert outcome.left == ()
    assert outcome.text == _kernel()


def test_without_ptxas_a_repair_is_only_suggested(judge: TextJudge) -> None:
    (done,) = _repaired(judge, _kernel(bytes_=2048)).repairs
    assert done.safety is Safety.SUGGESTED
    assert "ptxas was not asked: it is not here" in done.evidence
    left = repair(_kernel(bytes_=2048), judge, Assembler(None, "sm_90a"), unsafe=False)
    assert (left.text, left.repairs) == (_kernel(bytes_=2048), ())


def test_the_gate_refuses_what_makes_anything_worse(judge: TextJudge) -> None:
    good, bad = judge(_kernel()), judge(_kernel(bytes_=2048))
    (target,) = bad.findings
    assert refusal(bad, good, target) is None
    assert refusal(bad, bad, target) is Refusal.STILL_THERE
    assert refusal(bad, judge("garbage"), target) is Refusal.UNREADABLE
    other = replace(target, rule="XX001")
    assert refusal(bad, replace(good, findings=(other,)), target) is Refusal.NEW_FINDING
    held = replace(bad, verdicts={("k", Property.LIFECYCLE): VerdictKind.PROVED})
    assert refusal(held, replace(good, verdicts=held.verdicts), target) is None
    weaker = {("k", Property.LIFECYCLE): VerdictKind.PROVED_BOUNDED}
    assert refusal(held, replace(good, verdicts=weaker), target) is Refusal.LOST_PROOF
    assert refusal(held, replace(good, verdicts={}), target) is Refusal.LOST_PROOF
    given_up = replace(good, verdicts=dict.fromkeys(bad.verdicts, VerdictKind.UNKNOWN))
    violated = replace(bad, verdicts=dict.fromkeys(bad.verdicts, VerdictKind.VIOLATED))
    assert refusal(violated, given_up, target) is Refusal.UNDECIDED


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_ptxas_is_part_of_the_gate(judge: TextJudge) -> None:
    ptxas = find_ptxas()
    assert ptxas is not None
    (done,) = repair(_kernel(bytes_=2048), judge, Assembler(ptxas, "sm_90a")).repairs
    assert done.safety is Safety.SAFE
    assert any("ptxas takes it for sm_90a: registers" in evidence for evidence in done.evidence)
    refused = assemble("garbage", "sm_90a", ptxas)
    assert refused.error
    assert refused.resources == {}
    assert "No such file" in assemble(_kernel(), "sm_90a", "/no/such/ptxas").error


def test_the_command_lists_shows_and_writes(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(_kernel(bytes_=2048))
    run = CliRunner().invoke
    listed = run(main, ["fix", str(path), "--unsafe"])
    assert "expect 1024 bytes instead of 2048" in listed.output
    assert listed.stdout.endswith("1 repaired, 0 left\n")
    assert path.read_text() == _kernel(bytes_=2048)
    diff = run(main, ["fix", str(path), "--unsafe", "--diff"]).stdout
    assert [line[0] for line in diff.splitlines() if "expect_tx" in line] == ["-", "+"]
    table = json.loads(run(main, ["fix", str(path), "--unsafe", "--format", "json"]).stdout)
    assert [repair["rule"] for repair in table["repairs"]] == ["TX001"]
    log = json.loads(run(main, ["fix", str(path), "--unsafe", "--format", "sarif"]).stdout)
    (result,) = [r for r in log["runs"][0]["results"] if "fixes" in r]
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    line = _kernel(bytes_=2048).splitlines()[region["startLine"] - 1]
    assert region["startLine"] == region["endLine"]
    changed = line[: region["startColumn"] - 1] + replacement["insertedContent"]["text"]
    assert changed + line[region["endColumn"] - 1 :] in _kernel().splitlines()
    assert run(main, ["fix", str(path), "--unsafe", "--in-place"]).exit_code == 0
    assert path.read_text() == _kernel()
    assert run(main, ["fix", str(path)]).stdout == "nothing to repair\n"


@pytest.mark.parametrize("content", [None, "garbage", ".version 8.0 .target sm_90a { ;"])
def test_bad_input_ends_with_2_and_changes_nothing(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "k.ptx"
    if content is not None:
        path.write_text(content)
    result = CliRunner().invoke(main, ["fix", str(path), "--in-place"])
    assert result.exit_code == 2
    assert "k.ptx" in result.output
    assert content is None or path.read_text() == content


def test_fixes_are_edits_of_the_text_as_it_was(judge: TextJudge) -> None:
    text = _kernel(count=3, bytes_=512)
    found = list(fixes_of(Source("k.ptx", text), _repaired(judge, text).repairs))
    replacements = [each for _, fix in found for each in fix.replacements]
    assert len(replacements) == 2
    for each in replacements:
        line = text.splitlines()[each.start.line - 1]
        changed = line[: each.start.column - 1] + each.text + line[each.end.column - 1 :]
        assert changed in _kernel().splitlines()


def test_what_was_not_verified_is_not_proved(judge: TextJudge) -> None:
    good = judge(_kernel())
    assert is_proved(good, "k")
    assert not is_proved(replace(good, verdicts={}), "k")
    assert not is_proved(good, "another")


def test_fewer_waits_of_matrix_groups_prove_nothing() -> None:
    """The registers of `wgmma` are no property: a rule may miss what a wait guarded."""
    rules = select_rules(RULES, (), (), pedantic=False, possible=False)
    judge = TextJudge("k.ptx", rules, Config(verify_seconds=2))
    text = next(rule.good for rule in RULES if rule.id == "WG003")
    name, wait = next(iter(judge(text).views)), "wgmma.wait_group.sync.aligned 0;"
    whole = judge(text)
    for weaker in (text.replace(wait, "", 1), text.replace(wait, wait.replace("0;", "1;"), 1)):
        after = replace(judge(weaker), verdicts=dict.fromkeys(whole.verdicts, VerdictKind.PROVED))
        assert proof(whole, after, name, local=False) is None
    stronger = replace(
        judge(text.replace(wait, wait + " " + wait, 1)),
        verdicts={(name, Property.LIFECYCLE): VerdictKind.PROVED},
    )
    assert proof(whole, stronger, name, local=False) is Proof.WHOLE


def test_what_proves_a_repair(judge: TextJudge) -> None:
    good = judge(_kernel())
    unknown = replace(good, verdicts=dict.fromkeys(good.verdicts, VerdictKind.UNKNOWN))
    nothing = replace(good, verdicts={})
    assert proof(unknown, good, "k", local=False) is Proof.WHOLE
    assert proof(nothing, nothing, "k", local=False) is Proof.RULES
    assert proof(unknown, unknown, "k", local=True) is Proof.AS_BEFORE
    assert proof(unknown, unknown, "k", local=False) is None
    fenced = judge(_kernel().replace("    ld.shared", "    fence.proxy.async;\n    ld.shared"))
    moved = judge(
        _kernel()
        .replace("    mad.lo.s32 %r4, %r1, 4, %r3;\n", "")
        .replace("again:", "mad.lo.s32 %r4, %r1, 4, %r3;\nagain:")
    )
    for after, wanted in ((fenced, Proof.MORE_ORDER), (moved, None)):
        undecided = replace(after, verdicts=unknown.verdicts)
        assert proof(unknown, undecided, "k", local=False) is wanted
    assert proof(good, unknown, "k", local=True) is None
    legality = {("k", Property.DESCRIPTOR_RANK): VerdictKind.UNKNOWN}
    maps = replace(good, verdicts={**good.verdicts, **legality})
    assert proof(maps, maps, "k", local=False) is Proof.AS_BEFORE
    assert proof(good, maps, "k", local=False) is None
    view = replace(good.views["k"], verify_seconds=None)
    assert proof(nothing, replace(nothing, views={"k": view}), "k", local=True) is None
