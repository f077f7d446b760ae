"""The cyclic garbage collector, kept out of the way of work that makes millions of objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 1
"""Generations that `Pause.relieve` looks at: what is older has been looked at once and stays."""
_MANY_OBJECTS = 200_000
"""Objects that were made since the last look, and are still there, for which another is worth it."""

_WORTH_FREEZING = 1_000_000
"""Characters of PTX."""


class Pause:
    """A time in which the collector does not run by itself. Views of kernels are cyclic: see `relieve`."""

    def __init__(self, *, active: bool) -> None:
        self._active = active
        self._settled = False

    def settle(self, size: int) -> None:
        """Say that what exists now, made of so many characters, stays to the end of the pause.

        It is not looked at till then. What was frozen once is never collected without a full collection, so a
        small input, where there is little to gain, is left to the collector's usual course.
        """
        if self._active and size >= _WORTH_FREEZING and not gc.get_freeze_count():
            gc.freeze()
            self._settled = True

    def relieve(self) -> None:
        """Say that a piece of work is done; frees what it left behind where that is many objects."""
        if self._active and gc.get_count()[0] >= _MANY_OBJECTS:
            gc.collect(_YOUNG)

    def end(self) -> None:
        if self._settled:
            gc.unfreeze()
            gc.collect()
        if self._active:
            gc.enable()


@contextmanager
def paused() -> Iterator[Pause]:
    """Stop automatic collection inside the block; a caller who has stopped it already is left alone."""
    pause = Pause(active=gc.isenabled())
    gc.disable()
    try:
        yield pause
    finally:
        pause.end()
