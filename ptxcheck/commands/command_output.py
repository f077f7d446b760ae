"""How the groups of commands outside `cli` write and fail: what prints and exits is handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeAlias

Write: TypeAlias = Callable[[str, str | None], None]
"""Writes a text to a file, or to standard output for None."""
Fail: TypeAlias = Callable[[str], NoReturn]
"""Says why the input is bad and ends with exit code 2."""
