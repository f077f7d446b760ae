"""Patches of PTX as changes of the CUDA source: an inserted statement, a changed literal, a line left out or moved.

They propose; the source is compiled and judged again, so a change that means something else is only refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from ..ir import Register, Variable
from ..view import KernelView
from .edits import Edit
from .patch import PARITY, Patch, Release, Writer
from .source_releases import release_insertions

LinesOf = Callable[[int], Sequence[int]]
"""From a program point to the lines of the source that it comes from, from 1 on, innermost call first."""

_TOKEN = re.compile(r"[\w%$:]+(?:\.[\w:]+)*")
_LITERAL = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)(?:[uUlL]{0,3})(?![\w.])")
_STATEMENT = re.compile(
    r"^\s*(?:if\s*\(.*\)\s*)?[\w:]+\s*(?:<[^;]*>)?\s*\(.*\);\s*(?://.*)?$|^\s*asm\b.*;\s*$"
)
_CONSTANT = r"(constexpr\s+[\w\s]+?\b{name}\s*=\s*)(\d+)(?=\s*;)"
_FLIP = re.compile(r"\s*\^\s*1u?\b(?!\s*<<)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLAIN = {"bar.sync 0;": "__syncthreads();", "bar.warp.sync -1;": "__syncwarp();"}
"""What CUDA C++ has a name for."""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """The whole changed source, and what was done to it."""

    text: str
    summary: str


class _What(Enum):
    BEFORE = auto()
    AFTER = auto()
    DELETED = auto()
    CHANGED = auto()


@dataclass(frozen=True, slots=True)
class _Act:
    """One edit of PTX, in terms of the instruction that it is about."""

    what: _What
    point: int
    text: str


def source_changes(text: str, view: KernelView, patch: Patch, lines_of: LinesOf) -> Iterator[SourceChange]:
    """Yield changes of the source that may do what a patch does, each once, the likeliest first."""
    if patch.release is not None:
        yield from _releases(text, patch.release, lines_of)
        return
    acts = [act for edit in patch.edits if (act := _act(view, edit)) is not None]
    if len(acts) < len(patch.edits):
        return
    seen = {text}
    for change in _changes(text, view, acts, lines_of, is_flip=patch.strategy == PARITY):
        if change.text not in seen:
            seen.add(change.text)
            yield change


def _releases(text: str, release: Release, lines_of: LinesOf) -> Iterator[SourceChange]:
    own, stuck = ([lines_of(point) for point in points] for points in (release.waits, release.awaited_by))
    for place, added, line in release_insertions(text, release, own, stuck):
        shown = " ".join(added.split())
        yield SourceChange(text[:place] + added + text[place:], f"insert '{shown}' behind line {line}")


def _act(view: KernelView, edit: Edit) -> _Act | None:
    """Return what an edit does, None when it is not about one instruction."""
    writer = Writer(view)
    text = edit.replacement.strip()
    instructions = view.body.instructions
    for point, instruction in enumerate(instructions):
        end = instruction.start + len(writer.statement(point))
        if edit.start == edit.end == end:
            return _Act(_What.AFTER, point, text)
        if edit.start == edit.end and edit.start <= instruction.start:
            return _Act(_What.BEFORE, point, text)
        if (edit.start, edit.end) == (instruction.start, end):
            return _Act(_What.CHANGED if text else _What.DELETED, point, text)
    return None


def _changes(
    text: str, view: KernelView, acts: Sequence[_Act], lines_of: LinesOf, *, is_flip: bool
) -> Iterator[SourceChange]:
    deleted = [act for act in acts if act.what is _What.DELETED]
    inserted = [act for act in acts if act.what in (_What.BEFORE, _What.AFTER)]
    if deleted and inserted:
        yield from _moves(text, deleted[0], inserted[0], lines_of)
        return
    for act in acts:
        match act.what:
            case _What.CHANGED:
                yield from _replacements(text, view, act, lines_of)
                if is_flip:
                    yield from _flips(text, act, lines_of)
            case _What.DELETED:
                yield from _removals(text, act, lines_of)
            case _:
                yield from _insertions(text, view, act, lines_of)


def _insertions(text: str, view: KernelView, act: _Act, lines_of: LinesOf) -> Iterator[SourceChange]:
    statement = cuda_statement(view, act.text)
    if statement is None:
        return
    for line in lines_of(act.point):
        offsets = (0, 1) if act.what is _What.BEFORE else (1, 0)
        for offset in offsets:
            where = "before" if offset == 0 else "behind"
            changed = _with_line(text, line + offset, statement, line)
            yield SourceChange(changed, f"insert '{statement}' {where} line {line}")


def cuda_statement(view: KernelView, text: str) -> str | None:
    """Return PTX statements as a statement of CUDA C++, None when they use names of the kernel."""
    statements = [line.strip() for line in text.splitlines() if line.strip()]
    names = {v.name for v in view.body.statements if isinstance(v, Variable)}
    used = {token for line in statements for token in _TOKEN.findall(line)}
    registers = {r.name for i in view.body.instructions for r in (*i.reads(), *i.writes())}
    if not statements or used & (registers | names):
        return None
    if len(statements) == 1 and statements[0] in _PLAIN:
        return _PLAIN[statements[0]]
    code = "\\n".join(line.replace("%", "%%") for line in statements)
    return f'asm volatile("{code}" ::: "memory");'


def _replacements(text: str, view: KernelView, act: _Act, lines_of: LinesOf) -> Iterator[SourceChange]:
    old, new = (_TOKEN.findall(each) for each in (Writer(view).statement(act.point), act.text))
    if len(old) != len(new):
        return
    for before, after in zip(old, new, strict=True):
        if before == after:
            continue
        value = _number(view, act.point, before)
        if value is not None and _LITERAL.fullmatch(after):
            yield from _of_numbers(text, lines_of(act.point), value, int(after, 0))
            continue
        for line in lines_of(act.point):
            if before in _line(text, line):
                changed = _line(text, line).replace(before, after)
                yield SourceChange(
                    _exchanged(text, line, changed), f"'{after}' instead of '{before}' in line {line}"
                )


def _flips(text: str, act: _Act, lines_of: LinesOf) -> Iterator[SourceChange]:
    """Yield the other parity for a wait: at its call in the kernel first, as others call the function too."""
    for line in reversed(lines_of(act.point)):
        code = _line(text, line)
        for found in _FLIP.finditer(code):
            changed = code[: found.start()] + code[found.end() :]
            yield SourceChange(
                _exchanged(text, line, changed), f"leave out '{found[0].strip()}' in line {line}"
            )
        for start, end in reversed(list(_arguments(code))):
            argument = code[start:end].strip()
            if argument and '"' not in argument:
                flipped = f"{argument} ^ 1" if _NAME.fullmatch(argument) else f"({argument}) ^ 1"
                lead = " " if code[start] == " " else ""
                yield SourceChange(
                    _exchanged(text, line, f"{code[:start]}{lead}{flipped}{code[end:]}"),
                    f"'{flipped}' instead of '{argument}' in line {line}",
                )


def _number(view: KernelView, point: int, token: str) -> int | None:
    """Return the number that a token of a statement is, also when a register holds it."""
    if _LITERAL.fullmatch(token):
        return int(token, 0)
    register = next((r for r in view.body.instructions[point].reads() if r.name == token), None)
    return None if register is None else view.facts.constant(point, Register(register.name, register.scope))


def _of_numbers(text: str, lines: Sequence[int], old: int, new: int) -> Iterator[SourceChange]:
    """Yield another number where it is written, then in arguments, those of the call in the kernel first."""
    for line in lines:
        yield from _numbers(text, line, old, new)
    for line in reversed(lines):
        yield from _factors(text, line, old, new)
    for line in reversed(lines):
        yield from _computed(text, line, old, new)


def _numbers(text: str, line: int, old: int, new: int) -> Iterator[SourceChange]:
    """Yield another number for literals of a line, and for constants that it names."""
    code = _line(text, line)
    for found in _LITERAL.finditer(code):
        if int(found[1], 0) == old:
            changed = code[: found.start(1)] + str(new) + code[found.end(1) :]
            yield SourceChange(_exchanged(text, line, changed), f"{new} instead of {old} in line {line}")
    for name in dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", code)):
        definition = re.search(_CONSTANT.format(name=name), text)
        if definition is not None and int(definition[2]) == old:
            changed = text[: definition.start(2)] + str(new) + text[definition.end(2) :]
            yield SourceChange(changed, f"{name} = {new} instead of {old}")


def _factors(text: str, line: int, old: int, new: int) -> Iterator[SourceChange]:
    """Yield arguments that are products with another literal: `TILE * 4` for `TILE * 2`."""
    code = _line(text, line)
    for start, end in _values(code):
        for found in _LITERAL.finditer(code, start, end):
            factor = int(found[1], 0)
            if factor and old % factor == 0 and new * factor % old == 0 and "*" in code[start:end]:
                other = code[start : found.start(1)] + str(new * factor // old) + code[found.end(1) : end]
                yield SourceChange(
                    _exchanged(text, line, code[:start] + other + code[end:]),
                    f"'{other.strip()}' instead of '{code[start:end].strip()}' in line {line}",
                )


def _computed(text: str, line: int, old: int, new: int) -> Iterator[SourceChange]:
    """Yield a number in place of what an argument computes."""
    code = _line(text, line)
    for start, end in _values(code):
        argument = code[start:end].strip()
        changed = f"{code[:start]}{' ' if code[start] == ' ' else ''}{new}{code[end:]}"
        yield SourceChange(
            _exchanged(text, line, changed),
            f"{new} instead of '{argument}', which is {old}, in line {line}",
        )


def _values(code: str) -> Iterator[tuple[int, int]]:
    """Yield the arguments of a call that may be computed numbers: no literal, no text, no address."""
    for start, end in _arguments(code):
        argument = code[start:end].strip()
        if argument and not _LITERAL.fullmatch(argument) and '"' not in argument and argument[0] != "&":
            yield start, end


def _arguments(code: str) -> Iterator[tuple[int, int]]:
    """Yield where the arguments of the outermost call of a line begin and end."""
    opened = code.find("(")
    depth, start = 0, opened + 1
    for place in range(max(opened, 0), len(code)):
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if depth == 0 or (depth == 1 and code[place] == ","):
            yield start, place
            start = place + 1
        if depth == 0:
            return


def _removals(text: str, act: _Act, lines_of: LinesOf) -> Iterator[SourceChange]:
    for line in lines_of(act.point):
        if _STATEMENT.match(_line(text, line)):
            yield SourceChange(
                _without_line(text, line), f"leave out line {line}: '{_line(text, line).strip()}'"
            )


def _moves(text: str, deleted: _Act, inserted: _Act, lines_of: LinesOf) -> Iterator[SourceChange]:
    for source in lines_of(deleted.point):
        statement = _line(text, source)
        if not _STATEMENT.match(statement):
            continue
        for target in lines_of(inserted.point):
            for offset in (0, 1) if inserted.what is _What.BEFORE else (1, 0):
                place = target + offset
                if place in (source, source + 1):
                    continue
                added = _with_line(text, place, statement.strip(), target)
                changed = _without_line(added, source + (place <= source))
                yield SourceChange(changed, f"move '{statement.strip()}' from line {source} to line {target}")


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _exchanged(text: str, number: int, line: str) -> str:
    lines = text.splitlines(keepends=True)
    ending = lines[number - 1][len(lines[number - 1].rstrip("\r\n")) :]
    lines[number - 1] = line + ending
    return "".join(lines)


def _with_line(text: str, number: int, statement: str, like: int) -> str:
    """Insert a line so that it has a number, indented as another one."""
    lines = text.splitlines(keepends=True)
    model = _line(text, like)
    lines.insert(number - 1, f"{model[: len(model) - len(model.lstrip())]}{statement}\n")
    return "".join(lines)


def _without_line(text: str, number: int) -> str:
    lines = text.splitlines(keepends=True)
    del lines[number - 1]
    return "".join(lines)
