"""The pipeline: inputs → PTX → kernels → rules → findings → suppressions → report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatch
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from .config import Config
from .explain.violations import whole_kernel
from .finding import Finding, Severity
from .frontends import (
    HOST_SUFFIXES,
    STANDARD_INPUT_NAME,
    Input,
    InputKind,
    Loaded,
    compiler_state,
    discover,
    load,
    with_embedded,
)
from .ir import Function, Module
from .launches.hints import LaunchHint, launch_of, tensor_maps_of
from .launches.host_maps import passed_hints
from .launches.launch_comments import comment_hints
from .pipeline.rules_on_host_code import evaluate_host
from .pipeline.rules_on_kernels import evaluate
from .results import (
    KernelResult,
    Note,
    NoteKind,
    Problem,
    ProblemKind,
    Report,
    RuleInfo,
)
from .runtime.cache import Cache, digest, file_digest
from .runtime.collector import Pause, paused
from .runtime.executors import Executor, Serial
from .runtime.plugins import rule_packages
from .runtime.profile import Profile
from .source import Position, Source
from .sources.comments import Comment, comments
from .sources.files import Files
from .sources.positions import Library, Locator
from .triage.suppress import names_rule, suppress
from .view import KernelView

if TYPE_CHECKING:
    from .rules import Rule

_KERNELS_IN_FULL = 4
"""Kernels of a file that may take all the time for verification before the others get a share of it."""
_LEAST_SHARE = 20
_RELIEF = 20_000
"""Instructions to check between two collections of garbage."""

Target: TypeAlias = str | os.PathLike[str] | Source
"""A path, a folder, a glob, `-`, or PTX text."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Told how many inputs are done, how many there are, and the first that is not done."""

Observe: TypeAlias = Callable[[KernelView, Locator, Files], None]
"""Told each kernel that was checked while its analyses are at hand, where its points are and what may be shown."""


def check(
    target: Target | Sequence[Target],
    *,
    config: Config | None = None,
    rules: Sequence[Rule] | None = None,
    progress: Progress | None = None,
    cache: Cache | None = None,
    executor: Executor | None = None,
    profile: Profile | None = None,
    choose: Callable[[Input], bool] | None = None,
    observe: Observe | None = None,
) -> Report:
    """Check kernels and return what was found.

    `target` is one or several of: a path to a `.ptx` or `.cu` file, a folder, a glob, `-` for PTX on
    standard input, or a `Source` with PTX text. `rules` replaces the rules of the package; they run in this
    process. `cache` keeps results between calls; `executor` says where inputs are worked on; neither changes
    the report. `profile` is told where the time goes, `observe` of each kernel; neither cache nor executor is
    used then. Of the files found, those that `choose` refuses are left out.

    Nothing is raised for bad input: see `Report.problems`. Raises `rules.UnknownSelectorError` when the
    configuration selects a rule that does not exist, `rules.PluginError` when another package's rules are unusable.

    >>> report = check(Source("k.ptx", text))
    >>> [(f.rule, f.location.primary.line) for f in report.findings]
    """
    config = config or Config()
    infos = _known_infos(config, cache) if rules is None else _infos(_chosen_rules(rules, config))
    units, problems = _units(target, config)
    if choose is not None:
        units = tuple(unit for unit in units if isinstance(unit, Source) or choose(unit))
    if profile is not None or observe is not None:
        cache, executor = None, None
    identity = "" if cache is None else digest(repr(config), repr(infos), rule_packages(), os.getcwd())
    work = _Work(config, None if rules is None else tuple(rules), cache, identity, profile, observe)
    parts = _parts(work, units, Serial() if executor is None or rules is not None else executor, progress)
    if cache is not None:
        cache.prune()
    unused = _unused_values(config.launch, [kernel for part in parts for kernel in part.kernels])
    return _merged([_Part(problems=(*problems, *unused)), *parts], tuple(unit.name for unit in units), infos)


