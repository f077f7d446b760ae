"""Read the generated `cuda::ptx` headers: one wrapper form per function, with what it accepts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

HEADERS = "cuda/__ptx/instructions/generated"

_BLOCK = re.compile(
    r"/\*\n(?P<doc>.*?)\*/\n"
    r"#if __cccl_ptx_isa >= (?P<isa>\d+)(?: && __cccl_ptx_isa < (?P<below>\d+))?\n"
    r"(?P<code>.*?)\n#endif",
    re.S,
)
_HEAD = re.compile(r"template <(?P<template>.*?)>\s*_CCCL_DEVICE_API (?P<head>.*?)\n\{(?P<body>.*)", re.S)
_SIGNATURE = re.compile(r"(?P<result>.+?) (?P<name>\w+) ?\((?P<parameters>.*)\)$")
_ASSERTION = re.compile(r"static_assert\(\s*(.*?),\s*\"\"\s*\)", re.S)
_CHOICE = re.compile(r"(__\w+) == (\w+)")
_SIZE = re.compile(r"sizeof\((_\w+)\) == (\d+)")
_TARGETS = re.compile(r"PTX\s+ISA\s+\d+(?P<list>(?:[\s,]*SM_\d+[af]?)*)")
_ARRAY = re.compile(r"(?P<const>const )?(?P<type>[\w:]+) \(&(?P<name>\w+)\)\[(?P<size>\d+)\]$")
_PLAIN = re.compile(r"(?P<type>.+?[ *&])(?P<name>__\w+)?$")

TYPE_BY_SIZE = {
    1: "::cuda::std::uint8_t",
    2: "::cuda::std::uint16_t",
    4: "::cuda::std::uint32_t",
    8: "::cuda::std::uint64_t",
    16: "int4",
    32: "wide256",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a wrapper; `tag` and `immediate` ones carry their value in their type."""

    kind: str
    """`tag`, `immediate`, `value`, `output`, `array` or `output_array`."""
    type: str
    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """One wrapper function: what it is called with, and where it is legal."""

    header: str
    number: int
    name: str
    isa: int
    """The first PTX version with it (86 means 8.6)."""
    isa_below: int
    """The first PTX version without it."""
    targets: tuple[str, ...]
    result: str
    parameters: tuple[Parameter, ...]
    types: tuple[tuple[str, tuple[str, ...]], ...]
    """Type parameters of the template, with the C++ types to try."""
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    """Parameters with several legal tags, and those tags."""
    explicit: tuple[str, ...]
    """Leading type parameters that no argument determines."""
    enumerations: tuple[str, ...] = ()
    """Tag parameters to name as template arguments too, where a default argument of another overload would
    make the call ambiguous."""

    @property
    def key(self) -> str:
        return f"{self.header}#{self.number}"

    def callers(self) -> Iterator[dict[str, str]]:
        """Every combination of types and tags, as a map from the parameter's name to the choice."""
        names = [name for name, _ in (*self.types, *self.choices)]
        for combination in itertools.product(*(options for _, options in (*self.types, *self.choices))):
            yield dict(zip(names, combination, strict=True))


class HeaderError(ValueError):
    """A header does not look as expected."""


def read_headers(include: Path) -> list[Form]:
    """All forms of all generated headers under the CCCL include folder."""
    forms: list[Form] = []
    for path in sorted((include / HEADERS).glob("*.h")):
        text = path.read_text(encoding="utf-8")
        found = [_form(path.stem, i, block) for i, block in enumerate(_BLOCK.finditer(text), 1)]
        if len(found) != text.count("\n_CCCL_DEVICE_API "):
            raise HeaderError(f"{path.name}: read {len(found)} of {text.count('_CCCL_DEVICE_API')} functions")
        forms += [_disambiguated(form, found) for form in found]
    return forms


