"""What rules see of one file of host code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ptxcheck.descriptors.constraints import Platform
from ptxcheck.hostcode.find import (
    EVERY_PLATFORM,
    PYTHON_SUFFIXES,
    Reading,
    issues_of,
    read,
)
from ptxcheck.hostcode.includes import Includes
from ptxcheck.opcodes.target import Target
from ptxcheck.source import Source

if TYPE_CHECKING:
    from ptxcheck.hostcode.encode import Issue
    from ptxcheck.hostcode.machine import Encode


@dataclass(frozen=True)
class HostView:
    """One file, and the architecture that it is for where that is said."""

    source: Source
    arch: Target | None = None
    possible: bool = False

    @cached_property
    def reading(self) -> Reading:
        """Return what was read of the file."""
        return read(self.source, Includes(self.source.name))

    @property
    def encodes(self) -> Sequence[Encode]:
        """Return the encode calls that are reached in the file."""
        return self.reading.encodes

    @cached_property
    def issues(self) -> Sequence[Issue]:
        """Return what is wrong with the encode calls of the file."""
        is_python = self.source.name.lower().endswith(PYTHON_SUFFIXES)
        return issues_of(self.encodes, self._platforms, checks_lengths=not is_python, possible=self.possible)

    @property
    def _platforms(self) -> tuple[Platform, ...]:
        if self.arch is None:
            return EVERY_PLATFORM
        major, minor = divmod(self.arch.arch, 10)
        return (Platform((major, minor), EVERY_PLATFORM[0].driver),)
