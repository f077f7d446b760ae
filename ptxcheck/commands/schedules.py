"""`ptxcheck repair --schedules`: every schedule of a kernel that its marks and variations give, proved, then timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import console
from .repair_inputs import CUDA, config_of, prepared, rules_of, text_of
from .repair_options import RepairOptions

if TYPE_CHECKING:
    from ..repair.harness import Harness
    from ..repair.schedules import Candidate
    from ..repair.session import Session
    from ..repair.timing import Comparison


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate, and what the GPU says of it, None when it was not run."""

    candidate: Candidate
    session: Session | None = None

    @property
    def timing(self) -> Comparison | None:
        """Return its time beside that of the text as it is."""
        from ..repair.timing import Comparison

        timing = None if self.session is None else self.session.timing
        return timing if isinstance(timing, Comparison) else None

    @property
    def is_faster(self) -> bool:
        """Tell whether it is right and faster than the text as it is, beyond the noise."""
        is_right = self.session is not None and self.session.is_valid
        return is_right and self.timing is not None and self.timing.second_is_faster


@dataclass(frozen=True, slots=True)
class Schedules:
    """Every candidate in order, the text as it is first. `missing` says which evidence there is none of, and why."""

    rows: tuple[Row, ...]
    missing: str

    @property
    def best(self) -> Row | None:
        """Return the fastest candidate that is proved, right, and faster than the text as it is."""
        faster = [row for row in self.rows if row.is_faster]
        return min(faster, key=_ratio, default=None)


def _ratio(row: Row) -> float:
    assert row.timing is not None
    return row.timing.ratio


def schedules(options: RepairOptions) -> Schedules:
    """Return the schedules of a PTX or CUDA file, run by the harness where there is one and a GPU."""
    harness = _harness(options.harness)
    kernel = options.kernel or (None if harness is None else harness.kernel)
    rows = tuple(Row(each) for each in candidates_of(options.path, kernel, options.config_file))
    if harness is None or options.harness is None:
        return Schedules(rows, "results and time on hardware: no harness is given")
    from ..repair.device import NoDeviceError

    try:
        return Schedules(tuple(_run(rows, Path(options.harness), options)), "")
    except NoDeviceError as error:
        return Schedules(rows, f"results and time on hardware: no usable GPU here: {error}")


def _harness(path: str | None) -> Harness | None:
    from ..repair.harness import HarnessError
    from ..repair.harness_files import load_harness

    try:
        return None if path is None else load_harness(Path(path))
    except HarnessError as error:
        return console.fail(str(error))


def candidates_of(path: str, kernel: str | None, config_file: str | None) -> Iterator[Candidate]:
    """Yield the schedules of a kernel of a PTX or CUDA file, first the text as it is."""
    from ..repair.schedule_marks import ScheduleError, schedules_of
    from ..repair.schedules import candidates
    from ..source import Source

    if path.endswith(CUDA):
        yield from _of_source(path, kernel, config_file)
        return
    text, judge, assembler = prepared(path, config_of(path, config_file))
    name = _named(path, kernel, list(judge.plain(text).views))
    try:
        for setting, variant in schedules_of(Source(path, text)):
            yield from candidates(variant, name, judge, judge.plain, assembler, setting)
    except ScheduleError as error:
        console.fail(str(error))


def _of_source(path: str, kernel: str | None, config_file: str | None) -> Iterator[Candidate]:
    """Yield the schedules of a CUDA file: it is compiled anew for each setting."""
    from ..patching.source_repair import SourceError, SourceJudge
    from ..repair.assemble import find_ptxas
    from ..repair.schedule_marks import ScheduleError, schedules_of
    from ..repair.schedules import candidates, refused
    from ..repair.weighing import Assembler
    from ..source import Source

    config = config_of(path, config_file)
    judge = SourceJudge(path, rules_of(config), config)
    text, ptxas = text_of(path), find_ptxas()
    try:
        for setting, variant in schedules_of(Source(path, text)):
            try:
                compiled = judge(variant)
            except SourceError as error:
                if variant is text:
                    console.fail(f"{path}: {error}; only a source that can be checked in full is scheduled")
                yield refused(kernel or "", setting, str(error))
                continue
            views = compiled.judgement.views
            name = _named(path, kernel, list(views))
            of_ptx = judge.judge_of(variant, compiled.ptx)
            target = next(iter(views.values())).module.targets[0]
            yield from candidates(compiled.ptx, name, of_ptx, of_ptx.plain, Assembler(ptxas, target), setting)
    except ScheduleError as error:
        console.fail(str(error))


