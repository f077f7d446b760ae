"""PTX ISA §9.7.1 and 9.7.2: integer and extended-precision arithmetic."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_CARRY = frozenset[Trait]()
"""Instructions with `.cc` read or write the condition register, so they are not pure."""

_INTEGERS = ".u16 .u32 .u64 .s16 .s32 .s64"
_PACKED = ".u16x2@8.0+sm_90 .s16x2@8.0+sm_90"
_BYTES = ".u8x4@9.2+sm_120f|sm_107f,.s8x4@9.2+sm_120f|sm_107f"
_WIDE_MULTIPLY = {"type": ".u16 .u32 .s16 .s32"}


def _wide(mnemonic: str, op: Op, section: str, operands: str) -> tuple[Row, ...]:
    """Return the rows of `.wide`: the result has twice the width of the factors."""
    return tuple(
        Row(
            mnemonic,
            op,
            section,
            (f"{mnemonic}.wide!.type({factor}) {operands}",),
            operands={"d": f"w {result}", "c": result},
            traits=_PURE,
        )
        for factor, result in ((".u16", ".u32"), (".s16", ".s32"), (".u32", ".u64"), (".s32", ".s64"))
    )


ROWS = (
    Row(
        "add",
        Op.ADD,
        "9.7.1.1",
        (
            "add.type d, a, b",
            "add.sat.type(.s32) d, a, b",
            "add.sat.type(.u32,.u16x2,.s16x2) d, a, b @9.2+sm_120f|sm_107f",
            f"add{{.sat}}.type({_BYTES}) d, a, b",
        ),
        slots={"type": f"{_INTEGERS} {_PACKED}"},
        traits=_PURE,
    ),
    Row(
        "sub",
        Op.SUB,
        "9.7.1.2",
        (
            "sub.type d, a, b",
            "sub.sat.type(.s32) d, a, b",
            f"sub{{.sat}}.type({_BYTES}) d, a, b",
        ),
        slots={"type": _INTEGERS},
        traits=_PURE,
    ),
    Row(
        "mul",
        Op.MUL,
        "9.7.1.3",
        ("mul.half!.type d, a, b",),
        slots={"half": ".lo .hi", "type": _INTEGERS},
        traits=_PURE,
    ),
    *_wide("mul", Op.MUL, "9.7.1.3", "d, a, b"),
    Row(
        "mad",
        Op.MAD,
        "9.7.1.4",
        ("mad.half!.type d, a, b, c", "mad.hi!.sat.type(.s32) d, a, b, c"),
        slots={"half": ".lo .hi", "type": _INTEGERS},
        traits=_PURE,
    ),
    *_wide("mad", Op.MAD, "9.7.1.4", "d, a, b, c"),
    Row(
        "clmad",
        Op.CLMAD,
        "9.7.1.5",
        ("clmad.half!.type d, a, b, c",),
        since="9.3+sm_80",
        slots={"half": ".lo .hi", "type": ".u64"},
        traits=_PURE,
    ),
    Row(
        "mul24",
        Op.MUL24,
        "9.7.1.5",
        ("mul24.half!.type d, a, b",),
        slots={"half": ".lo .hi", "type": ".u32 .s32"},
        traits=_PURE,
    ),
    Row(
        "mad24",
        Op.MAD24,
        "9.7.1.6",
        ("mad24.half!.type d, a, b, c", "mad24.hi!.sat.type(.s32) d, a, b, c"),
        slots={"half": ".lo .hi", "type": ".u32 .s32"},
        traits=_PURE,
    ),
    Row(
        "sad",
        Op.SAD,
        "9.7.1.7",
        ("sad.type d, a, b, c",),
        slots={"type": _INTEGERS},
        traits=_PURE,
    ),
    Row("div", Op.DIV, "9.7.1.8", ("div.type d, a, b",), slots={"type": _INTEGERS}, traits=_PURE),
    Row("rem", Op.REM, "9.7.1.9", ("rem.type d, a, b",), slots={"type": _INTEGERS}, traits=_PURE),
    Row("abs", Op.ABS, "9.7.1.10", ("abs.type d, a",), slots={"type": ".s16 .s32 .s64"}, traits=_PURE),
    Row(
        "neg",
        Op.NEG,
        "9.7.1.11",
        ("neg.type d, a",),
        slots={"type": ".s16 .s32 .s64 .s8x4@9.2+sm_120f|sm_107f"},
        traits=_PURE,
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (
                f"{mnemonic}.type d, a, b",
                f"{mnemonic}.relu.type(.s32@8.0+sm_90,.s16x2,.s8x4@9.2+sm_120f|sm_107f) d, a, b",
                f"{mnemonic}.type({_BYTES}) d, a, b",
            ),
            slots={"type": f"{_INTEGERS} {_PACKED}"},
            traits=_PURE,
        )
        for mnemonic, op, section in (("min", Op.MIN, "9.7.1.12"), ("max", Op.MAX, "9.7.1.13"))
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (f"{mnemonic}.type d, a",),
            since="2.0+sm_20",
            slots={"type": ".b32 .b64"},
            operands={"d": "w .u32"},
            traits=_PURE,
        )
        for mnemonic, op, section in (("popc", Op.POPC, "9.7.1.14"), ("clz", Op.CLZ, "9.7.1.15"))
    ),
    Row(
        "bfind",
        Op.BFIND,
        "9.7.1.16",
        ("bfind{.shiftamt}.type d, a",),
        since="2.0+sm_20",
        slots={"type": ".u32 .u64 .s32 .s64"},
        operands={"d": "w .u32"},
        traits=_PURE,
    ),
    Row(
        "fns",
        Op.FNS,
        "9.7.1.17",
        ("fns.type d, mask, base, offset",),
        since="6.0+sm_30",
        slots={"type": ".b32"},
        operands={"base": ".u32", "offset": ".s32"},
        traits=_PURE,
    ),
    Row(
        "brev",
        Op.BREV,
        "9.7.1.18",
        ("brev.type d, a",),
        since="2.0+sm_20",
        slots={"type": ".b32 .b64"},
        traits=_PURE,
    ),
    Row(
        "bfe",
        Op.BFE,
        "9.7.1.19",
        ("bfe.type d, a, position, length",),
        since="2.0+sm_20",
        slots={"type": ".u32 .u64 .s32 .s64"},
        operands={"position": ".u32", "length": ".u32"},
        traits=_PURE,
        limits={"position": "0..255", "length": "0..255"},
    ),
    Row(
        "bfi",
        Op.BFI,
        "9.7.1.20",
        ("bfi.type d, a, b, position, length",),
        since="2.0+sm_20",
        slots={"type": ".b32 .b64"},
        operands={"position": ".u32", "length": ".u32"},
        traits=_PURE,
        limits={"position": "0..255", "length": "0..255"},
    ),
    Row(
        "szext",
        Op.SZEXT,
        "9.7.1.21",
        ("szext.mode.type d, a, width",),
        since="7.6+sm_70",
        slots={"mode": ".clamp .wrap", "type": ".u32 .s32"},
        operands={"width": ".u32"},
        traits=_PURE,
    ),
    Row(
        "bmsk",
        Op.BMSK,
        "9.7.1.22",
        ("bmsk.mode.type d, position, width",),
        since="7.6+sm_70",
        slots={"mode": ".clamp .wrap", "type": ".b32"},
        operands={"position": ".u32", "width": ".u32"},
        traits=_PURE,
    ),
    Row(
        "dp4a",
        Op.DP4A,
        "9.7.1.23",
        ("dp4a.atype.btype d, a, b, c",),
        since="5.0+sm_61",
        slots={"atype": ".u32 .s32", "btype": ".u32 .s32"},
        operands={"d": "w .u32", "c": ".u32"},
        traits=_PURE,
    ),
    Row(
        "dp2a",
        Op.DP2A,
        "9.7.1.24",
        ("dp2a.half!.atype.btype d, a, b, c",),
        since="5.0+sm_61",
        slots={"half": ".lo .hi", "atype": ".u32 .s32", "btype": ".u32 .s32"},
        operands={"d": "w .u32", "c": ".u32"},
        traits=_PURE,
    ),
    Row(
        "add",
        Op.ADD,
        "9.7.2.1",
        ("add.cc.type(.u32,.s32,.u64@4.3,.s64@4.3) d, a, b",),
        since="1.2",
        traits=_CARRY,
    ),
    Row(
        "addc",
        Op.ADDC,
        "9.7.2.2",
        ("addc{.cc}.type(.u32,.s32,.u64@4.3,.s64@4.3) d, a, b",),
        since="1.2",
        traits=_CARRY,
    ),
    Row(
        "sub",
        Op.SUB,
        "9.7.2.3",
        ("sub.cc.type(.u32,.s32,.u64@4.3,.s64@4.3) d, a, b",),
        since="1.2",
        traits=_CARRY,
    ),
    Row(
        "subc",
        Op.SUBC,
        "9.7.2.4",
        ("subc{.cc}.type(.u32,.s32,.u64@4.3,.s64@4.3) d, a, b",),
        since="1.2",
        traits=_CARRY,
    ),
    Row(
        "mad",
        Op.MAD,
        "9.7.2.5",
        ("mad.half!.cc.type(.u32,.s32,.u64@4.3,.s64@4.3) d, a, b, c",),
        since="3.0+sm_20",
        slots={"half": ".lo .hi"},
        traits=_CARRY,
    ),
    Row(
        "madc",
        Op.MADC,
        "9.7.2.6",
        ("madc.half!{.cc}.type(.u32,.s32,.u64@4.3,.s64@4.3) d, a, b, c",),
        since="3.0+sm_20",
        slots={"half": ".lo .hi"},
        traits=_CARRY,
    ),
)
