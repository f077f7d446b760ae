"""The tensor map behind each copy of a kernel, as far as it is known, and where map and kernel disagree.

A map is known when the kernel makes it and it can be legal, or when the host passes it in a kernel parameter and the
user describes it (`--tensor-map`). Property: a binding's map is the only one that its copy can read; in a map that
the kernel makes, sizes and strides that it does not know are stand-ins, and nothing here reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .agreement import (
    Binding,
    Disagreement,
    between,
    disagreements,
)
from .device.contents import NO_CHANGE, Base
from .device.events import Use
from .device.field import Field
from .device.flow import DeviceMaps
from .device.made import MadeMap
from .facts import facts
from .symbolic import Legality
from .tensor_map import TensorMap

if TYPE_CHECKING:
    from ..ir import Function
    from ..view import KernelView

_READ_HERE = frozenset({Field.BOX, Field.STEP})
"""Fields of which agreement reads numbers: they must not be symbols."""


@dataclass(frozen=True)
class Contract:
    """What one kernel and its tensor maps have to agree about."""

    view: KernelView

    @cached_property
    def bindings(self) -> Mapping[int, Binding]:
        """The copies whose map is known, by point."""
        found = {use.point: self._binding(use) for use in self.view.get(DeviceMaps).uses}
        return {point: binding for point, binding in found.items() if binding is not None}

    @cached_property
    def box_bytes(self) -> Mapping[int, int]:
        """The bytes of the box of each copy whose map says so, by point."""
        sizes = {point: facts(binding.tensor_map).expect_tx_bytes for point, binding in self.bindings.items()}
        return {point: size for point, size in sizes.items() if size is not None}

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Everything that map and kernel disagree about."""
        return tuple(self._all())

    def _all(self) -> Iterator[Disagreement]:
        if not self.bindings:
            return
        for binding in self.bindings.values():
            yield from disagreements(self.view, binding)
        yield from between(self.view, self.bindings)

    def _binding(self, use: Use) -> Binding | None:
        contents = self.view.get(DeviceMaps).at(use)
        if contents is None:
            return None
        if contents.bases == {Base.GIVEN} and not contents.slots:
            untouched = all(point == NO_CHANGE for point, _ in contents.steps)
            return self._given(use) if untouched else None
        made = self.view.get(DeviceMaps).made_of(contents)
        if len(made) != 1 or not isinstance(made[0], MadeMap):
            return None
        if any(slot.field in _READ_HERE for slot in made[0].open_slots):
            return None
        if self.view.get(DeviceMaps).legality(made[0]).legality is Legality.NEVER:
            return None
        return Binding(use.point, made[0].tensor_map, "the map that the kernel makes")

    def _given(self, use: Use) -> Binding | None:
        place = None if use.key is None else use.key.parameter
        for name, tensor_map in self.view.tensor_maps:
            if place is not None and place == parameter_place(self.view.function, name):
                return Binding(use.point, tensor_map, f"the tensor map {name}")
        return None


def parameter_place(function: Function, name: str) -> tuple[str, int] | None:
    """Return the parameter and the offset in it that a name stands for; None where there is no such parameter.

    A name is that of a parameter, in PTX or in the source (`param_2` stands for nvcc's `…_param_2`), with an offset in
    it where the map is a member (`params+128`), or a place in parameter space (`param+640`).
    """
    stem, _, shift = name.partition("+")
    offset = int(shift, 0) if shift else 0
    for at, size, parameter in function.parameter_places:
        is_numbered = stem.startswith("param_") and parameter.name.endswith(f"_{stem}")
        if (stem and stem in (parameter.name, parameter.source_name)) or is_numbered:
            return parameter.name, offset
        if stem == "param" and shift and at <= offset < at + size:
            return parameter.name, offset - at
    return None


def unknown_names(function: Function, maps: tuple[tuple[str, TensorMap], ...]) -> Iterator[str]:
    """Yield the names that no parameter of the kernel has."""
    for name, _ in maps:
        if parameter_place(function, name) is None:
            yield name
