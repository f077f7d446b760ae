"""One run, step by step: as text, or as a picture with a column for each role."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ..protocols.model.actions import (
    Action,
    Commit,
    Protocol,
    Wait,
    WaitGroup,
)
from ..protocols.model.outcome import Step
from .barrier_names import BarrierNames, barriers_of, is_of_warp
from .roles import RoleOf, roles_of
from .wording import wording

Locate = Callable[[int], str]
"""From a program point to a place in the source, for people."""

_COLUMN, _ROW, _TOP, _MARGIN = 320, 34, 70, 20
_MOST_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """One step of the strand that stands for a role."""

    order: int
    column: int
    text: str
    place: str
    cause: int | None
    """Index of the row that lets this wait pass, when it is shown."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The steps of one run, those of one strand for each role."""

    title: str
    roles: tuple[str, ...]
    rows: tuple[Row, ...]


def timeline(
    protocol: Protocol, schedule: Sequence[Step], names: BarrierNames, locate: Locate, title: str
) -> Timeline:
    """Return the steps of a schedule that are about barriers and groups."""
    roles = roles_of(protocol)
    columns = {role.strands[0]: number for number, role in enumerate(roles)}
    rows: list[Row] = []
    completed: dict[tuple[object, int], int] = {}
    for order, step in enumerate(schedule, 1):
        action = protocol.strands[step.strand].actions[step.index]
        column = columns.get(step.strand)
        if column is None or not _is_shown(action) or len(rows) == _MOST_ROWS:
            continue
        cause = None
        for barrier in barriers_of(action):
            if step.phase is not None and isinstance(action, Wait):
                cause = completed.get((barrier, step.phase))
            elif step.phase is not None:
                completed[barrier, step.phase] = len(rows)
        text = wording(action, step.phase, names)
        if step.completes:
            text = f"done: {text}"
        rows.append(Row(order, column, text, locate(action.point), cause))
    done = {step.strand: step.index + 1 for step in schedule}
    for index, column in columns.items():
        for action in protocol.strands[index].actions[done.get(index, 0) :][:1]:
            text = f"{wording(action, None, names)}: for ever"
            rows.append(Row(len(schedule) + 1, column, text, locate(action.point), None))
    return Timeline(title, tuple(role.name for role in roles), tuple(rows))


def _is_shown(action: Action) -> bool:
    if is_of_warp(action):
        return False
    return bool(barriers_of(action)) or isinstance(action, Commit | WaitGroup)


def timeline_text(run: Timeline) -> str:
    """Return a line for each step, under a letter for each role."""
    marks = [_letters(number) for number in range(len(run.roles))]
    width = max((len(mark) for mark in marks), default=1)
    lines = [
        run.title,
        *(f"{mark:>{width}}  {name}" for mark, name in zip(marks, run.roles, strict=True)),
        "",
    ]
    digits = len(str(run.rows[-1].order)) if run.rows else 1
    for row in run.rows:
        lines.append(f"{row.order:>{digits}}  {marks[row.column]:>{width}}  {row.text}  [{row.place}]")
    return "\n".join(lines) + "\n"


def _letters(number: int) -> str:
    """Return A … Z, AA, AB, …"""
    high, low = divmod(number, 26)
    return (_letters(high - 1) if high else "") + chr(ord("A") + low)


def timeline_svg(run: Timeline) -> str:
    """Return a picture: time goes down, each role has a column, arrows go from what completes a phase to waits."""
    width = 2 * _MARGIN + _COLUMN * max(1, len(run.roles))
    height = _TOP + _ROW * (len(run.rows) + 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" '
        'orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#b45309"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="20" font-size="13">{escape(run.title)}</text>',
        *_columns(run, height),
        *_arrows(run),
        *_steps(run),
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _x(column: int) -> int:
    return _MARGIN + 8 + _COLUMN * column


def _y(index: int) -> int:
    return _TOP + _ROW * index


def _columns(run: Timeline, height: int) -> Iterator[str]:
    for column, name in enumerate(run.roles):
        x = _x(column)
        yield f'<text x="{x - 8}" y="45" font-weight="bold">{escape(_cut(name))}</text>'
        yield f'<line x1="{x}" y1="55" x2="{x}" y2="{height - 10}" stroke="#9ca3af"/>'


def _arrows(run: Timeline) -> Iterator[str]:
    for index, row in enumerate(run.rows):
        if row.cause is not None and run.rows[row.cause].column != row.column:
            start, end = _x(run.rows[row.cause].column), _x(row.column)
            yield (
                f'<line x1="{start}" y1="{_y(row.cause)}" x2="{end}" y2="{_y(index) - 4}" stroke="#b45309" '
                'stroke-opacity="0.6" marker-end="url(#tip)"/>'
            )


def _steps(run: Timeline) -> Iterator[str]:
    for index, row in enumerate(run.rows):
        x, y = _x(row.column), _y(index)
        tip = escape(f"{row.order}. {row.text} [{row.place}]")
        yield (
            f'<g><title>{tip}</title><circle cx="{x}" cy="{y}" r="4" fill="#1d4ed8"/>'
            f'<text x="{x + 9}" y="{y}">{row.order}. {escape(_cut(row.text))}</text>'
            f'<text x="{x + 9}" y="{y + 12}" fill="#6b7280">{escape(_cut(row.place))}</text></g>'
        )


def _cut(text: str, limit: int = 44) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


__all__ = ["Locate", "RoleOf", "Row", "Timeline", "timeline", "timeline_svg", "timeline_text"]
