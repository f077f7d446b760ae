"""A box in shared memory off the pattern of its swizzle.

Checks: copies of a repeat of the pattern or more, through maps that the kernel makes or that are described with
--tensor-map, to addresses that are no multiple of the repeat.
Why: the swizzle goes by bits of the address in shared memory, so the pattern starts at multiples of 256, 512 or 1024
bytes, not at the box.
Source: PTX ISA 5.5.7; CUDA programming guide, shared memory swizzle.
Not checked: boxes smaller than the pattern, which fill a part of a larger tile.
"""

from ...descriptors.agreement import Topic
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for one in view.get(DeviceMaps).contract.disagreements:
        if one.topic is Topic.PLACE:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD062",
    name="misaligned-swizzle-box",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 5.5.7",
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
    check=check,
)
