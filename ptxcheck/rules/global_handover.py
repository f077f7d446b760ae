"""Rules about data that CTAs hand to each other through global memory, with something missing on the way."""

from __future__ import annotations

from collections.abc import Callable

from ..protocols.typestate.global_handover import GlobalHandovers, Missing
from ..protocols.typestate.global_order import gap_point, gap_text
from .example import sm_80
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity

_BARRIERS = frozenset({Missing.WRITERS_BARRIER, Missing.READERS_BARRIER})
_FENCES = frozenset({Missing.RELEASE, Missing.ACQUIRE})


def _missing(what: frozenset[Missing]) -> Callable[[KernelView], Hits]:
    def check(view: KernelView) -> Hits:
        told: set[int] = set()
        for handover in view.in_registers.get(GlobalHandovers).all:
            for gap in sorted(handover.gaps, key=lambda gap: not gap.certain):
                here = gap_point(gap)
                if gap.missing not in what or here in told:
                    continue
                told.add(here)
                data = "it is written here" if gap.data.writes else "it is written here, by another CTA"
                notes = [
                    (gap.data if gap.data.writes else handover.write, data),
                    (gap.word, "the flag or counter that tells of it"),
                ]
                notes += [(handover.read, "it is read here, by another CTA")] if gap.data.writes else []
                related = tuple((access.point, text) for access, text in notes if access.point != here)
                confidence = Confidence.PROVED if gap.certain else Confidence.POSSIBLE
                yield Hit(here, gap_text(gap), related, confidence, is_of_block=True, is_beyond=True)

    return check


_LAST_BLOCK = """
  (.param .u64 part, .param .u64 count, .param .u64 out) .reqntid 128
      .shared .align 4 .b32 is_last;
      ld.param.u64 %rd0, [part];
      ld.param.u64 %rd1, [count];
      ld.param.u64 %rd2, [out];
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, %ctaid.x;
      mad.lo.u32 %r2, %r1, 128, %r0;
      mul.wide.u32 %rd3, %r2, 4;
      add.u64 %rd3, %rd0, %rd3;
      st.global.u32 [%rd3], %r2;
BEFORE
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra MEET;
TELL
      mov.u32 %r4, %nctaid.x;
      sub.u32 %r4, %r4, 1;
      setp.eq.u32 %p1, %r3, %r4;
      selp.u32 %r3, 1, 0, %p1;
      st.shared.u32 [is_last], %r3;
  MEET:
      bar.sync 0;
      ld.shared.u32 %r3, [is_last];
      setp.eq.u32 %p1, %r3, 0;
      @%p1 bra END;
      mul.wide.u32 %rd4, %r0, 4;
      add.u64 %rd5, %rd0, %rd4;
      ld.global.u32 %r5, [%rd5];
      add.u64 %rd6, %rd2, %rd4;
      st.global.u32 [%rd6], %r5;
  END:
      ret;
"""
_ATOMIC = "atom.acq_rel.gpu.global.add.u32 %r3, [%rd1], 1;"

RULES = (
    # Checks: arrays that the kernel writes, tells of by a word that other CTAs observe (an atomic operation whose
    # result is used, a strong load), and reads behind such an observation: a branch leaves threads out of the telling,
    # or of the observing, and no barrier stands between. Told by default where each way lacks it and two CTAs surely
    # hand over (`global_certainty` says what that takes); else it is possible.
    # Why: a thread releases what others have written only behind a barrier with them, and acquires for them only in
    # front of one. Source: PTX ISA 8.8 to 8.10 (memory consistency model), 9.7.14.1 (`bar`).
    # Not checked: what the value of the word says; weak loads that wait for a word; which threads meet at a barrier.
    Rule(
        id="GM001",
        name="global-handover-without-barrier",
        severity=Severity.WRONG_RESULT,
        since="0.3",
        section="PTX ISA 8.8, 9.7.14.1",
        summary="A thread tells other CTAs of data, or observes that, and the others of its block do not meet it.",
        consequence="Another CTA reads what has not been written yet, now and then.",
        advice=(
            "Put `__syncthreads()` (`bar.sync 0`) in front of the flag or counter that tells of the data, and "
            "behind its observation."
        ),
        example=sm_80(
            _LAST_BLOCK.replace("BEFORE", "+     bar.sync 0;").replace(
                "TELL", f"      {_ATOMIC} // expect: GM001"
            )
        ),
        check=_missing(_BARRIERS),
    ),
    # Checks: as GM001, for the release or the acquire: an atomic operation, a store, a load or a fence (`membar.gl`).
    # Fences on the other side of a barrier than the word count, as the hardware makes writes visible to the GPU there.
    # Why: only a release and an acquire of the scope of the GPU order what two CTAs do; weak loads may be served by an
    # L1 cache. Source: PTX ISA 8.8 to 8.10.
    # Not checked: proxy fences of copies that read the data.
    Rule(
        id="GM002",
        name="global-handover-without-fence",
        severity=Severity.WRONG_RESULT,
        since="0.3",
        section="PTX ISA 8.8",
        summary="A flag or counter that hands data to another CTA does not release, or acquire, for the GPU.",
        consequence="Another CTA may see the flag or counter, and old data.",
        advice=(
            "Use `.acq_rel.gpu` (or `.release.gpu` and `.acquire.gpu`), or `__threadfence()` in front of the flag "
            "and behind it."
        ),
        example=sm_80(
            _LAST_BLOCK.replace("BEFORE", "      bar.sync 0;").replace(
                "TELL",
                f"-     {_ATOMIC.replace('acq_rel', 'acquire')} // expect: GM002\n+     {_ATOMIC}",
            )
        ),
        check=_missing(_FENCES),
    ),
)
