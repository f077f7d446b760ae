"""Turns of rings: fewer states, the same answers, and what is done behind a turn is the turn of what is done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.automata import ways
from ptxcheck.protocols.automata.nodes import Node
from ptxcheck.protocols.model.actions import Arrive, Barrier, Init, Span, Wait
from ptxcheck.protocols.product import turned_states
from ptxcheck.protocols.product.exploration import Exploration, _State
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.product.order_state import DONE, OrderState
from ptxcheck.protocols.product.received_uses import Take
from ptxcheck.protocols.product.ring_places import Place, places_between
from ptxcheck.protocols.product.roles import Step
from ptxcheck.protocols.product.rows import Rows
from ptxcheck.protocols.product.setup import Setup, StrandInfo
from ptxcheck.protocols.product.turned_states import turned
from ptxcheck.protocols.product.turns import Landmarks
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

from .kernels import shown

TURNED = {
    "ring/two_stages": 2,
    "ring/three_stages": 2,
    "ring/counts_down": 3,
    "persistent/tiles_and_steps": 5,
    "leaders/elected_after_waiting": 2,
}
"""States of right kernels whose rings are turned: so many as if the ring had one stage."""
BROKEN = (
    "ring/eight_stages.wrong_bit", "ring/four_stages_filled_ahead.drain_waits_on_a_fixed_stage",
    "persistent/tiles_and_steps.consumer_skips_a_tile", "persistent/tiles_and_steps.parity_of_the_inner_step",
    "ring/one_stage.parity_never_flips", "ring/generic_full_barriers.as_offsets",
)  # fmt: skip
_NEVER = 10**9


@pytest.fixture
def with_variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let all numbers that differ between two ways to a block be variables, and turn rings from the first state on."""
    monkeypatch.setattr(ways, "_MOST_NUMBERS", 1)
    monkeypatch.setattr(turned_states, "_BEFORE_TURNS", 0)
    return monkeypatch


@pytest.mark.parametrize("name", TURNED)
def test_a_ring_has_the_states_of_one_stage(name: str, with_variables: pytest.MonkeyPatch) -> None:
    found = shown(name)
    with_variables.setattr(turned_states, "_BEFORE_TURNS", _NEVER)
    apart = shown(name)
    assert isinstance(found, Shown)
    assert isinstance(apart, Shown)
    assert found.states == TURNED[name] < apart.states
    assert (found.assumptions, found.axioms) == (apart.assumptions, apart.axioms)


@pytest.mark.usefixtures("with_variables")
@pytest.mark.parametrize("name", BROKEN)
def test_broken_rings_are_not_shown(name: str) -> None:
    found = shown(name)
    assert isinstance(found, Open) or found.not_empty  # with an empty size alone: runs tell


@pytest.mark.parametrize(
    "name", [*TURNED, "waits/looks_ahead_at_both_rings", "tcgen05/commits_release_stages"]
)
def test_turns_and_runs_commute(name: str, with_variables: pytest.MonkeyPatch) -> None:
    checked = 0
    come = Exploration._come

    def coming(self: Exploration, state: _State) -> list[_State]:
        nonlocal checked
        for powers in self._rings.powers or ():
            one, other = state.copy(), state.copy()
            if turned(other, powers[0]):
                assert self._run(one) == self._run(other)
                assert turned(one, powers[0])
                assert _text(one) == _text(other)
                checked += 1
        return come(self, state)

    with_variables.setattr(Exploration, "_come", coming)
    assert isinstance(shown(name), Shown)
    assert checked


def _text(state: _State) -> object:
    standing = [(each.node, each.index, each.env, each.ended, each.ordinals) for each in state.strands]
    return standing, state.order.control(), dict(state.order.knowledge())


@given(st.permutations(range(12)), st.permutations(range(12)), st.integers(0, (1 << 96) - 1))
def test_landmarks_move_in_all_rows(one: list[int], other: list[int], known: int) -> None:
    rows = Rows(12)
    first, second = (Landmarks(dict(enumerate(targets)), rows) for targets in (one, other))
    expected = 0
    for row in range(8):
        for number, target in enumerate(one):
            expected |= (known >> row * 12 + number & 1) << row * 12 + target
    assert first.of(known) == expected
    assert first.then(second).of(known) == second.of(first.of(known))


def test_a_landmark_without_a_counterpart_is_in_no_domain() -> None:
    found = Landmarks({0: 1, 1: 0, 3: 3}, Rows(4))
    assert found.domain == 0b1011
    assert found.of(0b0111) == 0b0011
    assert found.keeps(0b0111)
    assert not found.keeps(0b0001)


@pytest.mark.parametrize(("waited_for", "states"), [(5, {(0, 5): 0}), (-1, {})])
def test_states_that_nobody_waits_for_are_not_kept(
    waited_for: int, states: dict[tuple[int, int], int]
) -> None:
    """`mbarrier.arrive` has a result that most kernels never read."""
    barrier = Barrier(0, 0)
    init, arrive = Init(1, barrier, 2), Arrive(2, barrier, 1, token=5)
    wait = Wait(3, barrier, None if waited_for >= 0 else 0, token=waited_for)
    order = OrderState(Setup([StrandInfo(0, 0, 1, "warp 0")], [(init, arrive, wait)]))
    assert order.perform(0, init) == DONE
    assert order.perform(0, arrive) == DONE
    assert order._state.words[0].tokens == states


