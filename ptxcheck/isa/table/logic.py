"""PTX ISA §9.7.8: logic and shift instructions."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_PREDICATES = {"d": "w pred", "a": "pred", "b": "pred"}

ROWS = (
    *(
        row
        for mnemonic, op, section in (
            ("and", Op.AND, "9.7.8.1"),
            ("or", Op.OR, "9.7.8.2"),
            ("xor", Op.XOR, "9.7.8.3"),
        )
        for row in (
            Row(mnemonic, op, section, (f"{mnemonic}.type(.b16,.b32,.b64) d, a, b",), traits=_PURE),
            Row(
                mnemonic,
                op,
                section,
                (f"{mnemonic}.type(.pred) d, a, b",),
                operands=_PREDICATES,
                traits=_PURE,
            ),
        )
    ),
    Row("not", Op.NOT, "9.7.8.4", ("not.type(.b16,.b32,.b64) d, a",), traits=_PURE),
    Row("not", Op.NOT, "9.7.8.4", ("not.type(.pred) d, a",), operands=_PREDICATES, traits=_PURE),
    Row("cnot", Op.CNOT, "9.7.8.5", ("cnot.type(.b16,.b32,.b64) d, a",), traits=_PURE),
    Row(
        "lop3",
        Op.LOP3,
        "9.7.8.6",
        (
            "lop3.type(.b32) d=sinkable, a, b, c, lut @4.3+sm_50",
            "lop3.bool.type(.b32) d=sinkable|p, a, b, c, lut, q @8.2+sm_70",
        ),
        slots={"bool": ".or .and"},
        operands={"sinkable": "w_ type", "lut": "imm", "p": "w pred", "q": "pred"},
        traits=_PURE,
    ),
    Row(
        "shf",
        Op.SHF,
        "9.7.8.7",
        ("shf.direction!.mode.type(.b32) d, a, b, c",),
        since="3.1+sm_32",
        slots={"direction": ".l .r", "mode": ".clamp .wrap"},
        operands={"c": ".u32"},
        traits=_PURE,
    ),
    Row(
        "shl",
        Op.SHL,
        "9.7.8.8",
        ("shl.type(.b16,.b32,.b64) d, a, b",),
        operands={"b": ".u32"},
        traits=_PURE,
    ),
    Row(
        "shr",
        Op.SHR,
        "9.7.8.9",
        ("shr.type(.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64) d, a, b",),
        operands={"b": ".u32"},
        traits=_PURE,
    ),
)
