"""Repairs of a CUDA source: patches of its PTX as changes of the source, each compiled and judged again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from ..config import Config
from ..finding import Finding
from ..frontends import (
    Input,
    InputKind,
    NvccOptions,
    launching_files,
    load,
)
from ..launches.host_launches import host_launches
from ..launches.host_maps import passed_hints
from ..launches.launch_comments import comment_hints
from ..parser import parse_module
from ..repair.gate import Judgement, refusal
from ..repair.passing_patches import EFFORT, Judges
from ..repair.patch import Patch
from ..repair.search import repair_finding
from ..repair.source_edits import SourceChange, source_changes
from ..repair.watch import Brake, Watch
from ..repair.weighing import Assembler, Repair, Safety, weigh
from ..rules import Rule
from ..runtime.scratch import scratch_folder
from ..source import Source
from ..sources.positions import Library, Locator
from .judge import TextJudge

_CANDIDATES = 16
"""Sources that are compiled for one patch."""


class SourceError(ValueError):
    """A source that cannot be compiled or checked in full: the message says why."""


@dataclass(frozen=True)
class SourceRepair:
    """One repaired finding: what was done to the source, and which patch of the PTX it stands for."""

    finding: Finding
    summary: str
    safety: Safety
    evidence: tuple[str, ...]
    patches: tuple[Patch, ...]


@dataclass(frozen=True)
class SourceOutcome:
    """What became of the findings of a source."""

    text: str
    repairs: tuple[SourceRepair, ...]
    left: tuple[Finding, ...]
    only_ptx: tuple[tuple[Finding, str], ...]
    """Findings that are left for which there is a repair of the PTX, and what it does."""
    was_braked: bool = False
    """True when the clock ended the search, not counted effort."""


@dataclass(frozen=True)
class Compiled:
    """A source text, its PTX, and what the checker says of that."""

    text: str
    ptx: str
    judgement: Judgement


@dataclass
class SourceJudge:
    """Compiles the text of a CUDA file as if it stood in the file's place, and judges the PTX."""

    path: str
    rules: Sequence[Rule]
    config: Config
    _known: dict[str, Compiled] = field(default_factory=dict)

    @cached_property
    def _beside(self) -> tuple[str, ...]:
        return launching_files(self.path, self.config.nvcc.compile_commands)

    def __call__(self, text: str) -> Compiled:
        """Return what comes of a text. Raises SourceError."""
        if text not in self._known:
            self._known[text] = self._compiled(text)
        return self._known[text]

    def judge_of(self, text: str, ptx: str) -> TextJudge:
        """Return the judge of patched forms of the PTX of a text."""
        host = Source(self.path, text)
        name = f"{self.path}.ptx"
        module = parse_module(Source(name, ptx))
        locator = Locator(module, Library(self.config.library_prefixes), self.shown)
        hints = (*comment_hints(module, locator, [host]), *passed_hints(module, host))
        return TextJudge(
            name,
            self.rules,
            self.config,
            hints,
            host_launches(module, host, self.path, self._beside),
            self.shown,
        )

    def _compiled(self, text: str) -> Compiled:
        with scratch_folder() as folder:
            path = Path(folder) / Path(self.path).name
            path.write_text(text, encoding="utf-8")
            parent = str(Path(self.path).absolute().parent)
            options: NvccOptions = replace(self.config.nvcc, includes=(*self.config.nvcc.includes, parent))
            loaded = load(Input(str(path), InputKind.CUDA), options)
        if loaded.source is None or loaded.problems:
            first = loaded.problems[0]
            detail = (first.detail or "").replace(str(path), self.path)
            raise SourceError(f"{first.message}\n{detail}".strip())
        judgement = self.judge_of(text, loaded.source.text)(loaded.source.text)
        if judgement.problems:
            raise SourceError(judgement.problems[0])
        return Compiled(text, loaded.source.text, judgement)

    def shown(self, path: str) -> str:
        """Return the user's name of the file that was compiled elsewhere."""
        return self.path if Path(path).name == Path(self.path).name else path


