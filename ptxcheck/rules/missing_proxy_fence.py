"""Shared memory that a thread writes and then has copied, with no proxy fence between.

Checks: stores, matrix stores, atomics and `cp.async` of bytes that the same thread's bulk or tensor copy reads, on a
path with no `fence.proxy.async` that covers shared memory.
Why: bulk copies read through the async proxy. Barriers and mbarriers order the threads, but not the proxies. Source:
PTX ISA 8.6 and 9.7.9.26.2.
What a run of the whole kernel shows fenced by another thread on the way is told by PX021.
Not checked: bytes that other threads write; operands of wgmma and tcgen05; bytes of a box beyond the first 16.
"""

from ..explain.violations import whole_kernel
from ..protocols.order.axioms import FENCE_ON_THE_PATH
from ..protocols.typestate.proxies import Between, find_crossings
from ..verdict import VerdictKind
from .protocol_kernels import STORE
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is not Between.NOTHING or crossing.is_global:
            continue
        if not _is_fenced_by_another(view, crossing.read):
            message = "bytes that this reads were written by ordinary stores with no fence.proxy.async since"
            yield Hit(crossing.read, message, related=((crossing.write, "the write"),))


def _is_fenced_by_another(view: KernelView, point: int) -> bool:
    """Tell whether runs of the whole kernel show nothing worse of a read than a fence of another thread."""
    whole = view.get(whole_kernel)
    if whole is None:
        return False
    kinds = {each.kind for each in whole.verdicts if each.property is Property.SLOT_SAFETY}
    problems = (each.problem for each in whole.strict)
    return kinds == {VerdictKind.ASSUMES} and any(
        each.point == point and each.axiom == FENCE_ON_THE_PATH for each in problems
    )


RULE = Rule(
    id="PX001",
    name="missing-proxy-fence",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.2",
    summary="Ordinary writes of shared memory are read by an asynchronous copy with no proxy fence.",
    consequence="The copy may read what was there before.",
    advice="Execute fence.proxy.async.shared::cta in every writing thread, then the barrier, then the copy.",
    example=STORE.variant("""
+     fence.proxy.async.shared::cta;

      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 512; // expect: PX001
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