def _unused_values(hints: Sequence[LaunchHint], kernels: Sequence[KernelResult]) -> Iterator[Problem]:
    """Yield a problem for each given value that no kernel has a parameter for."""
    taken = {value.name for kernel in kernels for value in kernel.launch.given}
    taken |= {fact.name for kernel in kernels for fact in kernel.launch.facts}
    for hint in hints:
        for name in (*(name for name, _ in hint.values), *(condition.place for condition in hint.conditions)):
            if name not in taken:
                message = f"no kernel that was checked has a parameter {name}"
                yield Problem(ProblemKind.SETTING, message, Position(hint.origin, 0))


def _known_infos(config: Config, cache: Cache | None) -> tuple[RuleInfo, ...]:
    """Return the texts of the chosen rules; with a cache, without importing the rules a second time."""
    if cache is None or f"{__package__}.rules" in sys.modules:
        return _infos(_chosen_rules(None, config))
    key = cache.key("rules", repr(config), rule_packages())
    kept = cache.get(key)
    if isinstance(kept, tuple) and all(isinstance(info, RuleInfo) for info in kept):
        return kept
    infos = _infos(_chosen_rules(None, config))
    cache.put(key, infos, (), time.time())
    return infos


def _infos(rules: Sequence[Rule]) -> tuple[RuleInfo, ...]:
    from .rules import info_of

    return tuple(info_of(rule) for rule in rules)


def _chosen_rules(rules: Sequence[Rule] | None, config: Config) -> tuple[Rule, ...]:
    from .rules import check_selectors, known_rules, select_rules

    known = known_rules() if rules is None else rules
    check_selectors(known, config.severity)
    for selectors in config.per_file_ignores.values():
        check_selectors(known, selectors)
    return select_rules(
        known, config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )


_Unit: TypeAlias = Input | Source
"""What one job is about."""


def _units(
    target: Target | Sequence[Target], config: Config
) -> tuple[tuple[_Unit, ...], tuple[Problem, ...]]:
    """Return what is to be checked, texts first, and what could not be found."""
    targets: Iterable[Target] = [target] if isinstance(target, str | os.PathLike | Source) else target
    texts: list[_Unit] = []
    paths: list[str] = []
    for one in targets:
        if isinstance(one, Source):
            texts.append(one)
        else:
            paths.append(os.fspath(one))
    found, problems = discover(paths, config.exclude)
    units, complaints = with_embedded(found)
    return (*texts, *units), (*problems, *complaints)


