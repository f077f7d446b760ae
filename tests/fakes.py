"""Small rules and kernels for tests of what surrounds the analysis."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ptxcheck.finding import Confidence, Severity
from ptxcheck.opcodes.op import Op
from ptxcheck.rules import Example, Hit, Rule
from ptxcheck.source import Source
from ptxcheck.view import KernelView

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"

KERNEL = (
    HEADER
    + """.visible .entry k()
{
  .reg .b32 %r<4>;
  .shared .align 8 .b64 bar;
  mbarrier.init.shared.b64 [bar], 128;
  bar.sync 0;
  bar.sync 0;
  ret;
}
"""
)

LOCATED = (
    HEADER
    + """.visible .entry _Z4kernPj()
{
  .shared .align 8 .b64 bar;
  .loc 1 10 3
  .loc 2 5 7, function_name $L__info_string0, inlined_at 1 10 3
  mbarrier.init.shared.b64 [bar], 128;
  .loc 1 12 3
  bar.sync 0;
  ret;
}
.file 1 "{cu}"
.file 2 "/usr/local/cuda-13.0/include/cccl/cuda/barrier.h"
.section .debug_str
{
$L__info_string0:
.b8 95,90,78,50,110,115,53,116,119,105,99,101,69,106,0
}
"""
)


def hits_at(op: Op, message: str = "hit") -> Callable[[KernelView], Iterator[Hit]]:
    def check(view: KernelView) -> Iterator[Hit]:
        for point, instruction in enumerate(view.body.instructions):
            if instruction.operation.op is op:
                yield Hit(point, message)

    return check


def crash(view: KernelView) -> Iterator[Hit]:
    raise ValueError(f"cannot do {view.function.name}")
    yield


def rule(
    rule_id: str = "XX001", check: Callable[[KernelView], Iterator[Hit]] | None = None, **changes: Any
) -> Rule:
    made = Rule(
        id=rule_id,
        name=f"rule-{rule_id.lower()}",
        severity=Severity.HANG,
        since="0.1",
        section="PTX ISA §9.7.13",
        summary="A summary.",
        consequence="The kernel hangs.",
        advice="Do it the other way.",
        example=Example.between(KERNEL, KERNEL),
        check=check or hits_at(Op.MBARRIER_INIT, "init here"),
    )
    return replace(made, **changes)


def possible(view: KernelView) -> Iterator[Hit]:
    yield Hit(0, "perhaps", confidence=Confidence.POSSIBLE)


def source(text: str = KERNEL, name: str = "k.ptx") -> Source:
    return Source(name, text)


def hear_interrupts() -> None:
    """Let a child process hear SIGINT, which a shell has ignored where the tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
