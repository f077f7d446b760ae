"""Run the machine on a kernel given as the lines of its body."""

from __future__ import annotations

from collections.abc import Callable

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.first.deciding import Answers, Question
from ptxcheck.protocols.symex.interpreter.machine import Machine
from ptxcheck.protocols.symex.interpreter.options import Options
from ptxcheck.protocols.symex.slice.layout import layout_of
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import Decisions, Value
from ptxcheck.protocols.symex.values.trace import Event, Shape, Trace
from ptxcheck.source import Source

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n, .param .u32 m, .param .u64 p)
.reqntid {threads}
{{
.reg .pred %p<20>;
.reg .b32 %r<60>;
.reg .b64 %rd<20>;
.shared .align 1024 .b8 smem[8192];
.shared .align 16 .b8 table[64];
{body}
ret;
}}
"""


def kernel(body: str, threads: int = 128) -> str:
    """Return the text of a kernel with parameters n, m (32 bits) and p (a pointer), and 8 KiB of shared memory."""
    return HEAD.format(body=body, threads=threads)


class Ran:
    """One run: its trace, and the questions that it asked."""

    def __init__(self, trace: Trace, questions: list[Question], program: Program) -> None:
        self.trace = trace
        self.questions = questions
        self.program = program

    def events(self, name: str) -> list[Event]:
        """Return the events of instructions whose opcode starts with a text."""
        instructions = self.program.cfg.instructions
        return [e for e in self.trace.events if instructions[e.point].operation.text.startswith(name)]

    def operands(self, name: str, operand: str) -> list[Value]:
        """Return one operand of each event of an instruction."""
        return [event.operands[operand] for event in self.events(name)]


def run(
    body: str,
    threads: int = 128,
    choose: Callable[[Question], bool] | bool = False,
    *,
    accesses: bool = False,
    options: Options | None = None,
) -> Ran:
    """Run a kernel once; `choose` decides open predicates, or is the answer to all of them."""
    module = parse_module(Source("k.ptx", kernel(body, threads)))
    assert not module.problems, module.problems
    (function,) = module.entries
    assert function.body is not None
    assert not function.body.problems, function.body.problems
    questions: list[Question] = []

    def answer(question: Question) -> bool:
        questions.append(question)
        return choose if isinstance(choose, bool) else choose(question)

    program = Program(build(function), module, from_directives(function), accesses=accesses)
    layout = layout_of(function, module)
    shape, decisions = Shape((threads, 1, 1)), Decisions(SolverOracle())
    machine = Machine(program, layout, shape, 0, decisions, Answers(answer), options)
    return Ran(machine.run(), questions, program)
