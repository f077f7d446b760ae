"""Which rules run, and the texts of those that do."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
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

    return tuple(info_of(rule) for rule in rules)


def chosen_rules(rules: Sequence[Rule] | None, config: Config) -> tuple[Rule, ...]:
    """Return the rules of the package, or those given, that a configuration asks for."""
    from ..rules import check_selectors, known_rules, select_rules

    known = known_rules() if rules is None else rules
    check_selectors(known, config.severity)
    for selectors in config.per_file_ignores.values():
        check_selectors(known, selectors)
    return select_rules(
        known, config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )
