"""Where lanes that took different sides of a branch may still be apart."""

from __future__ import annotations

import pytest

from ptxcheck.cfg import build
from ptxcheck.launch import Launch
from ptxcheck.protocols.symex.slice.kernel import Kernel

from ....cfg.kernels import module_of, point_of

_SIDES = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; add.u32 %r2, %r2, 1; bra JOIN; LOW: "


def _is_apart(body: str) -> bool:
    module = module_of(f"{body} activemask.b32 %r5; st.global.u32 [%rd1], %r5; ret;")
    kernel = Kernel(build(module.entries[0]), module, Launch())
    return point_of(kernel.cfg, "activemask") in kernel.lanes_apart


@pytest.mark.parametrize(
    "body",
    [
        f"{_SIDES} add.u32 %r2, %r2, 2; JOIN:",
        f"{_SIDES} @%p2 ret; add.u32 %r2, %r2, 2; JOIN:",
        f"{_SIDES} bar.warp.sync 0xffffffff; JOIN:",
        f"{_SIDES} JOIN: @%p1 bar.warp.sync 0xffffffff;",
        f"{_SIDES} JOIN: bar.warp.sync 0xffff;",
    ],
)
def test_lanes_that_have_not_met(body: str) -> None:
    assert _is_apart(body)


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r1, %tid.x;",
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; ret; LOW:",
        f"{_SIDES} JOIN: bar.warp.sync 0xffffffff;",
        f"{_SIDES} JOIN: bar.sync 0;",
        "mov.u32 %r1, %ctaid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; add.u32 %r2, %r2, 1; LOW:",
    ],
)
def test_lanes_that_have_met_or_never_parted(body: str) -> None:
    assert not _is_apart(body)
