"""The verifier against every schedule: small random protocols, each judged by both.

    python -m benchmarks.protocol_agreement --protocols 20000 [--product | --loops]

Each names what is wrong: control (deadlock, phases that differ), initialisation, race, proxy, exit. `fine` of the
verifier is a proof, what it names it has shown by a schedule, and `unknown` is neither. Where no schedule goes wrong
in its control, both must name the same kinds.

`--product` judges by the order state of the product instead, which only says that a protocol holds, or why it does not
show that; `--loops` takes loops, which it performs until a state stands for all rounds, and compares with `simulate` of
the same loops unrolled.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from ptxcheck.protocols.model.axiom import Axiom
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.order.axioms import LATE_INIT, RELEASE_SUFFICES, STORES_IN_ORDER
from ptxcheck.protocols.proof.search import examine
from ptxcheck.protocols.proof.simulate import simulate

from .protocol_generator import generate
from .protocol_loops import FailedError, StuckError, random_loops, rounds_to_fixpoint, unrolled
from .protocol_oracle import Answer, Kind, Oracle
from .protocol_product import judge_straight

_ROUNDS = (0, 1, 2, 3, 5)
KIND_OF = {
    Flaw.UNORDERED_INIT: Kind.INIT,
    Flaw.READ_TOO_EARLY: Kind.RACE,
    Flaw.OVERWRITE: Kind.RACE,
    Flaw.UNRELEASED_STORE: Kind.RACE,
    Flaw.NARROW_ACQUIRE: Kind.RACE,
    Flaw.WRITES_COLLIDE: Kind.RACE,
    Flaw.MISSING_PROXY_FENCE: Kind.PROXY,
    Flaw.EXIT_WITH_REMOTE_ACCESS: Kind.EXIT,
}
_TAKEN = frozenset({Flaw.UNORDERED_INIT, Flaw.UNRELEASED_STORE, Flaw.NARROW_ACQUIRE})
"""What a verdict takes for granted and every schedule, by the words of PTX, shows to be wrong."""
_TAKEN_BY_PRODUCT: Mapping[Axiom, Kind] = {
    LATE_INIT: Kind.INIT, STORES_IN_ORDER: Kind.RACE, RELEASE_SUFFICES: Kind.RACE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judgement:
    """What both say of the protocol of a seed."""

    seed: int
    said: str
    true: str
    disagreement: str = ""


def judge(seed: int, limit: int) -> Judgement:
    """Judge the protocol of a seed both ways."""
    protocol = generate(seed)
    outcome = examine(protocol)
    named = [p for p in outcome.problems if p.demonstrated]
    named += [p for p in outcome.strict if p.flaw in _TAKEN]
    shown = {KIND_OF.get(p.flaw, Kind.CONTROL) for p in named}
    undecided = any(not p.demonstrated for p in outcome.problems) or bool(outcome.memory_doubts)
    said = _text(shown) or ("unknown" if undecided else "fine")
    answer = Oracle(protocol).answer(limit)
    if answer is None:
        return Judgement(seed, said, "too many states")
    return Judgement(seed, said, _text(set(answer.wrong)) or "fine", _disagreement(shown, undecided, answer))


def _disagreement(shown: set[Kind], undecided: bool, answer: Answer) -> str:
    """Return how two judgements contradict each other, or "".

    The search of all schedules stops at the first that goes wrong in its control; what it says is complete otherwise.
    """
    true = set(answer.wrong)
    if not true and shown:
        return f"nothing is wrong, but the verifier shows {_text(shown)}"
    if true and not shown and not undecided:
        return f"the verifier proves it: {answer.wrong}"
    if Kind.CONTROL in true and Kind.INIT in shown:  # a use that nothing orders after it may come before it
        return ""
    if Kind.CONTROL in true or Kind.CONTROL in shown:
        return "" if undecided or Kind.CONTROL in true & shown else f"control: {_text(shown)}, {answer.wrong}"
    if Kind.RACE in true & shown:  # bytes that race need no fence besides
        true, shown = true - {Kind.PROXY}, shown - {Kind.PROXY}
    return "" if undecided or true == shown else f"{_text(shown)}, {answer.wrong}"


def judge_by_product(seed: int, limit: int) -> Judgement:
    """Judge the protocol of a seed by the order state of the product, and by every schedule."""
    protocol = generate(seed)
    failure, axioms = judge_straight(protocol)
    answer = Oracle(protocol).answer(limit)
    if answer is None:
        return Judgement(seed, "holds" if failure is None else failure.reason, "too many states")
    true = set(answer.wrong) - {_TAKEN_BY_PRODUCT[each] for each in axioms if each in _TAKEN_BY_PRODUCT}
    if failure is None:
        return Judgement(seed, "holds", _text(true) or "fine", f"it holds: {answer.wrong}" if true else "")
    return Judgement(seed, failure.reason, _text(set(answer.wrong)) or "fine")


def judge_loops(seed: int, _: int) -> Judgement:
    """Judge the loops of a seed for all rounds at once, and for some numbers of rounds."""
    loops = random_loops(seed)
    try:
        rounds_to_fixpoint(loops)
        said = "holds"
    except FailedError as failed:
        said = str(failed.args[0])
    except StuckError:
        said = "stuck"
    true = "fine"
    for rounds in _ROUNDS:
        outcome = simulate(unrolled(loops, rounds))
        if outcome.problems or outcome.memory_doubts:
            true = _text({KIND_OF.get(each.flaw, Kind.CONTROL) for each in outcome.problems}) or "in doubt"
            break
    return Judgement(seed, said, true, f"it holds: {true}" if said == "holds" and true != "fine" else "")


def _text(kinds: set[Kind]) -> str:
    return ", ".join(sorted(kind.value for kind in kinds))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--protocols", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--states", type=int, default=60_000, help="states of a protocol to look at, at most")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--product", action="store_true", help="judge by the order state of the product")
    parser.add_argument("--loops", action="store_true", help="loops, for all rounds and unrolled")
    arguments = parser.parse_args()
    judged = judge_loops if arguments.loops else judge_by_product if arguments.product else judge
    started = time.monotonic()
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[Judgement] = []
    seeds = range(arguments.first, arguments.first + arguments.protocols)
    for judgement in _judged(judged, seeds, arguments.states, arguments.jobs):
        counts[judgement.said, judgement.true] += 1
        if judgement.disagreement:
            wrong.append(judgement)
    for (said, true), number in sorted(counts.items()):
        print(f"{number:7}  verifier: {said:28} every schedule: {true}")
    for each in wrong:
        print(f"seed {each.seed}: {each.disagreement}")
    print(
        f"{len(wrong)} disagreements in {arguments.protocols} protocols, {time.monotonic() - started:.0f} s"
    )
    return 1 if wrong else 0


def _judged(
    judged: Callable[[int, int], Judgement], seeds: Sequence[int], limit: int, jobs: int
) -> Iterator[Judgement]:
    limits = [limit] * len(seeds)
    if jobs == 1:
        yield from map(judged, seeds, limits)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(judged, seeds, limits, chunksize=50)


if __name__ == "__main__":
    sys.exit(main())
