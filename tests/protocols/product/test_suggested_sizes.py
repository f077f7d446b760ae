"""Where threads are stuck on a path of the product, its sizes are run: what goes wrong then is told with them."""

from __future__ import annotations

from ptxcheck.protocols.product.intervals import Interval
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

ONE_LESS = """
ld.param.u32 %r1, [n]; mov.u32 %r9, %tid.x; setp.ge.u32 %p9, %r9, 32; mov.u32 %r2, 0;
@%p9 bra LATER;
ALL: setp.ge.u32 %p1, %r2, %r1; @%p1 bra END;
barrier.sync 1, 64; add.u32 %r2, %r2, 1; bra ALL;
LATER: {guard} add.u32 %r3, %r1, -1;
BUT_ONE: setp.ge.u32 %p1, %r2, %r3; @%p1 bra LAST;
barrier.sync 1, 64; add.u32 %r2, %r2, 1; bra BUT_ONE;
LAST: barrier.sync 1, 64;
END:
"""
"""`i < n - 1` for unsigned numbers, and one more round behind the loop."""


def test_an_unsigned_count_below_zero_is_asked_of_the_host() -> None:
    text = kernel(ONE_LESS.format(guard=""), threads=64)
    bounded = verified(text, seconds=1.0)
    assert kind(bounded, Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED_BOUNDED  # n = 0 is not run
    result = verified(text, for_every_count=True)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert [each.text.split(":")[0] for each in result.required.values()] == ["n is at least 1"]


def test_a_kernel_that_looks_for_that_holds() -> None:
    text = kernel(ONE_LESS.format(guard="setp.eq.u32 %p2, %r1, 0; @%p2 bra END;"), threads=64)
    result = verified(text, for_every_count=True)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert [each.text for each in result.assumptions.values()] == ["n is not negative"]
    assert not result.required


def test_an_example_is_in_its_interval() -> None:
    assert Interval().example is None
    assert Interval(3, None).example == 3
    assert Interval(None, 5).example == 0
    assert Interval(None, -2).example == -2
    assert Interval(-4, 9, frozenset({0, 1})).example == 2
    assert Interval(7, 6).example is None