def _named(path: str, kernel: str | None, kernels: Sequence[str]) -> str:
    """Return the kernel to schedule: the one that is named, or the only one."""
    if kernel in kernels:
        return str(kernel)
    if kernel is not None:
        return console.fail(f"{path}: no kernel '{kernel}'; there is {', '.join(kernels) or 'none'}")
    if len(kernels) == 1:
        return kernels[0]
    return console.fail(f"{path}: {len(kernels)} kernels; name one with --kernel, or give a harness")


def _run(rows: Sequence[Row], harness: Path, options: RepairOptions) -> Iterator[Row]:
    """Yield the rows, those that hold with what the GPU says of them. Raises NoDeviceError."""
    from ..repair.harness import HarnessError
    from ..repair.session import Plan, run_session
    from .run import delayed_forms

    as_it_is = rows[0].candidate.text
    for row in rows:
        candidate = row.candidate
        if not candidate.holds:
            yield row
            continue
        delayed = delayed_forms(candidate.text, candidate.kernel, 3)
        plan = Plan(candidate.text, delayed, as_it_is, rounds=options.rounds)
        try:
            yield Row(candidate, run_session(harness, plan, limit_seconds=options.limit))
        except HarnessError as error:
            console.fail(str(error))


def schedules_text(found: Schedules) -> str:
    """Return the candidates as a table for people."""
    head = ("", "schedule", "verdict", "shared", "registers", "on the GPU", "time")
    cells = [head, *(_cells(number, row) for number, row in enumerate(found.rows))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    assumptions = sorted({r.candidate.assumption for r in found.rows if r.candidate.assumption})
    lines += [f"changes of statements hold if {each}" for each in assumptions]
    holding = sum(row.candidate.holds for row in found.rows)
    lines.append(f"{holding} of {len(found.rows)} schedules keep the contract")
    if found.missing:
        lines.append(f"evidence that is missing: {found.missing}")
    elif found.best is not None:
        timing = found.best.timing
        assert timing is not None
        lines.append(
            f"fastest: {found.rows.index(found.best)}, {timing.ratio:.3f} of the time as it is "
            f"(95 %: {timing.low:.3f} to {timing.high:.3f})"
        )
    else:
        lines.append("none is faster than the text as it is, beyond the noise")
    return "\n".join(lines) + "\n"


def _cells(number: int, row: Row) -> tuple[str, ...]:
    candidate, timing = row.candidate, row.timing
    used = candidate.resources
    ratio = "" if timing is None else f"{timing.second_median * 1e3:.1f} µs, {timing.ratio:.3f}"
    return (
        str(number),
        _said(candidate),
        candidate.verdict,
        "" if used is None else str(used.shared_bytes),
        "" if used is None else str(used.registers),
        "" if row.session is None else row.session.result.outcome.value,
        ratio,
    )


def _said(candidate: Candidate) -> str:
    numbers = [f"{name} = {value}" for name, value in candidate.setting]
    return ", ".join((*numbers, *candidate.changes)) or "as it is"


def schedules_table(found: Schedules) -> dict[str, Any]:
    """Return the candidates as JSON values."""
    rows = [
        {
            "setting": dict(row.candidate.setting),
            "changes": list(row.candidate.changes),
            "verdict": row.candidate.verdict,
            "holds": row.candidate.holds,
            "if": row.candidate.assumption,
            "shared_bytes": None if row.candidate.resources is None else row.candidate.resources.shared_bytes,
            "registers": None if row.candidate.resources is None else row.candidate.resources.registers,
            "outcome": None if row.session is None else row.session.result.outcome.value,
            "right": None if row.session is None else row.session.is_right,
            "milliseconds": None if row.timing is None else row.timing.second_median,
            "ratio": None if row.timing is None else [row.timing.ratio, row.timing.low, row.timing.high],
        }
        for row in found.rows
    ]
    best = None if found.best is None else found.rows.index(found.best)
    return {
        "schedules": rows,
        "fastest": best,
        "hardware": {"missing": found.missing} if found.missing else {},
    }
