"""Kernels of the corpus by the product of their role automata."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ptxcheck.protocols.automata.automaton import Automaton
from ptxcheck.protocols.automata.builder import build
from ptxcheck.protocols.automata.kept_loops import Kept
from ptxcheck.protocols.product.for_all import Open, Shown, for_all
from ptxcheck.protocols.symex.slice.layout import Layout, layout_of
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.protocols.symex.values.trace import Shape
from ptxcheck.protocols.typestate.register_count import most_registers
from ptxcheck.terms.effort import Effort

from ..corpus_runs import view_of

_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class Given:
    """A kernel with its launch."""

    program: Program
    layout: Layout
    shape: Shape
    registers: int | None


def of_corpus(name: str) -> Given:
    """Return a kernel of the corpus, for the launch that its first line states."""
    view = view_of(name)
    assert view.launch.block is not None
    return Given(
        Program(view.cfg, view.module, view.launch, accesses=True),
        layout_of(view.function, view.module, view.launch.given, view.launch.facts),
        Shape(view.launch.block, view.launch.cluster or (1, 1, 1)),
        most_registers(view.function.attributes, prod(view.launch.block)),
    )


def shown(name: str) -> Shown | Open:
    """Return what the product of a kernel of the corpus shows."""
    kernel = of_corpus(name)
    return for_all(kernel.program, kernel.layout, (), kernel.shape, kernel.registers, Effort(_SECONDS))


def automaton(kernel: Given, rank: int = 0) -> Automaton:
    """Return the automata of one CTA."""
    return build(kernel.program, kernel.layout, kernel.shape, rank, Kept(), Effort(_SECONDS))
