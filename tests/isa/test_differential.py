"""The table against itself and, where there is one, against ptxas: a small share of the campaign."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.ptxas_differential import compare, generate, judge_table, load_listed
from ptxcheck.isa.row import compile_row
from ptxcheck.isa.table import (
    alternate,
    comparison,
    conversion,
    data_movement,
    floating,
    half,
    integer,
    logic,
    misc,
    stack,
    surface,
    texture,
    video,
)
from ptxcheck.opcodes.target import Target, Version

from .generator import Statement, all_forms, statements

_VERSION, _TARGET = Version(9, 0), Target(100, "a")


def test_every_form_compiles() -> None:
    assert sum(1 for _ in all_forms()) > 1000


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(statements(_VERSION, _TARGET))
def test_what_the_table_writes_it_accepts(statement: Statement) -> None:
    assert judge_table([statement.text], _VERSION, _TARGET) == {}


_CHAPTERS = (
    *integer.ROWS,
    *alternate.ROWS,
    *floating.ROWS,
    *half.ROWS,
    *comparison.ROWS,
    *logic.ROWS,
    *data_movement.ROWS,
    *conversion.ROWS,
    *texture.ROWS,
    *surface.ROWS,
    *stack.ROWS,
    *video.ROWS,
    *misc.ROWS,
)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
def test_ptxas_takes_what_the_table_has() -> None:
    forms = [form for row in _CHAPTERS for form in compile_row(row)]
    made = generate(forms, _VERSION, _TARGET, limit=2, broken=0, seed=1)
    assert _disagreements(made) == []


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
def test_ptxas_and_the_table_reject_alike() -> None:
    forms = [form for row in _CHAPTERS for form in compile_row(row)][::12]
    made = generate(forms, _VERSION, _TARGET, limit=1, broken=1, seed=1)
    found = _disagreements(made)
    assert len(found) < len(made) / 100, found


def _disagreements(made: Sequence[Statement]) -> list[str]:
    listed = load_listed()
    return [
        f"{outcome.statement.text} ours: {outcome.ours} ptxas: {outcome.ptxas}"
        for outcome in compare(made, _VERSION, _TARGET)
        if not outcome.agrees and not any(one.covers(outcome) for one in listed)
    ]
