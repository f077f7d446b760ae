"""Rules about tensor maps and the copies and matrix instructions that use them, which have to agree."""

from collections.abc import Callable

from ...descriptors.agreement import Topic
from ...descriptors.contract import Contract
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def of_disagreement(topic: Topic) -> Callable[[KernelView], Hits]:
    """Return a check for disagreements about one topic."""

    def check(view: KernelView) -> Hits:
        for one in view.get(Contract).disagreements:
            if one.topic is topic:
                related = ((one.other, "the copy"),) if one.other >= 0 else ()
                yield Hit(one.point, one.text, related)

    return check


RULES = (
    # Checks: copies through maps that the kernel makes, or that are described with --tensor-map: tiled against im2col,
    # and the box of gather4 and scatter4.
    # Why: the map holds other fields in each mode; ptxas does not know the map. Source: PTX ISA §5.5.3 to 5.5.6,
    # 9.7.9.26.5.2.
    # Not checked: maps that are not known.
    Rule(
        id="TD061",
        name="map-mode-mismatch",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.26.5.2",
        summary="A copy reads its tensor map in a mode that the map is not for.",
        consequence="The copy faults or moves other bytes.",
        advice=(
            "Encode tiled maps for tile modes, im2col maps for im2col modes, and boxes of one row for gather4 and "
            "scatter4."
        ),
        example=KERNEL.variant("""
= .target sm_90a
  .target sm_100a

-     .shared .align 1024 .b8 tile[32768];
+     .shared .align 1024 .b8 tile[8192];

-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 1;

=     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
=     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
=         [tile], [%rd0, {%r1, %r1}], [bar];
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes // expect: TD061
          [tile], [%rd0, {%r1, %r1, %r1, %r1, %r1}], [bar];
"""),
        check=of_disagreement(Topic.MODE),
    ),
    # Checks: copies of a repeat of the pattern or more, through maps that the kernel makes or that are described with
    # --tensor-map, to addresses that are no multiple of the repeat.
    # Why: the swizzle goes by bits of the address in shared memory, so the pattern starts at multiples of 256, 512 or
    # 1024 bytes, not at the box. Source: PTX ISA §5.5.7; CUDA programming guide, shared memory swizzle.
    # Not checked: boxes smaller than the pattern, which fill a part of a larger tile.
    Rule(
        id="TD062",
        name="misaligned-swizzle-box",
        severity=Severity.WRONG_RESULT,
        section="PTX ISA §5.5.7",
        summary="The box of a swizzled map does not start where the pattern of the swizzle does.",
        consequence="Readers that take the pattern to start with the tile read other bytes.",
        advice="Align the tile to 256, 512 or 1024 bytes for a swizzle of 32, 64 or 128 bytes.",
        example=KERNEL.variant("""
=     .shared .align 1024 .b8 tile[8192];
      .shared .align 1024 .b8 tile[9216];

=     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
=         [tile], [%rd0, {%r1, %r1}], [bar];
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD062
-         [tile + 512], [%rd0, {%r1, %r1}], [bar];
+         [tile + 1024], [%rd0, {%r1, %r1}], [bar];
"""),
        check=of_disagreement(Topic.PLACE),
    ),
    # Checks: barriers and copies in straight-line code by one thread, through maps that the kernel makes or that are
    # described with --tensor-map.
    # Why: a copy completes the bytes of its box, whatever part of it lies outside of the tensor. Source: PTX ISA
    # 9.7.9.26.5.2, 9.7.14.16.
    # Not checked: loops, rings and multicast, which whole-kernel verification decides.
    Rule(
        id="TD063",
        name="expected-bytes-box-mismatch",
        severity=Severity.HANG,
        section="PTX ISA §9.7.14.16",
        summary="A barrier expects other bytes than the boxes of its copies have.",
        consequence="The phase never completes, or completes before the data is there.",
        advice=(
            "Expect the product of the box extents (each divided by its element stride, rounded up) times the element "
            "size, for all copies."
        ),
        example=KERNEL.variant("""
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096; // expect: TD063
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
"""),
        check=of_disagreement(Topic.BYTES),
    ),
    # Checks: copies through maps that the kernel makes or that are described with --tensor-map, against the end of the
    # variable and the next copy to the same barrier.
    # Why: the size of a box is in the map, not in the instruction. Source: PTX ISA §5.5.3, 5.5.7; docs/tensor-maps.md
    # for rows under a swizzle.
    # Not checked: dynamic shared memory, whose size is the launch's.
    Rule(
        id="TD064",
        name="box-exceeds-shared-buffer",
        severity=Severity.UNDEFINED,
        section="PTX ISA §5.5.3",
        summary="The box of a tensor map fills more shared memory than there is for it.",
        consequence="The copy overwrites what follows: another stage, another variable, a barrier.",
        advice="Size stages by the box; under a swizzle every row takes a whole span.",
        example=KERNEL.variant("""
-     .shared .align 1024 .b8 tile[4096];
+     .shared .align 1024 .b8 tile[8192];

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD064
"""),
        check=of_disagreement(Topic.ROOM),
    ),
)
