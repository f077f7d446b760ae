"""Mutants: valid PTX that differs in one place, made by every operator, and the list of harmless ones."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from benchmarks.mutation.campaign import Outcome, Record, as_json, run, table
from benchmarks.mutation.harmless import load_harmless, why_harmless
from benchmarks.mutation.operators import OPERATORS, Mutant, mutants
from benchmarks.mutation.structure_operators import STRUCTURE_OPERATORS
from benchmarks.mutation.subject import Subject, subjects
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

from .limits import WALL_SECONDS

CORPUS = Path(__file__).parent.parent / "corpus" / "protocols"
PTXAS = shutil.which("ptxas")

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry one(.param .u32 rounds)
{
    .shared .align 8 .b64 full[2];
    .reg .pred p, q;
    .reg .b32 bytes, turn, n, k;
    .reg .b64 state;
    mov.u32 turn, %tid.x;
    mov.u32 bytes, 1024;
    ld.param.u32 n, [rounds];
    mbarrier.init.shared::cta.b64 [full], 32;
    bar.sync 0;
    mov.u32 k, 0;
ROUND:
    @p mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], bytes;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 q, [full], 1;
    @!q bra WAIT;
    fence.proxy.async;
    mbarrier.arrive.release.cluster.shared::cta.b64 _, [full+8];
    add.u32 k, k, 1;
    setp.lt.u32 q, k, n;
    @q bra ROUND;
    ret;
}
.visible .entry other()
{
    ret;
}
"""


def subject() -> Subject:
    return next(subjects(Source("kernel.ptx", KERNEL)))


def made(operator: str, text: str = KERNEL) -> list[str]:
    """Return the lines that mutants of one operator add or change, joined for each mutant."""
    original = text.splitlines()
    found = []
    one = next(subjects(Source("kernel.ptx", text)))
    for mutant in mutants(one, (*OPERATORS, *STRUCTURE_OPERATORS)):
        if mutant.operator == operator:
            changed = [line.strip() for line in mutant.text.splitlines() if line not in original]
            found.append(" | ".join(changed))
    return found


@cache
def corpus_mutants() -> tuple[tuple[str, Mutant], ...]:
    """Return the mutants of every good kernel of the corpus, with the file's name."""
    found: list[tuple[str, Mutant]] = []
    for path in sorted(CORPUS.rglob("*.ptx")):
        if path.name.count(".") == 1:
            name = path.relative_to(CORPUS).as_posix()
            for each in subjects(Source(name, path.read_text(encoding="ascii"))):
                found += [(name, each) for each in mutants(each, (*OPERATORS, *STRUCTURE_OPERATORS))]
    return tuple(found)


def test_a_subject_is_one_kernel_with_its_lines_where_they_were() -> None:
    first, second = subjects(Source("kernel.ptx", KERNEL))
    assert [s.function.name for s in (first, second)] == ["one", "other"]
    assert "other" not in first.text
    assert "one" not in second.text
    assert second.text.splitlines().index(".visible .entry other()") == KERNEL.splitlines().index(
        ".visible .entry other()"
    )


def test_a_poll_and_its_loop_are_one_step() -> None:
    one = subject()
    (poll,) = (p for p in one.sites if one.unit_of[p].first != one.unit_of[p].last)
    assert one.statement(poll).startswith("mbarrier.try_wait")
    assert one.statement(one.unit_of[poll].last) == "@!q bra WAIT;"


