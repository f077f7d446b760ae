"""A memory fence where a proxy fence is needed.

Checks: as for a missing proxy fence, with a `fence` or `membar` between.
Why: memory fences order accesses of one proxy; none of them crosses to the async proxy.
Not checked: bytes that other threads write.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .protocol_kernels import STORE
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is Between.MEMORY_FENCE:
            message = "a memory fence does not order the write before it with the asynchronous copy after it"
            yield Hit(
                crossing.fence,
                message,
                related=((crossing.write, "the write"), (crossing.read, "the copy")),
                is_beyond=crossing.is_global,
            )


RULE = Rule(
    id="PX005",
    name="memory-fence-as-proxy-fence",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §8.6",
    summary="A memory fence stands where a proxy fence is needed.",
    consequence="The copy may read what was there before.",
    advice="Replace it by fence.proxy.async, or add one after the writes.",
    example=STORE.variant("""
-     fence.acq_rel.gpu; // expect: PX005
+     fence.proxy.async.shared::cta;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
