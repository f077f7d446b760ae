"""Verify every kernel of a PTX text for the launch that its directives and comments state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import ptxcheck
from ptxcheck.cfg import build
from ptxcheck.cfg.cfg import Cfg
from ptxcheck.cfg.inlining import kernels_of
from ptxcheck.config import Config
from ptxcheck.finding import Severity
from ptxcheck.ir import Function, Module
from ptxcheck.launch import Launch
from ptxcheck.launches.hints import LaunchHint, launch_of
from ptxcheck.launches.launch_comments import comment_hints
from ptxcheck.parser import parse_module
from ptxcheck.pipeline.device_map_verdicts import descriptor_verdicts
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.typestate.accumulators import accumulator_verdict
from ptxcheck.protocols.typestate.global_order import global_order_verdict
from ptxcheck.protocols.typestate.tensor_cores import tensor_core_verdicts
from ptxcheck.protocols.verify import verify
from ptxcheck.source import Source
from ptxcheck.sources.positions import Library, Locator
from ptxcheck.verdict import Property, Verdict, VerdictKind
from ptxcheck.view import KernelView

_NOT_WRONG = (Severity.SLOW, Severity.NOTE)
HOLDS = frozenset({VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES})


@dataclass(frozen=True)
class Judged:
    """A kernel and its verdicts, with what is needed to locate their reasons."""

    locator: Locator
    function: Function
    verification: Verification
    verdicts: tuple[Verdict, ...]
    of_units: tuple[Verdict, ...]
    """What needs no run of the whole kernel: registers, descriptors and tensor memory of the matrix units, how tensor
    maps are handed over that it makes, and the order of what CTAs hand over."""

    def lines(self, point: int) -> frozenset[int]:
        """Return the lines of a program point: in PTX, or in the CUDA source, of all inlined calls around it."""
        if point < 0:
            return frozenset()
        location = self.locator.location(self.function, point)
        positions = [frame.position for frame in location.frames] or [location.ptx]
        return frozenset(position.line for position in positions)


def rules_that_fire(text: str, *, pedantic: bool = False) -> Counter[str]:
    """Return how often rules about one thread call a PTX text wrong."""
    report = ptxcheck.check(Source("kernel.ptx", text), config=Config(verify=False, pedantic=pedantic))
    return Counter(finding.rule for finding in report.active if finding.severity not in _NOT_WRONG)


def launched(source: Source, kernel: str) -> tuple[Cfg, Function, Module, Launch]:
    """Return a kernel of a PTX text with the launch that its directives and comments state."""
    module = parse_module(source)
    hints = comment_hints(module, Locator(module, Library(), lambda path: path), [source])
    function = next(each for each in kernels_of(module) if each.name == kernel)
    return build(function), function, module, launch_of(function, hints)[0]


def judge(
    source: Source,
    *,
    kernel: str | None = None,
    seconds: float = 20.0,
    origin: Source | None = None,
    launch: tuple[LaunchHint, ...] = (),
    for_every_count: bool = True,
) -> Iterator[Judged]:
    """Yield the verdicts of each kernel of a PTX text, or of the one that is named, in order.

    `origin` is the text that it was compiled from, for its launch comments. Raises ValueError when the text is not
    PTX without syntax errors. With `for_every_count`, the product of role automata is asked first.
    """
    module = parse_module(source)
    locator = Locator(module, Library(), lambda path: origin.name if origin else path)
    hints = (*launch, *comment_hints(module, locator, [source, *([origin] if origin else [])]))
    problems = [*module.problems, *(p for f in module.entries if f.body is not None for p in f.body.problems)]
    if problems:
        raise ValueError(
            f"{source.name}:{source.position(problems[0].span.start).line}: {problems[0].message}"
        )
    for function in kernels_of(module):
        if kernel is None or function.name == kernel:
            shape, _ = launch_of(function, hints)
            result = verify(
                build(function), function, module, shape, seconds=seconds, for_every_count=for_every_count
            )
            view = KernelView(module, function, shape)
            registers = accumulator_verdict(view)
            of_maps = (v for v in descriptor_verdicts(view) if v.property is Property.DESCRIPTOR_ORDER)
            order = global_order_verdict(view.in_registers)
            found = (each for each in (registers, order) if each is not None)
            of_units = (*found, *tensor_core_verdicts(view), *of_maps)
            yield Judged(locator, function, result, result.verdicts(), of_units)
