"""Rules about threads that access the same bytes of an array of global memory, in no order."""

from __future__ import annotations

from collections.abc import Callable

from ..explain.races import races_in_global_memory
from ..protocols.races.judgement import may_meet
from ..protocols.races.pairs import Relation
from ..protocols.races.witness import Race
from .example import sm_80
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity

_OTHER = "the other access"


def _races(*, between_ctas: bool) -> Callable[[KernelView], Hits]:
    """Return a check for races of threads of one CTA, or of different ones."""

    def check(view: KernelView) -> Hits:
        found = view.get(races_in_global_memory)
        told: dict[int, Race] = {}
        for race in found.races:
            if (race.ctas is not None) is between_ctas:
                told.setdefault(race.points[0], race)
        for here, race in told.items():
            thread = race.written_threads[1]
            related = () if race.points[1] == here else ((race.points[1], f"thread {thread}: {_OTHER}"),)
            yield Hit(here, race.message, related, is_of_block=True, is_beyond=True)
        for pair in found.possible:
            if (pair.relation is Relation.OTHER_BLOCKS) is between_ctas:
                other, here = pair.points
                related = () if here == other else ((other, _OTHER),)
                yield Hit(here, may_meet(pair), related, Confidence.POSSIBLE, is_beyond=True)

    return check


_NEIGHBOUR = """
  (.param .u64 values, .param .u64 sums, .param .u32 n) .reqntid 128
      ld.param.u64 %rd0, [values];
      ld.param.u64 %rd5, [sums];
      ld.param.u32 %r4, [n];
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, %ctaid.x;
PLACE
      setp.ge.u32 %p0, %r2, %r4;
      mul.wide.u32 %rd1, %r2, 4;
      add.u64 %rd2, %rd0, %rd1;
      add.u64 %rd3, %rd5, %rd1;
      @%p0 bra END;
"""
_OF_CTA = _NEIGHBOUR.replace("PLACE", "      mov.u32 %r2, %r0;")
_OF_GRID = _NEIGHBOUR.replace("PLACE", "      mad.lo.u32 %r2, %r1, 128, %r0;")

RULES = (
    # Checks: a read and a write of an array of global memory, by threads of one block that are in different warps, with
    # no barrier between: the solver is asked for two threads and one byte, and what it finds is confirmed by running
    # both with numbers, for three sizes. An array is what one pointer of the host points to. Distances that the host's
    # numbers or loaded data decide make no finding.
    # Why: the order of the two accesses depends on the schedule. Source: PTX ISA 8.7 (data races), 9.7.14.1 (`bar`).
    # Not checked: two writes, writes of one number, atomic operations, arrays that overlap, pointers that are loaded,
    # lanes of one warp, kernels with fences, flags or locks, or with asynchronous copies, mbarriers, clusters or
    # counted barriers. That there is no finding is no proof.
    Rule(
        id="GM003",
        name="global-race-in-block",
        severity=Severity.WRONG_RESULT,
        since="0.3",
        section="PTX ISA 8.7, 9.7.14.1",
        summary="A thread reads a byte of global memory that another one of its block writes, with no barrier between.",
        consequence="The reader gets what was there before or after: wrong results, in some runs only.",
        advice="Put `__syncthreads()` (`bar.sync 0`) between the two accesses, or write to another array.",
        example=sm_80(
            _OF_CTA
            + """
      ld.global.u32 %r5, [%rd2+128];
+     bar.sync 0;
-     st.global.u32 [%rd2], %r5; // expect: GM003
+     st.global.u32 [%rd2], %r5;
  END:
      ret;
"""
        ),
        check=_races(between_ctas=False),
    ),
    # Checks: as GM003, for threads of CTAs that are next to each other, at places that depend on the CTA; no barrier
    # orders anything there.
    # Why: CTAs of a launch run in any order, or one after the other. Source: PTX ISA 8.7; CUDA programming guide,
    # "Thread Hierarchy" (blocks execute independently).
    # Not checked: as GM003; places that do not depend on the CTA, as a host may launch one alone.
    Rule(
        id="GM004",
        name="global-race-between-ctas",
        severity=Severity.WRONG_RESULT,
        since="0.3",
        section="PTX ISA 8.7",
        summary="A thread reads a byte of global memory that one of another CTA writes, and nothing orders CTAs.",
        consequence="The reader gets what was there before or after: wrong results, in some runs only.",
        advice="Write to another array than the one that other CTAs read, or split the kernel in two launches.",
        example=sm_80(
            _OF_GRID
            + """
      ld.global.u32 %r5, [%rd2+512];
-     st.global.u32 [%rd2], %r5; // expect: GM004
+     st.global.u32 [%rd3], %r5;
  END:
      ret;
"""
        ),
        check=_races(between_ctas=True),
    ),
)
