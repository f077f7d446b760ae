"""What `ptxcheck parse` prints: the IR as PTX, graphs as DOT, the IR as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from ..explain.graphviz import LEFT, quoted
from ..frontends import Loaded, NvccOptions, discover, load
from ..ir import (
    Function,
    Instruction,
    Module,
    Register,
)
from ..launches.hints import from_directives
from ..opcodes.spec import Operation
from ..results import Problem, ProblemKind
from ..source import Position, Source, Span
from ..view import KernelView


def dump_file(path: str, form: str, kernel: str | None) -> tuple[str, tuple[Problem, ...]]:
    """Return a dump of one file (`ir`, `cfg` or `json`), of one kernel when given, and what was wrong."""
    module, problems = load_module(path, NvccOptions())
    if module is None:
        return "", problems
    chosen = [function for function in module.functions if kernel is None or function.name == kernel]
    if kernel is not None and not chosen:
        names = ", ".join(function.name for function in module.functions) or "none"
        return "", (_problem(path, f"no kernel is called {kernel}; there are: {names}"),)
    text = _dump(module if kernel is None else replace(module, items=tuple(chosen)), chosen, form)
    return text, problems


def load_module(path: str, nvcc: NvccOptions) -> tuple[Module | None, tuple[Problem, ...]]:
    """Read, compile and parse one file; return the module, and what was wrong."""
    _, module, problems = load_with_host(path, nvcc)
    return module, problems


def load_with_host(path: str, nvcc: NvccOptions) -> tuple[Loaded | None, Module | None, tuple[Problem, ...]]:
    """Read, compile and parse one file; return also what it was read from."""
    found, problems = discover([path])
    if not problems and len(found) != 1:
        return None, None, (_problem(path, "is a folder or pattern; name one file"),)
    if problems:
        return None, None, problems
    loaded = load(found[0], nvcc)
    if loaded.source is None:
        return loaded, None, loaded.problems
    from ..parser import parse_module

    module = parse_module(loaded.source)
    if loaded.host is not None:
        from ..sources.parameter_names import with_source_names

        module = with_source_names(module, [loaded.host.text])
    return loaded, module, (*loaded.problems, *_syntax(module))


def _dump(module: Module, functions: Sequence[Function], form: str) -> str:
    if form == "ir":
        from ..parser import show

        return show(module)
    if form == "json":
        return json.dumps(_plain(module, module.source), indent=1) + "\n"
    return "".join(_dot(module, function) for function in functions if function.body is not None)


def _syntax(module: Module) -> tuple[Problem, ...]:
    bodies = (function.body for function in module.functions if function.body is not None)
    found = (*module.problems, *(problem for body in bodies for problem in body.problems))
    return tuple(
        Problem(ProblemKind.SYNTAX, problem.message, module.source.position(problem.span.start))
        for problem in found
    )


def _problem(path: str, message: str) -> Problem:
    return Problem(ProblemKind.INPUT, message, Position(path, 0))


def _dot(module: Module, function: Function) -> str:
    lines = [f"digraph {quoted(function.name, LEFT)} {{", '  node [shape=box, fontname="monospace"];']
    lines += [f"  {line}" for line in _dot_lines(module, function)]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_lines(module: Module, function: Function) -> Iterator[str]:
    cfg = KernelView(module, function, from_directives(function)).cfg
    text = module.source.text
    for block in cfg.blocks:
        shown = [text[cfg.instructions[p].start : cfg.instructions[p].end] for p in block.points]
        label = "".join(f"{' '.join(line.split())}\n" for line in (f"block {block.index}", *shown))
        yield f"b{block.index} [label={quoted(label, LEFT)}];"
    yield f'b{cfg.exit} [label="exit", shape=oval];'
    for edge in cfg.graph.edges:
        label = edge.kind.value
        if edge.guard is not None:
            label += f" {'!' if edge.guard.negated else ''}{edge.guard.register.name}"
        yield f"b{edge.source} -> b{edge.target} [label={quoted(label, LEFT)}];"


def _plain(value: Any, source: Source) -> Any:
    """Return a part of the IR as JSON values; dataclasses carry their name under `node`."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return value.name
        case Instruction():
            return _instruction(value, source)
        case Operation():
            return value.text
        case Span():
            return list(value)
        case Mapping():
            return {str(key): _plain(item, source) for key, item in value.items()}
    if isinstance(value, Register):
        return {"node": "Register", **value._asdict()}
    if is_dataclass(value) and not isinstance(value, type):
        kept = (field.name for field in fields(value) if not isinstance(getattr(value, field.name), Source))
        return {
            "node": type(value).__name__,
            **{name: _plain(getattr(value, name), source) for name in kept},
        }
    if hasattr(value, "_asdict"):
        return {name: _plain(item, source) for name, item in value._asdict().items()}
    return [_plain(item, source) for item in value]


def _instruction(instruction: Instruction, source: Source) -> dict[str, Any]:
    operation = instruction.operation
    position = source.position(instruction.start)
    return {
        "node": "Instruction",
        "line": position.line,
        "column": position.column,
        "operation": operation.text,
        "op": operation.op.name,
        "slots": dict(operation.slots),
        "traits": sorted(trait.name for trait in operation.traits),
        "problem": operation.problem,
        "guard": _plain(instruction.guard, source),
        "operands": [_plain(operand, source) for operand in instruction.operands],
        "names": dict(operation.operand_index),
    }
