"""Texts of `meanings.toml`: what instructions, modifiers and special registers mean."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def _table(name: str) -> Mapping[str, str]:
    parsed = tomllib.loads((files(__package__) / "meanings.toml").read_text(encoding="utf-8"))
    return {word: text for words, text in parsed[name].items() for word in words.split()}


def instruction_meanings() -> Mapping[str, str]:
    """Return a sentence or two for each mnemonic of the instruction table."""
    return _table("instructions")


def modifier_meanings() -> Mapping[str, str]:
    """Return a few words for modifiers that are no types, shapes or numbers."""
    return _table("modifiers")


def register_meanings() -> Mapping[str, str]:
    """Return a sentence for special registers, without their components."""
    return _table("registers")
