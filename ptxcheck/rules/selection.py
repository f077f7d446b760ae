"""Which rules run: prefixes of ids, names and severities, and what is off by default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from ..finding import Confidence, Severity
from ..results import UnknownSelectorError
from ..sources.former_names import FORMER_NAMES
from .rule import Rule

ALL = "ALL"


def select_rules(
    rules: Sequence[Rule],
    select: Sequence[str] = (ALL,),
    ignore: Sequence[str] = (),
    *,
    pedantic: bool = False,
    possible: bool = False,
) -> tuple[Rule, ...]:
    """Return the rules to run, in the order of their ids. Raises UnknownSelectorError.

    Pedantic rules and rules that can only say `possible` are off unless asked for, or selected by their
    own id or name.
    """
    chosen = [rule for rule in rules if _matches_any(rule, select)]
    kept = [rule for rule in chosen if not _matches_any(rule, ignore)]
    check_selectors(rules, (*select, *ignore))
    return tuple(
        sorted(
            (rule for rule in kept if _is_on(rule, pedantic, possible) or _is_named(rule, select)),
            key=lambda rule: rule.id,
        )
    )


def _is_on(rule: Rule, pedantic: bool, possible: bool) -> bool:
    return (pedantic or not rule.pedantic) and (possible or rule.confidence is Confidence.PROVED)


def _is_named(rule: Rule, selectors: Iterable[str]) -> bool:
    return any(selector in (rule.id, rule.name) for selector in selectors)


def _matches_any(rule: Rule, selectors: Iterable[str]) -> bool:
    return any(matches(rule, selector) for selector in selectors)


def matches(rule: Rule, selector: str) -> bool:
    """Tell whether a selector names a rule: ALL, a prefix of its id, its name, or its severity."""
    if selector in (ALL, rule.name, rule.severity.value):
        return True
    return bool(selector) and rule.id.startswith(selector)


def check_selectors(rules: Sequence[Rule], selectors: Iterable[str]) -> None:
    """Raise UnknownSelectorError for the first selector that names no rule, or one by a former name."""
    severities = [severity.value for severity in Severity]
    for selector in selectors:
        if selector == ALL or selector in severities or any(matches(rule, selector) for rule in rules):
            continue
        if selector in FORMER_NAMES:
            raise UnknownSelectorError(f"the rule {selector} was renamed to {FORMER_NAMES[selector]}")
        known = [*(rule.id for rule in rules), *(rule.name for rule in rules), *severities]
        close = get_close_matches(selector, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; `ptxcheck rules` lists them"
        raise UnknownSelectorError(f"no rule is called {selector!r}{hint}")
