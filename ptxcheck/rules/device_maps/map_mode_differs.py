"""A copy in a mode that its tensor map is not for.

Checks: copies through maps that the kernel makes, or that are described with --tensor-map: tiled against
im2col, and the box of gather4 and scatter4.
Why: the map holds other fields in each mode; ptxas does not know the map.
Source: PTX ISA 5.5.3 to 5.5.6, 9.7.9.26.5.2.
Not checked: maps that are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...descriptors.agreement import Topic
from ...descriptors.contract import Contract
from ...finding import Severity
from ...view import KernelView
from ..rule import Hit, Rule
from .map_kernel import changed

_BAD = changed(
    (
        ".target sm_90a",
        ".target sm_100a",
    ),
    (
        "    .shared .align 1024 .b8 tile[8192];",
        "    .shared .align 1024 .b8 tile[32768];",
    ),
    (
        """\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tile], [%rd0, {%r1, %r1}], [bar];""",
        """\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768;
    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes // expect: TD061
        [tile], [%rd0, {%r1, %r1, %r1, %r1, %r1}], [bar];""",
    ),
)

_GOOD = changed(
    (
        ".target sm_90a",
        ".target sm_100a",
    ),
    (
        "    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;",
        "    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 1;",
    ),
    (
        """\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tile], [%rd0, {%r1, %r1}], [bar];""",
        """\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
        [tile], [%rd0, {%r1, %r1, %r1, %r1, %r1}], [bar];""",
    ),
)


def check(view: KernelView) -> Iterator[Hit]:
    for one in view.get(Contract).disagreements:
        if one.topic is Topic.MODE:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD061",
    name="map-mode-differs",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.5.2",
    summary="A copy reads its tensor map in a mode that the map is not for.",
    consequence="The copy faults or moves other bytes.",
    advice=(
        "Encode tiled maps for tile modes, im2col maps for im2col modes, and boxes of one row for "
        "gather4 and scatter4."
    ),
    bad=_BAD,
    good=_GOOD,
    check=check,
)
