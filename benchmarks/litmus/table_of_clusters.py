"""Rows about pairs of CTAs in a cluster."""

from __future__ import annotations

from .litmus_test import Kind, Litmus, Role, Variant

_CONTROL, _ASKED, _BROKEN = Kind.CONTROL, Kind.ASKED, Kind.BROKEN
_RELAXED = "cluster barrier relaxed"
_MEETS_AT_EXIT = Variant("barrier_at_exit", _CONTROL, {"meet": "cluster barrier"})
_AT_EXIT = (
    _MEETS_AT_EXIT,
    Variant(
        "relaxed_barrier", _ASKED, {"meet": _RELAXED}, "the arrivals at the end are relaxed", may_hang=True
    ),
)
_BARRIERS = (
    Variant("release", _CONTROL, {"barrier": "cluster barrier"}),
    Variant(
        "relaxed_with_fence",
        _CONTROL,
        {"front": "fence.acq_rel.cluster;", "barrier": _RELAXED},
        "a relaxed arrival behind fence.acq_rel.cluster",
    ),
    Variant("relaxed", _ASKED, {"barrier": _RELAXED}, "a relaxed arrival"),
    Variant("no_barrier", _BROKEN, {}, "no barrier"),
)
_ARRIVAL = "mbarrier.arrive.%s.shared::cluster.b64 _, [peer_full];"

