"""What is done in the process that checks: reports on texts and files, and repairs of findings.

Settings are found as the command line finds them: in the folder of the file or the nearest one above.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from ..checker import check
from ..config import (
    Config,
    ConfigError,
    find_config,
    load_config,
)
from ..finding import Finding, Fix, Replacement
from ..frontends import is_excluded
from ..launches.hints import LaunchError, stated
from ..results import PluginError, Report, UnknownSelectorError
from ..runtime.cache import Cache, default_folder
from ..source import Position, Source
from .options import DEFAULT, Options

if TYPE_CHECKING:
    from ..repair.weighing import Repair
    from ..rules import Rule

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
REPAIR_SECONDS = 3.0
"""Time for the verification of one kernel while repairs are tried."""


@dataclass(frozen=True, slots=True)
class Failed:
    """In place of a result: why there is none, for people."""

    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """Check a text, or a file as it is on disk."""

    name: str
    """An absolute path, or a name for what is in no file."""
    text: str | None
    seconds: float | None
    """At most so much time for the verification of a kernel; None leaves verification out."""
    options: Options = DEFAULT

    def __call__(self) -> Report | Failed:
        """Return the report; an empty one for a file that the configuration excludes."""
        try:
            config = _limited(_config(self.name, self.options), self.seconds)
            if _excluded(self.name, config):
                return Report()
            target = self.name if self.text is None else Source(self.name, self.text)
            return check(target, config=config, cache=self._cache())
        except (ConfigError, LaunchError, UnknownSelectorError, PluginError) as error:
            return Failed(str(error))

    def _cache(self) -> Cache | None:
        """Files are kept as by the command line; what is being typed is not worth it."""
        folder = default_folder() if self.text is None else None
        return None if folder is None else Cache(folder)


Key = tuple[str, str | None, str]
"""What a finding is known by within one text: rule, kernel, message."""


def key_of(finding: Finding) -> Key:
    """Return what a finding is known by."""
    return finding.rule, finding.kernel, finding.message


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repair as edits of the text that was asked about."""

    key: Key
    fix: Fix
    safe: bool
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindRepairs:
    """Look for repairs of some findings of a PTX or CUDA text."""

    name: str
    text: str
    keys: tuple[Key, ...]
    unsafe: bool
    """Also return repairs that are not proved."""
    options: Options = DEFAULT

    def __call__(self) -> tuple[Repaired, ...] | Failed:
        """Return the repairs that pass."""
        from ..patching.source_repair import SourceError

        try:
            return tuple(self._found_in_cuda() if self.name.endswith(".cu") else self._found())
        except (ConfigError, LaunchError, UnknownSelectorError, PluginError, SourceError) as error:
            return Failed(str(error))

    def _found_in_cuda(self) -> Iterator[Repaired]:
        """Yield one repair of all the findings: a change of a source is judged with those before it."""
        from ..patching.source_repair import SourceJudge, repair_source
        from ..repair.assemble import find_ptxas
        from ..repair.weighing import Safety

        config, rules = self._settings()
        judge = SourceJudge(self.name, rules, config)
        done = repair_source(self.text, judge, find_ptxas(), unsafe=self.unsafe, only=self._is_wanted)
        if done.repairs:
            fix = Fix("; ".join(each.summary for each in done.repairs), tuple(self._changed(done.text)))
            safe = all(each.safety is not Safety.SUGGESTED for each in done.repairs)
            evidence = tuple(text for each in done.repairs for text in each.evidence)
            yield Repaired(key_of(done.repairs[0].finding), fix, safe, evidence)

    def _changed(self, text: str) -> Iterator[Replacement]:
        """Yield the lines that differ from the text, as replacements."""
        old, new = _LINE.findall(self.text), _LINE.findall(text)
        for what, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if what != "equal":
                above, below = (Position(self.name, line + 1, 1) for line in (start, end))
                yield Replacement(above, below, "".join(new[first:last]))

    def _settings(self) -> tuple[Config, tuple[Rule, ...]]:
        from ..rules import known_rules, select_rules

        config = _limited(_config(self.name, self.options), REPAIR_SECONDS)
        return config, select_rules(
            known_rules(), config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
        )

    def _is_wanted(self, finding: Finding) -> bool:
        return key_of(finding) in self.keys

    def _found(self) -> Iterator[Repaired]:
        from ..patching.judge import TextJudge
        from ..repair.assemble import find_ptxas
        from ..repair.original import fixes_of
        from ..repair.search import repair
        from ..repair.weighing import Assembler, Safety

        config, rules = self._settings()
        judge = TextJudge(self.name, rules, config)
        first = judge(self.text)
        if first.problems:
            return
        views = list(first.views.values())
        assembler = Assembler(find_ptxas(), views[0].module.targets[0] if views else "")
        done = repair(
            self.text, judge, assembler, unsafe=self.unsafe, only=self._is_wanted,
            quick=judge.rules_only, brief=judge.brief, plain=judge.plain,
        )  # fmt: skip
        made: dict[int, Repair] = {id(each.finding): each for each in done.repairs}
        for finding, fix in fixes_of(Source(self.name, self.text), done.repairs):
            found = made[id(finding)]
            yield Repaired(key_of(finding), fix, found.safety is not Safety.SUGGESTED, found.evidence)


def _config(name: str, options: Options) -> Config:
    """Return the settings of a project, with the launches of the editor before its own. Raises LaunchError."""
    start = Path(name) if os.path.isabs(name) else Path()
    found = find_config(start.parent if start.parent.is_dir() else Path())
    config = Config() if found is None else load_config(found)
    hints = stated(options.launch, options.assume, options.tensor_map)
    return replace(config, launch=hints + config.launch)


def _limited(config: Config, seconds: float | None) -> Config:
    if seconds is None:
        return replace(config, verify=False)
    return replace(config, verify_seconds=min(config.verify_seconds, seconds))


def _excluded(name: str, config: Config) -> bool:
    """Tell whether a search from the folder of the settings would leave a file out."""
    folder = find_config(Path(name).parent) if config.exclude and os.path.isabs(name) else None
    if folder is None:
        return False
    return is_excluded(os.path.relpath(name, folder.parent), config.exclude)
