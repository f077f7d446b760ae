"""Calls of CuTe: layouts, tensors, and the tensor maps that `make_tma_copy` and `make_tma_atom` encode.

What CuTe knows when the program is compiled (`Int<64>{}`, `_64{}`) is kept apart from other numbers, since it decides
which dimensions of a tensor become one dimension of its map. Left alone: nested shapes of tensors, an internal type
that is not the element type, elements smaller than a byte, im2col, and more than five dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptxcheck.descriptors.fields import (
    Interleave,
    Kind,
    L2Promotion,
    OobFill,
)
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode import layouts
from ptxcheck.hostcode.declarations import Declarations
from ptxcheck.hostcode.machine import Encode, State
from ptxcheck.hostcode.names import MAKERS, PARAMETERS, UNDERSCORE
from ptxcheck.hostcode.types import (
    INT,
    STATIC,
    UNSIGNED,
    UNSIGNED_LONG,
    Type,
)
from ptxcheck.hostcode.values import (
    ANYTHING,
    Array,
    Integer,
    Layout,
    Mode,
    NullPointer,
    Step,
    Tensor,
    Value,
    Words,
    number,
)

_TUPLES = frozenset(("make_shape", "make_stride", "make_tile", "make_coord", "make_step"))
_ORDERS = frozenset(("LayoutLeft", "LayoutRight", "GenColMajor", "GenRowMajor"))
_RIGHT = frozenset(("LayoutRight", "GenRowMajor"))
_OPERATIONS = ("SM90_TMA_", "SM100_TMA_")
_TILE_MODES = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}
"""Which modes of the tile of a product (M, N, K) each operand has."""
_CLUSTER_MODE = {"A": 1, "B": 0}
"""Along which mode of the cluster the blocks share each operand."""
_ENCODED_FROM = {"boxDim": 2, "elementStrides": 2, "swizzle": 2}
"""Which argument of the maker a parameter of the encode function comes from; others come from the tensor, 1."""


class Cute(Declarations):
    """Calls of CuTe."""

    def _cute(self, name: str, call: c.Call, values: Sequence[Value], state: State) -> Value | None:
        """Return the value of a function or type of CuTe, or None where it is none that is known."""
        if name.endswith("{}"):
            return self._of_type_name(name, state)
        if name == STATIC.name + "<>" and len(values) == 1:
            return replace(values[0], type=STATIC) if isinstance(values[0], Integer) else ANYTHING
        if name in _TUPLES:
            return Array(tuple(values))
        if name in _ORDERS and not values:
            return Words(name)
        if name == "make_layout":
            return self._layout(values, state)
        if name == "make_gmem_ptr" and len(values) == 1:
            return self._global_pointer(call, values[0], state)
        if name == "make_tensor" and len(values) >= 2 and not call.types:
            layout = values[1] if isinstance(values[1], Layout) else self._layout(values[1:], state)
            is_tensor = isinstance(values[0], Integer) and isinstance(layout, Layout)
            return Tensor(values[0], layout) if is_tensor else ANYTHING  # type: ignore[arg-type]
        if name.startswith("Layout_") and name.endswith("_Atom") and not values:
            return self._atom(name, call)
        if name == "tile_to_shape" and len(values) in (2, 3):
            return self._tiled(values)
        if name in ("get", "size", "shape", "select", "take") and len(values) == 1:
            return self._part(name, call, values[0], state)
        return None

    def _of_type_name(self, name: str, state: State) -> Value:
        """Return the value of `T{}` for a name of a type."""
        if name[:-2] in self._types():
            return ANYTHING
        value = self._named(name, state, None)
        return ANYTHING if isinstance(value, Integer) and value.constant is None else value

    def _layout(self, values: Sequence[Value], state: State) -> Value:
        """Return `make_layout(shape)`, `(shape, stride)`, `(shape, LayoutRight{})`; shapes are flat."""
        if len(values) not in (1, 2):
            return ANYTHING
        extents = [values[0]] if isinstance(values[0], Integer) else layouts.integers(values[0])
        if not extents:
            return ANYTHING
        shape = [one for one in extents if isinstance(one, Integer)]
        order = values[1] if len(values) == 2 else Words("LayoutLeft")
        if isinstance(order, Words):
            strides: list[Integer] | None = self._packed(shape, order.text in _RIGHT, state)
        else:
            strides = [order] if isinstance(order, Integer) else layouts.integers(order)
        if strides is None or len(strides) != len(shape):
            return ANYTHING
        return Layout(tuple((Mode(a, b),) for a, b in zip(shape, strides, strict=True)))

    def _packed(self, shape: Sequence[Integer], from_the_right: bool, state: State) -> list[Integer]:
        """Return the strides of elements that lie one behind the other; that of a static extent of 1 is 0."""
        step, found = number(1, STATIC), []
        for extent in reversed(shape) if from_the_right else shape:
            is_one = layouts.is_static(extent) and extent.constant == 1
            found.append(number(0, STATIC) if is_one else step)
            step = self._arithmetic.binary("*", step, extent, state.known, "")
        return found[::-1] if from_the_right else found

    def _global_pointer(self, call: c.Call, value: Value, state: State) -> Value:
        if not call.types:
            return value
        if len(call.types) != 1 or not isinstance(call.types[0], Type):
            return ANYTHING
        element = replace(self._resolved(call.types[0]), is_pointer=True)
        if isinstance(value, Integer):
            return replace(value, type=element, unit=element.size)
        return number(0, element) if isinstance(value, NullPointer) else self._unknown("", element, state)

    def _atom(self, name: str, call: c.Call) -> Value:
        element = call.types[0] if len(call.types) == 1 else None
        type_ = self._resolved(element) if isinstance(element, Type) else None
        if type_ is None or type_.is_pointer or type_.size is None or type_.name not in layouts.DATA_TYPES:
            return ANYTHING
        return layouts.atom(name, type_.size) or ANYTHING

    def _tiled(self, values: Sequence[Value]) -> Value:
        extents = layouts.constants(values[1])
        order = layouts.constants(values[2]) if len(values) == 3 else list(range(len(extents or ())))
        if not isinstance(values[0], Layout) or extents is None or order is None:
            return ANYTHING
        return layouts.tiled(values[0], extents, order) or ANYTHING

    def _part(self, name: str, call: c.Call, value: Value, state: State) -> Value | None:
        """Return `get<0>(x)`, `select<0, 2>(x)`, `size<0>(x)`, `shape(layout)`."""
        if not isinstance(value, (Array, Layout)):
            return None
        which = [self._value(one, state) if not isinstance(one, Type) else ANYTHING for one in call.types]
        at = [one.constant for one in which if isinstance(one, Integer) and one.constant is not None]
        parts: Sequence[Value]
        if isinstance(value, Layout):
            extents = layouts.extents_of(value)
            if extents is None or name not in ("size", "shape"):
                return ANYTHING
            parts = [number(extent, STATIC) for extent in extents]
        else:
            parts = value.items if value.rest is None else ()
        if len(at) != len(call.types) or any(not 0 <= one < len(parts) for one in at):
            return ANYTHING
        if name == "shape" and not at:
            return Array(tuple(parts))
        if name == "select":
            return Array(tuple(parts[one] for one in at))
        if name in ("get", "size", "shape") and len(at) == 1:
            return parts[at[0]] if isinstance(parts[at[0]], Integer) else ANYTHING
        return None if isinstance(value, Array) and name == "size" and not at else ANYTHING

    def _sliced(self, layout: Layout, call: c.Call, values: Sequence[Value]) -> Value:
        """Return `layout(_, _, 0)`: the modes that are kept."""
        if len(call.arguments) != len(layout.modes):
            return ANYTHING
        pairs = list(zip(layout.modes, call.arguments, values, strict=True))
        kept = tuple(mode for mode, argument, _ in pairs if _is_underscore(argument))
        is_first = all(
            isinstance(value, Integer) and value.constant == 0
            for _, argument, value in pairs
            if not _is_underscore(argument)
        )
        return replace(layout, modes=kept) if kept and is_first else ANYTHING

    # ------------------------------------------------------------------------------------------ makers of maps

    def _make_map(self, name: str, call: c.Call, values: Sequence[Value], state: State) -> None:
        """Note what a maker of CuTe encodes, where all that decides it is known."""
        found = self._encoded(name, call, values, state)
        if not self._frames[-1].function.is_included:
            self.makers[call.span] = self.makers.get(call.span, False) or found is not None
        if found is None:
            return
        names = PARAMETERS[Kind.TILED]
        places = tuple(c.Opaque(frozenset(), call.arguments[_ENCODED_FROM.get(one, 1)].span) for one in names)
        noted = c.Call(call.callee, (), places, call.span)
        self._note_encode(Encode(Kind.TILED, noted, found, dict(state.known), False, self._way(call.span)))

    def _encoded(
        self, name: str, call: c.Call, values: Sequence[Value], state: State
    ) -> tuple[Value, ...] | None:
        """Return the arguments of the encode call."""
        arguments = _asked(name, call, values)
        if arguments is None:
            return None
        tensor, shared, tile, blocks = arguments
        element = tensor.pointer.type
        data_type = layouts.DATA_TYPES.get(element.name)
        flat = layouts.numbers([leaf for mode in shared.modes for leaf in mode])
        modes = [mode[0] for mode in tensor.layout.modes]
        if data_type is None or element.size is None or flat is None or not element.is_pointer:
            return None
        if not self._has_type(call, element) or any(len(mode) != 1 for mode in tensor.layout.modes):
            return None
        if shared.swizzle[0] not in range(4) or shared.swizzle[1:] != (4, 3):
            return None
        found = layouts.dimensions(flat, tile, modes)
        box = None if found is None else layouts.shared_among([one.box for one in found], blocks)
        if found is None or box is None:
            return None
        pairs = [self._spanned([modes[i] for i in one.modes]) for one in found]
        if None in pairs:
            return None
        extents = [self._wide(pair[0], state) for pair in pairs if pair]
        strides = [self._bytes(self._wide(pair[1], state), element.size, state) for pair in pairs[1:] if pair]
        text = f"{name} takes boxes of {' x '.join(map(str, box))} elements, innermost first"
        step = (Step(text, call.arguments[2].span),)
        return (
            ANYTHING,
            number(int(data_type), INT),
            number(len(box), UNSIGNED),
            tensor.pointer,
            Array(tuple(extents)),
            Array(tuple(strides)),
            Array(tuple(number(one, UNSIGNED, step) for one in box)),
            Array((number(1, UNSIGNED),) * len(box)),
            number(int(Interleave.INTERLEAVE_NONE), INT),
            number(shared.swizzle[0], INT, step),
            number(int(L2Promotion.L2_128B), INT),
            number(int(OobFill.ZERO), INT),
        )

    def _has_type(self, call: c.Call, element: Type) -> bool:
        """Whether the map has the element type of the tensor: no other is asked for."""
        asked = [self._resolved(one) if isinstance(one, Type) else None for one in call.types]
        return not asked or (len(asked) == 1 and asked[0] is not None and asked[0].name == element.name)

    def _spanned(self, modes: Sequence[Mode]) -> tuple[Integer, Integer] | None:
        if len(modes) == 1:
            return modes[0].extent, modes[0].stride
        known = layouts.numbers(modes)
        if known is None:
            return None
        extent, stride = layouts.spanned(known)
        return number(extent, STATIC), number(stride, STATIC)

    def _wide(self, value: Integer, state: State) -> Integer:
        return self._arithmetic.convert(value, UNSIGNED_LONG, state.known, "")

    def _bytes(self, stride: Integer, size: int, state: State) -> Integer:
        return self._arithmetic.binary("*", stride, number(size, UNSIGNED_LONG), state.known, "")


def _is_underscore(expr: c.Expr) -> bool:
    return isinstance(expr, c.Name) and expr.id == UNDERSCORE


def _asked(name: str, call: c.Call, values: Sequence[Value]) -> tuple[Tensor, Layout, list[int], int] | None:
    """Return tensor, layout of shared memory, tile, and how many blocks share it, as a maker is called with them."""
    if len(values) < 3 or not _is_operation(call.arguments[0]):
        return None
    tensor, shared, *rest = values[1:]
    if not isinstance(tensor, Tensor) or not isinstance(shared, Layout):
        return None
    operand = name[len("make_tma_copy_")] if name.endswith("_sm90") else None
    tile, blocks = layouts.extents_of(shared), 1
    if operand is not None:
        if len(rest) != (1 if operand == "C" else 2):
            return None
        whole = layouts.constants(rest[0])
        tile = [whole[i] for i in _TILE_MODES[operand]] if whole and len(whole) == 3 else None
        shape = layouts.constants(rest[1]) if operand != "C" else None
        if operand != "C":
            if shape is None or len(shape) < 2:
                return None
            blocks = shape[_CLUSTER_MODE[operand]]
    else:
        if len(rest) > 2 or (name == "make_tma_atom" and not rest):
            return None
        if len(rest) == 2 or name == "make_tma_atom":
            tile = layouts.constants(rest[0])
            rest = rest[1:]
        if rest:
            count = rest[0].constant if isinstance(rest[0], Integer) else None
            if count is None:
                return None
            blocks = count
    return None if tile is None or blocks < 1 else (tensor, shared, tile, blocks)


def _is_operation(expr: c.Expr) -> bool:
    """Whether an argument names a tile copy: how an im2col map is made is not followed."""
    callee = expr.callee if isinstance(expr, c.Call) else expr
    name = callee.id if isinstance(callee, c.Name) else ""
    return name.startswith(_OPERATIONS) and "IM2COL" not in name


__all__ = ["MAKERS", "Cute"]