@dataclass(frozen=True)
class _Part:
    """What one input adds to the report."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    kernels: tuple[KernelResult, ...] = ()
    lines: tuple[tuple[tuple[str, int], str], ...] = ()
    reads: tuple[str, ...] = ()
    """Absolute paths of the other files that this rests on."""


@dataclass(frozen=True)
class _Work:
    """Everything that checking one input takes besides the input; sent to other processes as it is."""

    config: Config
    own_rules: tuple[Rule, ...] | None
    cache: Cache | None
    identity: str
    """Digest of what every result depends on."""
    profile: Profile | None = None
    observe: Observe | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the chosen rules, which other processes choose themselves: not every check can be sent."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _rules(self) -> tuple[Rule, ...]:
        rules = _chosen_rules(self.own_rules, self.config)
        return rules if self.profile is None else self.profile.rules(rules)

    def __call__(self, unit: _Unit) -> _Part:
        """Check an input, and keep the result when it is sure to be the same next time."""
        since = time.time()
        key = self._key(unit)
        with _activity(self.profile, "read"):
            loaded = _loaded(unit, self.config)
        part = _check_input(loaded, self._rules, self.config, self.profile, self.observe)
        result = replace(part, reads=())
        if self.cache is not None and key is not None and _lasting(part) and self._key(unit) == key:
            self.cache.put(key, result, part.reads, since)
        return result

    def kept(self, unit: _Unit) -> _Part | None:
        """Return the result of an earlier run, if there is one."""
        key = self._key(unit)
        found = None if self.cache is None or key is None else self.cache.get(key)
        return found if isinstance(found, _Part) else None

    def _key(self, unit: _Unit) -> str | None:
        """Return the name of the result in the cache; None when it cannot be kept."""
        if self.cache is None:
            return None
        if isinstance(unit, Source):
            return self.cache.key(self.identity, "text", unit.name, unit.text)
        content = file_digest(unit.path)
        state = compiler_state(unit, self.config.nvcc)
        if content is None or state is None:
            return None
        return self.cache.key(self.identity, unit.kind.value, unit.path, content, *state)


def _lasting(part: _Part) -> bool:
    """Tell whether a result depends on nothing but files: not on a compiler, on time or on luck."""
    in_time = not any(kernel.verification and kernel.verification.out_of_time for kernel in part.kernels)
    return in_time and all(
        problem.kind not in (ProblemKind.TOOL, ProblemKind.COMPILER) for problem in part.problems
    )


def _loaded(unit: _Unit, config: Config) -> Loaded:
    if isinstance(unit, Source):
        if unit.name.lower().endswith(tuple(HOST_SUFFIXES)):
            return Loaded(Input(unit.name, InputKind.HOST), None, host=unit)
        return Loaded(Input(unit.name, InputKind.PTX), unit)
    return load(unit, config.nvcc)


def _parts(work: _Work, units: Sequence[_Unit], executor: Executor, progress: Progress | None) -> list[_Part]:
    """Return the result of each input, in order: from the cache, or worked out."""
    parts = [work.kept(unit) for unit in units]
    missing = [index for index, part in enumerate(parts) if part is None]
    results = _results(work, executor, [units[index] for index in missing])
    pending = dict.fromkeys(missing)
    _tell(progress, units, pending)
    for place, part in results:
        parts[missing[place]] = part
        del pending[missing[place]]
        _tell(progress, units, pending)
    return [part for part in parts if part is not None]


def _results(work: _Work, executor: Executor, units: Sequence[_Unit]) -> Iterator[tuple[int, _Part]]:
    """Yield the result of each input; standard input is this process's own and is read here."""
    here = [index for index, unit in enumerate(units) if unit.name == STANDARD_INPUT_NAME]
    elsewhere = [index for index in range(len(units)) if index not in here]
    for places, chosen in ((here, Serial()), (elsewhere, executor)):
        for place, part in chosen.run(work, [units[index] for index in places], _lost):
            yield places[place], part


def _tell(progress: Progress | None, units: Sequence[_Unit], pending: dict[int, None]) -> None:
    if progress is not None and pending:
        progress(len(units) - len(pending), len(units), units[next(iter(pending))].name)


def _lost(unit: _Unit, why: str) -> _Part:
    message = f"the process that checked this file failed: {why}"
    return _Part(problems=(Problem(ProblemKind.TOOL, message, Position(unit.name, 0)),))


def _activity(profile: Profile | None, name: str) -> AbstractContextManager[None]:
    return nullcontext() if profile is None else profile.activity(name)


class _Allowance:
    """Time for the verification of the kernels of one file: a few may take all of theirs, then the rest gets less."""

    def __init__(self, config: Config) -> None:
        self._each = config.verify_seconds if config.verify else None
        self._left = config.verify_seconds * _KERNELS_IN_FULL

    @property
    def seconds(self) -> float | None:
        """Return the time for the next kernel; None when there is no verification."""
        return None if self._each is None else min(self._each, max(self._left, self._each / _LEAST_SHARE))

    def take(self, view: KernelView) -> None:
        """Count what a kernel took."""
        whole = view.get(whole_kernel) if view.has(whole_kernel) else None
        self._left -= 0.0 if whole is None else whole.result.seconds


def _check_input(
    loaded: Loaded,
    rules: Sequence[Rule],
    config: Config,
    profile: Profile | None = None,
    observe: Observe | None = None,
) -> _Part:
    with paused(_RELIEF) as pause, _activity(profile, "locate and suppress"):
        return _check_source(loaded, rules, config, pause, profile, observe)