CLUSTERS = (
    Litmus(
        "bulk_copy_to_the_peer",
        (
            "Does a bulk copy into the shared memory of another CTA find what threads stored in "
            "front of a barrier?"
        ),
        ("PX001", "PX020", "fence-on-the-path"),
        (
            Role(
                4,
                (
                    "late = a | store tile | leads: expect = full | ?front | barrier | ?behind | "
                    "leads: ?copier & late = b & bulk to peer | wait = full | check landing | "
                    "cluster barrier"
                ),
            ),
        ),
        (
            Variant("fence_of_the_writers", _CONTROL, {"front": "fence"}),
            Variant(
                "fence_of_the_copier",
                _ASKED,
                {"copier": "fence"},
                "the thread that copies has the fence, behind the barrier",
            ),
            Variant(
                "fence_of_another",
                _ASKED,
                {"behind": "other_warp: fence | barrier"},
                "another thread has the fence, between two barriers",
            ),
            Variant("no_fence", _BROKEN, {}, "no fence"),
        ),
        setup="leads: init = full & fence.mbarrier_init.release.cluster;",
        size=8192,
        cluster=2,
    ),
    Litmus(
        "cluster_barrier_behind_stores_to_the_peer",
        "Does a relaxed cluster barrier publish stores into the other CTA's shared memory?",
        ("CL004", "SM020"),
        (Role(4, "late = a | store peer | ?front | ?barrier | late = b | check tile | cluster barrier"),),
        _BARRIERS,
        cluster=2,
    ),
    Litmus(
        "cluster_barrier_in_front_of_reads_of_the_peer",
        "Does a relaxed cluster barrier publish stores that the other CTA reads by ld.shared::cluster?",
        ("CL004", "SM020"),
        (Role(4, "late = a | store tile | ?front | ?barrier | late = b | check peer | cluster barrier"),),
        _BARRIERS,
        cluster=2,
    ),
    Litmus(
        "cluster_barrier_behind_stores_to_global_memory",
        "Does a relaxed cluster barrier publish stores to global memory that the other CTA reads?",
        ("CL004",),
        (
            Role(
                4,
                (
                    "late = a | store global | ?front | ?barrier | late = b | check peer global | "
                    "cluster barrier"
                ),
            ),
        ),
        _BARRIERS,
        cluster=2,
    ),
    Litmus(
        "arrival_at_the_peer",
        (
            "Does a thread see behind its wait what a thread of the other CTA stored here in front "
            "of its arrival?"
        ),
        ("narrow-acquire", "SM020"),
        (
            Role(
                1,
                (
                    "wait cluster before = empty | late = a | ?early | store peer | ?late | late = b "
                    "| ?wait | check tile | arrive peer = empty"
                ),
            ),
        ),
        (
            Variant(
                "release", _CONTROL, {"late": _ARRIVAL % "release.cluster", "wait": "wait cluster = full"}
            ),
            Variant(
                "release_of_the_cta",
                _ASKED,
                {"late": _ARRIVAL % "release.cta", "wait": "wait cluster = full"},
                "the arrival releases at the scope of its CTA",
            ),
            Variant(
                "acquire_of_the_cta",
                _ASKED,
                {"late": _ARRIVAL % "release.cluster", "wait": "wait = full"},
                "the wait acquires at the scope of its CTA",
            ),
            Variant(
                "relaxed_wait",
                _ASKED,
                {"late": _ARRIVAL % "release.cluster", "wait": "wait cluster relaxed = full"},
                "the wait does not acquire",
            ),
            Variant(
                "relaxed",
                _ASKED,
                {"late": _ARRIVAL % "relaxed.cluster", "wait": "wait cluster = full"},
                "the arrival is relaxed",
            ),
            Variant(
                "arrives_first",
                _BROKEN,
                {"early": _ARRIVAL % "release.cluster", "wait": "wait cluster = full"},
                "the arrival is in front of the stores",
            ),
        ),
        setup="leads: init warp = full & init warp = empty & fence.mbarrier_init.release.cluster;",
        cluster=2,
        partner=16,
    ),
    Litmus(
        "lanes_arrive_at_two_ctas",
        "Do lanes that arrive by one instruction at the mbarriers of two CTAs arrive at one moment?",
        ("missed-phase", "MB022"),
        (
            Role(
                1,
                "late = a | ?arrive | late = b | wait cluster = full | bar.warp.sync -1; | ?meet",
            ),
        ),
        (
            Variant("cluster_barrier", _CONTROL, {"arrive": "arrive at each", "meet": "cluster barrier"}),
            Variant(
                "no_barrier",
                _ASKED,
                {"arrive": "arrive at each"},
                "nothing orders the lanes' arrivals",
                may_hang=True,
            ),
        ),
        setup="leads: init two = full & fence.mbarrier_init.release.cluster;",
        cluster=2,
        partner=16,
    ),
    Litmus(
        "arrival_at_the_peer_behind_global_stores",
        (
            "Does a thread see behind its wait what a thread of the other CTA stored to global "
            "memory in front of its arrival?"
        ),
        ("SM020",),
        (
            Role(
                1,
                (
                    "wait cluster before = empty | late = a | ?early | store global | ?late | late = "
                    "b | wait cluster = full | check peer global | arrive peer = empty"
                ),
            ),
        ),
        (
            Variant("release", _CONTROL, {"late": _ARRIVAL % "release.cluster"}),
            Variant(
                "release_of_the_cta",
                _ASKED,
                {"late": _ARRIVAL % "release.cta"},
                "the arrival releases at the scope of its CTA",
            ),
            Variant("relaxed", _ASKED, {"late": _ARRIVAL % "relaxed.cluster"}, "the arrival is relaxed"),
            Variant(
                "arrives_first",
                _BROKEN,
                {"early": _ARRIVAL % "release.cluster"},
                "the arrival is in front of the stores",
            ),
        ),
        setup="leads: init warp = full & init warp = empty & fence.mbarrier_init.release.cluster;",
        cluster=2,
        partner=16,
    ),
    Litmus(
        "asynchronous_stores_to_the_peer",
        "Are st.async's bytes there when their mbarrier completes?",
        ("SM020",),
        (
            Role(
                4,
                "leads: expect = full | late = a | send word | ?wait | check tile | ?rest | cluster barrier",
            ),
        ),
        (
            Variant("wait", _CONTROL, {"wait": "wait = full"}),
            Variant("no_wait", _BROKEN, {"rest": "wait = full"}, "no wait in front of the reads"),
        ),
        setup="leads: init = full & fence.mbarrier_init.release.cluster;",
        cluster=2,
    ),
    Litmus(
        "multicast_seen_by_the_other_cta",
        "Are the bytes of a multicast in the second CTA when the first one's mbarrier completes?",
        ("SM020",),
        (
            Role(
                4,
                (
                    "leads: expect = full | origin: late = b & load both | ?wait | check tile | "
                    "?rest | cluster barrier"
                ),
            ),
        ),
        (
            Variant("own_mbarrier", _CONTROL, {"wait": "wait = full"}),
            Variant(
                "mbarrier_of_the_first",
                _ASKED,
                {"wait": "first_cta: wait = full | cluster barrier", "rest": "wait = full"},
                "the first CTA waits at its own mbarrier and tells the second",
            ),
            Variant("no_wait", _BROKEN, {"rest": "wait = full"}, "no wait in front of the reads"),
        ),
        setup="leads: init = full & fence.mbarrier_init.release.cluster;",
        cluster=2,
        size=8192,
    ),
    Litmus(
        "init_for_the_peer",
        "Does the other CTA find an mbarrier that was initialised in front of a cluster barrier?",
        ("unordered-init", "MB027", "MB025"),
        (
            Role(
                1,
                (
                    "late = a | leads: ?before & init warp = full & ?fence | ?barrier | arrive peer "
                    "= full | wait first = full | cluster barrier | leads: inval = full"
                ),
            ),
        ),
        (
            Variant("release", _CONTROL, {"barrier": "cluster barrier"}),
            Variant(
                "fence_and_relaxed",
                _CONTROL,
                {"fence": "fence.mbarrier_init.release.cluster;", "barrier": _RELAXED},
                "fence.mbarrier_init and a relaxed barrier",
            ),
            Variant(
                "init_behind_the_fence",
                _ASKED,
                {"before": "fence.mbarrier_init.release.cluster;", "barrier": _RELAXED},
                "initialised behind the fence, and a relaxed barrier",
                may_hang=True,
            ),
            Variant("no_fence", _ASKED, {"barrier": _RELAXED}, "a relaxed barrier, no fence", may_hang=True),
            Variant(
                "no_barrier",
                _BROKEN,
                {"fence": "fence.mbarrier_init.release.cluster;"},
                "no barrier",
                may_hang=True,
            ),
        ),
        cluster=2,
        partner=16,
    ),
    Litmus(
        "copy_to_the_peer_at_exit",
        "Does a CTA that ends keep its shared memory until its bulk copy to another CTA has read it?",
        ("exit-with-remote-access", "CL020"),
        (
            Role(
                4,
                (
                    "even_cta: store tile & fence | barrier | even_leads: bulk to peer | ?own | "
                    "odd_cta: wait first = full & check landing | ?meet"
                ),
            ),
        ),
        (
            Variant("barrier_at_exit", _CONTROL, {"meet": "cluster barrier"}),
            Variant("no_barrier", _ASKED, {}, "it ends while its copy is under way", may_hang=True),
            Variant(
                "overwritten",
                _BROKEN,
                {"own": "even_cta: store garbage", "meet": "cluster barrier"},
                "it overwrites the bytes itself",
            ),
        ),
        setup="leads: init = full & fence.mbarrier_init.release.cluster; & expect = full",
        end="",
        size=16384,
        cluster=2,
        rounds=False,
    ),
    Litmus(
        "peer_not_started",
        "Does a store into the shared memory of a CTA survive that this one may not have started yet?",
        ("CL010",),
        (Role(4, "?late | ?barrier | check one | "),),
        (
            Variant(
                "barrier_at_entry", _CONTROL, {"late": "late = a | store one", "barrier": "cluster barrier"}
            ),
            Variant(
                "no_barrier",
                _ASKED,
                {"early": "late = a | store one"},
                "the store is in front of the first cluster barrier",
            ),
            Variant("no_store", _BROKEN, {}, "no store at all, so that what is read is what was there"),
        ),
        setup="?early",
        cluster=2,
        rounds=False,
    ),
    Litmus(
        "peer_ended",
        "May a CTA read the shared memory of another one that may have ended?",
        ("CL020",),
        (Role(4, "store tile | cluster barrier | first_cta: late = a & check peer"),),
        (
            _MEETS_AT_EXIT,
            Variant("no_barrier", _BROKEN, {}, "no barrier in front of the end", may_hang=True),
        ),
        end="?meet",
        cluster=2,
        rounds=False,
    ),
    Litmus(
        "peer_ended_behind_stores",
        "May a CTA end behind a relaxed cluster barrier while stores of another one are on their way to it?",
        ("CL020",),
        (Role(4, "cluster barrier | first_cta: late = a & store peer"),),
        _AT_EXIT,
        end="?meet",
        cluster=2,
        rounds=False,
    ),
    Litmus(
        "peer_ended_behind_arrivals",
        "May a CTA end behind a relaxed cluster barrier while arrivals of another one are on their way to it?",
        ("CL020",),
        (Role(1, "cluster barrier | first_cta: late = a & arrive peer = full"),),
        _AT_EXIT,
        setup="leads: init warp = full & fence.mbarrier_init.release.cluster;",
        end="?meet",
        cluster=2,
        rounds=False,
    ),
)
"""Rows of clusters."""
