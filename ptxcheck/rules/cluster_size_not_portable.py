"""A cluster of more CTAs than a GPU takes.

Checks: `.reqnctapercluster`: more than 16 CTAs are refused by every GPU; more than 8 (reported as possible) need an
opt-in by the host.
Why: ptxas accepts any size; the launch fails. Source: CUDA programming guide, "Thread block clusters": 8 is portable,
16 with cudaFuncAttributeNonPortableClusterSizeAllowed.
Not checked: whether enough multiprocessors of one cluster are free.
"""

from math import prod

from ..protocols.typestate.names import directive_span
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a

_DIRECTIVE = ".reqnctapercluster"


PORTABLE, MOST = 8, 16


def check(view: KernelView) -> Hits:
    given = view.function.attributes.get(_DIRECTIVE)
    size = prod(given) if given else 0
    if size <= PORTABLE:
        return
    span = directive_span(view.module, view.function, _DIRECTIVE)
    if size > MOST:
        yield Hit(0, f"a cluster of {size} CTAs: no GPU takes more than {MOST}", span=span)
    else:
        message = f"a cluster of {size} CTAs launches only where the host has allowed more than {PORTABLE}"
        yield Hit(0, message, span=span, confidence=Confidence.POSSIBLE)


RULE = Rule(
    id="CL007",
    name="cluster-size-not-portable",
    severity=Severity.LAUNCH_ERROR,
    section="PTX ISA §11.7; CUDA programming guide",
    summary="The cluster has more CTAs than the launch allows.",
    consequence="The launch fails with an error.",
    advice="Use up to 8 CTAs, or up to 16 with cudaFuncAttributeNonPortableClusterSizeAllowed set by the host.",
    example=sm_90a("""
- (.param .u64 out) .reqntid 128 .reqnctapercluster 32 // expect: CL007
+ (.param .u64 out) .reqntid 128 .reqnctapercluster 8
      ret;
"""),
    check=check,
)
