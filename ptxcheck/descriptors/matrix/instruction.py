"""The 32-bit instruction descriptor of `tcgen05.mma`: fields and legality of each kind, as data.

Sources: PTX ISA §9.7.17.4.2 (layouts), 9.7.17.2 (shapes), 9.7.17.10.1 (transposition and negation).

Not here: the sparsity selector's meaning, `.kind::ti16`, and the K that follows from the kind alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from ...opcodes.target import Target
from .bit_fields import BitField, Layout

_SECTION = "9.7.17.4.2"
_SPARSE = BitField("sparse", 2, 1, "the sparsity flag")
_N = BitField("n", 17, 6, "N", 8)
_TRANSPOSE = (
    BitField("transpose_a", 15, 1, "the transposition of A"),
    BitField("transpose_b", 16, 1, "the transposition of B"),
)
_NEGATE = (BitField("negate_a", 13, 1, "the negation of A"), BitField("negate_b", 14, 1, "the negation of B"))
_TYPES = (BitField("a_type", 7, 3, "the type of A"), BitField("b_type", 10, 3, "the type of B"))

PLAIN = Layout(
    "tcgen05 instruction descriptor",
    32,
    (
        BitField("selector", 0, 2, "the sparsity selector"),
        _SPARSE,
        BitField("saturate", 3, 1, "saturation"),
        BitField("d_type", 4, 2, "the type of D"),
        BitField("reserved6", 6, 1, "bit 6"),
        *_TYPES,
        *_NEGATE,
        *_TRANSPOSE,
        _N,
        BitField("reserved23", 23, 1, "bit 23"),
        BitField("m", 24, 5, "M", 16),
        BitField("reserved29", 29, 1, "bit 29"),
        BitField("b_shift", 30, 2, "the largest shift of B"),
    ),
    _SECTION,
)
"""Kinds f16, tf32, f8f6f4 and i8."""

_SCALED_COMMON = (
    BitField("reserved0", 0, 2, "bits 0 and 1"),
    _SPARSE,
    BitField("reserved3", 3, 1, "bit 3"),
    BitField("scale_b_id", 4, 2, "the scale factor id of B"),
    BitField("reserved6", 6, 1, "bit 6"),
)
SCALED = Layout(
    "tcgen05 instruction descriptor with scale factors",
    32,
    (
        *_SCALED_COMMON,
        *_TYPES,
        *_NEGATE,
        *_TRANSPOSE,
        _N,
        BitField("scale_type", 23, 1, "the type of the scale factors"),
        BitField("reserved24", 24, 3, "bits 24 to 26"),
        BitField("m", 27, 2, "M", 128),
        BitField("scale_a_id", 29, 2, "the scale factor id of A"),
        BitField("reserved31", 31, 1, "bit 31"),
    ),
    _SECTION,
)
"""Kind mxf8f6f4."""

SCALED_FOUR_BIT = Layout(
    "tcgen05 instruction descriptor of 4-bit types with scale factors",
    32,
    (
        *_SCALED_COMMON,
        BitField("a_type", 7, 3, "the type of A"),
        BitField("b_type", 10, 2, "the type of B"),
        BitField("reserved12", 12, 1, "bit 12"),
        *_NEGATE,
        *_TRANSPOSE,
        _N,
        BitField("scale_type", 23, 1, "the type of the scale factors"),
        BitField("reserved24", 24, 3, "bits 24 to 26"),
        BitField("m", 27, 2, "M", 128),
        BitField("scale_a_id", 29, 2, "the scale factor id of A"),
        BitField("k_96", 31, 1, "K"),
    ),
    _SECTION,
)
"""Kinds mxf4 and mxf4nvf4."""


class Kind(Enum):
    """`.kind` of a multiplication, as the PTX text writes it."""

    F16 = ".kind::f16"
    TF32 = ".kind::tf32"
    F8F6F4 = ".kind::f8f6f4"
    I8 = ".kind::i8"
    MXF8F6F4 = ".kind::mxf8f6f4"
    MXF4 = ".kind::mxf4"
    MXF4NVF4 = ".kind::mxf4nvf4"

    @property
    def layout(self) -> Layout:
        """Return the layout of the kind's descriptor."""
        match self:
            case Kind.MXF8F6F4:
                return SCALED
            case Kind.MXF4 | Kind.MXF4NVF4:
                return SCALED_FOUR_BIT
            case _:
                return PLAIN

    @property
    def is_scaled(self) -> bool:
        """Tell whether the kind takes scale factors for blocks."""
        return self.layout is not PLAIN

    @property
    def is_four_bit(self) -> bool:
        """Tell whether A and B are packed, two elements a byte."""
        return self.layout is SCALED_FOUR_BIT

    @property
    def k_bytes(self) -> int:
        """Return the bytes of A or B along K that one dense multiplication reads from shared memory."""
        return 32


