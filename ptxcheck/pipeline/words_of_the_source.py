"""Findings and verdicts in the words of the source: parameters by the names that the CUDA source gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..explain.spoken import spoken
from ..finding import Counterexample, Finding, Location, Role
from ..ir import Function
from ..results import KernelVerdicts, PropertyVerdict, Remark
from .rules_on_kernels import Evaluation

_Say = Callable[[str], str]


def in_words_of_the_source(function: Function, result: Evaluation) -> Evaluation:
    """Return what was found with the names of the source in its texts."""
    say = spoken(function)
    if say is str:
        return result
    table = result.kernel.verification
    kernel = replace(result.kernel, verification=None if table is None else _verdicts(table, say))
    return replace(result, kernel=kernel, findings=tuple(_finding(each, say) for each in result.findings))


def _finding(finding: Finding, say: _Say) -> Finding:
    run = finding.counterexample
    return replace(
        finding,
        message=say(finding.message),
        help=say(finding.help),
        related=tuple(replace(each, message=say(each.message)) for each in finding.related),
        counterexample=None if run is None else _run(run, say),
    )


def _run(run: Counterexample[Location], say: _Say) -> Counterexample[Location]:
    return replace(
        run,
        inputs=tuple(map(say, run.inputs)),
        roles=tuple(_role(role, say) for role in run.roles),
        state=tuple(map(say, run.state)),
        needed=say(run.needed),
    )


def _role(role: Role[Location], say: _Say) -> Role[Location]:
    return replace(
        role, name=say(role.name), steps=tuple(replace(step, text=say(step.text)) for step in role.steps)
    )


def _verdicts(table: KernelVerdicts, say: _Say) -> KernelVerdicts:
    return replace(
        table,
        verdicts=tuple(_verdict(each, say) for each in table.verdicts),
        equations=tuple(map(say, table.equations)),
        assumptions=tuple(_remarks(table.assumptions, say)),
        given=tuple(map(say, table.given)),
        other_launches=tuple(map(say, table.other_launches)),
    )


def _verdict(verdict: PropertyVerdict, say: _Say) -> PropertyVerdict:
    return replace(verdict, reasons=tuple(_remarks(verdict.reasons, say)))


def _remarks(remarks: Iterable[Remark], say: _Say) -> Iterator[Remark]:
    for remark in remarks:
        yield replace(remark, text=say(remark.text), advice=say(remark.advice))
