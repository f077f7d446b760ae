"""The cyclic garbage collector, kept out of the way of work that makes millions of objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 1
"""Generations that `Pause.relieve` looks at: what is older has been looked at once and stays."""


class Pause:
    """A time in which the collector does not run by itself. Views of kernels are cyclic: see `relieve`."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._work = 0

    def relieve(self, work: int) -> None:
        """Say that so much work is done; frees what it left behind after each `every` of work."""
        self._work += work
        if self._work >= self._every:
            self._work = 0
            gc.collect(_YOUNG)


class _NoPause(Pause):
    def relieve(self, work: int) -> None:
        return


@contextmanager
def paused(every: int) -> Iterator[Pause]:
    """Stop automatic collection inside the block; a caller who has stopped it already is left alone."""
    if not gc.isenabled():
        yield _NoPause(every)
        return
    gc.disable()
    try:
        yield Pause(every)
    finally:
        gc.enable()
