"""What was found to be impossible of a kernel is asked of a second solver; what it contradicts is undecided."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..results import CrossCheck, KernelVerdicts, Problem, ProblemKind, Remark
from ..source import Position
from ..terms.refutations import Refutations
from ..terms.smt import SecondSolver
from ..verdict import Evidence, Openness, VerdictKind
from .rules_on_kernels import Evaluation

_SHOWN = frozenset({Evidence.FOR_ALL, Evidence.BOUNDED})


def cross_checked(evaluation: Evaluation, found: Refutations, name: str, start: Position) -> Evaluation:
    """Return what checking a kernel gave with what a second solver says of the answers that it rests on.

    `start` is where the kernel begins. Raises MissingSolverError.
    """
    solver = SecondSolver(name)
    answers = Counter(map(solver.refutes, found.integers))
    answers += Counter(map(solver.refutes_registers, found.registers))
    outcome = CrossCheck(name, solver.version, answers[True], answers[None], answers[False])
    kernel = evaluation.kernel
    if kernel.verification is None:
        return evaluation
    if not outcome.refuted:
        table = replace(kernel.verification, cross_check=outcome)
        return replace(evaluation, kernel=replace(kernel, verification=table))
    table = _in_doubt(kernel.verification, outcome)
    message = (
        f"{name} contradicts {outcome.refuted} of {len(found)} answers that this kernel's verdicts rest on; "
        f"this is a bug of ptxcheck or of {name}, please report it"
    )
    problem = Problem(ProblemKind.TOOL, message, start, kernel.name)
    return replace(
        evaluation,
        kernel=replace(kernel, verification=table, complete=False),
        problems=(*evaluation.problems, problem),
    )


def _in_doubt(table: KernelVerdicts, outcome: CrossCheck) -> KernelVerdicts:
    """Return a table in which nothing holds: which answers a property rests on is not known."""
    why = Remark(f"{outcome.solver} contradicts an answer that this may rest on")
    verdicts = tuple(
        replace(
            each,
            kind=VerdictKind.UNKNOWN,
            reasons=(why,),
            openness=Openness.NOT_DECIDED,
            evidence=Evidence.UNDECIDED,
            assumptions=(),
        )
        if each.evidence in _SHOWN
        else each
        for each in table.verdicts
    )
    return replace(table, verdicts=verdicts, cross_check=outcome)
