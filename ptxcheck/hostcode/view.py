"""What rules see of one file of host code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ptxcheck.descriptors.constraints import Platform
from ptxcheck.hostcode.find import EVERY_PLATFORM, issues_in
from ptxcheck.source import Source
from ptxcheck.target import Target

if TYPE_CHECKING:
    from ptxcheck.hostcode.encode import Issue


@dataclass(frozen=True)
class HostView:
    """One file, and the architecture that it is for where that is said."""

    source: Source
    arch: Target | None = None
    possible: bool = False

    @cached_property
    def issues(self) -> Sequence[Issue]:
        """Return what is wrong with the encode calls of the file."""
        return issues_in(self.source, self._platforms, possible=self.possible)

    @property
    def _platforms(self) -> tuple[Platform, ...]:
        if self.arch is None:
            return EVERY_PLATFORM
        major, minor = divmod(self.arch.arch, 10)
        return (Platform((major, minor), EVERY_PLATFORM[0].driver),)