def _check_source(
    loaded: Loaded,
    rules: Sequence[Rule],
    config: Config,
    pause: Pause,
    profile: Profile | None,
    observe: Observe | None,
) -> _Part:
    """Check one input: parse it, run the rules on each function with a body, apply suppressions."""
    host = _check_host(loaded, rules, config)
    if loaded.source is None:
        return host if loaded.host is None else _finished_host(host, loaded.host, loaded, rules, config)
    try:
        from .parser import parse_module

        with _activity(profile, "parse"):
            module = parse_module(loaded.source)
    except Exception as error:
        return _Part(problems=(*loaded.problems, _parser_failure(loaded.source, error)))
    pause.settle(len(loaded.source.text))
    files = Files.of(loaded.origins, config.source_roots)
    locator = Locator(module, Library(config.library_prefixes), files.shown)
    main = [loaded.source, *filter(None, (files.source(files.shown(path)) for path in loaded.origins[:1]))]
    hints = (
        *config.launch, *comment_hints(module, locator, main), *passed_hints(module, loaded.host), *loaded.hints
    )  # fmt: skip
    part = replace(
        host, problems=(*host.problems, *_syntax_problems(module)), reads=host.reads + loaded.reads
    )
    allowance = _Allowance(config)

    def show(view: KernelView) -> None:
        if observe is not None and view.function.is_entry:
            observe(view, locator, files)

    for function in module.functions:
        if function.body is not None:
            view = KernelView if profile is None else profile.view
            part = _joined(
                part, _check_function(module, function, rules, config, locator, hints, view, allowance, show)
            )
            pause.relieve(len(function.body.instructions))
    return _finished(part, [source.name for source in main], loaded.source, files, rules, config)


def _check_host(loaded: Loaded, rules: Sequence[Rule], config: Config) -> _Part:
    """Run the rules about host code, which need no compiler."""
    if loaded.host is None:
        return _Part(problems=loaded.problems)
    severities = _severities(rules, config)
    result = evaluate_host(loaded.host, rules, severities, possible=config.possible, arch=config.nvcc.arch)
    problems = (*loaded.problems, *result.problems)
    return _Part(result.findings, problems, result.notes, reads=result.reads)


def _finished_host(
    part: _Part, source: Source, loaded: Loaded, rules: Sequence[Rule], config: Config
) -> _Part:
    """Apply suppressions to a file without PTX. Where a compiler failed, unused ones say nothing."""
    owned = [source.name] if loaded.input.kind is InputKind.HOST else []
    return _finished(part, owned, source, Files.of((), config.source_roots), rules, config)


def _parser_failure(source: Source, error: Exception) -> Problem:
    message = "the parser failed on this file; this is a bug of ptxcheck, please report it"
    return Problem(
        ProblemKind.TOOL, message, Position(source.name, 0), detail=f"{type(error).__name__}: {error}"
    )


def _syntax_problems(module: Module) -> list[Problem]:
    located = [(problem, None) for problem in module.problems] + [
        (problem, function.name)
        for function in module.functions
        if function.body is not None
        for problem in function.body.problems
    ]
    return [
        Problem(ProblemKind.SYNTAX, problem.message, module.source.position(problem.span.start), kernel)
        for problem, kernel in located
    ]


def _check_function(
    module: Module,
    function: Function,
    rules: Sequence[Rule],
    config: Config,
    locator: Locator,
    hints: Sequence[LaunchHint],
    view_class: type[KernelView],
    allowance: _Allowance,
    show: Callable[[KernelView], None],
) -> _Part:
    launch, complaints = launch_of(function, hints)
    maps, unknown = tensor_maps_of(function, hints)
    view = view_class(module, function, launch, allowance.seconds, tensor_maps=maps)
    severities = _severities(rules, config)
    result = evaluate(view, rules, locator, severities, possible=config.possible)
    allowance.take(view)
    show(view)
    position = locator.head(function)
    settings = [
        Problem(ProblemKind.SETTING, text, position, function.name) for text in (*complaints, *unknown)
    ]
    return _Part(result.findings, (*settings, *result.problems), result.notes, (result.kernel,))


