"""Parts of an automaton that are built anew give what building the whole anew gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.automata import builder, rebuilding, ways
from ptxcheck.protocols.automata.automaton import Automaton
from ptxcheck.protocols.automata.journaled_sets import JournaledSets

from ..product.kernels import automaton, of_corpus

KERNELS = (
    "groups/cp_async_three_stages", "handover/three_roles_meet", "persistent/tiles_and_steps",
    "pingpong/consumers_in_turn", "ring/eight_stages",
    "ring/five_stages_by_division", "ring/two_passes", "roles/rounds_of_two_warps",
)  # fmt: skip


@pytest.mark.parametrize("with_variables", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_parts_built_anew_are_what_the_whole_would_be(
    name: str, with_variables: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if with_variables:
        monkeypatch.setattr(ways, "_MOST_NUMBERS", 1)
    by_parts, whole_of_parts = _built(name, monkeypatch)
    monkeypatch.setattr(rebuilding, "_MOST", 0)
    as_a_whole, whole = _built(name, monkeypatch)
    assert _texts(by_parts) == _texts(as_a_whole)
    assert (by_parts.entry, by_parts.modulus) == (as_a_whole.entry, as_a_whole.modulus)
    assert by_parts.assumptions == as_a_whole.assumptions
    assert by_parts.widened == as_a_whole.widened
    assert whole_of_parts < whole


def _texts(made: Automaton) -> list[str]:
    """Return all that is in the nodes but how many events were recorded before theirs."""
    return [
        repr(replace(node, events=tuple(replace(event, index=0) for event in node.events)))
        for node in made.nodes
    ]


def _built(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Automaton, int]:
    """Return the automata of a kernel, and how often the whole was built."""
    times = 0
    original = builder._Builder.build

    def build(self: builder._Builder) -> Automaton:
        nonlocal times
        times += 1
        return original(self)

    with monkeypatch.context() as patched:
        patched.setattr(builder._Builder, "build", build)
        return automaton(of_corpus(name)), times


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))), st.integers(0, 20))
def test_sets_are_taken_back_to_what_they_were(added: list[tuple[int, int]], first: int) -> None:
    kept, all_of_them = JournaledSets[int, int](), JournaledSets[int, int]()
    for key, value in added[:first]:
        kept.add(key, value)
        all_of_them.add(key, value)
    count = all_of_them.count
    for key, value in added[first:]:
        all_of_them.add(key, value)
    all_of_them.forget_since(count)
    assert all_of_them.count == kept.count
    assert [list(all_of_them.of(key)) for key in range(4)] == [list(kept.of(key)) for key in range(4)]
