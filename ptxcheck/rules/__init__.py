"""The rules. A rule is on when it is in `RULES`; `tests/rules/test_registry.py` finds files left out.

A rule file defines `RULE`, or `RULES` when it derives several from a table of data.
"""

from .info import info_of
from .rule import Hit, Rule
from .selection import UnknownSelectorError, check_selectors, matches, select_rules

RULES: tuple[Rule, ...] = ()
"""Every rule, by id."""

__all__ = [
    "RULES",
    "Hit",
    "Rule",
    "UnknownSelectorError",
    "check_selectors",
    "info_of",
    "matches",
    "select_rules",
]
