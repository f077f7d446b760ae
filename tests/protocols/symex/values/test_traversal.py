"""The walk over atoms, and the kinds that they have."""

from __future__ import annotations

from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.symbol import Atom, children
from ptxcheck.protocols.symex.values.traversal import walk

N, M = Atom((Kind.PARAM, "n", 0, 4)), Atom((Kind.PARAM, "m", 0, 4))
HALF = Atom((Kind.SHR, N, 1, 32))
SUM = Atom((Kind.SUM, ((M, 1), (HALF, 2)), 3))
TWICE = Atom((Kind.MUL, SUM, HALF))


def test_atoms_come_in_order_and_once() -> None:
    assert list(walk(TWICE)) == [TWICE, SUM, M, HALF, N]


def test_nothing_inside_what_is_not_entered() -> None:
    assert list(walk((TWICE, 5, "n"), lambda name: name.kind is not Kind.SHR)) == [TWICE, SUM, M, HALF]


def test_atoms_that_are_cut_down_are_entered() -> None:
    deep = N
    for _ in range(30):
        deep = Atom((Kind.NOT, deep))
    assert Kind.DEEP in {name.kind for name in walk(deep)}
    assert N in walk(deep)


def test_children_are_not_nested() -> None:
    assert list(children(SUM)) == [M, HALF]


def test_the_text_of_a_kind_is_the_kind() -> None:
    written = Atom(("param", "n", 0, 4))
    assert (written, written.digest, written.kind) == (N, N.digest, Kind.PARAM)
    assert repr(written) == repr(N) == "('param', 'n', 0, 4)"


def test_results_of_opcodes_have_one_kind() -> None:
    first, second = Atom(("ex2.approx.f32", 0, N)), Atom(("lg2.approx.f32", 0, N))
    assert first.kind is second.kind is Kind.OPCODE
    assert first != second


def test_an_atom_that_is_cut_down_keeps_its_inner_kind() -> None:
    deep = N
    while deep.kind is not Kind.DEEP:
        deep = Atom((Kind.NOT, deep))
    assert deep.inner_kind is Kind.NOT
