"""Terms of registers as expressions of z3, which the caller hands in (see `registers`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..bitvectors import Bits, Kind


def translated(z3: Any, context: Any, term: Bits, parts: list[Any]) -> Any:
    """Return a term for the solver, made of what its parts are there."""
    width = term.width
    match term.kind:
        case Kind.NUMBER if width == 1:
            return z3.BoolVal(bool(term.number), ctx=context)
        case Kind.NUMBER:
            return z3.BitVecVal(term.number, width, ctx=context)
        case Kind.VARIABLE | Kind.APPLY if width == 1:
            return z3.Bool(f"{term.name}!{term.serial}", ctx=context)
        case Kind.VARIABLE | Kind.APPLY:
            # Bits that are surely 0 need no variables of the solver.
            used = max(term.maybe.bit_length(), 1)
            variable = z3.BitVec(f"{term.name}!{term.serial}", used, ctx=context)
            return z3.ZeroExt(width - used, variable)
        case Kind.SUM:
            total = z3.BitVecVal(term.number, width, ctx=context)
            for factor, part in zip(term.factors, parts, strict=True):
                total = total + (part if factor == 1 else part * factor)
            return total
        case Kind.EXTRACT:
            return z3.Extract(term.number + width - 1, term.number, parts[0])
        case Kind.ZEXT:
            return z3.ZeroExt(width - term.parts[0].width, parts[0])
        case Kind.SEXT:
            return z3.SignExt(width - term.parts[0].width, parts[0])
        case Kind.CHOICE:
            return z3.If(*parts)
        case Kind.AND | Kind.OR | Kind.XOR if width == 1:
            return {Kind.AND: z3.And, Kind.OR: z3.Or, Kind.XOR: z3.Xor}[term.kind](*parts)
        case _:
            return _operations(z3)[term.kind](*parts)


def _operations(z3: Any) -> Mapping[Kind, Callable[[Any, Any], Any]]:
    return {
        Kind.PRODUCT: lambda a, b: a * b, Kind.UDIV: z3.UDiv, Kind.UREM: z3.URem, Kind.SDIV: lambda a, b: a / b,
        Kind.SREM: z3.SRem, Kind.AND: lambda a, b: a & b, Kind.OR: lambda a, b: a | b, Kind.XOR: lambda a, b: a ^ b,
        Kind.SHL: lambda a, b: a << b, Kind.LSHR: z3.LShR, Kind.ASHR: lambda a, b: a >> b,
        Kind.EQ: lambda a, b: a == b, Kind.ULT: z3.ULT, Kind.SLT: lambda a, b: a < b,
    }  # fmt: skip
