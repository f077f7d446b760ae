"""The difference between two texts of a file, as patches have it."""

from __future__ import annotations

import difflib


def diff_text(path: str, before: str, after: str) -> str:
    """Return a unified diff."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, f"{path} (repaired)"
    )
    return "".join(lines)
