"""One schedule of a protocol: when it is given up."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.actions import Access, Protocol, Span, Strand
from ptxcheck.protocols.proof.search import examine
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.protocols.symex.values.trace import OutOfTimeError


def protocol(steps: int) -> Protocol:
    touch = Access(0, reads=(Span(0, 0, 4),))
    return Protocol((Strand(0, 0, 1, "warp 0", (touch,) * steps),), 1)


def test_a_long_schedule_ends_where_the_time_does() -> None:
    assert not simulate(protocol(1000)).problems
    with pytest.raises(OutOfTimeError):
        simulate(protocol(1000), is_late=lambda: True)
    with pytest.raises(OutOfTimeError):
        examine(protocol(1000), is_late=lambda: True)


def test_a_short_one_is_not_asked_for_time() -> None:
    assert not simulate(protocol(10), is_late=lambda: True).problems
