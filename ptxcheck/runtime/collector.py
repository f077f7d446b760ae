"""The cyclic garbage collector, kept out of the way of work that makes millions of objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 1
"""Generations that `Pause.relieve` looks at: what is older has been looked at once and stays."""

_WORTH_FREEZING = 1_000_000
"""Characters of PTX."""


class Pause:
    """A time in which the collector does not run by itself. Views of kernels are cyclic: see `relieve`."""

    def __init__(self, every: int, *, active: bool) -> None:
        self._every = every
        self._active = active
        self._work = 0
        self._settled = False

    def settle(self, size: int) -> None:
        """Say that what exists now, made of so many characters, stays to the end of the pause.

        It is not looked at till then. What was frozen once is never collected without a full collection, so a
        small input, where there is little to gain, is left to the collector's usual course.
        """
        if self._active and size >= _WORTH_FREEZING and not gc.get_freeze_count():
            gc.freeze()
            self._settled = True

    def relieve(self, work: int) -> None:
        """Say that so much work is done; frees what it left behind after each `every` of work."""
        self._work += work
        if self._active and self._work >= self._every:
            self._work = 0
            gc.collect(_YOUNG)

    def end(self) -> None:
        if self._settled:
            gc.unfreeze()
            gc.collect()
        if self._active:
            gc.enable()


@contextmanager
def paused(every: int) -> Iterator[Pause]:
    """Stop automatic collection inside the block; a caller who has stopped it already is left alone."""
    pause = Pause(every, active=gc.isenabled())
    gc.disable()
    try:
        yield pause
    finally:
        pause.end()
