"""Classes of places at which threads do the same from there on, compared with what unrolled trees of events say."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.automata.alike_rows import Standing, Way, classes_of
from ptxcheck.protocols.automata.nodes import Arrival

STAGES = 3


def test_the_stage_and_the_rounds_since_matter_as_their_sum() -> None:
    """Node 0 is a round of a loop, with the stage at which it began and the rounds since; node 1 is behind it."""
    rows = [(stage, rounds) for stage in range(STAGES) for rounds in range(STAGES)]
    at = {row: number for number, row in enumerate(rows)}
    inside = [
        Standing(
            0,
            False,
            (stage + rounds) % STAGES,
            (
                Way(0, at[stage, (rounds + 1) % STAGES], (Arrival.REPEAT, 0)),
                Way(1, len(rows) + (stage + rounds) % STAGES),
            ),
        )
        for stage, rounds in rows
    ]
    behind = [Standing(1, False, stage, ()) for stage in range(STAGES)]
    found = classes_of([*inside, *behind]).of
    assert len(set(found[: len(rows)])) == STAGES
    assert {found[at[0, 1]], found[at[1, 0]], found[at[2, 2]]} == {found[at[0, 1]]}


ASKS, HERE, THERE = 0, 1, 2


def asking(*events: str, begins: tuple[Arrival, int] | None = None) -> list[Standing]:
    """Return a question, what its two answers lead to, and the end behind both."""
    return [
        Standing(0, True, (), (Way(0, HERE, begins), Way(1, THERE, begins))),
        *(Standing(1 + at, not event, event, (Way(-1, 3),)) for at, event in enumerate(events)),
        Standing(3, False, "end", ()),
    ]


def test_a_question_whose_answers_lead_to_the_same_is_none() -> None:
    found = classes_of(asking("", ""))
    assert len(set(found.of)) == 1
    assert found.passed == {ASKS, HERE, THERE}


def test_a_question_behind_which_something_happens_for_one_answer() -> None:
    found = classes_of(asking("arrive", ""))
    assert found.of[ASKS] not in (found.of[HERE], found.of[THERE])
    assert found.passed == {THERE}


def test_a_further_round_is_something_that_happens() -> None:
    assert ASKS not in classes_of(asking("", "", begins=(Arrival.REPEAT, 1))).passed


def test_places_that_do_nothing_in_a_circle_are_not_passed() -> None:
    places = [Standing(0, True, (), (Way(-1, 1),)), Standing(1, True, (), (Way(-1, 0),))]
    assert not classes_of(places).passed


@st.composite
def systems(draw: st.DrawFn) -> list[Standing]:
    count = draw(st.integers(2, 12))
    nodes = [draw(st.integers(0, 2)) for _ in range(count)]
    found = []
    for at, node in enumerate(nodes):
        is_quiet = draw(st.booleans()) and at + 1 < count
        targets = st.integers(
            at + 1 if is_quiet else 0, count - 1
        )  # what does nothing goes on to later places
        ways = draw(st.lists(targets, min_size=int(is_quiet), max_size=2))
        named = "" if is_quiet else draw(st.sampled_from("ab"))
        found.append(
            Standing(
                node, is_quiet, named, tuple(Way(n if len(ways) > 1 else -1, to) for n, to in enumerate(ways))
            )
        )
    return found


def trees(places: Sequence[Standing]) -> list[int]:
    """Return for each place the tree of what threads do from there on, as deep as it may tell places apart."""
    numbers: dict[Hashable, int] = {}
    known = [0] * len(places)
    for _ in range(2 * len(places)):
        now = [0] * len(places)
        for at in reversed(range(len(places))):
            each = places[at]
            behind = [now[way.target] if each.is_quiet else known[way.target] for way in each.ways]
            if each.is_quiet and len(set(behind)) == 1:
                now[at] = behind[0]
            else:
                key = each.node, each.is_quiet, each.named, tuple(behind)
                now[at] = numbers.setdefault(key, len(numbers) + 1)
        known = now
    return known


@given(systems())
def test_classes_are_those_of_trees(places: list[Standing]) -> None:
    found, expected = classes_of(places).of, trees(places)
    pairs = set(zip(found, expected, strict=True))
    assert len(pairs) == len(set(found)) == len(set(expected))
