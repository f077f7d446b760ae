"""The IR: what a PTX module says, in order, immutable. Program points are indices of instructions.

Spans do not take part in equality, so that printing and parsing again gives an equal module.
"""

from __future__ import annotations

from .body import Body
from .module import FileEntry, Function, FunctionKind, Module, ModuleItem, Section
from .operands import (
    Address,
    Arguments,
    Component,
    FloatImmediate,
    Guard,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Symbol,
    SymbolOffset,
    Vector,
    registers_of,
)
from .statements import (
    TYPE_BYTES,
    Directive,
    InlinedCall,
    Instruction,
    Label,
    Loc,
    ScopeBegin,
    ScopeEnd,
    SourceLine,
    Statement,
    Variable,
)

__all__ = [
    "TYPE_BYTES", "Address", "Arguments", "Body", "Component", "Directive", "FileEntry", "FloatImmediate",
    "Function", "FunctionKind", "Guard", "Immediate", "InlinedCall", "Instruction", "Label", "Loc", "Module",
    "ModuleItem", "Negated", "Operand", "Pair", "Register", "ScopeBegin", "ScopeEnd", "Section", "Sink",
    "SourceLine", "Statement", "Symbol", "SymbolOffset", "Variable", "Vector", "registers_of",
]  # fmt: skip
