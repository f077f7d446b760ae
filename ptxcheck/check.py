"""The pipeline: inputs → PTX → kernels → rules → findings → suppressions → report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatch
from typing import TYPE_CHECKING, TypeAlias

from .collector import Pause, paused
from .comments import Comment, comments
from .config import Config
from .evaluate import evaluate
from .files import Files
from .finding import Finding, Severity
from .frontends import Input, InputKind, Loaded, discover, load
from .ir import Function, Module
from .launch_comments import comment_hints
from .launches import LaunchHint, launch_of
from .positions import Library, Locator
from .results import KernelResult, Note, NoteKind, Problem, ProblemKind, Report, RuleInfo
from .source import Position, Source
from .suppress import names_rule, suppress
from .view import KernelView

if TYPE_CHECKING:
    from .rules import Rule

_RELIEF = 20_000
"""Instructions to check between two collections of garbage."""

Target: TypeAlias = str | os.PathLike[str] | Source
"""A path, a folder, a glob, `-`, or PTX text."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Told how many inputs are done, how many there are, and which one is next."""


def check(
    target: Target | Sequence[Target],
    *,
    config: Config | None = None,
    rules: Sequence[Rule] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check kernels and return what was found.

    `target` is one or several of: a path to a `.ptx` or `.cu` file, a folder, a glob, `-` for PTX on
    standard input, or a `Source` with PTX text. `rules` replaces the rules of the package. Nothing is
    raised for bad input: see `Report.problems`. Raises `rules.UnknownSelectorError` when the configuration
    selects a rule that does not exist.

    >>> report = check(Source("k.ptx", text))
    >>> [(f.rule, f.location.primary.line) for f in report.findings]
    """
    config = config or Config()
    chosen = _chosen_rules(rules, config)
    loaders, problems = _inputs(target, config)
    parts = [_Part(problems=problems)]
    for done, (name, loader) in enumerate(loaders):
        if progress is not None:
            progress(done, len(loaders), name)
        parts.append(_check_input(loader(), chosen, config))
    return _merged(parts, tuple(name for name, _ in loaders), _infos(chosen))


def _infos(rules: Sequence[Rule]) -> tuple[RuleInfo, ...]:
    from .rules import info_of

    return tuple(info_of(rule) for rule in rules)


def _chosen_rules(rules: Sequence[Rule] | None, config: Config) -> tuple[Rule, ...]:
    from .rules import RULES, check_selectors, select_rules

    known = RULES if rules is None else rules
    check_selectors(known, config.severity)
    for selectors in config.per_file_ignores.values():
        check_selectors(known, selectors)
    return select_rules(
        known, config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )


_Loader: TypeAlias = Callable[[], Loaded]


def _inputs(
    target: Target | Sequence[Target], config: Config
) -> tuple[list[tuple[str, _Loader]], tuple[Problem, ...]]:
    """Return a name and a way to load each input, and what could not be found."""
    targets: Iterable[Target] = [target] if isinstance(target, str | os.PathLike | Source) else target
    texts: list[tuple[str, _Loader]] = []
    paths: list[str] = []
    for one in targets:
        if isinstance(one, Source):
            texts.append((one.name, _given(one)))
        else:
            paths.append(os.fspath(one))
    found, problems = discover(paths, config.exclude)
    return texts + [(item.name, _from_file(item, config)) for item in found], problems


def _given(source: Source) -> _Loader:
    return lambda: Loaded(Input(source.name, InputKind.PTX), source)


def _from_file(item: Input, config: Config) -> _Loader:
    return lambda: load(item, config.nvcc)


@dataclass(frozen=True)
class _Part:
    """What one input adds to the report."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    kernels: tuple[KernelResult, ...] = ()
    lines: tuple[tuple[tuple[str, int], str], ...] = ()


def _check_input(loaded: Loaded, rules: Sequence[Rule], config: Config) -> _Part:
    with paused(_RELIEF) as pause:
        return _check_source(loaded, rules, config, pause)


def _check_source(loaded: Loaded, rules: Sequence[Rule], config: Config, pause: Pause) -> _Part:
    """Check one input: parse it, run the rules on each function with a body, apply suppressions."""
    if loaded.source is None:
        return _Part(problems=loaded.problems)
    try:
        from .parser import parse_module

        module = parse_module(loaded.source)
    except Exception as error:
        return _Part(problems=(*loaded.problems, _parser_failure(loaded.source, error)))
    pause.settle()
    files = Files.of(loaded.origins, config.source_roots)
    locator = Locator(module, Library(config.library_prefixes), files.shown)
    main = [loaded.source, *filter(None, (files.source(files.shown(path)) for path in loaded.origins[:1]))]
    hints = (*config.launch, *comment_hints(module, locator, main))
    part = _Part(problems=(*loaded.problems, *_syntax_problems(module)))
    for function in module.functions:
        if function.body is not None:
            part = _joined(part, _check_function(module, function, rules, config, locator, hints))
            pause.relieve(len(function.body.instructions))
    return _finished(part, [source.name for source in main], loaded.source, files, rules, config)


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
) -> _Part:
    launch, complaints = launch_of(function, hints)
    view = KernelView(module, function, launch)
    severities = _severities(rules, config)
    result = evaluate(view, rules, locator, severities, possible=config.possible)
    position = module.source.position(function.span.start)
    settings = [Problem(ProblemKind.SETTING, text, position, function.name) for text in complaints]
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
    return replace(part, findings=suppressed.findings, notes=notes, lines=lines)


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
