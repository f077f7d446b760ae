"""Checks one file and makes the page of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..checker import Target, check
from ..config import Config
from ..finding import Finding
from ..report.json import render_json, rule_object
from ..report.plain import summary
from ..report.verdicts import detail_lines, launch_line
from ..results import KernelResult, Problem, Report
from ..sources.demangled_names import kernel_name, short_name
from ..sources.files import Files
from ..sources.positions import Locator
from ..view import KernelView
from .document import d3, document
from .pictures import Picture, picture
from .places import cut

MOST_BYTES = 24_000_000
"""Data of drawings that one page holds; kernels beyond are listed without drawings."""


class NoKernelError(Exception):
    """There is nothing to show; the message says why, and `problems` what else was wrong."""

    def __init__(self, message: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(message)
        self.problems = problems


@dataclass(frozen=True)
class Page:
    """The page as HTML, and the report that it shows."""

    text: str
    report: Report


def build_page(target: Target, title: str, config: Config, kernel: str | None = None) -> Page:
    """Check one file, or text, and return its page; with `kernel` only that kernel's part.

    Raises NoKernelError when there is no kernel to show.
    """
    gallery = _Gallery(kernel)
    report = check(target, config=config, observe=gallery.add)
    _require_kernels(report, kernel)
    if kernel is not None:
        report = _only(report, kernel)
    return Page(document(_data(title, report, gallery), f"{title} · ptxcheck", [d3()]), report)


@dataclass
class _Gallery:
    """Collects the pictures of kernels as they are checked."""

    kernel: str | None
    pictures: list[Picture] = field(default_factory=list)
    _bytes: int = 0

    def add(self, view: KernelView, locator: Locator, files: Files) -> None:
        wanted = self.kernel is None or _is_called(view.function.name, self.kernel)
        if wanted and self._bytes <= MOST_BYTES:
            made = picture(view, locator, files)
            self._bytes += len(json.dumps([made.data, [run.data for run in made.runs]]))
            self.pictures.append(made)


def _is_called(name: str, wanted: str) -> bool:
    """Tell whether a kernel has a name, or the short form of a C++ name."""
    return wanted in (name, short_name(name), kernel_name(name))


def _require_kernels(report: Report, kernel: str | None) -> None:
    names = [result.name for result in report.kernels if result.entry]
    if not names:
        raise NoKernelError("there is no kernel to show", report.problems)
    if kernel is not None and not any(_is_called(name, kernel) for name in names):
        shown = ", ".join(cut(kernel_name(name), 80) for name in names[:20])
        more = ", …" if len(names) > 20 else ""
        raise NoKernelError(f"no kernel is called {kernel}; there are: {shown}{more}", report.problems)


def _only(report: Report, kernel: str) -> Report:
    """Return the part of a report that is about one kernel, or about no kernel."""
    return replace(
        report,
        findings=tuple(f for f in report.findings if f.kernel is None or _is_called(f.kernel, kernel)),
        kernels=tuple(k for k in report.kernels if _is_called(k.name, kernel)),
        notes=tuple(n for n in report.notes if n.kernel is None or _is_called(n.kernel, kernel)),
    )


def _data(title: str, report: Report, gallery: _Gallery) -> dict[str, Any]:
    """Return everything that the page shows."""
    pictures = {made.name: made for made in gallery.pictures}
    whole = json.loads(render_json(report))
    kernels = [kernel for kernel in report.kernels if kernel.entry]
    active = report.active
    shown = set(map(id, active))
    return {
        "title": title,
        "version": whole["tool"]["version"],
        "summary": summary(report),
        "findings": [
            _finding(told, finding, pictures)
            for told, finding in zip(whole["findings"], report.findings, strict=True)
            if id(finding) in shown
        ],
        "problems": whole["problems"],
        "notes": whole["notes"],
        "rules": {
            rule.id: rule_object(rule)
            for rule in report.rules
            if any(finding.rule == rule.id for finding in active)
        },
        "lines": [[file, line, cut(text)] for (file, line), text in sorted(report.lines.items())],
        "kernels": [
            _kernel(kernel, told, pictures.get(kernel.name), active)
            for kernel, told in zip(kernels, (k for k in whole["kernels"] if k["entry"]), strict=True)
        ],
    }


def _finding(told: dict[str, Any], finding: Finding, pictures: dict[str, Picture]) -> dict[str, Any]:
    """Return a finding with readable names, and the number of the run that shows it."""
    for location in (told["location"], *(related["location"] for related in told["related"])):
        for frame in location["frames"]:
            frame["function"] = frame["function"] and short_name(frame["function"])
    short = kernel_name(finding.kernel or "")
    return {**told, "counterexample": None, "short": short, "run": _run_of(finding, pictures)}


def _kernel(
    kernel: KernelResult, told: dict[str, Any], made: Picture | None, active: Sequence[Finding]
) -> dict[str, Any]:
    table = kernel.verification
    shown = None if made is None else {**made.data, "runs": list(_runs(made, active))}
    return {
        **told,
        "short": kernel_name(kernel.name),
        "launched": "" if table is None else launch_line(table),
        "details": [] if table is None else [[word, cut(text, 600)] for word, text in detail_lines(table)],
        "picture": shown,
    }


def _runs(made: Picture, active: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    """Yield the runs of a kernel with the numbers of their findings among those that are shown."""
    for run in made.runs:
        numbers = [
            number
            for number, finding in enumerate(active)
            if run.counterexample is not None
            and finding.kernel == made.name
            and finding.counterexample == run.counterexample
        ]
        yield {**run.data, "finding": numbers[0] if numbers else None}


def _run_of(finding: Finding, pictures: dict[str, Picture]) -> int | None:
    """Return the number of the run that shows a finding."""
    made = pictures.get(finding.kernel or "")
    if made is None or finding.counterexample is None:
        return None
    told = [run.counterexample for run in made.runs]
    return told.index(finding.counterexample) if finding.counterexample in told else None
