"""The inputs of a run: what is done for each, here or in other processes, anew or from the cache."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..config import Config
from ..frontends import (
    HOST_SUFFIXES,
    STANDARD_INPUT_NAME,
    Input,
    InputKind,
    Loaded,
    compiler_state,
    launching_files,
    load,
)
from ..results import Problem, ProblemKind
from ..runtime.cache import Cache, file_digest
from ..runtime.executors import Executor, Serial
from ..runtime.profile import Profile, activity_of
from ..source import Position, Source
from .part import Part
from .rule_choice import chosen_rules

if TYPE_CHECKING:
    from ..rules import Rule
    from .one_input import Observe

Progress: TypeAlias = Callable[[int, int, str], None]
"""Told how many inputs are done, how many there are, and the first that is not done."""

Unit: TypeAlias = Input | Source
"""What one job is about."""


@dataclass(frozen=True)
class Work:
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
        rules = chosen_rules(self.own_rules, self.config)
        return rules if self.profile is None else self.profile.rules(rules)

    def __call__(self, unit: Unit) -> Part:
        """Check an input, and keep the result when it is sure to be the same next time."""
        since = time.time()
        key = self._key(unit)
        from .one_input import check_input

        with activity_of(self.profile, "read"):
            loaded = _loaded(unit, self.config)
        part = check_input(loaded, self._rules, self.config, self.profile, self.observe)
        result = replace(part, reads=())
        if self.cache is not None and key is not None and part.is_lasting and self._key(unit) == key:
            self.cache.put(key, result, part.reads, since)
        return result

    def kept(self, unit: Unit) -> Part | None:
        """Return the result of an earlier run, if there is one."""
        key = self._key(unit)
        found = None if self.cache is None or key is None else self.cache.get(key)
        return found if isinstance(found, Part) else None

    def _key(self, unit: Unit) -> str | None:
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


def _loaded(unit: Unit, config: Config) -> Loaded:
    if isinstance(unit, Source):
        if unit.name.lower().endswith(tuple(HOST_SUFFIXES)):
            return Loaded(Input(unit.name, InputKind.HOST), None, host=unit)
        is_file = os.path.isabs(unit.name) and os.path.isfile(unit.name)
        beside = launching_files(unit.name, config.nvcc.compile_commands) if is_file else ()
        return Loaded(Input(unit.name, InputKind.PTX), unit, beside=beside)
    return load(unit, config.nvcc)


def parts_of(work: Work, units: Sequence[Unit], executor: Executor, progress: Progress | None) -> list[Part]:
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


def _results(work: Work, executor: Executor, units: Sequence[Unit]) -> Iterator[tuple[int, Part]]:
    """Yield the result of each input; standard input is this process's own and is read here."""
    here = [index for index, unit in enumerate(units) if unit.name == STANDARD_INPUT_NAME]
    elsewhere = [index for index in range(len(units)) if index not in here]
    for places, chosen in ((here, Serial()), (elsewhere, executor)):
        for place, part in chosen.run(work, [units[index] for index in places], _lost):
            yield places[place], part


def _tell(progress: Progress | None, units: Sequence[Unit], pending: dict[int, None]) -> None:
    if progress is not None and pending:
        progress(len(units) - len(pending), len(units), units[next(iter(pending))].name)


def _lost(unit: Unit, why: str) -> Part:
    message = f"the process that checked this file failed: {why}"
    return Part(problems=(Problem(ProblemKind.TOOL, message, Position(unit.name, 0)),))
