"""Packages that bring rules of their own: entry points of the group `ptxcheck.rules`. Imports none of them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

GROUP = "ptxcheck.rules"


@cache
def rule_entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points of rules, in a stable order."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)))


def rule_packages() -> str:
    """Return which packages bring rules, with their versions: results that are kept rest on this."""
    return "\n".join(
        f"{point.name}={point.value}@{'' if point.dist is None else f'{point.dist.name} {point.dist.version}'}"
        for point in rule_entry_points()
    )
