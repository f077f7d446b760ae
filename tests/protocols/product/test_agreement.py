"""What holds by the order state holds in every schedule; and it shows what the simulation shows."""

from __future__ import annotations

from zlib import crc32

import pytest

from benchmarks.protocol_agreement import judge_by_product, judge_loops
from benchmarks.protocol_generator import generate
from benchmarks.protocol_product import judge_straight
from ptxcheck.explain.violations import whole_kernel
from ptxcheck.protocols.proof.simulate import simulate
from tests.protocols.corpus_runs import ROOT, sample, view_of

from .histories import histories, to_the_end

_STATES = 20_000


def test_random_protocols_and_every_schedule() -> None:
    judged = [judge_by_product(seed, _STATES) for seed in range(400)]
    assert [each for each in judged if each.disagreement] == []
    assert sum(each.said == "holds" for each in judged) > 100
    assert sum(each.said != "holds" for each in judged) > 100


def test_random_protocols_that_the_simulation_shows() -> None:
    shown = [seed for seed in range(400) if _is_shown(seed)]
    assert len(shown) > 100
    assert [seed for seed in shown if judge_straight(generate(seed))[0] is not None] == []


def _is_shown(seed: int) -> bool:
    outcome = simulate(generate(seed))
    return not outcome.problems and not outcome.memory_doubts


def test_random_loops_and_the_same_unrolled() -> None:
    judged = [judge_loops(seed, 0) for seed in range(120)]
    assert [each for each in judged if each.disagreement] == []
    fine = [each for each in judged if each.true == "fine"]
    assert len(fine) > 30
    assert [each for each in fine if each.said != "holds"] == []


def test_a_joined_state_stands_for_both_histories() -> None:
    verdicts = set()
    for seed in range(600):
        found = histories(seed)
        if found is None:
            continue
        programs, cut, one, other = found
        joined, turned = one.copy(), other.copy()
        joined.weaken(other)
        turned.weaken(one)
        assert joined.knowledge() == turned.knowledge()
        assert one.covered_by(joined)
        assert other.covered_by(joined)
        each = to_the_end(one, programs, cut), to_the_end(other, programs, cut)
        holds = to_the_end(joined, programs, cut)
        assert holds <= all(each), f"seed {seed}: the joined state holds, and the histories {each}"
        verdicts.add((*each, holds))
    assert {(True, True, True), (True, False, False), (False, False, False)} <= verdicts


def good_kernels() -> list[str]:
    names = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.ptx"))
    good = [name for name in names if "." not in name.rpartition("/")[2]]
    return [name for name in good if _is_in_sample(name, 4)]


def _is_in_sample(name: str, part: int) -> bool:
    """Tell whether a kernel is in a sample that further kernels do not change."""
    return crc32(name.encode()) % part == 0


@pytest.mark.parametrize("name", good_kernels())
def test_runs_of_good_kernels_hold(name: str) -> None:
    if not _has_sample(name):
        pytest.skip("no run of it is shown")
    failure, _ = judge_straight(sample(name).protocol)
    assert failure is None


def _has_sample(name: str) -> bool:
    whole = view_of(name).get(whole_kernel)
    return whole is not None and whole.result.sample is not None


def broken_twins() -> list[str]:
    names = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.*.ptx"))
    return [name for name in names if _is_in_sample(name, 11)]


@pytest.mark.parametrize("name", broken_twins())
def test_runs_of_broken_kernels_do_not_hold(name: str) -> None:
    whole = view_of(name).get(whole_kernel)
    if whole is None:
        pytest.skip("it is an ordinary kernel")
    failures = [each for each in whole.result.failures if each.problems]
    if not failures:
        pytest.skip("it goes wrong by something else than its protocol")
    assert all(judge_straight(each.protocol)[0] is not None for each in failures)
