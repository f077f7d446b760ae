"""An asynchronous store or reduction that goes to the wrong CTA.

Checks: `st.async` and `red.async` to shared memory: destination and mbarrier in different CTAs; a reduction into the
own CTA's memory; either in a launch whose clusters have one CTA.
Why: both operands must lie in one CTA of a cluster of several; a reduction's must be another one. Source: PTX ISA
9.7.9.12 and 9.7.14.7.
Not checked: ranks that cannot be told from the own one.
"""

from ..opcodes.op import Op
from ..protocols.typestate.places import Owner, Place, Places
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_OPS = frozenset({Op.ST_ASYNC, Op.RED_ASYNC})


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op not in _OPS or instruction.get("mbar") is None:
            continue
        target = view.get(Places).of(point, instruction["dst"])
        barrier = view.get(Places).of(point, instruction["mbar"])
        reduces = instruction.operation.op is Op.RED_ASYNC
        wrong = _wrong(view, target, barrier, reduces)
        if wrong is not None and not view.facts.never_runs(point):
            yield Hit(point, wrong)


def _wrong(view: KernelView, target: Place | None, barrier: Place | None, reduces: bool) -> str | None:
    """Return what is wrong with the CTAs of the two operands."""
    if view.launch.cluster_size == 1:
        return "this needs a cluster of more than one CTA, and the launch has one"
    if target is None or barrier is None:
        return None
    owners = {target.owner, barrier.owner}
    if owners == {Owner.OWN, Owner.PEER}:
        return f"destination {target} and mbarrier {barrier} are in different CTAs"
    if reduces and owners == {Owner.OWN}:
        return f"{target} is in the executing CTA; an asynchronous reduction goes to another one"
    return None


RULE = Rule(
    id="SM005",
    name="misdirected-async-store",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.12",
    summary="An asynchronous store or reduction names memory that it may not write, or an mbarrier of another CTA.",
    consequence="Undefined: the bytes are never counted and the waiting CTA hangs, or data is lost.",
    advice="Map destination and mbarrier with the same rank of another CTA.",
    example=sm_90a("""
  () .reqntid 128 .reqnctapercluster 2
      .shared .align 8 .b64 bar;
      .shared .align 4 .b32 total;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [bar], 4;
  READY:
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      @%p0 bra DONE;
      mov.u32 %r1, %cluster_ctarank;
      xor.b32 %r2, %r1, 1;
-     mov.u32 %r3, total;
+     mapa.shared::cluster.u32 %r3, total, %r2;
      mapa.shared::cluster.u32 %r4, bar, %r2;
      red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32  // expect: SM005
          [%r3], 1, [%r4];
  DONE:
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ret;
"""),
    check=check,
)
