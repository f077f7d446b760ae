"""Tensor maps that a source file encodes and passes to kernels that it launches.

Property: a `PassedMap` is the only map that its variable holds: the function that launches the kernel declares the
variable, encodes it once, and gives nobody else its address. Fields that are not constant are 0 in the map, but for
those that decide what a copy moves (type, box, element strides, swizzle, interleave), which must be known.

Not followed: maps that other functions make, and members of structures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass

from ptxcheck.descriptors.fields import Kind
from ptxcheck.descriptors.tensor_map import TensorMap
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.encode import described
from ptxcheck.hostcode.find import (
    CPP_SUFFIXES,
    encodes_in,
    has_encode,
    program_of,
)
from ptxcheck.hostcode.machine import Encode
from ptxcheck.source import Source, Span

_LAUNCHERS = {"cudaLaunchKernelEx": (1, 2)}
"""Functions that launch a kernel: position of the kernel, and of its first argument."""
_ARRAYS = ("box", "element_stride")
_NEEDED = {
    Kind.TILED: ("data_type", "swizzle", "interleave", "box", "element_stride"),
    Kind.IM2COL: ("data_type", "swizzle", "interleave", "channels", "pixels", "element_stride"),
    Kind.IM2COL_WIDE: ("data_type", "swizzle", "interleave", "channels", "pixels", "mode", "element_stride"),
}


@dataclass(frozen=True, slots=True)
class PassedMap:
    """A map that the parameter number `position` of a kernel gets."""

    kernel: str
    """Name without qualifiers, as the source has it."""
    position: int
    tensor_map: TensorMap
    variable: str
    span: Span
    """The launch."""


def passed_maps(source: Source) -> tuple[PassedMap, ...]:
    """Return the maps that the launches of a file pass, where each is known."""
    if not source.name.lower().endswith(CPP_SUFFIXES) or not has_encode(source.text):
        return ()
    program = program_of(source)
    if program is None:
        return ()
    encodes = [encode for encode in encodes_in(source) if len(encode.frames) == 1]
    found = [each for function in program.functions for each in _of_function(function, encodes)]
    return tuple(each for each in found if not any(_contradicts(each, other) for other in found))


def _contradicts(one: PassedMap, other: PassedMap) -> bool:
    same = one.kernel == other.kernel and one.position == other.position
    return same and one.tensor_map != other.tensor_map


def _of_function(function: c.Function, encodes: Sequence[Encode]) -> Iterator[PassedMap]:
    if not has_encode(function.text):
        return
    nodes = list(_walk(function.body))
    calls = {node.span for node in nodes if isinstance(node, c.Call)}
    for encode in (each for each in encodes if each.call.span in calls):
        variable = _variable(encode)
        if variable is None or _addresses(nodes, variable) != 1:
            continue
        tensor_map = _map(encode)
        if tensor_map is None:
            continue
        for kernel, position, span in _launches(nodes, variable):
            yield PassedMap(kernel, position, tensor_map, variable, span)


def _variable(encode: Encode) -> str | None:
    """Return the variable that a call encodes into."""
    if encode.bare or not encode.call.arguments:
        return None
    target = encode.call.arguments[0]
    is_plain = isinstance(target, c.AddressOf) and isinstance(target.operand, c.Name)
    return target.operand.id if is_plain else None  # type: ignore[union-attr]


def _addresses(nodes: Sequence[object], variable: str) -> int:
    """Return how often the address of a variable is taken, or it is assigned to."""
    taken = 0
    for node in nodes:
        match node:
            case c.AddressOf(operand=c.Name(id=name)) if name == variable:
                taken += 1
            case c.Assign(target=c.Name(id=name)) if name == variable:
                taken += 1
            case c.Opaque(names=names) if variable in names:
                taken += 1
    return taken


def _map(encode: Encode) -> TensorMap | None:
    known = described(encode)
    if known is None:
        return None
    tensor_map, names = known
    for name in _NEEDED[encode.kind]:
        entries = [f"{name}[{i}]" for i in range(tensor_map.rank)] if name in _ARRAYS else [name]
        if not names.issuperset(entries):
            return None
    return tensor_map


def _launches(nodes: Sequence[object], variable: str) -> Iterator[tuple[str, int, Span]]:
    """Yield the kernels that get a variable, with its position among their arguments."""
    for node in nodes:
        if not isinstance(node, c.Call) or not isinstance(node.callee, c.Name):
            continue
        kernel, arguments = node.callee.id, node.arguments
        if kernel in _LAUNCHERS:
            at, first = _LAUNCHERS[kernel]
            if len(arguments) <= first or not isinstance(arguments[at], c.Name):
                continue
            kernel, arguments = arguments[at].id, arguments[first:]  # type: ignore[union-attr]
        for position, argument in enumerate(arguments):
            if isinstance(argument, c.Name) and argument.id == variable:
                yield kernel, position, node.span


def _walk(node: object) -> Iterator[object]:
    """Yield the nodes of a tree of the host-code form."""
    if isinstance(node, tuple):
        for part in node:
            yield from _walk(part)
    elif is_dataclass(node) and not isinstance(node, (type, Span, c.Function)):
        yield node
        for field in fields(node):
            yield from _walk(getattr(node, field.name))
