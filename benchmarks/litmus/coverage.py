"""Which axioms and rules have no row, and why; and kernels that show weak outcomes and are not found."""

from __future__ import annotations

from collections.abc import Iterator

from ptxcheck.finding import Severity
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.rules import RULES

_BLACKWELL = "tensor memory is of sm_100, and this suite runs on sm_90a"
_PHASES = (
    "phases are counted: PTX says what each operation does to one mbarrier, and no order of memory "
    "is at stake"
)
_LEGALITY = "which forms and values are legal, and no order"

AXIOMS_WITHOUT_ROW = {
    "unawaited-store": _BLACKWELL,
    "tensor-without-fences": _BLACKWELL,
    "peer-runs": _BLACKWELL,
    "result-of-blocking-write": "the write is that of tcgen05.alloc: " + _BLACKWELL,
}
"""By axiom."""
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
    "CL022": "launches are cancelled from sm_100 on, and this suite runs on sm_90a",
    **dict.fromkeys(("BG001", "BG002", "BG008", "BG011", "BG014"), _LEGALITY),
}  # fmt: skip
"""By rule."""
EXPLAINED = {
    "bulk_store_read_by_the_peer__no_wait": "not covered: global memory; BG004 and BG006 see a wait later on",
    "bulk_groups_in_order__newer": "not covered: global memory; BG005 sees a wait later on",
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
    return frozenset(
        rule.id for rule in RULES if not rule.pedantic and rule.id[:2] in _FAMILIES and _is_of_order(rule.id)
    )


_FAMILIES = frozenset({"BG", "CA", "CL", "MB", "NB", "PX", "SM", "TX"})
_WRONG = frozenset(rule.id for rule in RULES if rule.severity is Severity.WRONG_RESULT)
_OF_RUNS = frozenset(rule.id for rule in RULES if rule.check.__module__.endswith("violations"))


def _is_of_order(rule: str) -> bool:
    return rule in _WRONG or rule in _OF_RUNS


def uncovered(claims: frozenset[str]) -> Iterator[str]:
    """Yield axioms and ordering rules that neither a claim of a row nor a reason covers."""
    wanted = {axiom.id for axiom in AXIOMS} | ordering_rules()
    yield from sorted(wanted - claims - AXIOMS_WITHOUT_ROW.keys() - RULES_WITHOUT_ROW.keys())
