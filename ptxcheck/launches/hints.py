"""The launch that verdicts are for: directives of the kernel first, then what the user says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from ..ir import Function, Variable
from ..launch import (
    MAX_THREADS,
    Dim,
    GivenValue,
    Launch,
    ParameterFact,
    show_dim,
)
from ..sources.demangled_names import kernel_name, names_kernel
from .parameter_facts import (
    Condition,
    Specialisation,
    contradiction,
    fact_of,
    parse_condition,
    specialised_facts,
)

if TYPE_CHECKING:
    from ..descriptors.tensor_map import TensorMap

_ITEM = re.compile(
    r"(block|cluster|param\+\d+(?:\.[usb]\d+)?|box_bytes\([^()]*\))\s*=\s*(0x[\da-fA-F]+|-?\(?[\d\s,x]*\)?)"
    r"(?:\s+|;|\Z)"
)
_QUANTITY = re.compile(r"[a-z_]+\([^()]*\)\Z")
_PLACE = re.compile(r"([\w$.%]+?)(?:\+(\d+))?(?:\.[usb](8|16|32|64))?\Z")
_KEYS = frozenset({"block", "cluster", "assume", "tensor-maps"})
_MAP_BYTES = 128
_CAPABILITIES = ((9, 0), (10, 0), (12, 0))
MAX_CLUSTER = 16


class LaunchError(ValueError):
    """A launch that cannot be understood, or contradicts the kernel."""


@dataclass(frozen=True, slots=True)
class LaunchHint:
    """What the user says about the launch of the kernels whose names match `kernel`."""

    kernel: str = "*"
    block: Dim | None = None
    cluster: Dim | None = None
    origin: str = "--launch"
    values: tuple[tuple[str, int], ...] = ()
    """Numbers that the host passes, by what they are called: `param+640`, `n`, `box_bytes(param+128)`."""
    tensor_maps: tuple[tuple[str, TensorMap], ...] = ()
    """Tensor maps that the host passes, by parameter: `a_map`, `param_2`, `param+128`."""
    conditions: tuple[Condition, ...] = ()
    """What holds of numbers that the host passes."""
    specialisation: Specialisation | None = None
    """What the compiler says that the kernel is for."""

    def applies(self, name: str) -> bool:
        """Tell whether this is about a kernel, by its name in PTX."""
        return names_kernel(self.kernel, name)


_MOST_NAMES = 4
"""Kernels that are named where none is called as a launch says."""


def unused(hints: Iterable[LaunchHint], kernels: Sequence[str]) -> Iterator[tuple[LaunchHint, str]]:
    """Yield each launch of the command line that is for none of some kernels, and what to say of it."""
    for hint in hints:
        if hint.origin.startswith("--") and kernels and not any(map(hint.applies, kernels)):
            names = ", ".join(map(kernel_name, kernels[:_MOST_NAMES]))
            yield hint, f"no kernel that was checked is called {hint.kernel}; there is {names}"


def parse_hint(text: str, origin: str, kernel: str = "*") -> LaunchHint:
    """Parse `block=384 cluster=2`, `block=32x4 param+640=8192`, `gemm*: block=(128,2,1)`. Raises LaunchError."""
    head, colon, rest = text.rpartition(":")
    if colon:
        kernel, text = head.strip(), rest
    shapes: dict[str, Dim] = {}
    values: list[tuple[str, int]] = []
    covered = 0
    text = text.strip()
    for match in _ITEM.finditer(text):
        if text[covered : match.start()].strip():
            break
        if match[1] in ("block", "cluster"):
            shapes[match[1]] = _dim(match[2], match[1])
        else:
            values.append((match[1], _number(match[2], match[1])))
        covered = match.end()
    if not (shapes or values) or text[covered:].strip():
        raise LaunchError(
            f"{origin}: {text!r} is not a launch: write `block=384 cluster=2` or `block=32x4x1`"
        )
    return LaunchHint(kernel, shapes.get("block"), shapes.get("cluster"), origin, tuple(values))


def parse_assumption(text: str, origin: str = "--assume") -> LaunchHint:
    """Parse `param+640=8192`, `gemm*: box_bytes(param+128)=16384`, `n % 16 == 0`, `n.s32 >= 1`. Raises LaunchError."""
    kernel, colon, rest = text.rpartition(":")
    condition = _condition(rest if colon else text, origin)
    if condition is not None:
        return LaunchHint(kernel.strip() if colon else "*", origin=origin, conditions=(condition,))
    name, equals, number = (rest if colon else text).partition("=")
    name = name.strip()
    if not equals or not (_QUANTITY.match(name) or _PLACE.match(name)):
        raise LaunchError(
            f"{origin}: {text!r} gives no value: write `param+640=8192`, `n=4096`, `n % 16 == 0` "
            "or `box_bytes(param+128)=16384`"
        )
    return LaunchHint(
        kernel.strip() if colon else "*", origin=origin, values=((name, _number(number, name)),)
    )


def stated(
    launch: Sequence[str] = (), assume: Sequence[str] = (), tensor_map: Sequence[str] = ()
) -> tuple[LaunchHint, ...]:
    """Return what options say, as on the command line. Raises LaunchError."""
    hints = tuple(parse_hint(text, "--launch") for text in launch)
    hints += tuple(parse_assumption(text) for text in assume)
    return hints + tuple(parse_tensor_map(text) for text in tensor_map)


def _condition(text: str, origin: str) -> Condition | None:
    try:
        condition = parse_condition(text)
    except ValueError as error:
        raise LaunchError(f"{origin}: {error}") from error
    if condition is not None and not _PLACE.match(condition.place):
        raise LaunchError(
            f"{origin}: {condition.place!r} is no parameter: write `n % 16 == 0` or `param+640 >= 1`"
        )
    return condition


def specialised(specialisation: Specialisation) -> LaunchHint:
    """Return what a compiler says of a kernel that it made."""
    return LaunchHint(specialisation.kernel, origin="Triton", specialisation=specialisation)


def parse_tensor_map(text: str, origin: str = "--tensor-map", kernel: str = "*") -> LaunchHint:
    """Parse `a_map=type=fp16 shape=64,64 box=64,64 swizzle=128B` or `gemm*: a_map=map.toml`. Raises LaunchError."""
    name, equals, spec = text.partition("=")
    head, colon, parameter = name.rpartition(":")
    if not equals or not _PLACE.match(parameter.strip()):
        raise LaunchError(
            f"{origin}: {text!r} describes no tensor map: write `a_map=type=fp16 shape=1024,512 box=64,64 "
            "swizzle=128B`, or `a_map=map.toml`"
        )
    one = (parameter.strip(), _tensor_map(spec.strip(), f"{origin}: {parameter.strip()}"))
    return LaunchHint(head.strip() if colon else kernel, origin=origin, tensor_maps=(one,))


def _tensor_map(spec: object, origin: str) -> TensorMap:
    """Return the map that a description means: words, TOML, JSON, a path, or a table of a configuration."""
    from ..descriptors.constraints import Layer, Platform
    from ..descriptors.legality import violations
    from ..descriptors.spec import SpecError, read, tensor_map_of

    try:
        text = json.dumps(spec, default=str) if isinstance(spec, Mapping) else str(spec)
        tensor_map = tensor_map_of(read(text))
    except (SpecError, ValueError) as error:
        raise LaunchError(f"{origin}: {error}") from error
    refused = [
        [one for one in violations(tensor_map, Platform(each)) if one.constraint.layer is Layer.DRIVER]
        for each in _CAPABILITIES
    ]
    if all(refused):
        raise LaunchError(f"{origin}: no driver encodes this map: {refused[0][0].message}")
    return tensor_map


def _number(text: str, what: str) -> int:
    try:
        value = int(text.strip(), 0)
    except ValueError:
        raise LaunchError(f"{what}={text.strip()} is not a whole number") from None
    if not -(1 << 63) <= value < 1 << 64:
        raise LaunchError(f"{what}={value} does not fit in 64 bits")
    return value


def hint_from_table(kernel: str, table: object, origin: str) -> LaunchHint:
    """Build a hint from a configuration value: a string, or a table of `block`, `cluster` and `assume`."""
    if isinstance(table, str):
        return parse_hint(table, origin, kernel)
    if not isinstance(table, Mapping) or not table or set(table) - _KEYS:
        raise LaunchError(f"{origin}: needs `block`, `cluster`, `assume` or `tensor-maps`, and nothing else")
    shapes = {name: _dim(_as_text(table[name]), name) for name in ("block", "cluster") if name in table}
    values = _values(table.get("assume", {}), origin)
    maps = _tensor_maps(table.get("tensor-maps", {}), origin)
    return LaunchHint(kernel, shapes.get("block"), shapes.get("cluster"), origin, values, maps)


def _tensor_maps(table: object, origin: str) -> tuple[tuple[str, TensorMap], ...]:
    if not isinstance(table, Mapping):
        raise LaunchError(f"{origin}: `tensor-maps` is a table of descriptions by parameter")
    return tuple((str(name), _tensor_map(spec, f"{origin}: {name}")) for name, spec in table.items())


def _values(table: object, origin: str) -> tuple[tuple[str, int], ...]:
    if not isinstance(table, Mapping) or not all(type(value) is int for value in table.values()):
        raise LaunchError(f'{origin}: `assume` is a table of whole numbers, such as {{ "param+640" = 8192 }}')
    parsed = (parse_assumption(f"{name}={value}", origin) for name, value in table.items())
    return tuple(value for hint in parsed for value in hint.values)


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _dim(text: str, what: str) -> Dim:
    try:
        numbers = [int(part) for part in re.split(r"[,x]", text.strip().strip("()"))]
    except ValueError:
        numbers = []
    limit = MAX_THREADS if what == "block" else MAX_CLUSTER
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1 or prod(numbers) > limit:
        raise LaunchError(
            f"{what}={text.strip()} is not a shape of 1 to 3 positive numbers up to {limit} in all"
        )
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def from_directives(function: Function) -> Launch:
    """Return what `.reqntid`, `.maxntid` and `.reqnctapercluster` say."""
    required = _directive(function, ".reqntid", MAX_THREADS)
    cluster = _directive(function, ".reqnctapercluster", MAX_CLUSTER)
    bound = required or _directive(function, ".maxntid", MAX_THREADS)
    return Launch(required, required is not None, cluster, None if bound is None else prod(bound))


def _directive(function: Function, keyword: str, limit: int) -> Dim | None:
    """Return the shape that a directive gives, None when it gives none that can be launched."""
    numbers = function.attributes.get(keyword)
    if not numbers or min(numbers) < 1 or prod(numbers) > limit:
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def launch_of(function: Function, hints: Sequence[LaunchHint]) -> tuple[Launch, tuple[str, ...]]:
    """Return the launch of a kernel, and complaints about hints that contradict its directives.

    Directives count first, then the first hint that speaks of block or cluster. A hint with a pattern for
    many kernels gives way silently; one that names this kernel must agree.
    """
    launch = from_directives(function)
    fitting = [hint for hint in hints if hint.applies(function.name)]
    complaints = [
        f"{hint.origin}: {complaint}"
        for hint in fitting
        if hint.kernel == function.name and (complaint := contradiction_of(launch, hint)) is not None
    ]
    fitting = [hint for hint in fitting if contradiction_of(launch, hint) is None]
    blocks = next((hint for hint in fitting if hint.block is not None), None)
    if launch.block is None and blocks is not None and blocks.block is not None:
        block = blocks.block
        launch = replace(
            launch, block=block, block_is_exact=True, max_threads=prod(block), block_from=blocks.origin
        )
    clusters = next((hint for hint in fitting if hint.cluster is not None), None)
    if launch.cluster is None and clusters is not None:
        launch = replace(launch, cluster=clusters.cluster, cluster_from=clusters.origin)
    given: dict[str, GivenValue] = {}
    for hint in fitting:
        for name, number in hint.values:
            value = given_value(function, name, number)
            if value is not None:
                given.setdefault(name, value)
            elif hint.kernel == function.name:
                complaints.append(f"{hint.origin}: the kernel has no parameter {name}")
    facts = _facts(function, fitting, complaints)
    clash = contradiction(
        facts, [(v.offset, v.size, v.value) for v in given.values() if v.offset is not None]
    )
    if clash is not None:
        complaints.append(clash)
        facts = ()
    return replace(launch, given=tuple(given.values()), facts=facts), tuple(complaints)


def _facts(
    function: Function, hints: Sequence[LaunchHint], complaints: list[str]
) -> tuple[ParameterFact, ...]:
    """Return what the hints say of parameters besides their values."""
    found: list[ParameterFact] = []
    for hint in hints:
        if hint.specialisation is not None:
            found += specialised_facts(function, hint.specialisation)
        for condition in hint.conditions:
            place = given_value(function, condition.place, 0)
            if place is None or place.offset is None:
                if hint.kernel == function.name:
                    complaints.append(f"{hint.origin}: the kernel has no parameter {condition.place}")
                continue
            fact = fact_of(condition, place.offset, place.size)
            if fact is None:
                complaints.append(f"{hint.origin}: {condition.text} is no range of the bytes of a number")
            else:
                found.append(fact)
    return tuple(dict.fromkeys(found))


def given_value(function: Function, name: str, number: int) -> GivenValue | None:
    """Return where in parameter space a named number lies; None when the kernel has no such parameter.

    A place is `param+OFFSET` or the name of a parameter (in PTX or in the source; `param_2` stands for nvcc's
    `…_param_2`), which may be followed by an offset into it. Without a type suffix (`n.u64`) a parameter of up to 8
    bytes is given whole, and 4 bytes at any other place, or 8 when the number needs them.
    """
    if _QUANTITY.match(name):
        return GivenValue(name, number)
    match = _PLACE.match(name)
    if match is None:
        return None
    shift, width = int(match[2] or 0), int(match[3] or 0) // 8
    for at, size, parameter in function.parameter_places:
        by_offset = match[1] == "param" and match[2] is not None
        if not by_offset and not _is_called(parameter, match[1]):
            continue
        offset = shift if by_offset else at + shift
        if at <= offset < at + size:
            usual = size if offset == at and size <= 8 else 4 if -(1 << 31) <= number < 1 << 32 else 8
            taken = min(width or usual, at + size - offset)
            return GivenValue(name, number & ((1 << 8 * taken) - 1), offset, taken)
    return None


def _is_called(parameter: Variable, name: str) -> bool:
    is_numbered = name.startswith("param_") and parameter.name.endswith(f"_{name}")
    return name in (parameter.name, parameter.source_name) or is_numbered


def tensor_maps_of(
    function: Function, hints: Sequence[LaunchHint]
) -> tuple[tuple[tuple[str, TensorMap], ...], tuple[str, ...]]:
    """Return the tensor maps that the host passes to a kernel, and complaints about names it does not have."""
    found: dict[str, TensorMap] = {}
    complaints: list[str] = []
    for hint in hints:
        if hint.tensor_maps and hint.applies(function.name):
            from ..descriptors.contract import parameter_place

            for name, tensor_map in hint.tensor_maps:
                place = parameter_place(function, name)
                if place is not None and not _holds_map(function, *place):
                    complaints.append(f"{hint.origin}: parameter {name} is too small to be a tensor map")
                elif place is not None:
                    found.setdefault(name, tensor_map)
                elif hint.kernel == function.name:
                    complaints.append(f"{hint.origin}: the kernel has no parameter {name}")
    return tuple(found.items()), tuple(complaints)


def _holds_map(function: Function, name: str, offset: int) -> bool:
    sizes = {parameter.name: parameter.size for parameter in function.parameters}
    return offset + _MAP_BYTES <= (sizes[name] or 0)


def contradiction_of(launch: Launch, hint: LaunchHint) -> str | None:
    """Return in what a hint contradicts a launch; None where it does not."""
    if hint.block is not None and launch.block is not None and hint.block != launch.block:
        return f"block {show_dim(hint.block)} contradicts .reqntid {show_dim(launch.block)}"
    if hint.block is not None and launch.max_threads is not None and prod(hint.block) > launch.max_threads:
        return f"block {show_dim(hint.block)} exceeds .maxntid, {launch.max_threads} threads"
    if hint.cluster is not None and launch.cluster is not None and hint.cluster != launch.cluster:
        return f"cluster {show_dim(hint.cluster)} contradicts .reqnctapercluster {show_dim(launch.cluster)}"
    return None