def _disambiguated(form: Form, siblings: list[Form]) -> Form:
    longer = len(form.parameters) + 1
    ambiguous = any(
        other.name == form.name
        and len(other.parameters) == longer
        and other.parameters[-1].kind == "immediate"
        for other in siblings
    )
    if not ambiguous or form.types or any(p.kind == "immediate" for p in form.parameters):
        return form
    return replace(form, enumerations=tuple(name for name, _ in form.choices))


def _form(header: str, number: int, block: re.Match[str]) -> Form:
    parts = _HEAD.match(block["code"])
    signature = _SIGNATURE.match(" ".join(parts["head"].split())) if parts else None
    if parts is None or signature is None:
        raise HeaderError(f"{header}: cannot read the function of block {number}")
    parameters = tuple(_parameter(text) for text in _split(signature["parameters"]))
    sizes, choices = _constraints(parts["body"])
    types = tuple((name, _types(name, sizes)) for name in re.findall(r"typename (_\w+)", parts["template"]))
    used = " ".join(p.type for p in parameters)
    return Form(
        header=header,
        number=number,
        name=signature["name"],
        isa=int(block["isa"]) // 10,
        isa_below=int(block["below"] or 10**6) // 10,
        targets=_targets(block["doc"]),
        result=signature["result"],
        parameters=parameters,
        types=types,
        choices=tuple((p.name, choices[p.name]) for p in parameters if p.kind == "tag" and p.name in choices),
        explicit=tuple(name for name, _ in types if not re.search(rf"\b{name}\b", used)),
    )


def _constraints(body: str) -> tuple[dict[str, list[int]], dict[str, tuple[str, ...]]]:
    sizes: dict[str, list[int]] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for assertion in _ASSERTION.findall(body):
        for name, size in _SIZE.findall(assertion):
            if int(size) not in sizes.setdefault(name, []):
                sizes[name].append(int(size))
        tags = _CHOICE.findall(assertion)
        if tags:
            choices[tags[0][0]] = tuple(tag for _, tag in tags)
    return sizes, choices


def _types(name: str, sizes: dict[str, list[int]]) -> tuple[str, ...]:
    width = re.fullmatch(r"_([BSU])(\d+)", name)
    found = sizes.get(name) or ([int(width[2]) // 8] if width else [4])
    if width and width[1] == "S":
        return tuple(TYPE_BY_SIZE[size].replace("uint", "int") for size in found)
    return tuple(TYPE_BY_SIZE[size] for size in found)


def _targets(doc: str) -> tuple[str, ...]:
    listed = _TARGETS.search(doc)
    return tuple(re.findall(r"SM_\d+[af]?", listed["list"])) if listed else ()


def _split(parameters: str) -> list[str]:
    """Split at the commas that are outside brackets."""
    pieces: list[str] = []
    depth, current = 0, ""
    for character in parameters:
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            pieces.append(current)
            current = ""
        else:
            current += character
    return [piece.strip() for piece in [*pieces, current] if piece.strip()]


def _parameter(text: str) -> Parameter:
    declaration = text.split(" = ", 1)[0].strip()
    array = _ARRAY.match(declaration)
    if array:
        kind = "array" if array["const"] else "output_array"
        return Parameter(kind, array["type"], array["name"], int(array["size"]))
    plain = _PLAIN.match(f"{declaration} " if "__" not in declaration else declaration)
    if plain is None:
        raise HeaderError(f"cannot read the parameter {text!r}")
    kind_of, name = plain["type"].strip(), plain["name"] or ""
    if "n32_t<" in kind_of:
        return Parameter("immediate", kind_of, name)
    if kind_of.startswith("::cuda::ptx::"):
        return Parameter("tag", kind_of, name)
    if kind_of.endswith("&"):
        base = kind_of.removesuffix("&").strip()
        constant = base.startswith("const ")
        return Parameter("value" if constant else "output", base.removeprefix("const "), name)
    return Parameter("value", kind_of, name)
