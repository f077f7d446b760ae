"""Where matrix operands in shared memory start (PTX ISA, "Matrix descriptor format")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..descriptors.matrix.bit_fields import Layout
from ..descriptors.matrix.operand import TCGEN05, UNIT, WGMMA, swizzle
from ..descriptors.matrix.swizzle_mode import SwizzleMode
from .actions import Span
from .bulk_copy import LEAST_BYTES
from .lowering import Occurrence
from .machine.symbol import Form


def operand_spans(
    occurrence: Occurrence, layout: Layout, names: Iterable[str], ctas: tuple[int, ...]
) -> Iterator[Span]:
    """Yield where the matrices start that descriptors name, in each CTA that takes part.

    The first 16 bytes are certainly read, where the swizzle puts them. The extent is not known here.
    """
    for name in names:
        if not occurrence.has(name):
            continue
        if isinstance(occurrence.event.operands[name], Form):
            words: list[int | None] = [None]
        else:
            words = list(occurrence.values(name))
        for word in words:
            for cta in ctas:
                yield from _spans(layout, word, cta)


def _spans(layout: Layout, word: int | None, cta: int) -> Iterator[Span]:
    if word is None:
        yield Span(cta, -1, 0, exact=False)
        return
    fields = {field.name: word >> field.shift & (1 << field.length) - 1 for field in layout.fields}
    start = fields["start"] * UNIT
    yield Span(cta, start, 0, exact=False)
    mode = swizzle(layout, fields["mode"])
    if mode is None or fields["base"]:
        return
    if mode is SwizzleMode.NONE:
        yield Span(cta, start, LEAST_BYTES)
    elif mode.pattern is not None:
        yield Span(cta, mode.pattern.place(start), LEAST_BYTES)


__all__ = ["TCGEN05", "WGMMA", "operand_spans"]
