"""What groups have in common whose kernels a worker compiles in a process of its own."""

from __future__ import annotations

from pathlib import Path

from .process import Ran
from .store import Cache, Row

KEEP_FREE_MB = 4 * 1024
REPOSITORY = Path(__file__).resolve().parents[2]


def record(
    cache: Cache,
    ran: Ran,
    *,
    group: str,
    name: str,
    target: str,
    digest: str,
    built: bool,
    how: str,
    tool: str,
) -> Row:
    """Record what a worker made of a unit, or why it made nothing."""
    row = Row(
        group=group,
        name=name,
        target=target,
        built=built,
        how=how,
        tool=tool,
        bytes=cache.ptx(group, name).stat().st_size if built else 0,
        seconds=ran.seconds,
        peak_mb=ran.peak_mb,
        message="" if built else _cause(ran.message, ran.output),
        digest=digest,
    )
    cache.record(row)
    return row


def _cause(message: str, output: str) -> str:
    """The last error line first, then the whole message."""
    lines = [line for line in output.splitlines() if "error" in line.lower()]
    return f"{lines[-1]}\n{message}" if lines else message
