"""What `ptxcheck fix` says while it searches, on standard error, and what it says when Ctrl-C ends it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..finding import Finding
from ..repair.watch import Watch
from ..report.plain import place, visible
from . import console

_QUIET_SECONDS = 10.0
"""Without a terminal a line is written when so long nothing was said."""
_PATIENCE_SECONDS = 2.0
"""Without a terminal nothing is said of a search that ends so soon."""
_DRAWN_SECONDS = 0.1
_WIDTH = 78


@dataclass
class Told(Watch):
    """Tells of the search in one file; what was found so far can be told, and kept, at any moment."""

    path: str
    keep: Callable[[str], None]
    """Writes a repaired text, where that is asked for."""
    is_drawn: bool = field(default_factory=console.has_progress)
    _found: list[str] = field(default_factory=list)
    text: str | None = None
    """The text with what was repaired so far."""
    _said: float = 0.0
    _about: str = ""
    """What is still to be said before the first line on a finding."""

    def begins(self, finding: Finding) -> None:
        """Say which finding is worked on; without a terminal only when that takes a while."""
        self._about = (
            f"{self.path}: {finding.rule} at {place(finding.location.primary)}: looking for a repair"
        )
        self._said = time.monotonic() - _QUIET_SECONDS + _PATIENCE_SECONDS
        if self.is_drawn:
            console.redraw(self._about[:_WIDTH])

    def tries(self, count: int, what: str) -> None:
        """Say how far the search is, in a terminal often, else now and then."""
        now = time.monotonic()
        if now - self._said < (_DRAWN_SECONDS if self.is_drawn else _QUIET_SECONDS):
            return
        self._said = now
        text = f"{self.path}: candidate {count}: {visible(' '.join(what.split()))}"
        if self.is_drawn:
            console.redraw(text[:_WIDTH])
            return
        if self._about:
            console.remark(self._about)
            self._about = ""
        console.remark(text[:_WIDTH])

    def keeps(self, finding: Finding, summary: str, text: str) -> None:
        """Remember what was found."""
        self._found.append(f"{finding.rule} at {place(finding.location.primary)}: {summary}")
        self.text = text

    def ends(self) -> None:
        """Take away what was drawn."""
        if self.is_drawn:
            console.redraw("")

    def last_words(self) -> None:
        """Tell and keep what was found, as the search is interrupted."""
        for line in self._found:
            console.remark(f"{self.path}: repaired before the interrupt: {line}")
        if self.text is not None:
            self.keep(self.text)
        sys.stderr.flush()
