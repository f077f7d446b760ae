"""Which rules have no row that runs here, and why; and kernels that show weak outcomes and are not found.

Every axiom has a row. A default rule about order has one that runs here, or NVIDIA's own code does what it asks for
(`REQUIRED`), or no order is at stake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxcheck.finding import Severity
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.rules import RULES

from .litmus_test import HOPPER, Litmus

_PHASES = (
    "phases are counted: PTX says what each operation does to one mbarrier, and no order of memory "
    "is at stake"
)
_LEGALITY = "which forms and values are legal, and no order"
_OPERANDS = "which bytes or columns an operand is, and no order"
_FIELDS = "what a tensor map says, and no order"

REQUIRED = {
    "TM009": (
        "PTX ISA 9.7.17.6.4.5; CUTLASS has `fence_view_async_tmem_store` in front of each commit behind such a store "
        "(sm100_mma_warpspecialized_mixed_input.hpp:1047)"
    ),
    **dict.fromkeys(("TM010", "TM032"), (
        "a commit alone tells that multiplications are over (PTX ISA 9.7.17.6.2): the kernels of CUTLASS for sm_100 "
        "load accumulators behind the mbarrier of one"
    )),
    **dict.fromkeys(("TM035", "TM036"), (
        "CUTLASS meets between the allocation and the first use of its address, and between the last load and the "
        "deallocation (`tmem_allocation_result_barrier`, `tmem_deallocation_result_barrier` of its sm100 kernels)"
    )),
    **dict.fromkeys(("TM038", "TM039", "TM040"), (
        "PTX ISA 9.7.17.6.4; CUTLASS waits by `fence_view_async_tmem_load` and `_store` in front of each release of "
        "columns (sm100_epilogue_tma_warpspecialized.hpp:887), and behind an mbarrier in front of each use"
    )),
}  # fmt: skip
"""Default rules about the order of tensor memory, which no GPU here has: what NVIDIA's code or documents do."""
_ONE_LANE = (
    "Triton has `bar.warp.sync` between the waits of a warp and the arrival of its leader (triton-lang/triton #8969); "
    "lanes that part behind the wait do miss the phase (`lanes_pass_a_wait_together__sides_of_a_branch`)"
)
FOUND_AND_REQUIRED = {
    "bulk_store_awaited_for_reading__read_wait": (
        "TensorRT-LLM waits without `.read` where another thread goes on with the bytes, as they are visible in global "
        "memory only then (sm90_visitor_allreduce_tma_warpspecialized.hpp:180)"
    ),
    "cluster_barrier_in_front_of_reads_of_the_peer__relaxed": (
        "CUTLASS has a fence in front of each relaxed arrival at the cluster barrier (`fence_barrier_init`, "
        "sm90_pipeline.hpp:323); Triton (#11462) and SGLang (#38829) were mended where one was to publish shared memory"
    ),
    "multicast_seen_by_the_other_cta__mbarrier_of_the_first": (
        "a multicast completes on the mbarrier of each CTA that it writes to (PTX ISA 9.7.9.27), and the consumers of "
        "CUTLASS wait at that of their own (`PipelineTmaAsync`, sm90_pipeline.hpp)"
    ),
    "init_for_the_peer__no_fence": (
        "CUTLASS has `fence_barrier_init` behind each initialisation of a pipeline (sm90_pipeline.hpp:323), in "
        "front of its relaxed cluster barrier"
    ),
    "peer_not_started__no_barrier": (
        "the CUDA programming guide asks for `cluster.sync()` in front of the first access of distributed shared "
        "memory, so that all blocks have started"
    ),
    "barrier_left__left": (
        "the CUDA programming guide (5.6.1, `__mbarrier_inval`) requires the invalidation before the memory is used "
        "for something else; the destructor of libcu++'s `cuda::barrier` does it"
    ),
    "one_lane_hands_back__no_meeting": _ONE_LANE,
    "one_lane_hands_back__late_lanes": _ONE_LANE,
    "registers_of_a_warpgroup__one_warp": (
        "the kernels of CUTLASS have a `setmaxnreg` on the way of every warp of a warpgroup "
        "(sm100_gemm_array_tma_warpspecialized_input_transform.hpp:677 to 1179)"
    ),
    "stores_at_exit__no_wait": (
        "CUTLASS waits for its bulk stores behind the last tile (`store_tail`, "
        "sm90_epilogue_tma_warpspecialized.hpp:920)"
    ),
}  # fmt: skip
"""Kernels with a default finding that no GPU here shows to be weak: what code or documents of vendors do.

What nobody requires is an axiom, and told by a pedantic rule.
"""
RULES_WITHOUT_ROW = {
    **dict.fromkeys(("MB011", "MB020", "MB022", "MB023", "MB024", "TX001", "TX002", "TX003", "TX004"), _PHASES),
    "MB028": "an invalidation is of the CTA's own barrier; `barrier_left` looks at the bytes",
    **dict.fromkeys(("NB012", "NB020", "NB021"), (
        "arrivals are counted: PTX says what each does, and no order of memory is at stake"
    )),
    "NB014": "what a shuffle reads from a lane that has left it is undefined, and no order",
    "NB023": "a fault each time: `mask_without_its_lane` of benchmarks/hardware.md",
    **dict.fromkeys(("SM024", "SM025"), (
        "ordinary kernels: `compute-sanitizer` judges these (history/races.md)"
    )),
    **dict.fromkeys(("GM001", "GM002"), (
        "CTAs that count each other, in one launch: `last_block` of benchmarks/hardware.md"
    )),
    **dict.fromkeys(("GM003", "GM004"), (
        "threads that nothing orders, and no synchronisation: `neighbours_in_place` of benchmarks/hardware.md"
    )),
    "CL022": "what a second request means is undefined from sm_100 on (PTX ISA 9.7.14.18), and no order",
    **dict.fromkeys(("BG001", "BG002", "BG008", "BG011", "BG014"), _LEGALITY),
    **dict.fromkeys(("TM041", "TM042"), "which columns are there to be accessed or freed, and no order"),
    "TM011": "how many threads issue an instruction, and no order",
    **dict.fromkeys(("TM021", "TM022", "TM023", "TM029", "TM031", "WG016", "WG017", "WG018"), _OPERANDS),
    **dict.fromkeys(("TD053", "TD054", "TD059", "TD062", "TD065"), _FIELDS),
    "TD067": "a map is made by several threads: `barrier_of_the_cta` has the order of their stores",
}  # fmt: skip
"""By rule."""
EXPLAINED = {
    "cluster_barrier_behind_stores_to_global_memory__relaxed": "not covered: global memory",
    "cluster_barrier_behind_stores_to_global_memory__no_barrier": "not covered: global memory",
    "arrival_at_the_peer_behind_global_stores__release_of_the_cta": "not covered: global memory",
    "arrival_at_the_peer_behind_global_stores__relaxed": "not covered: global memory",
    "arrival_at_the_peer_behind_global_stores__arrives_first": "not covered: global memory",
    "dependent_grid__no_wait": (
        "not covered: global memory; a kernel with no griddepcontrol at all is not known to be launched early"
    ),
    "lanes_that_poll__two_instructions": "no flaw of order: what lanes find is counted, and no lane goes by it",
    "peer_not_started__no_store": "no flaw of order: bytes that nobody has stored",
    "copies_of_one_instruction__other_bytes": (
        "named in the verdict: the axiom is about bytes in global memory, which the checker does not know"
    ),
    "lanes_in_step__sides_of_a_branch": (
        "not the axiom: in the text too, the first lanes read before the others store, and 64 words of each "
        "hand-over are wrong, neither more nor fewer: in step, and of the round before"
    ),
}
"""By kernel that is not found and shows weak outcomes: why."""


