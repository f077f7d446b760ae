"""Rules about what is under way when a CTA ends, in runs of the whole kernel."""

from ...protocols.model.outcome import Flaw
from ..protocol_kernels import COPY, PAIR
from ..rule import Rule, Severity
from ..violations import of_axioms, of_flaws

RULES = (
    # Checks: whether each access to shared memory or an mbarrier of another CTA, copies and multicasts included, is
    # over before the last thread of that CTA ends, as far as some thread of it can know. The same for a CTA's own
    # bulk stores in a kernel that waits for no bulk group.
    # Why: the shared memory of a CTA that has ended is no longer its own. Source: PTX ISA §5.1.5; CUDA programming
    # guide, "Distributed Shared Memory" (all blocks stay until accesses are done).
    # Not checked: see MB020.
    Rule(
        id="CL020",
        name="exit-before-remote-access",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §5.1.5",
        summary="A CTA can end while another one of its cluster still reaches into its shared memory.",
        consequence="Undefined: a fault, or another kernel's memory is changed.",
        advice=(
            "End the kernel with a cluster barrier whose arrival is not .relaxed, or with a wait that comes after all "
            "remote accesses."
        ),
        example=PAIR.variant("""
      @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];  // expect: CL020

+ WAIT:
+     mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
+     @!%p2 bra WAIT;

+     barrier.cluster.arrive.release.aligned;
+     barrier.cluster.wait.acquire.aligned;
"""),
        check=of_flaws(Flaw.EXIT_WITH_REMOTE_ACCESS),
    ),
    # Checks: whether some thread of the CTA knows, before it ends, that each copy is complete. CL020 finds accesses by
    # other CTAs, and bulk stores of kernels that wait for none; other copies that the CTA has started itself are
    # found here, and arrivals of `tcgen05.commit` at another CTA that has waited for a later commit of the same
    # thread.
    # Why: shared memory may belong to the next CTA. Released kernels end with loads under way that nobody needs, and
    # with stores that only their commit follows: the rule is pedantic. Source: PTX ISA §9.7.9.25 (bulk copies), CUDA
    # C++ Programming Guide, asynchronous data copies.
    # Not checked: see CL020.
    Rule(
        id="CL021",
        name="pending-copy-at-exit",
        severity=Severity.UNDEFINED,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.9.25",
        summary="The CTA may end while one of its own copies still moves bytes of its shared memory.",
        consequence="The copy may write to shared memory of the next CTA, or read what that has written.",
        advice="Wait for the mbarrier of each load and for the groups of stores before the last thread ends.",
        example=COPY.variant("""
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024;
-     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 1024, [%r1];  // expect: CL021
+     mbarrier.inval.shared::cta.b64 [%r1];
"""),
        check=of_axioms("CL021"),
    ),
)
