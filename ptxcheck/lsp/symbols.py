"""The outline of a module: kernels and functions with their variables and labels."""

from __future__ import annotations

from lsprotocol import types

from ..sources.demangled_names import short_name
from .names import Declaration, Kind, Names
from .text import Lines

_KINDS = {
    Kind.KERNEL: types.SymbolKind.Function,
    Kind.FUNCTION: types.SymbolKind.Function,
    Kind.PARAMETER: types.SymbolKind.Variable,
    Kind.VARIABLE: types.SymbolKind.Variable,
    Kind.LABEL: types.SymbolKind.Key,
}


def outline(names: Names, lines: Lines) -> list[types.DocumentSymbol]:
    """Return the functions and variables of a module; registers are left out."""
    return [_symbol(declaration, names, lines) for declaration in names.outside]


def _symbol(declaration: Declaration, names: Names, lines: Lines) -> types.DocumentSymbol:
    children = None
    if declaration.kind in (Kind.KERNEL, Kind.FUNCTION) and declaration.function is not None:
        inner = names.local(declaration.function)
        children = [_symbol(each, names, lines) for each in inner if each.kind in _KINDS]
    start, end = declaration.whole
    start, end = min(start, declaration.span.start), max(end, declaration.span.end)
    return types.DocumentSymbol(
        name=short_name(declaration.name),
        kind=_KINDS[declaration.kind],
        range=lines.range(start, end),
        selection_range=lines.range(*declaration.span),
        detail=_detail(declaration),
        children=children,
    )


def _detail(declaration: Declaration) -> str:
    variable = declaration.variable
    if variable is None:
        return declaration.kind.value
    dims = "".join(f"[{'' if extent is None else extent}]" for extent in variable.dims)
    return f"{variable.space} {variable.type}{dims}"
