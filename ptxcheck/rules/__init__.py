"""The rules. A module of this package that defines `RULE`, or several `RULES`, turns them on."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from ..results import PluginError, UnknownSelectorError
from .example import Example
from .info import info_of
from .rule import Hit, HostHit, Rule
from .selection import check_selectors, matches, select_rules


def _defined() -> Iterator[Rule]:
    for found in walk_packages(__path__, f"{__name__}."):
        module = import_module(found.name)
        yield from getattr(module, "RULES", ())
        if hasattr(module, "RULE"):
            yield module.RULE


RULES: tuple[Rule, ...] = tuple(sorted(_defined(), key=lambda rule: rule.id))
"""Every rule, by id."""


def known_rules() -> tuple[Rule, ...]:
    """Return every rule, those of other packages included. Raises PluginError."""
    from .plugins import plugin_rules

    return (*RULES, *plugin_rules(RULES))


__all__ = [
    "RULES",
    "Example",
    "Hit",
    "HostHit",
    "PluginError",
    "Rule",
    "UnknownSelectorError",
    "check_selectors",
    "info_of",
    "known_rules",
    "matches",
    "select_rules",
]
