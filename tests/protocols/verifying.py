"""Verify a kernel given as PTX, with the launch that its directives state."""

from __future__ import annotations

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.verify import verify
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from tests.limits import VERIFY_SECONDS

from .machine_runs import kernel

ONE_MBARRIER = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 128; bar.sync 0;
"""
WAIT_FOR_PHASE = """
W{name}: mbarrier.try_wait.parity.shared.b64 %p8, [%r1], {parity}; @!%p8 bra W{name};
"""


def verified(text: str, *, for_every_count: bool = False, seconds: float = VERIFY_SECONDS) -> Verification:
    """Return what runs of the one kernel in a text show, or also the product of its role automata."""
    module = parse_module(Source("k.ptx", text))
    assert not module.problems
    (function,) = module.entries
    assert function.body is not None
    assert not function.body.problems
    launch = from_directives(function)
    cfg = build(function)
    assert not [each.operation.problem for each in cfg.instructions if each.operation.problem]
    return verify(cfg, function, module, launch, seconds=seconds, for_every_count=for_every_count)


def kind(result: Verification, which: Property) -> VerdictKind:
    """Return the verdict on one property."""
    return next(verdict.kind for verdict in result.verdicts() if verdict.property is which)


def deadlock(body: str, threads: int = 64, *, for_every_count: bool = False) -> VerdictKind:
    """Return the verdict on deadlocks of a kernel that is given as the lines of its body."""
    result = verified(kernel(body, threads=threads), for_every_count=for_every_count)
    return kind(result, Property.DEADLOCK_FREEDOM)
