"""A loop that is entered in two places has no head, where what a round has found is told from the round before."""

from __future__ import annotations

import pytest

from ptxcheck.commands.drawings import views_of
from ptxcheck.config import Config
from ptxcheck.parser import parse_module
from ptxcheck.protocols.product.for_all import Open, Shown, for_all
from ptxcheck.protocols.symex.slice.layout import layout_of
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.protocols.symex.values.trace import Shape
from ptxcheck.source import Source
from ptxcheck.sources.positions import Locator
from ptxcheck.terms.effort import Effort

TEXT = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 other, .param .u64 .ptr .global where) .reqntid 64
{
    .reg .pred stop, skip, mine, some, far;
    .reg .b32 thread, warp, n, found, before, later, number;
    .reg .b64 at;
    ld.param.u32 n, [other];
    ld.param.u64 at, [where];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    mov.u32 before, 1;
    mov.u32 later, 0;
    setp.eq.u32 far, n, 3;
    ENTRY
ROUND:
    bar.sync 3, 64;
MIDDLE:
    ld.volatile.global.u32 number, [at];
    setp.gt.u32 some, number, 5;
    barrier.cta.red.popc.aligned.u32 found, 0, some;
    setp.eq.u32 skip, found, before;
    setp.eq.or.u32 skip, later, 0, skip;
    mov.u32 before, found;
    mov.u32 later, 1;
    @skip bra NEXT;
    WHO
    bar.sync 2, 64;
NEXT:
    setp.ne.u32 stop, found, 60;
    @stop bra ROUND;
    ret;
}
"""
"""Where a round finds another number than the one before, some threads meet once more."""
JUMPS_IN = "@far bra MIDDLE;"
ONE_WARP = "setp.ne.u32 mine, warp, 0; @mine bra NEXT;"


@pytest.mark.parametrize(
    ("entry", "who", "kind"),
    [("", "", Shown), ("", ONE_WARP, Open), (JUMPS_IN, "", Open), (JUMPS_IN, ONE_WARP, Open)],
)
def test_it_is_not_followed(entry: str, who: str, kind: type[Shown] | type[Open]) -> None:
    module = parse_module(Source("k.ptx", TEXT.replace("ENTRY", entry).replace("WHO", who)))
    (view,) = views_of(module, Locator(module), None, Config())
    program = Program(view.cfg, view.module, view.launch, accesses=True)
    layout = layout_of(view.function, view.module, view.launch.given, view.launch.facts)
    found = for_all(program, layout, (), Shape((64, 1, 1), (1, 1, 1)), None, Effort(6.0))
    assert isinstance(found, kind), found
    assert bool(view.cfg.irreducible) == bool(entry)
