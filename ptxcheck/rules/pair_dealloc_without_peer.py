"""Tensor memory of a pair that is allocated and freed with no meeting of the two CTAs between.

Checks: feasible paths from a `tcgen05.alloc.cta_group::2` to a `.dealloc` with no wait for the cluster and no mbarrier
operation between.
Why: both CTAs must have finished with the columns, and the peer with its own allocation, before either frees.
Source: PTX ISA 9.7.17.5; https://github.com/NVIDIA/cutlass/issues/3435.
Not checked: what is waited for between.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Example, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import BARRIER, kernel

_CLUSTER = ".reqntid 128\n.reqnctapercluster 2, 1, 1"


_MEET = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"


_ALLOCATE = "@%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;"


_FREE = "ld.shared.b32 %r3, [slot];\n@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 128;"


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).pair_freed_alone():
        related = ((pair.first, "the allocation"),)
        yield Hit(pair.then, "the peer may not have finished its allocation", related=related)


RULE = Rule(
    id="TM037",
    name="pair-dealloc-without-peer",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.17.5",
    summary="A CTA of a pair frees tensor memory without having met its peer since the allocation.",
    consequence="Launch failure or a hang, depending on which CTA is ahead.",
    advice="Let the cluster meet (barrier.cluster) before the deallocation.",
    example=Example.between(
        kernel(_MEET, _ALLOCATE, BARRIER, _FREE + " // expect: TM037", directives=_CLUSTER),
        kernel(_MEET, _ALLOCATE, _MEET, _FREE, directives=_CLUSTER),
    ),
    check=check,
)
