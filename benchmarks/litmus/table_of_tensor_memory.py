"""Rows about tensor memory, which no GPU here has: they are assembled and judged, and run where the GPU is of sm_100.

Every axiom among their claims is one of the hardware profile, so what breaks its order is no default finding.
"""

from __future__ import annotations

from .litmus_test import BLACKWELL, Kind, Litmus, Role, Variant

_CONTROL, _ASKED, _BROKEN = Kind.CONTROL, Kind.ASKED, Kind.BROKEN
_SETUP = "first_warp: allocate | barrier | take quarter"
_END = "barrier | first_warp: free"
_WRITER = "late = a | store tensor | ?stored | ?before | ?told | ?freed | ?over | ?after"
_READER = "?told | ?after | late = b | check tensor | ?before | ?freed"
_BARRIERS = {"told": "barrier", "freed": "barrier"}
_FENCES = {"before": "tell", "after": "told"}
_STORED = {"stored": "stored"}
_COMMIT = "leads: commit to = full"

TENSOR_MEMORY = (
    Litmus(
        "tensor_memory_of_another_warp",
        "Does a barrier order what two warps do to the same columns, without the fences of tcgen05?",
        ("tensor-without-fences", "TM038", "TM039"),
        (Role(4, _WRITER), Role(4, _READER)),
        (
            Variant("fences", _CONTROL, {**_BARRIERS, **_FENCES, **_STORED}),
            Variant("no_fences", _ASKED, {**_BARRIERS, **_STORED}, "barriers, and no tcgen05.fence"),
            Variant(
                "read_too_early",
                _BROKEN,
                {"freed": "barrier", **_FENCES, **_STORED},
                "no barrier in front of the loads",
            ),
            Variant(
                "overwritten",
                _BROKEN,
                {"told": "barrier", **_FENCES, **_STORED},
                "no barrier behind the loads",
            ),
        ),
        setup=_SETUP,
        end=_END,
        target=BLACKWELL,
    ),
    Litmus(
        "tensor_memory_stored_and_told",
        "Is a store to tensor memory over when another warp was told of it?",
        ("unawaited-store", "TM009", "TM038"),
        (Role(4, _WRITER), Role(4, _READER)),
        (
            Variant("wait", _CONTROL, {**_BARRIERS, **_FENCES, **_STORED}),
            Variant(
                "no_wait",
                _ASKED,
                {**_BARRIERS, **_FENCES, "over": "stored"},
                "tcgen05.wait::st when the other warp has loaded",
            ),
            Variant(
                "no_barrier", _BROKEN, {"freed": "barrier", **_FENCES, "over": "stored"}, "not told either"
            ),
        ),
        setup=_SETUP,
        end=_END,
        target=BLACKWELL,
    ),
    Litmus(
        "commit_behind_stores",
        "Does a thread that is told by a commit see what the committing warp stored in front of it?",
        ("stores-in-order",),
        (
            Role(1, "wait before = empty | late = a | ?early | store tile | bar.warp.sync -1; | ?late"),
            Role(1, "late = b | wait = full | check tile | arrive = empty"),
        ),
        (
            Variant("release", _CONTROL, {"late": "leads: arrive = full"}),
            Variant("commit_alone", _ASKED, {"late": _COMMIT}, "a commit in place of the arrival"),
            Variant("commits_first", _BROKEN, {"early": _COMMIT}, "the commit is in front of the stores"),
        ),
        setup="leads: init = full & init warp = empty | first_warp: allocate",
        end="barrier | first_warp: take column & free",
        target=BLACKWELL,
    ),
    Litmus(
        "address_of_an_allocation",
        "Is the address that tcgen05.alloc writes there for those that come behind it by an arrival without release?",
        ("result-of-blocking-write", "TM036"),
        (
            Role(1, "late = a | ?early | allocate | ?late"),
            Role(
                1,
                (
                    "late = b | wait first = full | ld.shared.u32 w0, [slot]; | setp.eq.u32 wrong, w0, -1; | "
                    "@wrong add.u32 wrongs, wrongs, 1;"
                ),
            ),
        ),
        (
            Variant("release", _CONTROL, {"late": "arrive = full"}),
            Variant(
                "relaxed",
                _ASKED,
                {"late": "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [full];"},
                "arrivals without release",
            ),
            Variant(
                "odd_lanes",
                _ASKED,
                {"late": "odd: mbarrier.arrive.shared::cta.b64 _, [full], 2;"},
                "odd lanes alone tell of it",
            ),
            Variant(
                "arrives_first", _BROKEN, {"early": "arrive = full"}, "arrivals in front of the allocation"
            ),
        ),
        setup="leads: init warp = full & st.shared.u32 [slot], -1;",
        end="barrier | first_warp: take column & free",
        rounds=False,
        target=BLACKWELL,
    ),
    Litmus(
        "pair_allocates_first",
        "May the CTAs of a pair allocate tensor memory for both before they have met?",
        ("peer-runs",),
        (Role(4, "late = a | store tensor | stored | check tensor"),),
        (
            Variant("cluster_barrier", _CONTROL, {"meet": "cluster barrier"}),
            Variant("no_barrier", _ASKED, {}, "no barrier in front of the allocation", may_hang=True),
        ),
        setup="late = b | ?meet | first_warp: allocate pair | barrier | take quarter",
        end="cluster barrier | first_warp: free pair",
        cluster=2,
        rounds=False,
        target=BLACKWELL,
    ),
)
