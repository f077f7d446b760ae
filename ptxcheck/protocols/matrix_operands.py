"""Where matrix operands in shared memory start (PTX ISA, "Matrix descriptor format")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .actions import Span
from .bulk_copy import LEAST_BYTES
from .lowering import Occurrence
from .machine.symbol import Form

_START_BITS = (1 << 14) - 1
_START_SHIFT = 4
_PATTERN = 1024
"""Longest repeat of a swizzle pattern: a tile that starts on it has its first row there."""


def operand_spans(occurrence: Occurrence, names: Iterable[str], ctas: tuple[int, ...]) -> Iterator[Span]:
    """Yield where the matrices start that descriptors name, in each CTA that takes part.

    The first 16 bytes at a start on a swizzle pattern are certainly read. The extent is not known here.
    """
    for name in names:
        if not occurrence.has(name):
            continue
        value = occurrence.event.operands[name]
        starts = [-1] if isinstance(value, Form) else [each for each in occurrence.values(name)]
        for start in starts:
            offset = -1 if start < 0 else (start & _START_BITS) << _START_SHIFT
            certain = LEAST_BYTES if offset >= 0 and offset % _PATTERN == 0 else 0
            for cta in ctas:
                yield Span(cta, offset, certain, exact=False)
