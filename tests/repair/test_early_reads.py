"""Of the two waits that stop a ring the wrong one turns it, too: then the consumer reads what nobody wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.gate import is_proved
from ptxcheck.repair.search import repair
from ptxcheck.repair.trial import Runs
from ptxcheck.repair.weighing import Assembler
from ptxcheck.repair.work import Workload, work_of
from ptxcheck.rules import RULES, select_rules
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.view import KernelView

DEMO = Path(__file__).parents[2] / "corpus" / "demo" / "ring.cu"
PRODUCER = ("    xor.b32 %r12, %r11, 1;", "    mov.u32 %r12, %r11;")
WRONG = changed(RING, PRODUCER)
"""The producer waits for a release in the first round."""


def _judge() -> TextJudge:
    config = Config(verify_seconds=2)
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _view(text: str) -> KernelView:
    (view,) = _judge()(text).views.values()
    return view


def _with_flipped_consumer(text: str) -> str:
    """Return a ring whose consumer waits for the other parity of `full`."""
    head, wait, tail = text.rpartition("mbarrier.try_wait.parity.shared::cta.b64 ")
    register, _, rest = tail.partition(";")
    *operands, parity = register.split(", ")
    flipped = f"xor.b32 %r99, {parity}, 1;\\n{wait}{', '.join([*operands, '%r99'])};{rest}"
    return head + flipped.replace("\\n", "\n")


def _declared(text: str) -> str:
    return text.replace("{", "{\n.reg .b32 %r99;", 1)


WRONG_REPAIR = _declared(_with_flipped_consumer(WRONG))


def test_the_wrong_repair_passes_every_check_and_reads_early() -> None:
    judged = _judge()(WRONG_REPAIR)
    assert judged.findings == ()
    (name,) = judged.views
    assert is_proved(judged, name)
    before, after = _view(WRONG), _view(WRONG_REPAIR)
    work = work_of(after, 4)
    assert work is not None
    assert sum(work.early.values()) > 0
    assert Workload.of(before).reads_early(Runs(after))


@pytest.mark.parametrize("text", [RING, _declared(RING)])
def test_a_right_ring_reads_nothing_early(text: str) -> None:
    assert not Workload.of(_view(WRONG)).reads_early(Runs(_view(text)))


def test_what_read_early_before_is_no_reason() -> None:
    assert not Workload.of(_view(WRONG_REPAIR)).reads_early(Runs(_view(WRONG_REPAIR)))


def test_the_producer_is_repaired() -> None:
    judge = _judge()
    outcome = repair(
        WRONG, judge, Assembler(None, "sm_90a"), quick=judge.rules_only, brief=judge.brief, plain=judge.plain
    )
    assert outcome.left == ()
    after = _view(outcome.text)
    assert not Workload.of(_view(RING)).reads_early(Runs(after))
    (done,) = outcome.repairs
    changed_line = outcome.text[: done.patches[0].edits[0].start].count("\n")
    consumer_starts = WRONG[: WRONG.rindex("mbarrier.try_wait.parity")].count("\n")
    assert changed_line < consumer_starts


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_a_source_is_repaired_at_the_call_of_the_producer(tmp_path: Path) -> None:
    path = tmp_path / "ring.cu"
    shutil.copy(DEMO, path)
    result = CliRunner().invoke(main, ["check", str(path), "--fix"])
    assert result.exit_code == 0, result.output
    assert "'(round & 1) ^ 1' instead of 'round & 1' in line 45" in result.stderr
    assert "0 findings" in result.stdout
    assert path.read_text(encoding="utf-8") == DEMO.read_text(encoding="utf-8").replace(
        "wait(&empty[stage], round & 1);", "wait(&empty[stage], (round & 1) ^ 1);"
    )