def ordering_rules() -> frozenset[str]:
    """Return rules about order: of whole runs, or whose flaw is a wrong result of copies, barriers and fences."""
    return frozenset(rule.id for rule in RULES if not rule.pedantic and _is_of_order(rule.id))


_WRONG = frozenset(rule.id for rule in RULES if rule.severity is Severity.WRONG_RESULT)
_OF_RUNS = frozenset(rule.id for rule in RULES if rule.check.__module__.endswith("violations"))


def _is_of_order(rule: str) -> bool:
    return rule in _WRONG or rule in _OF_RUNS


def uncovered(suite: Iterable[Litmus]) -> Iterator[str]:
    """Yield axioms without a row, and ordering rules with neither a row that runs here nor a reason."""
    claims = {claim for litmus in suite for claim in litmus.claims}
    run_here = {claim for litmus in suite if litmus.target == HOPPER for claim in litmus.claims}
    yield from sorted({axiom.id for axiom in AXIOMS} - claims)
    yield from sorted(ordering_rules() - run_here - REQUIRED.keys() - RULES_WITHOUT_ROW.keys())


def unfounded(suite: Iterable[Litmus]) -> Iterator[str]:
    """Yield what stands by default though nothing shows it: an axiom that no row runs here, told by a default rule."""
    run_here = {claim for litmus in suite if litmus.target == HOPPER for claim in litmus.claims}
    default = {rule.id for rule in RULES if not rule.pedantic}
    yield from sorted(axiom.id for axiom in AXIOMS if axiom.id not in run_here and axiom.rule in default)
