"""The texts of a rule, for renderers, which know no rules."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from ..results import RuleInfo
from .rule import Rule


@cache
def info_of(rule: Rule) -> RuleInfo:
    """Return all of a rule but its check."""
    return RuleInfo(**{field.name: getattr(rule, field.name) for field in fields(RuleInfo)})
