"""What the runs of a kernel did not come to: it stays undecided, bounds what they show, or is asked of the host.

Property: a side of a branch that only an empty size leads to, and on which no run ended, is in no verdict without the
assumption that the size is not empty.

Argument: a role that tests its count behind the body counts down from zero for 2^32 rounds. That run is not followed to
its end, so nothing is known of it but what certainly goes wrong in its first rounds (`proof.first.prefixes`). The runs
that were made all have something for the size.

Not covered: what goes wrong in such a run behind its first rounds: it is named, and no counterexample.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ....verdict import AssumptionKind, Reason
from ...proof.evidence import Verification
from ...proof.first.paths import Coverage
from ...symex.slice.sliced_program import Program
from ...symex.values.solver import SolverOracle
from ...symex.values.symbol import OF_HOST, show_atom, stating_sizes
from ...symex.values.trace import Assumption


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
    _ask_for_sizes(coverage, missed, result)
    for point in sorted(coverage.runs_away):
        bounds.append(Reason("with a count of 0 threads go round here more often than is followed", point))
    for point in sorted(coverage.combinations):
        bounds.append(Reason("not run in all combinations with other branches", point))
    for (point, name), numbers in coverage.settled.items():
        if point >= 0:
            shown = ", ".join(map(str, sorted(numbers)))
            bounds.append(Reason(f"only run where {show_atom(name)} is {shown}", point))
    for point, preset in sorted(coverage.led.items()):
        shown = " and ".join(f"{show_atom(name)} is {number}" for name, number in preset.items())
        bounds.append(Reason(f"one side of this branch was run only where {shown}", point))


def _ask_for_sizes(coverage: Coverage, missed: AbstractSet[int], result: Verification) -> None:
    """Ask the host for sizes that are not empty, where runs with empty ones would come to what no run came to."""
    for (point, _), (preset, at) in sorted(coverage.too_long.items(), key=lambda each: each[0]):
        sizes = tuple(name for name, number in preset.items() if name.kind in OF_HOST and number < 1)
        if point not in missed or len(sizes) != len(preset):
            continue
        named = " or ".join(map(show_atom, sizes))
        text = f"{named} is at least 1: with less, threads go round here more often than is followed"
        assumption = Assumption(AssumptionKind.SIZE, text, at, stating_sizes(sizes))
        result.required.setdefault(("size", point), assumption)


def _hides_events(program: Program, point: int, recorded: AbstractSet[int]) -> bool:
    """Tell whether something between a branch and its join was recorded in no run."""
    cfg = program.cfg
    region = program.regions.of(cfg.graph.block_of[point])
    inside = {p for block in region.blocks for p in cfg.blocks[block].points}
    return bool(inside & program.events - recorded)
