"""Verify a kernel given as PTX, with the launch that its directives state."""

from __future__ import annotations

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.verify import verify
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel

_SECONDS = 120.0
"""Enough on a machine that is busy: none of the texts takes more than some seconds."""


def verified(text: str) -> Verification:
    """Return what verification of the one kernel in a text shows."""
    module = parse_module(Source("k.ptx", text))
    assert not module.problems
    (function,) = module.entries
    assert function.body is not None
    assert not function.body.problems
    return verify(build(function), function, module, from_directives(function), seconds=_SECONDS)


def kind(result: Verification, which: Property) -> VerdictKind:
    """Return the verdict on one property."""
    return next(verdict.kind for verdict in result.verdicts() if verdict.property is which)


def deadlock(body: str, threads: int = 64) -> VerdictKind:
    """Return the verdict on deadlocks of a kernel that is given as the lines of its body."""
    return kind(verified(kernel(body, threads=threads)), Property.DEADLOCK_FREEDOM)
