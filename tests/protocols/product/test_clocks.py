"""Who knows what: forgetting where a slot is read is forgetting in all slots at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.protocols.product.clocks import Clocks, Slot
from ptxcheck.protocols.product.rows import Knowledge, Rows

WIDTH, SLOTS = 5, 4
ROWS = Rows(WIDTH)
EVENTS = st.integers(0, WIDTH - 1).map(lambda n: 1 << n)
NAMES = st.integers(0, SLOTS - 1).map(lambda n: n if n % 2 else ("named", n))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("forget"), EVENTS, st.just(0)),
        st.tuples(st.just("set"), NAMES, st.integers(0, (1 << 8 * WIDTH) - 1)),
        st.tuples(st.sampled_from(["get", "pop", "join"]), NAMES, st.integers(0, (1 << 8 * WIDTH) - 1)),
        st.tuples(st.sampled_from(["items", "copy"]), st.just(0), st.just(0)),
    ),
    max_size=40,
)


class Eager(dict[Slot, Knowledge]):
    """What `Clocks` stands for."""

    def forget(self, event: int) -> None:
        for slot, known in self.items():
            self[slot] = known & ~(event * ROWS.every)


@given(STEPS)
@settings(max_examples=300, deadline=None)
def test_slots_hold_what_they_would_if_all_had_forgotten_at_once(steps: list[tuple[str, Slot, int]]) -> None:
    clocks, eager = Clocks(ROWS, {}), Eager()
    for what, where, number in steps:
        if what == "forget":
            assert isinstance(where, int)
            clocks.forget(where)
            eager.forget(where)
        elif what == "set":
            clocks[where] = eager[where] = number
        elif what == "join":
            clocks[where] = clocks.get(where) | number
            eager[where] = eager.get(where, 0) | number
        elif what == "get":
            assert clocks.get(where, 7) == eager.get(where, 7)
        elif what == "pop":
            assert clocks.pop(where) == eager.pop(where, 0)
        elif what == "items":
            assert clocks.items() == list(eager.items())
        else:
            clocks = clocks.copy()
    assert list(clocks) == list(eager)
    assert {slot: clocks[slot] for slot in clocks} == eager


@given(st.integers(0, (1 << WIDTH) - 1))
def test_landmarks_are_spread_over_all_rows(landmarks: int) -> None:
    assert ROWS.in_all(landmarks) == landmarks * ROWS.every
