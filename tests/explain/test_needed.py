"""What would have had to happen is told in the words of the barrier's kind."""

from __future__ import annotations

import pytest

from ptxcheck.checker import check
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Source
from tests.protocols.machine_runs import kernel

LEAVES = """
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 32;
@%p1 bra DONE;
bar.sync 3, 64;
DONE:
"""


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        (kernel(LEAVES, threads=64), "as many threads as are counted must come to barrier 3"),
        (
            changed(RING, ("[empty], 32;", "[empty], 33;")),
            "consumer (warp 1) would arrive at empty[0], but first",
        ),
        (
            changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;")),
            "the bytes that are expected on full[0] must be those that copies onto it bring",
        ),
    ],
)
def test_what_is_needed_fits_the_kind_of_barrier(text: str, needed: str) -> None:
    runs = [each.counterexample for each in check(Source("k.ptx", text)).active]
    assert any(run is not None and run.needed.startswith(needed) for run in runs), runs
