"""`check`: inputs → PTX → kernels → rules → findings → suppressions → report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from .config import Config
from .frontends import KERNEL_CACHES, Input, discover, is_empty_cache, with_embedded
from .launches.hints import LaunchHint, unused
from .pipeline.part import Part, merged
from .pipeline.rule_choice import chosen_rules, infos_of, known_infos
from .pipeline.work import Progress, Unit, Work, parts_of
from .results import KernelResult, Note, NoteKind, Problem, ProblemKind, Report
from .runtime.cache import Cache, digest
from .runtime.executors import Executor, Serial
from .runtime.plugins import rule_packages
from .runtime.profile import Profile
from .source import Position, Source

if TYPE_CHECKING:
    from .pipeline.one_input import Observe
    from .rules import Rule

Target: TypeAlias = str | os.PathLike[str] | Source
"""A path, a folder, a glob, `-`, or PTX text."""


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
    infos = known_infos(config, cache) if rules is None else infos_of(chosen_rules(rules, config))
    units, problems = _units(target, config)
    if choose is not None:
        units = tuple(unit for unit in units if isinstance(unit, Source) or choose(unit))
    if profile is not None or observe is not None:
        cache, executor = None, None
    identity = "" if cache is None else digest(repr(config), repr(infos), rule_packages(), os.getcwd())
    work = Work(config, None if rules is None else tuple(rules), cache, identity, profile, observe)
    parts = parts_of(work, units, Serial() if executor is None or rules is not None else executor, progress)
    if cache is not None:
        cache.prune()
    kernels = [kernel for part in parts for kernel in part.kernels]
    unused = _unused_values(config.launch, kernels)
    notes = (*_unused_launches(config.launch, kernels), *_empty_caches(target))
    return merged(
        [Part(problems=(*problems, *unused), notes=notes), *parts], tuple(unit.name for unit in units), infos
    )


def _unused_values(hints: Sequence[LaunchHint], kernels: Sequence[KernelResult]) -> Iterator[Problem]:
    """Yield a problem for each given value that no kernel has a parameter for."""
    taken = {value.name for kernel in kernels for value in kernel.launch.given}
    taken |= {fact.name for kernel in kernels for fact in kernel.launch.facts}
    for hint in hints:
        for name in (*(name for name, _ in hint.values), *(condition.place for condition in hint.conditions)):
            if name not in taken:
                message = f"no kernel that was checked has a parameter {name}"
                yield Problem(ProblemKind.SETTING, message, Position(hint.origin, 0))


def _unused_launches(hints: Sequence[LaunchHint], kernels: Sequence[KernelResult]) -> Iterator[Note]:
    """Yield a note for each launch on the command line that is for no kernel."""
    for hint, message in unused(hints, [kernel.name for kernel in kernels]):
        yield Note(NoteKind.LAUNCH, message, Position(hint.origin, 0))


def _empty_caches(target: Target | Sequence[Target]) -> Iterator[Note]:
    """Yield a note for each cache of a compiler in which there is nothing to check yet."""
    for word in [target] if isinstance(target, str | os.PathLike | Source) else target:
        if isinstance(word, str) and is_empty_cache(word):
            folder = KERNEL_CACHES[word]()
            message = (
                f"{word}: no kernel is in this cache yet; run the kernels once, so that they are compiled"
            )
            yield Note(NoteKind.NO_KERNELS, message, Position(folder, 0))


def _units(target: Target | Sequence[Target], config: Config) -> tuple[tuple[Unit, ...], tuple[Problem, ...]]:
    """Return what is to be checked, texts first, and what could not be found."""
    targets: Iterable[Target] = [target] if isinstance(target, str | os.PathLike | Source) else target
    texts: list[Unit] = []
    paths: list[str] = []
    for one in targets:
        if isinstance(one, Source):
            texts.append(one)
        else:
            paths.append(os.fspath(one))
    found, problems = discover(paths, config.exclude, gitignore=config.gitignore)
    units, complaints = with_embedded(found)
    return (*texts, *units), (*problems, *complaints)