MAILBOXES = """// ptxcheck: launch block=64 cluster=1
.version 8.6
.target sm_90a
.address_size 64
.visible .entry mailboxes(.param .u64 source)
{
    .shared .align 8 .b64 full[3];
    .shared .align 8 .b64 empty[3];
    .shared .align 16 .b8 box[48];
    .reg .pred stop, ready, wraps, skip, works, none, last;
    .reg .b32 thread, warp, stage, parity, own, bar, free, buffer, job, sum;
    .reg .b64 from;
    ld.param.u64 from, [source];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    setp.ne.u32 skip, thread, 0;
    @skip bra READY;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.init.shared::cta.b64 [full+8], 1;
    mbarrier.init.shared::cta.b64 [full+16], 1;
    mbarrier.init.shared::cta.b64 [empty], 32;
    mbarrier.init.shared::cta.b64 [empty+8], 32;
    mbarrier.init.shared::cta.b64 [empty+16], 32;
READY:
    bar.sync 0;
    mov.u32 stage, 0;
    mov.u32 sum, 0;
    setp.ne.u32 works, warp, 0;
    @works bra WORK;
    @skip bra DONE;
    mov.u32 parity, 1;
TELL:
    mov.u32 free, empty;
    mad.lo.u32 free, stage, 8, free;
FREE:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [free], parity;
    @!ready bra FREE;
    ld.global.u32 job, [from];
    add.u64 from, from, 4;
    mov.u32 buffer, box;
    mad.lo.u32 buffer, stage, 16, buffer;
    st.shared.u32 [buffer], job;
    ld.shared.u32 job, [buffer];
    mov.u32 bar, full;
    mad.lo.u32 bar, stage, 8, bar;
    mbarrier.arrive.shared::cta.b64 _, [bar];
    add.u32 stage, stage, 1;
    setp.eq.u32 wraps, stage, 3;
    selp.b32 stage, 0, stage, wraps;
    @wraps xor.b32 parity, parity, 1;
    setp.eq.u32 stop, job, 0;
    @stop bra DONE;
    bra TELL;
WORK:
    mov.u32 parity, 0;
USE:
    mov.u32 bar, full;
    mad.lo.u32 bar, stage, 8, bar;
FULL:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [bar], parity;
    @!ready bra FULL;
    mov.u32 own, stage;
    mov.u32 buffer, box;
    mad.lo.u32 buffer, own, 16, buffer;
    ld.shared.u32 job, [buffer];
    mov.u32 free, empty;
    mad.lo.u32 free, stage, 8, free;
    mbarrier.arrive.shared::cta.b64 _, [free];
    setp.eq.u32 none, job, 0;
    @none bra DONE;
    add.u32 sum, sum, job;
    add.u32 stage, stage, 1;
    setp.eq.u32 wraps, stage, 3;
    selp.b32 stage, 0, stage, wraps;
    @wraps xor.b32 parity, parity, 1;
    bra USE;
DONE:
    ret;
}
"""


def _of_text(text: str) -> Shown | Open:
    return shown_for_every_count(*launched(Source("k.ptx", text), "mailboxes"), seconds=6.0)


def test_values_are_handed_on_at_turned_places(with_variables: pytest.MonkeyPatch) -> None:
    found = _of_text(MAILBOXES)
    with_variables.setattr(turned_states, "_BEFORE_TURNS", _NEVER)
    apart = _of_text(MAILBOXES)
    assert isinstance(found, Shown)
    assert isinstance(apart, Shown)
    assert found.states < apart.states


@pytest.mark.usefixtures("with_variables")
def test_a_value_that_is_taken_from_another_stage_once_in_a_ring() -> None:
    edit = "mov.u32 own, stage;\n    setp.eq.u32 last, stage, 2;\n    selp.b32 own, 1, own, last;"
    assert isinstance(_of_text(MAILBOXES.replace("mov.u32 own, stage;", edit)), Open)


def _place(start: int) -> Span:
    return Span(0, start, 16)


@pytest.mark.parametrize(
    ("other", "places"),
    [
        (
            {0: 16, 16: 32, 32: 0},
            {(0, 0, 16): (0, 16, 16), (0, 16, 16): (0, 32, 16), (0, 32, 16): (0, 0, 16)},
        ),
        ({0: 16, 16: 16}, None),  # two places become one
        ({0: 8, 8: 0}, None),  # they overlap, and the second begins behind the first
    ],
)
def test_places_correspond_one_to_one(other: dict[int, int], places: dict[Place, Place] | None) -> None:
    class Taken:
        """Each step takes from the place that its number names."""

        def of(self, _strand: int, step: int, _index: int) -> Take:
            return Take(7, _place(step))

    def step(number: int) -> Step:
        return Step(number, node, (Wait(1, Barrier(0, 0), 0),), ())

    node = Node(0, 0, 1, (), ())
    pairs = [(0, step(one), step(there)) for one, there in other.items()]
    assert places_between(Taken(), pairs) == places  # type: ignore[arg-type]
