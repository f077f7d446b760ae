"""The worklist solver, forward and backward."""

from __future__ import annotations

from ptxcheck.cfg import (
    Cfg,
    Edge,
    EdgeKind,
    backward,
    forward,
)
from ptxcheck.opcodes.op import Op

from .kernels import cfg_of, point_of

GROUPS = """
    cp.async.commit_group;
    @%p1 bra L;
    cp.async.wait_all;
  L: cp.async.commit_group;
    ret;
"""


def _open(cfg: Cfg, point: int, groups: frozenset[int]) -> frozenset[int]:
    match cfg.instructions[point].operation.op:
        case Op.CP_ASYNC_COMMIT_GROUP:
            return groups | {point}
        case Op.CP_ASYNC_WAIT_ALL:
            return frozenset()
        case _:
            return groups


def test_forward_joins_paths() -> None:
    cfg = cfg_of(GROUPS)
    states = forward(cfg, frozenset[int](), lambda p, s: _open(cfg, p, s), frozenset.union)
    second = point_of(cfg, "commit_group", 1)
    assert states.before(second) == frozenset({0})
    assert states.after(second) == frozenset({0, second})
    assert states.entering[cfg.exit] == frozenset({0, second})
    assert dict(states.each())[point_of(cfg, "wait_all")] == frozenset({0})


def test_an_edge_function_can_stop_a_path() -> None:
    cfg = cfg_of(GROUPS)

    def edge(passed: Edge, groups: frozenset[int]) -> frozenset[int] | None:
        return None if passed.kind is EdgeKind.BRANCH else groups

    states = forward(cfg, frozenset[int](), lambda p, s: _open(cfg, p, s), frozenset.union, edge=edge)
    assert states.before(point_of(cfg, "commit_group", 1)) == frozenset()


def test_backward_sees_what_comes() -> None:
    cfg = cfg_of(GROUPS)

    def waits(point: int, coming: bool) -> bool:
        return coming or cfg.instructions[point].operation.op is Op.CP_ASYNC_WAIT_ALL

    some = backward(cfg, False, waits, lambda a, b: a or b)
    every = backward(cfg, False, waits, lambda a, b: a and b)
    assert some.after(0) is True
    assert every.after(0) is False
    assert some.after(point_of(cfg, "commit_group", 1)) is False
    assert some.before(point_of(cfg, "wait_all")) is True


def test_backward_covers_endless_loops() -> None:
    cfg = cfg_of("L: add.s32 %r1, %r1, 1; bra L;")
    states = backward(cfg, 0, lambda _, s: min(s + 1, 5), max)
    assert states.before(0) == 5


def test_widening_ends_a_count() -> None:
    cfg = cfg_of("L: add.s32 %r1, %r1, 1; @%p1 bra L; ret;")
    endless = 1 << 60
    states = forward(cfg, 0, lambda _, s: min(s + 1, endless), max, widen=lambda old, new: endless)
    assert states.entering[cfg.exit] == endless


def test_unreached_points_have_no_state() -> None:
    cfg = cfg_of("bra L; add.s32 %r1, %r1, 1; L: ret;")
    states = forward(cfg, 0, lambda _, s: s, max)
    assert states.before(1) is None
    assert 1 not in dict(states.each())