def repair_source(
    text: str,
    judge: SourceJudge,
    ptxas: str | None,
    *,
    unsafe: bool = True,
    only: Callable[[Finding], bool] | None = None,
    watch: Watch | None = None,
    effort: float = EFFORT,
    seconds: float = math.inf,
) -> SourceOutcome:
    """Repair what can be repaired in the source, one finding after the other. Raises SourceError.

    With `only`, findings that it refuses are left as they are. `effort` is for one finding; when `seconds` of processor
    time are over no patch is tried any more, and the outcome says so.
    """
    watch, brake = watch or Watch(), Brake(seconds)
    state = judge(text)
    repairs: list[SourceRepair] = []
    only_ptx: dict[tuple[str, str | None, str], tuple[Finding, str]] = {}
    given_up: set[tuple[str, str | None, str]] = set()
    while True:
        wanted = (f for f in state.judgement.findings if only is None or only(f))
        target = next((f for f in wanted if _key(f) not in given_up), None)
        if target is None:
            left = state.judgement.findings
            return SourceOutcome(
                state.text,
                tuple(repairs),
                left,
                tuple(only_ptx[_key(f)] for f in left if _key(f) in only_ptx),
                brake.was_pulled,
            )
        watch.begins(target)
        ptx_judge = judge.judge_of(state.text, state.ptx)
        assembler = Assembler(ptxas, _target(state))
        judges = Judges(
            ptx_judge, ptx_judge.rules_only, ptx_judge.brief, ptx_judge.plain, brake, watch, effort
        )
        found = repair_finding(state.ptx, state.judgement, target, judges, assembler, unsafe=unsafe)
        done = None if found is None else _translated(state, found, judges, judge, assembler, unsafe=unsafe)
        if done is None:
            given_up.add(_key(target))
            if found is not None:
                only_ptx[_key(target)] = (target, "; ".join(patch.summary for patch in found.patches))
            continue
        state, repaired = done
        repairs.append(repaired)
        watch.keeps(target, repaired.summary, state.text)


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.rule, finding.kernel, finding.message


def _target(state: Compiled) -> str:
    view = next(iter(state.judgement.views.values()), None)
    return "" if view is None else view.module.targets[0]


def _translated(
    state: Compiled, found: Repair, judges: Judges, judge: SourceJudge, assembler: Assembler, *, unsafe: bool
) -> tuple[Compiled, SourceRepair] | None:
    """Return the first change of the source that passes the gate as the patch did."""
    if len(found.patches) > 1:
        return None  # the second patch is one of a text that no source has
    view = state.judgement.views[found.finding.kernel or ""]
    lines_of = _lines_of(state, judge, found.finding.kernel or "")
    changes = islice(source_changes(state.text, view, found.patches[0], lines_of), _CANDIDATES)
    for count, change in enumerate(changes, found.tried):
        if judges.brake.is_pulled():
            return None
        judges.watch.tries(count, f"compiling: {change.summary}")
        try:
            after = judge(change.text)
        except SourceError:
            continue
        if refusal(state.judgement, after.judgement, found.finding) is not None:
            continue
        done = _weighed(state, after, found, change, assembler)
        if done is not None and (unsafe or done.safety is Safety.SAFE):
            return after, done
    return None


def _weighed(
    state: Compiled, after: Compiled, found: Repair, change: SourceChange, assembler: Assembler
) -> SourceRepair | None:
    repaired = weigh(
        state.ptx, found.finding, found.patches, after.ptx, state.judgement, after.judgement, assembler
    )
    if repaired is None:
        return None
    evidence = ("nvcc compiles it", *repaired.evidence)
    return SourceRepair(found.finding, change.summary, repaired.safety, evidence, found.patches)


def _lines_of(state: Compiled, judge: SourceJudge, kernel: str) -> Callable[[int], tuple[int, ...]]:
    view = state.judgement.views[kernel]
    locator = Locator(view.module, Library(judge.config.library_prefixes), judge.shown)

    def lines(point: int) -> tuple[int, ...]:
        frames = locator.frames(view.function, point)
        return tuple(dict.fromkeys(f.position.line for f in frames if f.position.file == judge.path))

    return lines
