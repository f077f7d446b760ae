"""Where the time of a run goes: reading, parsing, each shared analysis, each rule."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..rules import Hit, Rule
    from ..view import KernelView, Result


@dataclass
class Profile:
    """Seconds spent in each activity, without those that it started in turn."""

    seconds: dict[str, float] = field(default_factory=dict)
    _running: list[str] = field(default_factory=list)
    _since: float = 0.0

    @contextmanager
    def activity(self, name: str) -> Iterator[None]:
        """Count the time of the block for `name`, and not for the activity around it."""
        self._charge()
        self._running.append(name)
        try:
            yield
        finally:
            self._charge()
            self._running.pop()

    def _charge(self) -> None:
        now = time.perf_counter()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def rules(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return the rules with their checks counted."""
        return tuple(replace(rule, check=self._rule(rule)) for rule in rules)

    def _rule(self, rule: Rule) -> Callable[[KernelView], Iterator[Hit]]:
        def check(view: KernelView) -> Iterator[Hit]:
            with self.activity(f"rule {rule.id} {rule.name}"):
                hits = list(rule.check(view))
            yield from hits

        return check

    @cached_property
    def view(self) -> type[KernelView]:
        """The class of views whose analyses are counted."""
        from ..view import KernelView

        profile = self

        class CountedView(KernelView):
            def compute(self, analysis: Callable[[KernelView], Result]) -> Result:
                with profile.activity(f"analysis {_name_of(analysis)}"):
                    return super().compute(analysis)

        return CountedView


def _name_of(analysis: Callable[[KernelView], object]) -> str:
    """Return the name of a class or function, its words joined with underscores."""
    name = analysis.__qualname__.removesuffix(".of").lstrip("_")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def activity_of(profile: Profile | None, name: str) -> AbstractContextManager[None]:
    """Count the time of a block, where there is a profile."""
    return nullcontext() if profile is None else profile.activity(name)


def profile_table(profile: Profile) -> str:
    """Return a line for each activity: seconds, share, name; most seconds first."""
    total = sum(profile.seconds.values()) or 1.0
    rows = sorted(profile.seconds.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{seconds:9.3f} s  {seconds / total:6.1%}  {name}" for name, seconds in rows]
    return "\n".join([*lines, f"{sum(profile.seconds.values()):9.3f} s  total"]) + "\n"
