"""What people are told of a run that goes wrong: roles, barriers, steps, state, remedy."""

from __future__ import annotations

import pytest

from ptxcheck.explain.barrier_history import held_after
from ptxcheck.explain.barrier_names import barrier_names, readable
from ptxcheck.explain.counterexample import Story
from ptxcheck.explain.roles import duty_of, roles_of
from ptxcheck.explain.violations import Cause, Violation, whole_kernel
from ptxcheck.finding import Counterexample
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.model.actions import (
    Arrive,
    AsyncArrive,
    Barrier,
    Init,
    Protocol,
    Strand,
    Transfer,
    Wait,
)
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Source
from ptxcheck.view import KernelView

WRONG_PARITY = changed(RING, ("    xor.b32 %r12, %r11, 1;", "    mov.u32 %r12, %r11;"))
WRONG_BYTES = changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;"))


def view(text: str) -> KernelView:
    module = parse_module(Source("k.ptx", text))
    (function,) = module.entries
    return KernelView(module, function, from_directives(function), 60)


def violations(text: str) -> tuple[KernelView, tuple[Violation, ...]]:
    made = view(text)
    whole = made.get(whole_kernel)
    assert whole is not None
    assert whole.failure == ""
    return made, whole.violations


def story(text: str) -> Story:
    made, (violation, *_) = violations(text)
    return Story(made, violation)


def line_of(made: Story, point: int) -> str:
    source = made.view.module.source
    return source.line_text(source.position(made.view.body.instructions[point].start).line).strip()


def test_good_ring_has_no_violation() -> None:
    assert violations(RING)[1] == ()


def test_deadlock_names_barrier_phase_and_role() -> None:
    made = story(WRONG_PARITY)
    assert made.message() == (
        "phase 0 of empty[0] never completes: 32 of 32 arrivals are missing; producer (warp 0, lane 0) waits for it"
    )
    run = made.counterexample()
    producer, consumer = run.roles
    assert (producer.name, consumer.name) == ("producer (warp 0, lane 0)", "consumer (warp 1)")
    assert producer.steps[-1].text.startswith("waits on empty[0] with parity 0")
    assert producer.steps[-1].text.endswith(": for ever")
    assert line_of(made, producer.steps[-1].place).endswith("[%r9], %r12;")
    assert consumer.steps[-1].order == producer.steps[-1].order == run.bad
    assert "empty[0]: phase 0, 32 of 32 arrivals pending" in run.state
    assert run.needed == (
        "consumer (warp 1) would arrive at empty[0], but first waits on full[0]; or producer (warp 0, lane 0) "
        "begins with parity 1 on empty[0], which passes: in the first round there is nothing to release"
    )
    assert run.launch.startswith("block 64×1×1, cluster 1×1×1")


def test_missing_bytes_are_the_root_and_not_who_waits_behind() -> None:
    made = story(WRONG_BYTES)
    assert made.violation.cause is Cause.BYTES
    assert "full[0]: phase 0, 0 of 1 arrivals pending, 2048 bytes expected, 1024 complete" in (
        made.counterexample().state
    )
    texts = [step.text for role in made.counterexample().roles for step in role.steps]
    assert any(text.startswith("starts a copy of 1024 bytes onto full[0]") for text in texts)
    assert any("expecting 2048 bytes in phase 0" in text for text in texts)


def test_steps_are_in_the_order_of_the_run() -> None:
    run = story(WRONG_BYTES).counterexample()
    for role in run.roles:
        orders = [step.order for step in role.steps]
        assert orders == sorted(orders)
    assert all(step.order <= run.bad for role in run.roles for step in role.steps)


def test_long_runs_are_cut() -> None:
    text = changed(
        RING, ("    @!%p3 bra WAIT_FULL;", "    @!%p3 bra WAIT_FULL;\n" + 40 * "    bar.warp.sync -1;\n")
    )
    late = changed(text, ("    mbarrier.arrive.shared::cta.b64 _, [%r9];", "    setp.lt.u32 %p6, %r5, 2;\n"
                   "    @%p6 mbarrier.arrive.shared::cta.b64 _, [%r9];"))  # fmt: skip
    made, found = violations(late)
    for violation in found:
        for role in Story(made, violation).counterexample().roles:
            assert len(role.steps) <= 6
            assert role.earlier >= 0


def test_each_flaw_is_told_once() -> None:
    both = changed(WRONG_BYTES, ("    bar.sync 0;\n", ""))
    _, found = violations(both)
    keys = [(v.problem.flaw, v.problem.barrier, v.problem.point) for v in found]
    assert len(keys) == len(set(keys))
    assert len({v.problem.flaw for v in found if v.problem.flaw.value == "deadlock"}) <= 1


