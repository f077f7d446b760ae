"""A store to tensor memory that another warp is told of before it is over.

Checks: in a run of the whole kernel, a load or deallocation of columns that another warp stored, behind an arrival of
that warp, where no `tcgen05.wait::st` comes between the store and the arrival.
Why: PTX lets the store run on behind the arrival. Released attention kernels hand their row maxima over like this all
the same, so the rule is pedantic.
Source: PTX ISA 9.7.17.6.4 and 9.7.17.8.5.
Not checked: see TM038.
"""

from __future__ import annotations

from .example import sm_100a
from .rule import Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TM043",
    name="tmem-store-told-early",
    severity=Severity.WRONG_RESULT,
    pedantic=True,
    since="0.2",
    section="PTX ISA 9.7.17.6.4",
    summary="A warp loads from tensor memory what another warp stored and told of without a tcgen05.wait::st.",
    consequence="Nothing in PTX says that the load gets the new numbers.",
    advice="Execute tcgen05.wait::st.sync.aligned between the store and the arrival.",
    example=sm_100a("""
  (.param .u32 n) .reqntid 256
      .shared .align 4 .b32 slot;
      .shared .align 8 .b64 stored;

      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.ne.u32 %p0, %r1, 0;
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra READY;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [stored], 32;
  READY:
      bar.sync 0;
      ld.shared.b32 %r3, [slot];
      setp.eq.u32 %p2, %r2, 4;
      @%p2 bra LOAD;
      @%p1 bra DONE;
      tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r1};
+     tcgen05.wait::st.sync.aligned;
      mbarrier.arrive.shared::cta.b64 _, [stored];
-     tcgen05.wait::st.sync.aligned;
      bra DONE;
  LOAD:
      mbarrier.try_wait.parity.shared::cta.b64 %p3, [stored], 0;
      @!%p3 bra LOAD;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3]; // expect: TM043
      tcgen05.wait::ld.sync.aligned;
  DONE:
      bar.sync 0;
      @%p1 bra END;
      tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
  END:
      ret;
"""),
    check=of_flaws("unawaited-store", strict=True),
)
