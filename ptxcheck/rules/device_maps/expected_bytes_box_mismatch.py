"""Expected bytes that are not those of the boxes.

Checks: barriers and copies in straight-line code by one thread, through maps that the kernel makes or that are
described with --tensor-map.
Why: a copy completes the bytes of its box, whatever part of it lies outside of the tensor.
Source: PTX ISA 9.7.9.26.5.2, 9.7.14.16.
Not checked: loops, rings and multicast, which whole-kernel verification decides.
"""

from ...descriptors.agreement import Topic
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for one in view.get(DeviceMaps).contract.disagreements:
        if one.topic is Topic.BYTES:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD063",
    name="expected-bytes-box-mismatch",
    severity=Severity.HANG,
    since="0.1",
    section="PTX ISA 9.7.14.16",
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
    check=check,
)