@pytest.mark.parametrize(
    ("operator", "lines"),
    [
        ("bytes+16", ["{ .reg .b32 mutated; add.s32 mutated, bytes, 16;"]),
        ("parity", ["mbarrier.try_wait.parity.shared::cta.b64 q, [full], 0;"]),
        ("init-count-1", ["mbarrier.init.shared::cta.b64 [full], 31;"]),
        ("wait-last-barrier", ["mbarrier.try_wait.parity.shared::cta.b64 q, [full+-8], 1;"]),
        ("drop-wait", ["mov.pred q, -1;"]),
        ("by-all-lanes", ["mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], bytes;"]),
        ("scope", ["mbarrier.arrive.release.cta.shared::cta.b64 _, [full+8];"]),
    ],
)
def test_what_an_operator_writes(operator: str, lines: list[str]) -> None:
    found = made(operator)
    assert len(found) == len(lines)
    for text, line in zip(found, lines, strict=True):
        assert text.startswith(line)


STRUCTURE = KERNEL.replace(
    "    @p mbarrier.arrive.expect_tx",
    """    setp.eq.u32 p, turn, 0;
    @!p bra OTHERS;
    mbarrier.arrive.shared::cta.b64 _, [full];
OTHERS:
    mbarrier.arrive.shared::cta.b64 _, [full+8];
    @p mbarrier.arrive.expect_tx""",
).replace("    fence.proxy.async;", "    ld.shared.b64 state, [full+8];\n    fence.proxy.async;")
assert STRUCTURE.count("OTHERS") == 2


@pytest.mark.parametrize(
    ("operator", "lines"),
    [
        ("swap-sides", ["@p bra OTHERS;"]),
        ("other-lane", ["setp.eq.u32 p, turn, 1;"]),
        ("bound-1", ["{ .reg .b32 mutated; add.s32 mutated, n, -1; setp.lt.u32 q, k, mutated; }"]),
        ("use-before-wait", ["ld.shared.b64 state, [full+8];"]),
    ],
)
def test_what_an_operator_on_structure_writes(operator: str, lines: list[str]) -> None:
    """Polls and their loops keep their sides; the bound is that of the loop."""
    assert [each.strip(" |") for each in made(operator, STRUCTURE)] == lines


def test_the_second_of_two_arrivals_gets_the_address_of_the_first() -> None:
    one = next(subjects(Source("k.ptx", STRUCTURE)))
    second = "mbarrier.arrive.shared::cta.b64 _, [full+8];"
    (alike,) = (m.text for m in mutants(one, STRUCTURE_OPERATORS) if m.operator == "second-copy")
    assert second in one.text
    assert alike == one.text.replace(second, second.replace("[full+8]", "[full]"))


def test_what_is_waited_for_is_used_in_front_of_the_loop_of_the_wait() -> None:
    one = next(subjects(Source("k.ptx", STRUCTURE)))
    (moved,) = (m.text for m in mutants(one, STRUCTURE_OPERATORS) if m.operator == "use-before-wait")
    assert moved.index("ld.shared.b64 state") < moved.index("WAIT:")


def test_moves_go_across_the_loop_of_a_wait() -> None:
    (later,) = (m for m in mutants(subject()) if m.operator == "later-arrive")
    lines = [line.strip() for line in later.text.splitlines()]
    assert lines.index("@!q bra WAIT;") < lines.index(
        "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], bytes;"
    )
    (earlier,) = (m for m in mutants(subject()) if m.operator == "earlier-fence")
    assert earlier.text.index("fence.proxy.async") < earlier.text.index("WAIT:")


def test_a_statement_that_feeds_the_loop_stays_in_it() -> None:
    text = KERNEL.replace("bytes, 1024;", "bytes, 1024;").replace("add.u32 k, k, 1;", "add.u32 bytes, k, 1;")
    moved = [m for m in mutants(next(subjects(Source("k.ptx", text)))) if m.operator == "out-of-loop"]
    assert moved
    assert not any("expect_tx" in mutant.statement for mutant in moved)


def test_every_operator_finds_something_in_the_corpus() -> None:
    counts = Counter(mutant.operator for _, mutant in corpus_mutants())
    rare = {"arrive-count+1", "arrive-count-1"}
    assert {operator.name for operator in (*OPERATORS, *STRUCTURE_OPERATORS)} - set(counts) <= rare


