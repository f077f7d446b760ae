"""The check of one input: its PTX, the rules on each kernel, its findings and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ..cfg.inlining import with_calls_inlined
from ..config import Config
from ..explain.violations import whole_kernel
from ..finding import Severity
from ..frontends import InputKind, Loaded
from ..ir import Function, Module
from ..launch import Launch
from ..launches.hints import LaunchHint, tensor_maps_of
from ..launches.host_launches import HostHint, host_launches, impossible_launches, launches_of
from ..launches.host_maps import passed_hints
from ..launches.launch_comments import comment_hints
from ..results import Note, NoteKind, Problem, ProblemKind, Remark
from ..runtime.collector import Pause, paused
from ..runtime.profile import Profile, activity_of
from ..source import Position, Source
from ..sources.files import Files
from ..sources.parameter_names import with_source_names
from ..sources.positions import Library, Locator
from ..terms.refutations import heard
from ..triage.suppress import names_rule
from ..view import KernelView
from .part import Part, joined
from .reported import finished, without_callees_own
from .rules_on_host_code import evaluate_host
from .rules_on_kernels import Evaluation, evaluate
from .several_launches import evaluate_launches
from .unassembled import without_verdict
from .words_of_the_source import in_words_of_the_source

if TYPE_CHECKING:
    from ..rules import Rule

_KERNELS_IN_FULL = 4
"""Kernels of a file that may take all the time for verification before the others get a share of it."""
_LEAST_SHARE = 20

Observe: TypeAlias = Callable[[KernelView, Locator, Files], None]
"""Told each kernel that was checked while its analyses are at hand, where its points are and what may be shown."""


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


def check_input(
    loaded: Loaded,
    rules: Sequence[Rule],
    config: Config,
    profile: Profile | None = None,
    observe: Observe | None = None,
) -> Part:
    """Return what one input adds to the report."""
    with paused() as pause, activity_of(profile, "locate and suppress"):
        return _check_source(loaded, rules, config, pause, profile, observe)


def _check_source(
    loaded: Loaded,
    rules: Sequence[Rule],
    config: Config,
    pause: Pause,
    profile: Profile | None,
    observe: Observe | None,
) -> Part:
    """Check one input: parse it, run the rules on each function with a body, apply suppressions."""
    host = _check_host(loaded, rules, config)
    if loaded.source is None:
        return host if loaded.host is None else _finished_host(host, loaded.host, loaded, rules, config)
    try:
        from ..parser import parse_module

        with activity_of(profile, "parse"):
            module = parse_module(loaded.source)
    except Exception as error:
        return Part(problems=(*loaded.problems, _parser_failure(loaded.source, error)))
    pause.settle(len(loaded.source.text))
    files = Files.of(loaded.origins, config.source_roots)
    main = [loaded.source, *filter(None, (files.source(files.shown(path)) for path in loaded.origins[:1]))]
    module = with_source_names(module, list(_cuda_texts(module, loaded, files)))
    locator = Locator(module, Library(config.library_prefixes), files.shown)
    hints = (
        *config.launch, *comment_hints(module, locator, main), *passed_hints(module, loaded.host), *loaded.hints
    )  # fmt: skip
    part = replace(
        host, problems=(*host.problems, *_syntax_problems(module)), reads=host.reads + loaded.reads
    )
    allowance = _Allowance(config)
    by_host = host_launches(module, loaded.host, loaded.input.path, loaded.beside)

    flaws: dict[str, Remark] = {}

    def show(view: KernelView) -> None:
        if observe is not None and view.function.is_entry:
            observe(view, locator, files)

    for function in module.functions:
        if function.body is not None:
            view = KernelView if profile is None else profile.view
            found, flaw = _check_function(
                module, function, rules, config, locator, hints, by_host, view, allowance, show
            )
            part = joined(part, found)
            if flaw is not None:
                flaws[function.name] = flaw
            pause.relieve()
    part = replace(
        part,
        findings=without_callees_own(part.findings, module),
        kernels=tuple(without_verdict(each, module, flaws) for each in part.kernels),
    )
    return finished(part, [source.name for source in main], loaded.source, files, rules, config)


def _cuda_texts(module: Module, loaded: Loaded, files: Files) -> Iterator[str]:
    """Yield the sources that a module was compiled from, as far as they may be shown."""
    if loaded.host is not None:
        yield loaded.host.text
        return
    for path in module.files.values():
        source = files.source(files.shown(path)) if path.endswith((".cu", ".cuh")) else None
        if source is not None:
            yield source.text


def _check_host(loaded: Loaded, rules: Sequence[Rule], config: Config) -> Part:
    """Run the rules about host code, which need no compiler."""
    if loaded.host is None:
        return Part(problems=loaded.problems)
    severities = _severities(rules, config)
    result = evaluate_host(loaded.host, rules, severities, possible=config.possible, arch=config.nvcc.arch)
    problems = (*loaded.problems, *result.problems)
    return Part(result.findings, problems, result.notes, reads=result.reads)


def _finished_host(part: Part, source: Source, loaded: Loaded, rules: Sequence[Rule], config: Config) -> Part:
    """Apply suppressions to a file without PTX. Where a compiler failed, unused ones say nothing."""
    owned = [source.name] if loaded.input.kind is InputKind.HOST else []
    return finished(part, owned, source, Files.of((), config.source_roots), rules, config)


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
    by_host: Sequence[HostHint],
    view_class: type[KernelView],
    allowance: _Allowance,
    show: Callable[[KernelView], None],
) -> tuple[Part, Remark | None]:
    """Return what one function adds to the report, and why it cannot be assembled, if it cannot."""
    function = with_calls_inlined(function, module)
    launches, complaints = launches_of(function, hints, by_host)
    maps, unknown = tensor_maps_of(function, hints)
    severities = _severities(rules, config)

    def evaluated(launch: Launch, is_verified: bool) -> tuple[KernelView, Evaluation]:
        seconds = allowance.seconds if is_verified else None
        view = view_class(
            module, function, launch, seconds, tensor_maps=maps, for_every_count=config.for_every_count
        )
        with heard() if config.cross_check else nullcontext() as refutations:
            found = evaluate(view, rules, locator, severities, possible=config.possible)
        allowance.take(view)
        if refutations is not None and config.cross_check is not None:
            from .cross_check import cross_checked

            start = module.source.position(function.span.start)
            found = cross_checked(found, refutations, config.cross_check, start)
        return view, found

    view, result = evaluate_launches(launches, evaluated)
    result = in_words_of_the_source(function, result)
    show(view)
    position = locator.head(function)
    settings = [
        Problem(ProblemKind.SETTING, text, position, function.name) for text in (*complaints, *unknown)
    ]
    notes = [
        Note(NoteKind.HOST_LAUNCH, text, position, function.name)
        for text in impossible_launches(function, by_host)
    ]
    part = Part(result.findings, (*settings, *result.problems), (*result.notes, *notes), (result.kernel,))
    return part, result.flaw


def _severities(rules: Sequence[Rule], config: Config) -> dict[str, Severity]:
    """Return the severity of each rule that the configuration changes; the longest prefix counts."""
    found: dict[str, Severity] = {}
    for selector in sorted(config.severity, key=len):
        for rule in rules:
            if names_rule(selector, rule.id, rule.name):
                found[rule.id] = config.severity[selector]
    return found
