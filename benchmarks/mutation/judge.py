"""Verify every kernel of a PTX text for the launch that its directives and comments state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptxcheck.cfg import build
from ptxcheck.ir import Function, Module
from ptxcheck.launch_comments import comment_hints
from ptxcheck.launches import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.positions import Library, Locator
from ptxcheck.protocols.verify import Verification, uses_barriers, verify
from ptxcheck.source import Source
from ptxcheck.verdict import Verdict, VerdictKind

HOLDS = frozenset({VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES})


@dataclass(frozen=True)
class Judged:
    """A kernel and its verdicts, with what is needed to locate their reasons."""

    module: Module
    function: Function
    verification: Verification
    verdicts: tuple[Verdict, ...]

    def line(self, point: int) -> int:
        """Return the line of a program point in the PTX text, 0 for a point that is none."""
        assert self.function.body is not None
        if point < 0:
            return 0
        return self.module.source.position(self.function.body.instructions[point].start).line


def judge(source: Source, *, kernel: str | None = None, seconds: float = 20.0) -> Iterator[Judged]:
    """Yield the verdicts of each kernel of a PTX text, or of the one that is named, in order.

    Raises ValueError when the text is not PTX without syntax errors.
    """
    module = parse_module(source)
    hints = comment_hints(module, Locator(module, Library(), str), [source])
    problems = [*module.problems, *(p for f in module.entries if f.body is not None for p in f.body.problems)]
    if problems:
        raise ValueError(
            f"{source.name}:{source.position(problems[0].span.start).line}: {problems[0].message}"
        )
    for function in module.entries:
        if kernel is None or function.name == kernel:
            launch, _ = launch_of(function, hints)
            result = verify(build(function), function, module, launch, seconds=seconds)
            yield Judged(module, function, result, result.verdicts())


def kernels_with_barriers(source: Source) -> list[str]:
    """Return the names of the kernels that there is something to verify in."""
    return [function.name for function in parse_module(source).entries if uses_barriers(build(function))]