@dataclass(frozen=True, slots=True)
class Shape:
    """What the rest of the instruction says: its kind, sparsity, group of CTAs, and form."""

    kind: Kind
    sparse: bool = False
    pair: bool = False
    """`.cta_group::2`."""
    weight_stationary: bool = False
    """`.ws`."""
    shifted: bool = False
    """`.ashift`: the rows of A in tensor memory are shifted by one."""
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """One condition on the fields of an instruction descriptor, for some kinds."""

    id: str
    fields: tuple[str, ...]
    holds: Callable[..., bool]
    """Gets the shape, then the fields in order."""
    text: str
    section: str
    kinds: tuple[Kind, ...] = tuple(Kind)


_PLAIN_KINDS = (Kind.F16, Kind.TF32, Kind.F8F6F4, Kind.I8)
_MX = (Kind.MXF8F6F4,)
_FOUR_BIT = (Kind.MXF4, Kind.MXF4NVF4)
_D_TYPES: Mapping[Kind, tuple[int, ...]] = {
    Kind.F16: (0, 1), Kind.TF32: (1,), Kind.F8F6F4: (0, 1), Kind.I8: (2,),
}  # fmt: skip
_INPUT_TYPES: Mapping[Kind, tuple[int, ...]] = {
    Kind.F16: (0, 1),
    Kind.TF32: (2,),
    Kind.F8F6F4: (0, 1, 3, 4, 5),
    Kind.I8: (0, 1),
    Kind.MXF8F6F4: (0, 1, 3, 4, 5),
    Kind.MXF4: (1,),
    Kind.MXF4NVF4: (1,),
}
"""f16: f16, bf16. tf32: tf32. f8f6f4: e4m3, e5m2, e2m3, e3m2, e2m1. i8: u8, s8. mxf4: e2m1."""


def rows(shape: Shape) -> tuple[int, ...]:
    """Return the M that a multiplication may have."""
    if shape.weight_stationary:
        return 32, 64, 128
    if shape.kind.is_scaled:
        if not shape.pair:
            return (128,)
        return (256,) if shape.sparse else (128, 256)
    return (128, 256) if shape.pair else (64, 128)


def columns(shape: Shape, m: int) -> tuple[int, ...]:
    """Return the N that a multiplication of `m` rows may have.

    CUTLASS asserts multiples of 16 for M of 128 and one CTA; released kernels of FlashInfer use N of 8 there.
    """
    if shape.weight_stationary:
        return (64, 128) if shape.sparse else (64, 128, 256)
    if shape.kind is Kind.I8:
        return tuple(range(32, 257, 32)) if shape.pair else (8, 16, 24, *range(32, 257, 16))
    if shape.pair:
        return tuple(range(16, 257, 16))
    return tuple(range(8, 257, 8))


def _reserved(kinds: tuple[Kind, ...], *names: str) -> tuple[Constraint, ...]:
    return tuple(
        Constraint(name, (name,), lambda _, number: number == 0, "reserved bits are zero", _SECTION, kinds)
        for name in names
    )


