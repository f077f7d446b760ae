"""What to pass so that something open is decided: the options of the command line, by what is needed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..verdict import Need, Reason

_MOST_OPTIONS = 3
_OPTIONS = {
    Need.NOTHING: "",
    Need.BLOCK: "--launch block=THREADS",
    Need.BLOCK_OR_TIME: "--launch block=THREADS, or --effort high",
    Need.CLUSTER: "--launch cluster=CTAS",
    Need.TIME: "--effort high",
    Need.VALUES: "--assume NAME=NUMBER for sizes that are fixed",
    Need.VALUES_OR_TIME: "--assume NAME=NUMBER for sizes that are fixed, or --effort high",
}


def advice(reason: Reason) -> str:
    """Return what to pass, "" where no option helps."""
    if not reason.options:
        return _OPTIONS[reason.need]
    if reason.need is Need.VALUES_OR_TIME:
        return f"{_written('--assume', reason.options)}, or {_OPTIONS[Need.TIME]}"
    return _written("--assume" if reason.need is Need.VALUES else "--launch", reason.options)


def _written(option: str, said: Sequence[str]) -> str:
    return " ".join(f"{option} {shlex.quote(each)}" for each in said[:_MOST_OPTIONS])
