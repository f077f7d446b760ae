"""Maps that change behind loads whose end only mbarriers tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.pipeline.device_map_verdicts import descriptor_verdicts
from ptxcheck.verdict import Property, VerdictKind

from .kernels import kernel, view

GOOD = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)


def rounds() -> str:
    """Return a kernel that makes its map, loads through it and invalidates the mbarrier, three times."""
    start = "    setp.ge.u32 %p0, %r0, 32;\n"
    end = """DONE:
    bar.sync 0;
    @!%p2 mbarrier.inval.shared::cta.b64 [full];
    bar.sync 0;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p6, %r15, 3;
    @%p6 bra ROUND;
    ret;"""
    text = kernel(before="mov.u32 %r15, 0;").replace(start, f"ROUND:\n{start}", 1)
    text = text.replace("@%p2 bra READY;\n    mbarrier.init", "@!%p2 mbarrier.init", 1).replace(
        "READY:\n", "", 1
    )
    return text.replace("DONE:\n    ret;", end, 1)


def order(text: str) -> VerdictKind:
    kernels = replace(view(text), verify_seconds=20.0)
    found = {verdict.property: verdict.kind for verdict in descriptor_verdicts(kernels)}
    return found[Property.DESCRIPTOR_ORDER]


def test_loads_end_before_their_mbarrier_is_invalidated() -> None:
    assert order(rounds()) in GOOD


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;\n    @!%p3 bra AGAIN;", ""),
        ("@!%p2 mbarrier.inval.shared::cta.b64 [full];", ""),
        ("[full];\n    bar.sync 0;\n    add", "[full];\n    add"),
        (
            "setp.lt.u32 %p6, %r15, 3;",
            "setp.lt.u32 %p6, %r15, 3;\n    setp.eq.u32 %p7, %r20, %r15;\n    @%p7 bra DONE;",
        ),
        ("bar.sync 0;\n    @%p2 bra DONE;", "@%p7 bra EARLY;\n    bar.sync 0;\n    @%p2 bra DONE;"),
        ("MADE:", "MADE:\n    setp.eq.u32 %p7, %r15, 2;\n    @%p7 bra EARLY;"),
    ],
    ids=[
        "no wait",
        "no invalidation",
        "no barrier behind it",
        "twice",
        "waited by some",
        "an end without a load",
    ],
)
def test_what_does_not_show_it(old: str, new: str) -> None:
    text = rounds()
    assert old in text
    changed = text.replace(old, new, 1)
    if "EARLY" in new:
        changed = changed.replace("    ret;", "EARLY:\n    ret;", 1)
    assert order(changed) not in GOOD
