"""What to pass so that something open is decided: the options of the command line, by what is needed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..terms.effort import LEVELS
from ..verdict import Need, Reason

_MOST_OPTIONS = 3
_SIZES = "NAME=NUMBER"
_MORE = 4
"""So many times the effort is advised where the highest level was not enough."""


def advice(reason: Reason, kernel: str = "", effort: float | None = None) -> str:
    """Return what to pass, "" where no option helps; with a pattern for the kernel where it is one of several.

    `effort`: what was given, in seconds of the machine that it was fitted on.
    """
    more = _more_effort(effort)
    match reason.need:
        case Need.BLOCK | Need.BLOCK_OR_TIME:
            said = _written("--launch", reason.options or ("block=THREADS",), kernel)
        case Need.CLUSTER:
            said = _written("--launch", reason.options or ("cluster=CTAS",), kernel)
        case Need.VALUES | Need.VALUES_OR_TIME if reason.options:
            said = _written("--assume", reason.options, kernel)
        case Need.VALUES | Need.VALUES_OR_TIME:
            said = f"{_written('--assume', (_SIZES,), kernel)} for sizes that are fixed"
        case Need.TIME:
            return more
        case _:
            return _written("--launch", reason.options, kernel)
    also_time = reason.need is Need.VALUES_OR_TIME or (
        reason.need is Need.BLOCK_OR_TIME and not reason.options
    )
    return f"{said}, or {more}" if also_time else said


def _more_effort(effort: float | None) -> str:
    high = LEVELS["high"]
    return "--effort high" if effort is None or effort < high else f"--effort {_MORE * effort:g}"


def _written(option: str, said: Sequence[str], kernel: str) -> str:
    named = [f"{kernel}: {each}" if kernel else each for each in said[:_MOST_OPTIONS]]
    return " ".join(f"{option} {shlex.quote(each)}" for each in named)
