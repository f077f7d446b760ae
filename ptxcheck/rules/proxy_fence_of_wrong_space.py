"""A proxy fence for another state space than that of the bytes.

Checks: as for a missing proxy fence, with one between for the other space.
Why: `fence.proxy.async.global` does not order shared memory, nor the shared forms global memory.
Not checked: bytes that other threads write.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .protocol_kernels import STORE
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is Between.OTHER_SPACE:
            message = (
                "this fence covers another state space than that of the bytes written before and "
                "copied after it"
            )
            yield Hit(
                crossing.fence,
                message,
                related=((crossing.write, "the write"), (crossing.read, "the copy")),
                is_beyond=crossing.is_global,
            )


RULE = Rule(
    id="PX002",
    name="proxy-fence-of-wrong-space",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.14.4",
    summary="The proxy fence is for another state space.",
    consequence="The copy may read what was there before.",
    advice=(
        "Use fence.proxy.async.shared::cta for shared memory, .global for global memory, or fence.proxy.async for "
        "both."
    ),
    example=STORE.variant("""
-     fence.proxy.async.global; // expect: PX002
+     fence.proxy.async.shared::cta;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
