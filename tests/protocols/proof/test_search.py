"""The verifier agrees with an explicit walk through every schedule of small random protocols."""

from __future__ import annotations

from collections import Counter

from benchmarks.protocol_agreement import judge
from benchmarks.protocol_generator import generate

RANDOM_PROTOCOLS = 400
MOST_STATES = 60_000


def test_the_verifier_and_every_schedule_agree() -> None:
    judgements = [judge(seed, MOST_STATES) for seed in range(RANDOM_PROTOCOLS)]
    assert [each for each in judgements if each.disagreement] == []
    said = Counter(each.said for each in judgements)
    assert said["fine"] > RANDOM_PROTOCOLS // 5, (
        "too few protocols are correct to say anything about false alarms"
    )
    assert RANDOM_PROTOCOLS - said["fine"] > RANDOM_PROTOCOLS // 5, (
        "too few protocols are wrong to say anything about proofs"
    )


def test_generation_is_repeatable() -> None:
    assert [generate(seed) for seed in range(20)] == [generate(seed) for seed in range(20)]
