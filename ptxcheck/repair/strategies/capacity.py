"""Enlarge a variable in shared memory that what lies in it does not fit into."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ir import Variable
from ..edits import Edit
from ..patch import Patch, combined
from ..subject import Subject

_RULES = frozenset({"TM024", "WG019", "TD064", "SM002"})
_SMALL = 1024
"""Bytes that are tried before multiples: one pattern of a swizzle."""
_MULTIPLES = (2, 4, 8)
_MOST = 232448
"""Bytes of shared memory that a block can have (CUDA C++ Programming Guide, compute capability 9.0 and 10.0)."""


def enlarge_variable(subject: Subject) -> Iterator[Patch]:
    """Yield larger sizes of the variables that the finding names, the smallest first."""
    if subject.finding.rule not in _RULES:
        return
    text = subject.view.module.source.text
    for variable in (s for s in subject.view.body.statements if isinstance(s, Variable)):
        if not variable.space.endswith("shared") or f"'{variable.name}'" not in subject.finding.message:
            continue
        if len(variable.dims) != 1 or not variable.dims[0]:
            continue
        own = variable.dims[0]
        declared = text[variable.span.start : variable.span.end]
        match = re.search(rf"{re.escape(variable.name)}\s*\[\s*(\d+)\s*\]", declared)
        for cost, size in enumerate((own + _SMALL, *(own * factor for factor in _MULTIPLES))):
            if match is not None and size <= _MOST:
                start = variable.span.start + match.start(1)
                edit = Edit(start, start + len(match[1]), str(size))
                summary = f"{size} elements of {variable.name} instead of {own}"
                yield combined("capacity", summary, 1 + cost, [edit], local=True)
