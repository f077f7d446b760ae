"""The legal opcode that a misspelt one was likely meant to be.

What is suggested is always one that some form takes as it is written; where none is near, nothing is suggested.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache

from .lookup import fill_slots, forms_of, rows_by_mnemonic, split_opcode

_NEAR = 0.75
"""Likeness from which on one word, or one mnemonic, is taken for a slip of another; a transposition in a word of four
letters is just as near."""
_LONGEST = 6
_TRIED = 64
"""Spellings that are tried for one opcode."""


@lru_cache(maxsize=256)
def nearest_opcode(text: str) -> str | None:
    """Return the legal opcode that is nearest to one that is not legal, or None where none is near."""
    tried: dict[str, None] = {}
    for spelling in _spellings(text):
        tried[spelling] = None
        if len(tried) >= _TRIED:
            break
    fitting = [each for each in tried if each != text and _fits(each)]
    return max(fitting, key=lambda each: (SequenceMatcher(None, text, each).ratio(), each), default=None)


def _spellings(text: str) -> Iterator[str]:
    """Yield opcodes with a near mnemonic, with near modifiers, and with the one modifier that is missing."""
    words = text.split(".")
    starts = [(mnemonic, list(modifiers)) for mnemonic, modifiers in split_opcode(text)]
    known = tuple(rows_by_mnemonic())
    for length in range(1, min(len(words), _LONGEST) + 1):
        start = ".".join(words[:length])
        rest = ["." + word for word in words[length:]]
        starts += [(near, rest) for near in get_close_matches(start, known, n=3, cutoff=_NEAR)]
    for mnemonic, modifiers in starts:
        yield mnemonic + "".join(modifiers)
        yield from _with_near_modifiers(mnemonic, modifiers)


def _with_near_modifiers(mnemonic: str, modifiers: list[str]) -> Iterator[str]:
    legal = tuple(
        dict.fromkeys(value for form in forms_of(mnemonic) for slot in form.slots for value in slot.values)
    )
    wrong = [place for place, modifier in enumerate(modifiers) if modifier not in legal]
    if len(wrong) == 1:
        (place,) = wrong
        for near in get_close_matches(modifiers[place], legal, n=3, cutoff=_NEAR):
            yield mnemonic + "".join([*modifiers[:place], near, *modifiers[place + 1 :]])
    if not wrong:
        yield from _with_one_more(mnemonic, modifiers, legal)


def _with_one_more(mnemonic: str, modifiers: list[str], legal: tuple[str, ...]) -> Iterator[str]:
    """Yield the opcode with the modifier that it lacks, if only one will do."""
    longer = [mnemonic + "".join(modifiers) + one for one in legal if one not in modifiers]
    fitting = [each for each in longer if _fits(each)]
    if len(fitting) == 1:
        yield fitting[0]


@lru_cache(maxsize=1024)
def _fits(text: str) -> bool:
    return any(
        fill_slots(form.slots, modifiers) is not None
        for mnemonic, modifiers in split_opcode(text)
        for form in forms_of(mnemonic)
    )