def test_mutants_are_valid_and_differ_from_the_original() -> None:
    for name, mutant in corpus_mutants():
        module = parse_module(Source(name, mutant.text))
        (kernel,) = module.entries
        assert kernel.body is not None
        assert not module.problems, (name, mutant.operator)
        assert not kernel.body.problems, (name, mutant.operator)
        unknown = [i.operation.text for i in kernel.body.instructions if i.operation.problem is not None]
        assert not unknown, (name, mutant.operator, unknown)


@pytest.mark.skipif(PTXAS is None, reason="no ptxas")
def test_ptxas_takes_mutants(tmp_path: Path) -> None:
    assert PTXAS is not None
    for name, mutant in random.Random(0).sample(corpus_mutants(), 40):
        path = tmp_path / "mutant.ptx"
        path.write_text(mutant.text, encoding="ascii")
        target = mutant.text.split(".target", 1)[1].split()[0]
        command = [PTXAS, f"-arch={target}", "-O0", "-o", str(tmp_path / "out"), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WALL_SECONDS)
        assert done.returncode == 0, (name, mutant.operator, mutant.statement, done.stderr)


def test_each_harmless_entry_has_a_reason_and_covers_a_mutant() -> None:
    for entry in load_harmless():
        assert len(entry.reason) > 20
        assert entry.operators <= {operator.name for operator in (*OPERATORS, *STRUCTURE_OPERATORS)}
        covered = any(entry.covers(name, mutant) for name, mutant in corpus_mutants())
        assert covered or all("triton" in each or "cutlass" in each for each in entry.files), entry


def test_the_campaign_judges_a_kernel_and_its_mutants() -> None:
    path = CORPUS / "waits" / "question_and_answer.ptx"
    records = list(run([("q.ptx", path)], load_harmless(), operators=frozenset({"drop-arrive"}), jobs=1))
    assert [record.operator for record in records] == ["", "drop-arrive", "drop-arrive"]
    assert records[0].outcome is not Outcome.VIOLATED
    assert {record.outcome for record in records[1:]} == {Outcome.VIOLATED}
    assert "| drop-arrive | 2 | 2 |" in table(records)
    assert '"outcome": "violated"' in as_json(records)


@pytest.mark.parametrize(
    ("kernel", "operator", "found"),
    [
        ("store_of_each_warp", "drop-commit", [Outcome.RULES]),
        ("store_two_buffers", "groups+1", [Outcome.VIOLATED, Outcome.PEDANTIC]),
    ],
)
def test_rules_and_pedantry_are_told_from_what_holds(
    kernel: str, operator: str, found: list[Outcome]
) -> None:
    path = CORPUS / "groups" / f"{kernel}.ptx"
    records = list(run([(path.name, path)], load_harmless(), operators=frozenset({operator}), jobs=1))
    assert [record.outcome for record in records[1:]] == found
    assert not any(record.survives or record.false_alarm for record in records[1:])


def test_what_is_left_to_a_rule_is_not_harmless_where_it_fires() -> None:
    fence = Mutant("drop-fence", "left out", "k", 1, 1, "wgmma.fence.sync.aligned;", 1, "")
    assert why_harmless(load_harmless(), "f", fence, {"WG005"}) is not None
    assert why_harmless(load_harmless(), "f", fence, {"WG001"}) is None


def test_survivors_and_false_alarms() -> None:
    def record(outcome: Outcome, harmless: str | None) -> Record:
        return Record("f", "k", "parity", 1, "x", outcome, "", harmless)

    assert record(Outcome.PROVED, None).survives
    assert not record(Outcome.PROVED, "because").survives
    assert record(Outcome.VIOLATED, "because").false_alarm
    fence, parity = (
        next(m for m in mutants(subject()) if m.operator == name) for name in ("duplicate-fence", "parity")
    )
    assert why_harmless(load_harmless(), "f", fence) is not None
    assert why_harmless(load_harmless(), "f", parity) is None
