"""IR → PTX text. Parsing what this prints gives an equal module."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import (
    Address,
    Arguments,
    Component,
    Directive,
    FileEntry,
    FloatImmediate,
    Function,
    Immediate,
    InlinedCall,
    Instruction,
    Label,
    Loc,
    Module,
    ModuleItem,
    Negated,
    Operand,
    Pair,
    Register,
    ScopeBegin,
    ScopeEnd,
    Section,
    Sink,
    SourceLine,
    Statement,
    Symbol,
    SymbolOffset,
    Variable,
    Vector,
)


def show(module: Module) -> str:
    """Return PTX text for a module."""
    lines = [f".version {module.version}", f".target {', '.join(module.targets)}"]
    if module.address_size is not None:
        lines.append(f".address_size {module.address_size}")
    for item in module.items:
        lines.extend(_item(item))
    return "\n".join(lines) + "\n"


def _item(item: ModuleItem) -> Iterator[str]:
    match item:
        case Function():
            yield from _function(item)
        case Variable():
            yield show_variable(item) + ";"
        case FileEntry():
            yield ", ".join([f'.file {item.index} "{item.path}"', *map(str, item.extra)])
        case Section():
            yield f".section {item.name}\n{{\n{item.text}\n}}"
        case Directive():
            yield item.text + ";"


def _function(function: Function) -> Iterator[str]:
    attributes = [d.text for d in function.directives if d.keyword == ".attribute"]
    words = [*function.linkage, f".{function.kind.value}", *attributes]
    returns = f" ({', '.join(map(show_variable, function.returns))})" if function.returns else ""
    parameters = ",\n\t".join(map(show_variable, function.parameters))
    yield f"{' '.join(words)}{returns} {function.name}(\n\t{parameters}\n)"
    for keyword, values in function.attributes.items():
        yield f"{keyword} {', '.join(map(str, values))}".rstrip()
    for directive in function.directives:
        if directive.keyword != ".attribute":
            yield directive.text + (";" if directive.keyword == ".pragma" else "")
    if function.body is None:
        yield ";"
        return
    yield "{"
    for statement in function.body.statements:
        yield show_statement(statement)
    yield "}"


def show_variable(variable: Variable) -> str:
    """Return a declaration or parameter without its semicolon."""
    words = [*variable.linkage]
    words += [a for a in variable.attributes if a.startswith(".attribute")]
    words.append(variable.space)
    pointer = [a for a in variable.attributes if not a.startswith(".attribute")]
    if variable.align is not None:
        words.append(f".align {variable.align}")
    words += [w for w in (variable.vector, variable.type) if w]
    words += pointer
    name = variable.name if variable.count is None else f"{variable.name}<{variable.count}>"
    dims = "".join("[]" if extent is None else f"[{extent}]" for extent in variable.dims)
    value = "" if variable.initializer is None else f" = {variable.initializer}"
    return f"{' '.join(words)} {name}{dims}{value}"


def show_statement(statement: Statement) -> str:
    """Return one statement of a body."""
    match statement:
        case Instruction():
            return "\t" + show_instruction(statement)
        case Label():
            return f"{statement.name}:"
        case InlinedCall(callee=callee):
            return f"\t// {callee}, inlined"
        case ScopeBegin():
            return "{"
        case ScopeEnd():
            return "}"
        case Loc():
            return "\t" + _loc(statement)
        case Variable():
            return "\t" + show_variable(statement) + ";"
        case Directive():
            label = "" if statement.label is None else f"{statement.label}: "
            return f"\t{label}{statement.text};"


def show_instruction(instruction: Instruction) -> str:
    """Return an instruction with its guard and semicolon."""
    guard = ""
    if instruction.guard is not None:
        guard = f"@{'!' if instruction.guard.negated else ''}{instruction.guard.register.name} "
    operands = ", ".join(map(show_operand, instruction.operands))
    return f"{guard}{instruction.operation.text}{' ' + operands if operands else ''};"


def _loc(loc: Loc) -> str:
    text = f".loc {_place(loc.place)}"
    if loc.function is not None:
        offset = f"+{loc.function_offset}" if loc.function_offset else ""
        text += f", function_name {loc.function}{offset}"
    if loc.inlined_at is not None:
        text += f", inlined_at {_place(loc.inlined_at)}"
    return text


def _place(place: SourceLine) -> str:
    return f"{place.file} {place.line} {place.column}"


def show_operand(operand: Operand) -> str:
    """Return one operand."""
    match operand:
        case Register(name=name) | Symbol(name=name):
            return name
        case Immediate(value=value):
            return str(value) if value < 1 << 63 else f"{value:#x}"
        case FloatImmediate(bits=bits, width=width):
            return f"0f{bits:08X}" if width == 32 else f"0d{bits:016X}"
        case Component(base=base, field=field):
            return f"{base.name}.{field}"
        case Sink():
            return "_"
        case Negated(operand=inner):
            return f"!{inner.name}"
        case Pair(first=first, second=second):
            return f"{show_operand(first)}|{show_operand(second)}"
        case SymbolOffset(symbol=symbol, offset=offset):
            return f"{symbol.name}+{offset}"
        case Vector(elements=elements):
            return "{" + ", ".join(map(show_operand, elements)) + "}"
        case Arguments(items=items):
            return "(" + ", ".join(map(show_operand, items)) + ")"
        case Address():
            return _address(operand)


def _address(address: Address) -> str:
    return _bracketed(address) + (".unified" if address.unified else "")


def _bracketed(address: Address) -> str:
    extra = "".join(", " + show_operand(item) for item in address.extra)
    if address.base is None:
        if address.extra and not address.offset and isinstance(address.extra[0], Vector):
            return "[" + extra[2:] + "]"
        return f"[{address.offset}{extra}]"
    offset = f"+{address.offset}" if address.offset else ""
    return f"[{show_operand(address.base)}{offset}{extra}]"
