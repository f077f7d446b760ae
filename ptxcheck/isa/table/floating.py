"""PTX ISA §9.7.3 and 9.7.5: floating point of 32 and 64 bits, packed pairs, and mixed precision."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_ROUNDING = {"rounding": ".rn .rz .rm .rp"}
_PAIR_SINCE = "8.6+sm_100"
_MIXED_PAIR_SINCE = "9.4+sm_107f"


def _additive(mnemonic: str, op: Op, section: str, operands: str) -> Row:
    return Row(
        mnemonic,
        op,
        section,
        (
            f"{mnemonic}{{.rounding}}{{.ftz}}{{.sat}}.type(.f32) {operands}",
            f"{mnemonic}{{.rounding}}.type(.f64) {operands}",
            f"{mnemonic}{{.rounding}}{{.ftz}}.type(.f32x2) {operands} @{_PAIR_SINCE}",
        ),
        slots=_ROUNDING,
        traits=_PURE,
    )


def _approximate(mnemonic: str, op: Op, section: str, since: str = "1.0") -> Row:
    return Row(
        mnemonic, op, section, (f"{mnemonic}.approx{{.ftz}}.type(.f32) d, a",), since=since, traits=_PURE
    )


ROWS = (
    Row(
        "testp",
        Op.TESTP,
        "9.7.3.1",
        ("testp.test.type(.f32,.f64) p, a",),
        since="2.0+sm_20",
        slots={"test": ".finite .infinite .number .notanumber .normal .subnormal"},
        operands={"p": "w pred"},
        traits=_PURE,
    ),
    Row(
        "copysign",
        Op.COPYSIGN,
        "9.7.3.2",
        ("copysign.type(.f32,.f64) d, a, b",),
        since="2.0+sm_20",
        traits=_PURE,
    ),
    _additive("add", Op.ADD, "9.7.3.3", "d, a, b"),
    _additive("sub", Op.SUB, "9.7.3.4", "d, a, b"),
    _additive("mul", Op.MUL, "9.7.3.5", "d, a, b"),
    Row(
        "fma",
        Op.FMA,
        "9.7.3.6",
        (
            "fma.rounding{.ftz}{.sat}.type(.f32) d, a, b, c @2.0+sm_20",
            "fma.rounding.type(.f64) d, a, b, c",
            f"fma.rounding{{.ftz}}.type(.f32x2) d, a, b, c @{_PAIR_SINCE}",
        ),
        slots=_ROUNDING,
        traits=_PURE,
    ),
    Row(
        "mad",
        Op.MAD,
        "9.7.3.7",
        (
            "mad.rounding{.ftz}{.sat}.type(.f32) d, a, b, c",
            "mad.rounding.type(.f64) d, a, b, c",
        ),
        slots=_ROUNDING,
        traits=_PURE,
    ),
    Row(
        "div",
        Op.DIV,
        "9.7.3.8",
        (
            "div.approx{.ftz}.type(.f32) d, a, b",
            "div.full!{.ftz}.type(.f32) d, a, b",
            "div.rounding{.ftz}.type(.f32) d, a, b",
            "div.rounding.type(.f64) d, a, b",
        ),
        slots=_ROUNDING,
        traits=_PURE,
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (f"{mnemonic}{{.ftz}}.type(.f32) d, a", f"{mnemonic}.type(.f64) d, a"),
            traits=_PURE,
        )
        for mnemonic, op, section in (("abs", Op.ABS, "9.7.3.9"), ("neg", Op.NEG, "9.7.3.10"))
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (
                f"{mnemonic}{{.ftz}}.type(.f32) d, a, b",
                f"{mnemonic}{{.ftz}}.NaN.type(.f32) d, a, b @7.0+sm_80",
                f"{mnemonic}{{.ftz}}{{.NaN}}.xorsign.abs.type(.f32) d, a, b @7.2+sm_86",
                f"{mnemonic}{{.ftz}}{{.NaN}}.abs.type(.f32) d, a, b, c @8.8+sm_100",
                f"{mnemonic}{{.ftz}}{{.NaN}}.type(.f32) d, a, b, c @8.8+sm_100",
                f"{mnemonic}.type(.f64) d, a, b",
            ),
            traits=_PURE,
        )
        for mnemonic, op, section in (("min", Op.MIN, "9.7.3.11"), ("max", Op.MAX, "9.7.3.12"))
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (
                f"{mnemonic}.approx{{.ftz}}.type(.f32) d, a",
                f"{mnemonic}.rounding{{.ftz}}.type(.f32) d, a",
                f"{mnemonic}.rounding.type(.f64) d, a",
            ),
            slots=_ROUNDING,
            traits=_PURE,
        )
        for mnemonic, op, section in (("rcp", Op.RCP, "9.7.3.13"), ("sqrt", Op.SQRT, "9.7.3.15"))
    ),
    Row(
        "rcp",
        Op.RCP,
        "9.7.3.14",
        ("rcp.approx.ftz.type(.f64) d, a", "rcp.rounding.ftz.type(.f64) d, a"),
        since="2.1+sm_20",
        slots=_ROUNDING,
        traits=_PURE,
    ),
    Row(
        "rsqrt",
        Op.RSQRT,
        "9.7.3.16",
        (
            "rsqrt.approx{.ftz}.type(.f32) d, a",
            "rsqrt.approx.type(.f64) d, a",
            "rsqrt.approx.ftz.type(.f64) d, a @4.0+sm_20",
        ),
        traits=_PURE,
    ),
    _approximate("sin", Op.SIN, "9.7.3.18"),
    _approximate("cos", Op.COS, "9.7.3.19"),
    _approximate("lg2", Op.LG2, "9.7.3.20"),
    _approximate("ex2", Op.EX2, "9.7.3.21"),
    Row("tanh", Op.TANH, "9.7.3.22", ("tanh.approx.type(.f32) d, a",), since="7.0+sm_75", traits=_PURE),
    *(
        Row(
            mnemonic,
            op,
            section,
            (f"{mnemonic}{{.rounding}}{{.sat}}.type(.f32).atype(.f16,.bf16) d, a, c",),
            since="8.6+sm_100",
            slots=_ROUNDING,
            operands={"c": ".f32"},
            traits=_PURE,
        )
        for mnemonic, op, section in (("add", Op.ADD, "9.7.5.1"), ("sub", Op.SUB, "9.7.5.2"))
    ),
    Row(
        "fma",
        Op.FMA,
        "9.7.5.3",
        ("fma.rounding{.sat}.type(.f32).abtype(.f16,.bf16) d, a, b, c",),
        since="8.6+sm_100",
        slots=_ROUNDING,
        operands={"a": "abtype", "b": "abtype", "c": ".f32"},
        traits=_PURE,
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (
                f"{mnemonic}{{.rounding}}.dtype(.f32x2).atype(.f16x2,.bf16x2).ctype(.f32x2) d, a, c",
                f"{mnemonic}{{.rz}}.dtype(.bf16x2).atype(.f32x2).ctype(.f32x2) d, a, c",
                f"{mnemonic}{{.rz}}.ftz.dtype(.f16x2).atype(.f32x2).ctype(.f32x2) d, a, c",
            ),
            since=_MIXED_PAIR_SINCE,
            slots=_ROUNDING,
            traits=_PURE,
        )
        for mnemonic, op, section in (("add", Op.ADD, "9.7.5.1"), ("sub", Op.SUB, "9.7.5.2"))
    ),
    Row(
        "fma",
        Op.FMA,
        "9.7.5.3",
        ("fma.rounding.dtype(.f32x2).atype(.f16x2,.bf16x2).btype(.f32x2).ctype(.f32x2) d, a, b, c",),
        since=_MIXED_PAIR_SINCE,
        slots=_ROUNDING,
        traits=_PURE,
    ),
    Row(
        "mul",
        Op.MUL,
        "9.7.5.4",
        (
            "mul.ftz.rz.dtype(.f16x2).atype(.f32x2).ctype(.f32x2) d, a, c",
            "mul.rz.dtype(.bf16x2).atype(.f32x2).ctype(.f32x2) d, a, c",
            "mul.dtype(.bf16x2).atype(.bf16x2).ctype(.f16x2) d, a, c",
            "mul.dtype(.f16x2).atype(.f16x2).ctype(.bf16x2) d, a, c",
        ),
        since=_MIXED_PAIR_SINCE,
        traits=_PURE,
    ),
)
