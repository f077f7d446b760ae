"""Objects and libraries on the command line: each PTX text in them becomes a text to check of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ..results import Problem, ProblemKind
from ..source import Position, Source
from .discover import Input, InputKind
from .fatbin import FatbinError, read_embedded
from .text import UnreadableError, decode


def with_embedded(items: Sequence[Input]) -> tuple[tuple[Input | Source, ...], tuple[Problem, ...]]:
    """Return the inputs with each object replaced by the PTX in it, named `k.o/1.sm_90.ptx`, and what is wrong."""
    units: list[Input | Source] = []
    problems: list[Problem] = []
    for item in items:
        if item.kind is not InputKind.OBJECT:
            units.append(item)
            continue
        try:
            for number, found in enumerate(read_embedded(item.path), start=1):
                source, complaints = decode(found.text, f"{item.path}/{number}.sm_{found.arch}.ptx")
                units.append(source)
                problems += complaints
        except (FatbinError, UnreadableError) as error:
            problems.append(_problem(item, str(error)))
        except OSError as error:
            problems.append(_problem(item, f"cannot be read: {error.strerror}"))
    return tuple(units), tuple(problems)


def _problem(item: Input, message: str) -> Problem:
    return Problem(ProblemKind.INPUT, message, Position(item.name, 0))
