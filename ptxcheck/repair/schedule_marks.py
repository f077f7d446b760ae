"""Numbers of a text that may be others: `constexpr int kStages = 4;  // ptxcheck: schedule kStages = 1..8`.

A mark is about the last whole number of its line. `schedule NAME = 2..6` or `= 2, 4, 8` names the number and says which
others to try; `schedule 1024 * NAME`, on any other line, computes the number there from those that are named.
"""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from ..source import Source
from ..sources.comments import Comment, Verb, comments

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_CHOICE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<values>.+)")
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")
_COMMENT = re.compile(r"//|/\*")
_MOST = 64
"""Values of one number."""
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
)
Setting: TypeAlias = tuple[tuple[str, int], ...]
"""A value for each name, in the order of the text."""


class ScheduleError(ValueError):
    """A mark that cannot be read: the message says where and why."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A number of the text, and what it is computed from; with `values` it is chosen and `expression` is its name."""

    start: int
    end: int
    expression: str
    place: str
    values: tuple[int, ...] = ()


def schedules_of(source: Source) -> Iterator[tuple[Setting, str]]:
    """Yield every setting with its text: first the text as it is. Raises ScheduleError."""
    marks = [_mark(source, comment) for comment in comments(source) if comment.verb is Verb.SCHEDULE]
    chosen = [mark for mark in marks if mark.values]
    if len({mark.expression for mark in chosen}) < len(chosen):
        raise ScheduleError(f"{chosen[-1].place}: two marks give one name")
    own = tuple((mark.expression, int(source.text[mark.start : mark.end])) for mark in chosen)
    yield own, source.text
    for values in itertools.product(*(mark.values for mark in chosen)):
        setting = tuple((mark.expression, value) for mark, value in zip(chosen, values, strict=True))
        if setting != own:
            yield setting, _text(source.text, marks, dict(setting))


def _mark(source: Source, comment: Comment) -> _Mark:
    place = f"{comment.position.file}:{comment.position.line}"
    line = _COMMENT.split(source.line_text(comment.target_line))[0]
    numbers = list(_NUMBER.finditer(line))
    if not numbers:
        raise ScheduleError(f"{place}: line {comment.target_line} has no whole number to change")
    start = source.line_start(comment.target_line) + numbers[-1].start()
    end = start + len(numbers[-1][0])
    choice = _CHOICE.fullmatch(comment.text)
    if choice is None:
        return _Mark(start, end, comment.text, place)
    return _Mark(start, end, choice["name"], place, _values(choice["values"], place))


def _values(text: str, place: str) -> tuple[int, ...]:
    span = _RANGE.fullmatch(text.strip())
    if span is not None:
        values = list(range(int(span[1]), int(span[2]) + 1))
    else:
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isdecimal() for part in parts):
            raise ScheduleError(f"{place}: {text!r} is neither a range such as 2..6 nor numbers with commas")
        values = [int(part) for part in parts]
    if not 1 <= len(values) <= _MOST:
        raise ScheduleError(f"{place}: {len(values)} values; 1 to {_MOST} are tried")
    return tuple(values)


def _text(text: str, marks: list[_Mark], names: Mapping[str, int]) -> str:
    for mark in sorted(marks, key=lambda each: each.start, reverse=True):
        text = f"{text[: mark.start]}{_evaluated(mark, names)}{text[mark.end :]}"
    return text


def _evaluated(mark: _Mark, names: Mapping[str, int]) -> int:
    try:
        return _value(ast.parse(mark.expression, mode="eval").body, names)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise ScheduleError(f"{mark.place}: cannot compute {mark.expression!r}: {error}") from error


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Name(id=name):
            raise ValueError(f"no mark gives {name}")
    raise ValueError("only numbers, names of marks and + - * // are understood")
