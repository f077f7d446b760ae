"""Types of host code: which integers a variable can hold, and how many bytes an element takes.

Sizes are those of the 64-bit platforms that CUDA runs on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Type:
    """A type by its name; `bits` and `signed` where it is an integer, `size` in bytes where it is known."""

    name: str
    bits: int = 0
    signed: bool = False
    size: int | None = None
    values: int = 0
    """For an enumeration of cuda.h, the number of its enumerators, which start at 0."""
    is_pointer: bool = False
    is_const: bool = False
    is_constant: bool = False
    """constexpr: known when the program is compiled."""
    is_reference: bool = False
    is_container: bool = False
    """std::array, std::vector and the like, of `element`."""
    arguments: tuple[str, ...] = ()
    """Template arguments as they are written."""

    @property
    def is_integer(self) -> bool:
        """Whether the type holds integers of a known width."""
        return self.bits > 0 and not self.is_pointer

    @property
    def low(self) -> int:
        """Return the least value."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """Return the greatest value."""
        if self.values:
            return self.values - 1
        return (1 << (self.bits - self.signed)) - 1


UNKNOWN = Type("")
INT = Type("int", 32, True, 4)
UNSIGNED = Type("unsigned", 32, False, 4)
LONG = Type("int64_t", 64, True, 8)
UNSIGNED_LONG = Type("uint64_t", 64, False, 8)
BOOL = Type("bool", 1, False, 1)
STATIC = Type("Int", 32, True, 4)
"""`Int<N>` of CuTe: a number that is part of the type."""

_WIDTHS = {
    8: ("int8_t", "char", "signed char", "int_least8_t"),
    16: ("int16_t", "short"),
    32: ("int32_t", "int"),
    64: ("int64_t", "long", "long long", "ptrdiff_t", "ssize_t", "intptr_t", "Py_ssize_t"),
}
_UNSIGNED_WIDTHS = {
    8: ("uint8_t", "unsigned char", "uchar", "byte"),
    16: ("uint16_t", "unsigned short"),
    32: ("uint32_t", "unsigned", "unsigned int", "uint", "cuuint32_t", "c_uint32"),
    64: ("uint64_t", "size_t", "unsigned long", "unsigned long long", "uintptr_t", "cuuint64_t", "c_uint64"),
}
_INTEGERS = {name: Type(name, bits, True, bits // 8) for bits, names in _WIDTHS.items() for name in names}
_INTEGERS |= {
    name: Type(name, bits, False, bits // 8) for bits, names in _UNSIGNED_WIDTHS.items() for name in names
}
_INTEGERS["bool"] = BOOL

_SIZES = {
    1: "__nv_fp8_e4m3 __nv_fp8_e5m2 __nv_fp8_e8m0 float_e4m3_t float_e5m2_t float_ue8m0_t float_ue4m3_t"
    " __nv_fp8_storage_t Float8_e4m3fn Float8_e5m2 e4m3 e5m2",
    2: "half __half nv_half half_t __nv_bfloat16 nv_bfloat16 bfloat16_t bfloat16 bf16 fp16 Half BFloat16"
    " float16 __nv_fp8x2_e4m3",
    4: "float float32 half2 __half2 __nv_bfloat162 tfloat32_t tf32 float32_t",
    8: "double float64 float2 int2 uint2",
    16: "float4 int4 uint4 double2 longlong2 ulonglong2",
    128: "CUtensorMap TmaDescriptor",
}
_SIZED = {name: Type(name, size=size) for size, names in _SIZES.items() for name in names.split()}

_ENUMS = {
    "CUtensorMapDataType": 16,
    "CUtensorMapInterleave": 3,
    "CUtensorMapSwizzle": 7,
    "CUtensorMapL2promotion": 4,
    "CUtensorMapFloatOOBfill": 2,
    "CUtensorMapIm2ColWideMode": 2,
}
_ENUMERATIONS = {name: Type(name, 32, True, 4, count) for name, count in _ENUMS.items()}

CONTAINERS = frozenset(("array", "vector", "initializer_list", "span", "SmallVector", "InlinedVector"))

_QUALIFIERS = re.compile(
    r"\b(?:const|constexpr|static|inline|volatile|typename|struct|enum|class|mutable|thread_local|register"
    r"|__restrict__|__restrict|restrict|consteval|constinit|extern)\b"
)
_ARGUMENTS = re.compile(r"^(?P<name>[^<]*)<(?P<arguments>.*)>$", re.DOTALL)


def named(text: str, aliases: Mapping[str, Type] | None = None, depth: int = 4) -> Type:
    """Return the type that a text such as `const std::array<uint64_t, 3>&` names, unknown ones by their name."""
    is_pointer, is_reference = "*" in _outside(text), "&" in _outside(text)
    is_const, is_constant = bool(re.search(r"\bconst\b", text)), "constexpr" in text
    plain = " ".join(_QUALIFIERS.sub(" ", text).replace("*", " ").replace("&", " ").split())
    arguments: tuple[str, ...] = ()
    match = _ARGUMENTS.match(plain)
    if match is not None:
        plain, arguments = match["name"].strip(), tuple(split(match["arguments"]))
    plain = plain.rsplit("::", 1)[-1].strip()
    found = _INTEGERS.get(_ordered(plain)) or _SIZED.get(plain) or _ENUMERATIONS.get(plain)
    if found is None and aliases is not None and depth and plain in aliases and not arguments:
        found = aliases[plain]
    base = found or Type(plain, is_container=plain in CONTAINERS)
    return replace(
        base,
        is_pointer=base.is_pointer or is_pointer,
        is_reference=is_reference,
        is_const=is_const,
        is_constant=is_constant,
        arguments=arguments or base.arguments,
    )


def _outside(text: str) -> str:
    """Return a text without what is between angle brackets."""
    depth, kept = 0, []
    for character in text:
        depth += (character == "<") - (character == ">")
        if depth == 0:
            kept.append(character)
    return "".join(kept)


def split(text: str) -> list[str]:
    """Return the parts between commas that are in no bracket."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _ordered(name: str) -> str:
    """Return an integer type's words in the usual order: `long unsigned int` is `unsigned long`."""
    words = name.split()
    if len(words) < 2 or not set(words) <= {"long", "short", "int", "unsigned", "signed", "char"}:
        return name
    kept = [word for word in ("unsigned", "char", "short") if word in words] + ["long"] * words.count("long")
    return " ".join(kept) or "int"