CONSTRAINTS: tuple[Constraint, ...] = (
    *_reserved(_PLAIN_KINDS, "reserved6", "reserved23", "reserved29"),
    *_reserved(_MX, "reserved0", "reserved3", "reserved6", "reserved24", "reserved31"),
    *_reserved(_FOUR_BIT, "reserved0", "reserved3", "reserved6", "reserved12", "reserved24"),
    Constraint(
        "sparse", ("sparse",), lambda shape, flag: bool(flag) == shape.sparse,
        "the sparsity flag is set for tcgen05.mma.sp and for nothing else", _SECTION,
    ),
    Constraint(
        "selector", ("selector",), lambda shape, selector: shape.sparse or selector == 0,
        "the sparsity selector of a dense multiplication is zero", _SECTION, _PLAIN_KINDS,
    ),
    Constraint(
        "selector-8-bit", ("selector",), lambda _, selector: selector == 0,
        "the sparsity selector of 8-bit kinds is zero", _SECTION, (Kind.F8F6F4, Kind.I8),
    ),
    Constraint(
        "saturate", ("saturate",), lambda _, flag: flag == 0,
        "only the integer kind saturates", _SECTION, (Kind.F16, Kind.TF32, Kind.F8F6F4),
    ),
    Constraint(
        "d-type", ("d_type",), lambda shape, d: d in _D_TYPES[shape.kind],
        "D is f16 (0) or f32 (1), f32 for tf32, s32 (2) for i8", _SECTION, _PLAIN_KINDS,
    ),
    Constraint(
        "a-type", ("a_type",), lambda shape, a: a in _INPUT_TYPES[shape.kind],
        "the type of A is none of the kind's", _SECTION,
    ),
    Constraint(
        "b-type", ("b_type",), lambda shape, b: b in _INPUT_TYPES[shape.kind],
        "the type of B is none of the kind's", _SECTION,
    ),
    Constraint(
        "same-type", ("a_type", "b_type"), lambda _, a, b: a == b,
        "A and B of kind f16 have one type", "9.7.17.2", (Kind.F16,),
    ),
    Constraint(
        "integer-negation", ("negate_a", "negate_b"), lambda _, a, b: a == b == 0,
        "the integer kind negates nothing", "9.7.17.10.1", (Kind.I8,),
    ),
    Constraint(
        "four-bit-transposition", ("transpose_a", "transpose_b"), lambda _, a, b: a == b == 0,
        "4-bit types cannot be transposed", "9.7.17.10.1", _FOUR_BIT,
    ),
    Constraint(
        "rows", ("m",), lambda shape, m: m in rows(shape),
        "M is none of the kind's", "9.7.17.2",
    ),
    Constraint(
        "columns", ("m", "n"),
        lambda shape, m, n: m not in rows(shape) or n in columns(shape, m),
        "N is none that the kind has for this M", "9.7.17.2",
    ),
    Constraint(
        "a-shift",
        ("m",),
        lambda shape, m: not shape.shifted or m in (128, 256),
        "rows of A are shifted for M of 128 and 256 alone",
        "9.7.17.10.9.1",
    ),
    Constraint(
        "b-shift", ("b_shift",), lambda shape, shift: shape.weight_stationary or shift == 0,
        "only tcgen05.mma.ws shifts B", _SECTION, _PLAIN_KINDS,
    ),
    Constraint(
        "scale-type", ("scale_type",), lambda _, scale: scale == 1,
        "scale factors are ue8m0 (1)", _SECTION, (Kind.MXF8F6F4, Kind.MXF4),
    ),
    Constraint(
        "scale-ids", ("scale_a_id", "scale_b_id"), lambda _, a, b: a in (0, 2) and b in (0, 2),
        "scale factor ids of 4-bit types are 0 or 2", _SECTION, _FOUR_BIT,
    ),
    Constraint(
        "k-96", ("k_96",),
        lambda shape, flag: not flag or shape.target is None or shape.target.arch == 103,
        "K of 96 exists on sm_103a alone", _SECTION, _FOUR_BIT,
    ),
)  # fmt: skip
"""What the documents ask of the fields."""


def broken(shape: Shape, fields: Mapping[str, int]) -> Iterator[Constraint]:
    """Yield the constraints that known fields break; a constraint on an unknown field is not asked."""
    for one in CONSTRAINTS:
        known = shape.kind in one.kinds and all(name in fields for name in one.fields)
        if known and not one.holds(shape, *(fields[name] for name in one.fields)):
            yield one
