"""Operands of a wrong number, kind or type, and literals out of range.

Checks: the operands of every instruction against the form that its modifiers select: how many there are, register
types and widths, those of addresses too, lengths of vectors, literals, and the state spaces of variables.
Why: ptxas rejects the module. Source: PTX ISA 6 (operands), 9.2 (type checking) and the syntax lines of chapter 9.7.
Not checked: values in registers (other rules do), calls, modules newer than the table.
"""

from collections.abc import Hashable

from ..isa.operands import OperandShapes, operand_problems, takes_limits
from ..protocols.typestate.legality import NEWEST_VERSION, is_unknown, modifiers_fit
from ..protocols.typestate.names import DeclaredNames
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    if view.module.version > NEWEST_VERSION:
        return
    names = DeclaredNames(view.module, view.function)
    shapes = OperandShapes(names.type_of)
    instructions = view.body.instructions
    for operation, points in view.body.points_by_operation.items():
        if operation.form is None:
            if not is_unknown(operation) and modifiers_fit(operation.text):
                message = operation.problem or f"the operands do not fit '{operation.text}'"
                yield from (Hit(point, message) for point in points)
            continue
        fine: set[Hashable] = set()
        limited = takes_limits(operation)
        for point in points:
            operands = instructions[point].operands
            shape = shapes.of(operands, literals=limited)
            if shape in fine:
                continue
            problems = operand_problems(
                operation, operands, names.type_of, names.space_of, address_size=view.module.address_size
            )
            first = next(problems, None)
            if first is None:
                fine.add(shape)
            else:
                yield Hit(point, f"'{operation.text}': {first}")


RULE = Rule(
    id="PT003",
    name="illegal-operands",
    severity=Severity.ERROR,
    section="PTX ISA §9.7",
    summary="The operands do not fit the instruction: number, kind, type or literal value.",
    consequence="ptxas rejects the module.",
    advice="Give each operand the register type, vector length or literal that the form asks for.",
    example=sm_90a("""
  (.param .u64 out)
      mov.b64 %rd1, 7;
      mov.b32 %r1, 7;
-     add.u32 %r2, %r1, %rd1; // expect: PT003
+     cvt.u32.u64 %r3, %rd1;
+     add.u32 %r2, %r1, %r3;
      ret;
"""),
    check=check,
)
