"""PTX ISA §9.7.4: half precision and bfloat16, alone and packed in pairs."""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_PURE = frozenset({Trait.PURE})
_HALF = ".type(.f16,.f16x2)"
_BRAIN = ".type(.bf16,.bf16x2)"

ROWS = (
    *(
        Row(
            mnemonic,
            op,
            section,
            (
                f"{mnemonic}{{.rn}}{{.ftz}}{{.sat}}{_HALF} d, a, b @4.2+sm_53",
                f"{mnemonic}{{.rn}}{_BRAIN} d, a, b @7.8+sm_90",
            ),
            traits=_PURE,
        )
        for mnemonic, op, section in (
            ("add", Op.ADD, "9.7.4.1"),
            ("sub", Op.SUB, "9.7.4.2"),
            ("mul", Op.MUL, "9.7.4.3"),
        )
    ),
    Row(
        "fma",
        Op.FMA,
        "9.7.4.4",
        (
            f"fma.rn{{.ftz}}{{.sat}}{_HALF} d, a, b, c @4.2+sm_53",
            f"fma.rn{{.ftz}}.relu{_HALF} d, a, b, c @7.0+sm_80",
            f"fma.rn{{.relu}}{_BRAIN} d, a, b, c @7.0+sm_80",
            "fma.rn.oob{.relu}.type(.f16,.f16x2,.bf16,.bf16x2) d, a, b, c @8.1+sm_90",
            f"fma.rn.oob.sat{_HALF} d, a, b, c @8.1+sm_90",
        ),
        traits=_PURE,
    ),
    Row(
        "neg",
        Op.NEG,
        "9.7.4.5",
        (f"neg{{.ftz}}{_HALF} d, a @6.0+sm_53", f"neg{_BRAIN} d, a @7.0+sm_80"),
        traits=_PURE,
    ),
    Row(
        "abs",
        Op.ABS,
        "9.7.4.6",
        (f"abs{{.ftz}}{_HALF} d, a @6.5+sm_53", f"abs{_BRAIN} d, a @7.0+sm_80"),
        traits=_PURE,
    ),
    *(
        Row(
            mnemonic,
            op,
            section,
            (
                f"{mnemonic}{{.ftz}}{{.NaN}}{_HALF} d, a, b @7.0+sm_80",
                f"{mnemonic}{{.NaN}}{_BRAIN} d, a, b @7.0+sm_80",
                f"{mnemonic}{{.ftz}}{{.NaN}}.xorsign.abs{_HALF} d, a, b @7.2+sm_86",
                f"{mnemonic}{{.NaN}}.xorsign.abs{_BRAIN} d, a, b @7.2+sm_86",
            ),
            traits=_PURE,
        )
        for mnemonic, op, section in (("min", Op.MIN, "9.7.4.7"), ("max", Op.MAX, "9.7.4.8"))
    ),
    Row(
        "tanh",
        Op.TANH,
        "9.7.4.9",
        (f"tanh.approx{_HALF} d, a @7.0+sm_75", f"tanh.approx{_BRAIN} d, a @7.8+sm_90"),
        traits=_PURE,
    ),
    Row(
        "ex2",
        Op.EX2,
        "9.7.4.10",
        (f"ex2.approx{_HALF} d, a @7.0+sm_75", f"ex2.approx.ftz{_BRAIN} d, a @7.8+sm_90"),
        traits=_PURE,
    ),
)