def _severities(rules: Sequence[Rule], config: Config) -> dict[str, Severity]:
    """Return the severity of each rule that the configuration changes; the longest prefix counts."""
    found: dict[str, Severity] = {}
    for selector in sorted(config.severity, key=len):
        for rule in rules:
            if names_rule(selector, rule.id, rule.name):
                found[rule.id] = config.severity[selector]
    return found


def _finished(
    part: _Part, owned: Sequence[str], source: Source, files: Files, rules: Sequence[Rule], config: Config
) -> _Part:
    """Drop repeated and ignored findings, apply suppressions, and fetch the lines that will be shown."""
    findings = [finding for finding in _distinct(part.findings) if not _ignored(finding, source, config)]
    texts = {source.name: source}
    for finding in findings:
        for frame in finding.location.frames:
            text = files.source(frame.position.file)
            if text is not None:
                texts[text.name] = text
    for name in owned:
        texts.setdefault(name, files.source(name) or source)
    said: dict[str, Sequence[Comment]] = {name: comments(text) for name, text in texts.items()}
    suppressed = suppress(findings, said, _infos(rules), owned)
    notes = (*part.notes, *suppressed.notes, *_line_info_hint(suppressed.findings, source))
    positions = [position for finding in findings for position in _positions(finding)]
    positions += [problem.position for problem in part.problems] + [note.position for note in notes]
    lines = tuple(
        ((place.file, place.line), texts[place.file].line_text(place.line))
        for place in positions
        if place.file in texts and place.line > 0
    )
    reads = part.reads + files.opened
    return replace(part, findings=suppressed.findings, notes=notes, lines=lines, reads=reads)


def _positions(finding: Finding) -> list[Position]:
    locations = [finding.location, *(related.location for related in finding.related)]
    return [location.ptx for location in locations] + [
        frame.position for location in locations for frame in location.frames
    ]


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Keep one finding of each rule and message at one place: unrolled copies say nothing new."""
    kept: dict[object, Finding] = {}
    for finding in findings:
        location = finding.location
        place = location.frames if location.shown is not None else location.ptx
        kept.setdefault((finding.rule, finding.kernel, finding.message, place), finding)
    return list(kept.values())


def _ignored(finding: Finding, source: Source, config: Config) -> bool:
    names = {source.name, source.name.removesuffix(".ptx"), finding.location.primary.file}
    return any(
        names_rule(selector, finding.rule, finding.name)
        for pattern, selectors in config.per_file_ignores.items()
        if any(fnmatch(name, pattern) or fnmatch(name, f"*/{pattern}") for name in names)
        for selector in selectors
    )


def _line_info_hint(findings: Sequence[Finding], source: Source) -> list[Note]:
    """Return advice when a compiler wrote the PTX without line information."""
    if not findings or any(finding.location.shown is not None for finding in findings):
        return []
    if "Generated by" not in source.text[:1000]:
        return []
    message = "no line information: compile with -lineinfo to see findings at lines of the CUDA source"
    return [Note(NoteKind.LINE_INFO, message, Position(findings[0].location.ptx.file, 0))]


def _joined(first: _Part, second: _Part) -> _Part:
    return _Part(*(getattr(first, f.name) + getattr(second, f.name) for f in fields(_Part)))


def _merged(parts: Sequence[_Part], inputs: tuple[str, ...], rules: tuple[RuleInfo, ...]) -> Report:
    findings = [finding for part in parts for finding in part.findings]
    problems = dict.fromkeys(problem for part in parts for problem in part.problems)
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Report(
        findings=tuple(sorted(findings, key=_finding_order)),
        problems=tuple(sorted(problems, key=lambda item: (item.position, item.kernel or "", item.message))),
        notes=tuple(sorted(notes, key=lambda item: (item.position, item.kernel or "", item.message))),
        kernels=tuple(kernel for part in parts for kernel in part.kernels),
        inputs=inputs,
        rules=rules,
        lines=dict(line for part in parts for line in part.lines),
    )


def _finding_order(finding: Finding) -> tuple[object, ...]:
    location = finding.location
    return (*location.primary, finding.rule, finding.kernel or "", location.span, finding.message)
