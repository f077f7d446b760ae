"""The instruction descriptor of a tcgen05 multiplication in a run, as far as it is a number."""

from __future__ import annotations

from ...descriptors.matrix.instruction import Shape
from ..symex.values.known_bits import known_bits
from .lowering import Occurrence


def instruction_fields(occurrence: Occurrence, shape: Shape) -> dict[str, int]:
    """Return the fields of the instruction descriptor that are certain."""
    ones, known = known_bits(occurrence.first("idesc"))
    fields = shape.kind.layout.fields
    return {field.name: field.decode(ones) for field in fields if not field.mask & ~known}
