"""What the runs of a kernel did not come to: it stays undecided, or bounds what they show."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ....verdict import Reason
from ...proof.evidence import Verification
from ...proof.first.paths import Coverage
from ...symex.slice.sliced_program import Program
from ...symex.values.solver import SolverOracle
from ...symex.values.symbol import show_atom


def note_left_out(
    coverage: Coverage,
    program: Program,
    recorded: AbstractSet[int],
    oracle: SolverOracle,
    result: Verification,
) -> None:
    """Note in the result what runs did not cover that came to some synchronising instructions."""
    left_out = {point for point, _ in coverage.left_out}
    for point in sorted(left_out):
        result.note_reason("a side of this branch was not run", point)
    missed = coverage.half_taken - coverage.closed(oracle.is_possible)
    missed |= {point for point, _ in coverage.unreached}
    bounds = result.bounds
    for point in sorted(missed - left_out):
        if _hides_events(program, point, recorded) and not coverage.is_dead(point, oracle.is_possible):
            result.note_reason("one side of this branch has synchronisation that no run came to", point)
        else:
            bounds.append(Reason("with these counts one side of this branch was not run", point))
    for point in sorted(coverage.combinations):
        bounds.append(Reason("not run in all combinations with other branches", point))
    for (point, name), numbers in coverage.settled.items():
        if point >= 0:
            shown = ", ".join(map(str, sorted(numbers)))
            bounds.append(Reason(f"only run where {show_atom(name)} is {shown}", point))
    for point, preset in sorted(coverage.led.items()):
        shown = " and ".join(f"{show_atom(name)} is {number}" for name, number in preset.items())
        bounds.append(Reason(f"one side of this branch was run only where {shown}", point))


def _hides_events(program: Program, point: int, recorded: AbstractSet[int]) -> bool:
    """Tell whether something between a branch and its join was recorded in no run."""
    cfg = program.cfg
    region = program.regions.of(cfg.graph.block_of[point])
    inside = {p for block in region.blocks for p in cfg.blocks[block].points}
    return bool(inside & program.events - recorded)
