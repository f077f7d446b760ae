"""Rules of other packages: entry points of the group `ptxcheck.rules`, each a `Rule` or several in a tuple or list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import EntryPoint

from ..results import PluginError
from ..runtime.plugins import rule_entry_points
from .rule import Rule

_ID = re.compile(r"[A-Z][A-Z0-9]*\d\Z")


@cache
def plugin_rules(known: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return the rules of other packages, beside those that are known. Raises PluginError."""
    rules: list[Rule] = []
    for point in rule_entry_points():
        for rule in _loaded(point):
            _refuse_clashes(rule, (*known, *rules), point)
            rules.append(rule)
    return tuple(rules)


def _loaded(point: EntryPoint) -> Iterator[Rule]:
    try:
        value = point.load()
    except Exception as error:
        raise PluginError(f"{_named(point)} cannot be loaded: {type(error).__name__}: {error}") from error
    for rule in value if isinstance(value, tuple | list) else (value,):
        if not isinstance(rule, Rule):
            raise PluginError(f"{_named(point)} is no Rule: {type(rule).__name__}")
        yield rule


def _refuse_clashes(rule: Rule, known: Sequence[Rule], point: EntryPoint) -> None:
    if not _ID.match(rule.id):
        raise PluginError(
            f"{_named(point)}: {rule.id!r} is no id of a rule: letters, then digits, such as ACME001"
        )
    for other in known:
        if rule.id == other.id or rule.name == other.name:
            raise PluginError(f"{_named(point)}: there is a rule {other.id} {other.name} already")


def _named(point: EntryPoint) -> str:
    package = "" if point.dist is None else f" of {point.dist.name}"
    return f"rule plugin {point.name}{package} ({point.value})"
