"""Which rules run, and the texts of those that do."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..config import Config
from ..results import RuleInfo
from ..runtime.cache import Cache
from ..runtime.plugins import rule_packages

if TYPE_CHECKING:
    from ..rules import Rule

_RULES = f"{__name__.partition('.')[0]}.rules"


def known_infos(config: Config, cache: Cache | None) -> tuple[RuleInfo, ...]:
    """Return the texts of the chosen rules; with a cache, without importing the rules a second time."""
    if cache is None or _RULES in sys.modules:
        return infos_of(chosen_rules(None, config))
    key = cache.key("rules", repr(config), rule_packages())
    kept = cache.get(key)
    if isinstance(kept, tuple) and all(isinstance(info, RuleInfo) for info in kept):
        return kept
    infos = infos_of(chosen_rules(None, config))
    cache.put(key, infos, (), time.time())
    return infos


def infos_of(rules: Sequence[Rule]) -> tuple[RuleInfo, ...]:
    """Return the texts of rules."""
    from ..rules import info_of

    return tuple(map(info_of, rules))


def chosen_rules(rules: Sequence[Rule] | None, config: Config) -> tuple[Rule, ...]:
    """Return the rules of the package, or those given, that a configuration asks for."""
    from ..rules import known_rules

    known = known_rules() if rules is None else tuple(rules)
    named = (*config.severity, *(each for ignored in config.per_file_ignores.values() for each in ignored))
    return _chosen(known, named, config.select, config.ignore, config.pedantic, config.possible)


@lru_cache(maxsize=8)
def _chosen(
    known: tuple[Rule, ...],
    named: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    pedantic: bool,
    possible: bool,
) -> tuple[Rule, ...]:
    """Choose once: a process may check thousands of small inputs with one configuration."""
    from ..rules import check_selectors, select_rules

    check_selectors(known, named)
    return select_rules(known, select, ignore, pedantic=pedantic, possible=possible)
