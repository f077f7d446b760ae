"""Blocks and edges of small kernels, and dominance and loops of random graphs against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.cfg import EdgeKind
from ptxcheck.cfg.dominance import dominator_tree
from ptxcheck.cfg.loops import find_loops, strong_components
from ptxcheck.ir import Guard, Register

from .kernels import cfg_of, point_of


def _edges(body: str) -> list[tuple[int, int, EdgeKind]]:
    return [(e.source, e.target, e.kind) for e in cfg_of(body).graph.edges]


def test_a_guarded_branch_has_two_edges_with_opposite_guards() -> None:
    cfg = cfg_of("@!%p1 bra L; add.s32 %r1, %r1, 1; L: ret;")
    branch, fall = cfg.edges_from(0)
    assert (branch.target, branch.kind, branch.guard) == (2, EdgeKind.BRANCH, Guard(Register("%p1"), True))
    assert (fall.target, fall.kind, fall.guard) == (1, EdgeKind.FALL, Guard(Register("%p1"), False))


def test_a_guarded_return_falls_through_and_leaves() -> None:
    assert _edges("@%p1 ret; exit;") == [(0, 2, EdgeKind.EXIT), (0, 1, EdgeKind.FALL), (1, 2, EdgeKind.EXIT)]


def test_a_body_may_just_end() -> None:
    cfg = cfg_of("add.s32 %r1, %r1, 1;")
    assert [(e.source, e.target, e.kind) for e in cfg.graph.edges] == [(0, 1, EdgeKind.EXIT)]
    assert cfg.exits == (0,)


def test_an_empty_body_has_one_empty_block() -> None:
    cfg = cfg_of("")
    assert [(b.start, b.end) for b in cfg.blocks] == [(0, 0)]
    assert cfg.exits == ()
    assert cfg.loops == ()


def test_jump_tables_name_their_cases() -> None:
    cfg = cfg_of("""
        T: .branchtargets A, B, A;
        brx.idx %r1, T;
        A: add.s32 %r1, %r1, 1;
        B: ret;
    """)
    assert [(e.target, e.kind, e.cases) for e in cfg.edges_from(0)] == [
        (1, EdgeKind.INDIRECT, (0, 2)),
        (2, EdgeKind.INDIRECT, (1,)),
    ]
    assert cfg.graph.unknown_targets == ()


def test_labels_of_inner_blocks_are_their_own() -> None:
    cfg = cfg_of("""
        { L: add.s32 %r1, %r1, 1; @%p1 bra L; }
        { L: add.s32 %r2, %r2, 1; @%p1 bra L; }
        ret;
    """)
    assert [loop.header for loop in cfg.loops] == [0, 1]


def test_a_trap_does_not_hide_what_comes_behind_a_branch() -> None:
    cfg = cfg_of("@%p1 bra BAD; add.s32 %r1, %r1, 1; ret; BAD: trap;")
    assert cfg.postdominates(1, 0)
    assert cfg.traps == (point_of(cfg, "trap"),)
    assert point_of(cfg, "trap") not in cfg.exits


def test_a_failed_assertion_ends_the_grid_as_a_trap_does() -> None:
    cfg = cfg_of("@%p1 bra GOOD; call.uni __assertfail; GOOD: add.s32 %r1, %r1, 1; ret;")
    assert cfg.traps == (1,)
    assert [edge.kind for edge in cfg.edges_from(1)] == [EdgeKind.TRAP]
    assert cfg.postdominates(2, 0)


def test_a_call_that_returns_goes_on_behind_it() -> None:
    cfg = cfg_of("@%p1 bra GOOD; call.uni vprintf; GOOD: add.s32 %r1, %r1, 1; ret;")
    assert cfg.traps == ()
    assert [edge.kind for edge in cfg.edges_from(1)] == [EdgeKind.FALL]


def test_an_endless_loop_is_under_its_branch() -> None:
    cfg = cfg_of("@%p1 bra L; ret; L: add.s32 %r1, %r1, 1; bra M; M: bra L;")
    assert cfg.postdominates(1, 0)
    assert [d.branch for d in cfg.control[2]] == [0]
    assert not cfg.ends(2)


def test_unreachable_blocks_are_kept() -> None:
    cfg = cfg_of("bra L; add.s32 %r1, %r1, 1; L: ret;")
    assert len(cfg.blocks) == 3
    assert not cfg.connected(1)


def test_reaching_in_loops_and_lines() -> None:
    cfg = cfg_of("add.s32 %r1, %r1, 1; L: add.s32 %r1, %r1, 1; add.s32 %r2, %r2, 1; @%p1 bra L; ret;")
    assert cfg.reaches(0, 1)
    assert not cfg.reaches(1, 0)
    assert cfg.reaches(2, 1)
    assert cfg.reaches(1, 1)
    assert not cfg.reaches(0, 0)
    loop = cfg.loop_of(2)
    assert loop is not None
    assert (loop.header, loop.latches, loop.exits, loop.depth) == (1, (1,), ((1, 2),), 1)


def test_loops_nest() -> None:
    cfg = cfg_of("A: add.s32 %r1, %r1, 1; B: add.s32 %r1, %r1, 1; @%p1 bra B; @%p2 bra A; ret;")
    outer, inner = cfg.loops
    assert (inner.parent, inner.depth) == (outer.index, 2)
    assert cfg.irreducible == ()


def test_a_cycle_with_two_entries_is_named() -> None:
    cfg = cfg_of("@%p1 bra B; A: add.s32 %r1, %r1, 1; B: add.s32 %r2, %r2, 1; @%p2 bra A; ret;")
    assert cfg.loops == ()
    assert cfg.irreducible == (frozenset({1, 2}),)


graphs = st.integers(2, 12).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n).map(
        lambda edges: (n, sorted(set(edges)))
    )
)


def _lists(count: int, edges: list[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    forward: list[list[int]] = [[] for _ in range(count)]
    backward: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        forward[source].append(target)
        backward[target].append(source)
    return forward, backward


@settings(max_examples=300, deadline=None)
@given(graphs)
def test_dominators_agree_with_networkx(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    forward, backward = _lists(count, edges)
    tree = dominator_tree(0, forward, backward)
    oracle = nx.DiGraph(edges)
    oracle.add_node(0)
    expected = {n: d for n, d in nx.immediate_dominators(oracle, 0).items() if n != 0}
    assert {n: d for n, d in enumerate(tree.parent) if d is not None} == expected
    frontier = {n: found for n, found in enumerate(tree.frontier(backward)) if tree.reached(n)}
    for node, found in nx.dominance_frontiers(oracle, 0).items():
        assert frontier[node] - {0} == set(found) - {0}


@settings(max_examples=300, deadline=None)
@given(graphs)
def test_dominates_means_every_path(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    forward, backward = _lists(count, edges)
    tree = dominator_tree(0, forward, backward)
    oracle = nx.DiGraph(edges)
    oracle.add_nodes_from(range(count))
    reached = {0} | nx.descendants(oracle, 0)
    for a in reached:
        without = oracle.subgraph(set(range(count)) - {a})
        avoids = ({0} | nx.descendants(without, 0)) if a != 0 else set()
        for b in reached:
            assert tree.dominates(a, b) == (b not in avoids)


@settings(max_examples=300, deadline=None)
@given(graphs)
def test_loops_and_irreducible_regions_cover_all_cycles(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    forward, backward = _lists(count, edges)
    tree = dominator_tree(0, forward, backward)
    forest = find_loops(tree, forward, backward)
    oracle = nx.DiGraph(edges)
    oracle.add_nodes_from(range(count))
    components = {frozenset(c) for c in nx.strongly_connected_components(oracle)}
    assert {frozenset(c) for c in strong_components(range(count), forward)} == components
    cyclic: set[int] = set().union(*(loop.blocks for loop in forest.loops), *forest.irreducible)
    for component in components:
        node = next(iter(component))
        if tree.reached(node) and (len(component) > 1 or node in forward[node]):
            assert component <= cyclic
    for loop in forest.loops:
        assert all(tree.dominates(loop.header, block) for block in loop.blocks)
