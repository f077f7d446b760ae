"""A kernel of the campaigns: one entry of a PTX file, the launch that is given, and what is said of it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ptxcheck.cfg.inlining import kernels_of
from ptxcheck.explain.races import ordinary_kernel
from ptxcheck.explain.violations import concerns
from ptxcheck.launch import Dim
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.verdict import Verdict, VerdictKind
from ptxcheck.view import KernelView

SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a kernel, and the processor time that this took."""

    name: str
    verdicts: tuple[Verdict, ...]
    findings: tuple[str, ...]
    """Texts of what is certain."""
    seconds: float
    failure: str = ""
    with_some_data: tuple[str, ...] = ()
    """Texts of races that runs with some contents of global memory have."""

    @property
    def kind(self) -> str:
        """Return the worst verdict; "not judged" where there is none."""
        order = ("violated", "unknown", "assumes", "proved")
        kinds = {verdict.kind.value for verdict in self.verdicts}
        return next((each for each in order if each in kinds), "not judged")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why something is not decided."""
        open_ = (each for each in self.verdicts if each.kind is VerdictKind.UNKNOWN)
        return tuple(f"{each.property.value}: {reason.text}" for each in open_ for reason in each.reasons)


def views(text: str, name: str, block: Dim | None = None) -> Iterator[KernelView]:
    """Yield the kernels of a PTX text that are of this campaign, launched with all threads that they allow."""
    module = parse_module(Source(name, text))
    for function in kernels_of(module):
        if function.body is None:
            continue
        launch = from_directives(function)
        given = block or launch.block
        if given is not None:
            launch = replace(launch, block=given, block_is_exact=True)
        view = KernelView(module, function, launch, verify_seconds=SECONDS)
        if not concerns(view):
            yield view


def answer(view: KernelView) -> Answer:
    """Judge one kernel."""
    begin = time.process_time()
    found = view.get(ordinary_kernel)
    seconds = time.process_time() - begin
    if found is None:
        return Answer(view.function.name, (), (), seconds)
    judgement = found.judgement
    told = [f"{race.points}: {race.message}" for race in judgement.races]
    told += [f"{each.points}: {each.message}" for each in judgement.divergences]
    some = tuple(f"{race.points}: {race.message}" for race in judgement.with_some_data)
    return Answer(view.function.name, found.verdicts, tuple(told), seconds, found.failure, some)


def alone(view: KernelView, *, in_place: bool = True) -> str:
    """Return the module with one kernel only; `in_place`: what is cut out is blank, so that places stay."""
    text = view.module.source.text
    for other in view.module.entries:
        if other is not view.function:
            cut = text[other.span.start : other.span.end]
            text = text[: other.span.start] + _blank(cut) + text[other.span.end :]
    return text if in_place else re.sub(r"[ \n]{2,}", "\n", text)


def _blank(text: str) -> str:
    return "".join(each if each == "\n" else " " for each in text)


def files(folder: Path) -> list[Path]:
    """Return the PTX files of a folder, in order."""
    return sorted(folder.rglob("*.ptx"))