def test_a_crash_of_the_verifier_is_met_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptxcheck.explain import violations as violations_module

    def crash(*_args: object, **_options: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(violations_module, "verify", crash)
    made = view(RING).get(whole_kernel)
    assert made is not None
    assert made.failure.startswith("ZeroDivisionError: by hand at ")
    assert {verdict.kind.value for verdict in made.verdicts} == {"unknown"}
    assert made.violations == ()


def test_kernels_without_barriers_are_left_alone() -> None:
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() .reqntid 32\n"
    text = head + "{\n  bar.sync 0;\n  ret;\n}\n"
    assert view(text).get(whole_kernel) is None
    assert view(text.replace("bar.sync 0", "bar.sync 1")).get(whole_kernel) is not None


FULL, EMPTY = Barrier(0, 1024), Barrier(0, 1040)


@pytest.mark.parametrize(
    ("actions", "duty"),
    [
        ((Wait(0, EMPTY, 1), Arrive(1, FULL, 1, 16), Transfer(2, ((FULL, 16),))), "producer"),
        ((Wait(0, FULL, 0), Arrive(1, EMPTY, 1)), "consumer"),
        ((Wait(0, FULL, 0), Transfer(1, (), "wgmma"), Arrive(2, EMPTY, 1)), "consumer and tensor core issuer"),
        ((Wait(0, FULL, 0), Transfer(1, (), "tcgen05"), AsyncArrive(2, EMPTY, 1)), "consumer and tensor core issuer"),
        ((Wait(0, FULL, 0),), "worker"),
        ((Arrive(0, FULL, 1), Wait(1, FULL, 0)), "worker"),
        ((Arrive(0, FULL, 1),), "worker"),
        ((Transfer(0, (), "bulk"),), "store issuer"),
        ((Init(0, FULL, 1),), "initialiser"),
        ((), "bystander"),
    ],
)  # fmt: skip
def test_duties(actions: tuple[Wait, ...], duty: str) -> None:
    assert duty_of(Strand(0, 0, 1, "", actions)) == duty


def test_equal_strands_are_one_role_and_named_by_their_warps() -> None:
    wait = (Wait(0, FULL, 0), Arrive(1, EMPTY, 1))
    warps = tuple(Strand(0, warp, (1 << 32) - 1, "", wait) for warp in (4, 5, 7))
    lanes = tuple(Strand(0, warp, 1, "", (Arrive(2, FULL, 1),)) for warp in (0, 1))
    names = [role.name for role in roles_of(Protocol((*warps, *lanes), 128))]
    assert names == ["consumer (warps 4-5, 7)", "worker (warps 0-1, lane 0 of each)"]
    apart = Protocol((Strand(0, 0, 1, "", wait), Strand(1, 0, 1, "", wait)), 64)
    assert [role.name for role in roles_of(apart)] == [
        "consumer (CTA 0, warp 0, lane 0)", "consumer (CTA 1, warp 0, lane 0)",
    ]  # fmt: skip


def test_names_of_barriers() -> None:
    made = view(RING)
    whole = made.get(whole_kernel)
    assert whole is not None
    run = whole.result.sample
    assert run is not None
    names = barrier_names(made.function, made.module, run.protocol)
    used = {a.barrier for strand in run.protocol.strands for a in strand.actions if isinstance(a, Wait)}
    assert {names.of(barrier) for barrier in used} == {"full[0]", "full[1]", "empty[0]", "empty[1]"}
    assert {names.ring_of(barrier) for barrier in used} == {"full[0-1]", "empty[0-1]"}
    assert names.of(NamedBarrier(0, 3)) == "barrier 3"
    assert names.of(ClusterBarrier()) == "the cluster barrier"


def test_local_names_of_cuda_are_readable() -> None:
    assert readable("_ZZ4loadPKcPcE7barrier") == "barrier"
    assert readable("_ZZN2ns4loadIfEEvPT_E4tile_0") == "tile"
    for name in ("full", "_ZZ4loadvE99x", "_ZN2ns4bufE"):
        assert readable(name) == name


def test_replay_agrees_with_the_phases_of_the_simulation() -> None:
    made = view(RING)
    whole = made.get(whole_kernel)
    assert whole is not None
    run = whole.result.sample
    assert run is not None
    steps = simulate(run.protocol).steps
    for end, step in enumerate(steps):
        action = run.protocol.strands[step.strand].actions[step.index]
        if isinstance(action, Arrive):
            assert held_after(run.protocol, steps[:end])[action.barrier].phase == step.phase
        if isinstance(action, Wait) and step.phase is not None and step.phase >= 0:
            assert held_after(run.protocol, steps[:end])[action.barrier].phase == step.phase + 1


def test_places_can_be_replaced() -> None:
    run = story(WRONG_BYTES).counterexample()
    placed: Counterexample[str] = run.placed(str)
    assert placed.roles[0].steps[0].place == str(run.roles[0].steps[0].place)
    assert placed.placed(int) == run


SHORT_OF_ONE = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 rows, .param .u32 columns, .param .u32 other) .reqntid 64
{{
    .shared .align 8 .b64 bar;
    .reg .pred p, first, done;
    .reg .b32 t, m, n;
    mov.u32 t, %tid.x;
    ld.param.u32 m, [rows];
    ld.param.u32 n, [columns];
    setp.eq.u32 first, t, 0;
    @first mbarrier.init.shared::cta.b64 [bar], 1;
    bar.sync 0;
    {decide}
    @p bra WAIT;
    @first mbarrier.arrive.shared::cta.b64 _, [bar];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 done, [bar], 0;
    @!done bra WAIT;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("decide", "inputs"),
    [
        ("setp.gt.s32 p, m, 10; @p setp.lt.s32 p, m, 12;", ("rows is 11",)),
        (
            "setp.eq.s32 p, m, 3; mad.lo.s32 m, m, n, -33; @p setp.eq.s32 p, m, 0;",
            ("columns is 11", "rows is 3"),
        ),
        ("mov.u32 m, %ctaid.x; setp.eq.u32 p, m, 5;", ("%ctaid.x is 5",)),
        ("setp.ge.s32 p, t, 0;", ()),
    ],
)
def test_the_numbers_that_make_the_run_are_told(decide: str, inputs: tuple[str, ...]) -> None:
    assert story(SHORT_OF_ONE.format(decide=decide)).counterexample().inputs == inputs
