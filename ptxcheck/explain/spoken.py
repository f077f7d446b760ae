"""Texts about a kernel in the words of its source: parameters by the names that the CUDA source gives them."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..ir import Function

NUMBERED = re.compile(r"(?:\A|_)param_(\d+)\Z")
"""What nvcc calls parameters."""


def spoken(function: Function) -> Callable[[str], str]:
    """Return what puts the names of the source into a text about a kernel."""
    names = {
        int(match[1]): each.source_name
        for each in function.parameters
        if each.source_name and (match := NUMBERED.search(each.name)) is not None
    }
    if not names:
        return str
    pattern = re.compile(rf"\b(?:{re.escape(function.name)}_)?param_(\d+)\b")
    return lambda text: pattern.sub(lambda match: names.get(int(match[1]), match[0]), text)
