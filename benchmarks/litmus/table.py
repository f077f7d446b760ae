"""The suite: every row, as data. `coverage` says which axioms and rules have no row, and why.

A hand-over goes wrong when a thread sees something else than what its round brought. Delays (`late = a`, `late = b`)
are drawn for each round and warp below a bound that the runner sweeps.
"""

from __future__ import annotations

from .litmus_test import Kind, Litmus, Role, Variant
from .table_of_clusters import CLUSTERS
from .table_of_fences import FENCES, STORED_IN_BULK, WAIT
from .table_of_lives import LIVES
from .table_of_tensor_memory import TENSOR_MEMORY

_CONTROL, _ASKED, _BROKEN = Kind.CONTROL, Kind.ASKED, Kind.BROKEN
GROUPS = (
    Litmus(
        "bulk_store_awaited_for_reading",
        "Is a bulk store in global memory when its .read wait is over?",
        ("BG003", "BG004", "BG006"),
        (Role(4, STORED_IN_BULK + " | ?late | barrier"),),
        (
            Variant("wait", _CONTROL, {"front": "fence", "wait": WAIT}),
            Variant(
                "read_wait",
                _ASKED,
                {"front": "fence", "wait": "wait group read = 0", "late": "leads: wait group = 0"},
                "wait_group.read",
            ),
            Variant(
                "wait_of_another",
                _ASKED,
                {"front": "fence", "other": "other_warp: wait group = 0", "late": "leads: wait group = 0"},
                "another thread waits",
            ),
            Variant("no_wait", _BROKEN, {"front": "fence", "late": "leads: wait group = 0"}, "no wait"),
        ),
        size=8192,
    ),
    Litmus(
        "bulk_store_read_by_the_peer",
        "Does another CTA find a bulk store in global memory when its .read wait is over?",
        ("BG006",),
        (
            Role(
                4,
                (
                    "late = a | store tile | fence | barrier | leads: bulk store & commit & ?wait | "
                    "cluster barrier | check peer global | leads: wait group = 0 | cluster barrier"
                ),
            ),
        ),
        (
            Variant("wait", _CONTROL, {"wait": WAIT}),
            Variant("read_wait", _ASKED, {"wait": "wait group read = 0"}, "wait_group.read"),
            Variant("no_wait", _BROKEN, {}, "no wait"),
        ),
        size=8192,
        cluster=2,
    ),
    Litmus(
        "source_of_bulk_store_overwritten",
        "May the source of a bulk store be overwritten behind its .read wait?",
        ("BG012", "SM021"),
        (
            Role(
                4,
                (
                    "store tile | fence | barrier | leads: bulk store & commit & ?wait | barrier | "
                    "late = a | store garbage | fence | barrier | leads: wait group = 0 | barrier | "
                    "check global = value | barrier"
                ),
            ),
        ),
        (
            Variant("read_wait", _CONTROL, {"wait": "wait group read = 0"}, "wait_group.read"),
            Variant("no_wait", _BROKEN, {}, "no wait"),
        ),
        size=8192,
    ),
    Litmus(
        "bulk_groups_in_order",
        "Does wait_group 1 wait for the older of two groups of bulk stores?",
        ("BG005",),
        (
            Role(
                4,
                (
                    "late = a | store tile | fence | barrier | leads: bulk store & commit & bulk "
                    "store second & commit & wait group = 1 | barrier | ?check | leads: wait group = "
                    "0 | barrier"
                ),
            ),
        ),
        (
            Variant("older", _CONTROL, {"check": "check global = value"}),
            Variant("newer", _BROKEN, {"check": "check second"}, "what the newer group stores"),
        ),
        size=8192,
    ),
    Litmus(
        "copies_of_threads",
        "Is what cp.async brought there behind its wait and a barrier?",
        ("CA002", "CA003", "CA004", "CA005", "SM020"),
        (
            Role(
                4, "late = a | copy | ?commit | ?wait | ?barrier | check tile | cp.async.wait_all; | barrier"
            ),
        ),
        (
            Variant("wait", _CONTROL, {"wait": "cp.async.wait_all;", "barrier": "barrier"}),
            Variant("no_barrier", _ASKED, {"wait": "cp.async.wait_all;"}, "its wait, no barrier"),
            Variant(
                "uncommitted",
                _BROKEN,
                {"wait": "cp.async.wait_group 0;", "barrier": "barrier"},
                "wait_group 0 with no commit_group",
            ),
            Variant(
                "one_pending",
                _BROKEN,
                {"commit": "cp.async.commit_group;", "wait": "cp.async.wait_group 1;", "barrier": "barrier"},
                "wait_group 1 of one group",
            ),
            Variant("no_wait", _BROKEN, {"barrier": "barrier"}, "no wait"),
        ),
    ),
    Litmus(
        "operand_overwritten_behind_a_wait",
        "Does the wait of one warp for its wgmma wait for those of its warpgroup?",
        ("awaited-by-another-warp", "SM021"),
        (
            Role(
                4, "wait = full | ?delay | multiply long | ?early | multiplied | ?each | check long product"
            ),
            Role(1, "first_lane: wait before = empty & expect operand = full & load operand"),
        ),
        (
            Variant("each_hands_back", _CONTROL, {"delay": "late = a", "each": "arrive = empty"}),
            Variant(
                "one_hands_back",
                _ASKED,
                {
                    "delay": "!first_warp: late = a",
                    "each": "first_warp: mbarrier.arrive.shared::cta.b64 _, [empty], 4;",
                },
                "one warp hands the operand back behind its wait, for four that come late",
            ),
            Variant(
                "no_wait",
                _BROKEN,
                {
                    "delay": "!first_warp: late = a",
                    "early": "first_warp: mbarrier.arrive.shared::cta.b64 _, [empty], 4;",
                },
                "one warp hands it back in front of its wait",
            ),
        ),
        setup="multiplies: ones | fence | leads: init = full & mbarrier.init.shared::cta.b64 [empty], 128;",
    ),
)
_RELAXED = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%s];"
_COPY = "leads: load landing"
SHARED = (
    Litmus(
        "barrier_of_the_cta",
        "Does a thread see behind bar.sync what another warp stored in front of it?",
        ("SM020", "SM021"),
        (Role(4, "late = a | store tile | ?front | late = b | check tile | ?behind"),),
        (
            Variant("barriers", _CONTROL, {"front": "barrier", "behind": "barrier"}),
            Variant("read_too_early", _BROKEN, {"behind": "barrier"}, "no barrier in front of the reads"),
            Variant("overwritten", _BROKEN, {"front": "barrier"}, "no barrier behind the reads"),
        ),
        setup="leads: init = full",
    ),
    Litmus(
        "stores_collide",
        "Do two warps that store to the same bytes with no barrier between agree which store is the last?",
        ("SM022",),
        (
            Role(
                4,
                (
                    "late = a | first_warp: store word = garbage | ?front | second_warp: late = b & "
                    "store word = value | barrier | check word | barrier"
                ),
            ),
        ),
        (
            Variant("barrier", _CONTROL, {"front": "barrier"}),
            Variant("no_barrier", _BROKEN, {}, "no barrier between the stores"),
        ),
        setup="leads: init = full",
    ),
    Litmus(
        "arrival_at_an_mbarrier",
        "Does a thread see behind its wait at an mbarrier what others stored in front of their arrivals?",
        ("stores-in-order", "SM020"),
        (
            Role(1, "wait before = empty | late = a | ?early | store tile | ?late"),
            Role(1, "late = b | ?wait | check tile | arrive = empty"),
        ),
        (
            Variant("release", _CONTROL, {"late": "arrive = full", "wait": "wait = full"}),
            Variant(
                "relaxed",
                _ASKED,
                {"late": _RELAXED % "full", "wait": "wait = full"},
                "arrivals without release",
            ),
            Variant(
                "relaxed_wait",
                _ASKED,
                {"late": "arrive = full", "wait": "wait relaxed = full"},
                "waits without acquire",
            ),
            Variant(
                "both_relaxed",
                _ASKED,
                {"late": _RELAXED % "full", "wait": "wait relaxed = full"},
                "neither release nor acquire",
            ),
            Variant(
                "arrives_first",
                _BROKEN,
                {"early": "arrive = full", "wait": "wait = full"},
                "arrivals in front of the stores",
            ),
        ),
        setup="leads: init warp = full & init warp = empty",
    ),
    Litmus(
        "arrival_behind_reads",
        "Are reads over that a thread has in front of an arrival, when who waits for it overwrites their bytes?",
        ("SM021",),
        (
            Role(1, "wait before = empty | late = a | store tile | arrive = full"),
            Role(1, "late = b | wait = full | ?early | read tile | ?late | compare"),
        ),
        (
            Variant("release", _CONTROL, {"late": "arrive = empty"}),
            Variant("relaxed", _ASKED, {"late": _RELAXED % "empty"}, "arrivals without release"),
            Variant(
                "arrives_first",
                _BROKEN,
                {"early": "arrive = empty | late = a"},
                "arrivals in front of the reads",
            ),
        ),
        setup="leads: init warp = full & init warp = empty",
    ),
    Litmus(
        "slot_handed_back_by_relaxed_arrivals",
        "Does a bulk copy come behind the copy and the reads before it where relaxed arrivals hand the slot back?",
        ("stores-in-order", "slot-without-fence", "SM021", "SM022"),
        (
            Role(1, "wait = full | ?early | read tile | ?late | compare"),
            Role(1, "first_lane: wait before = empty & late = b & expect = full & load tile"),
        ),
        (
            Variant("release", _CONTROL, {"late": "arrive = empty"}),
            Variant("relaxed", _ASKED, {"late": _RELAXED % "empty"}, "arrivals without release"),
            Variant(
                "arrives_first",
                _BROKEN,
                {"early": "arrive = empty | late = a"},
                "arrivals in front of the reads",
            ),
        ),
        setup="leads: init = full & init warp = empty",
        partner=16,
    ),
    Litmus(
        "copy_behind_stores",
        "Does a thread that sees a bulk copy complete see what others stored in front of the copy?",
        ("stores-in-order", "SM020"),
        (
            Role(
                1,
                "wait before = empty | late = a | ?first | ?early | store tile | bar.warp.sync -1; | "
                "?behind | ?late",
            ),
            Role(1, "late = b | wait = full | check tile | arrive = empty"),
        ),
        (
            Variant("release", _CONTROL, {"behind": "leads: expect = full", "late": _COPY}),
            Variant(
                "copy_alone",
                _ASKED,
                {"first": "leads: expect = full", "late": _COPY},
                "the arrival is in front of the stores, the copy behind them",
            ),
            Variant(
                "copies_first",
                _BROKEN,
                {"first": "leads: expect = full", "early": _COPY},
                "arrival and copy are in front of the stores",
            ),
        ),
        setup="leads: init = full & init warp = empty",
    ),
    Litmus(
        "arrival_at_a_named_barrier",
        "Does bar.arrive publish what was stored in front of it to those that bar.sync lets go on?",
        ("SM020", "NB022"),
        (
            Role(1, "?wait | late = a | ?early | store tile | ?late"),
            Role(1, "late = b | bar.sync 1, 64; | check tile | bar.arrive 2, 64;"),
        ),
        (
            Variant("bar_sync", _CONTROL, {"wait": "not_first: bar.sync 2, 64;", "late": "bar.sync 1, 64;"}),
            Variant(
                "bar_arrive",
                _ASKED,
                {"wait": "not_first: bar.sync 2, 64;", "late": "bar.arrive 1, 64;"},
                "bar.arrive of the writers",
            ),
            Variant(
                "arrives_first",
                _BROKEN,
                {"wait": "not_first: bar.sync 2, 64;", "early": "bar.arrive 1, 64;"},
                "bar.arrive in front of the stores",
            ),
        ),
    ),
)
_LOAD = "leads: expect = full & load by map"
MAPS = (
    Litmus(
        "tensor_map_that_was_changed",
        "Does a copy see the new fields of a tensor map that its CTA changed in global memory?",
        ("PX004", "TD058", "TD066"),
        (
            Role(
                4,
                (
                    "late = a | leads: change map | bar.warp.sync -1; | ?early | first_warp: publish map | "
                    "?acquire | ?late | wait = full | check tile | barrier"
                ),
            ),
        ),
        (
            Variant("acquire", _CONTROL, {"acquire": "leads: acquire map", "late": _LOAD}),
            Variant("no_acquire", _ASKED, {"late": _LOAD}, "no fence.proxy.tensormap"),
            Variant(
                "acquire_of_another",
                _ASKED,
                {"acquire": "leads: acquire other map", "late": _LOAD},
                "the fence is for another map",
            ),
            Variant("old_map", _BROKEN, {"early": _LOAD}, "the copy is in front of the change"),
        ),
        setup="leads: init = full & make map | bar.warp.sync -1; | first_warp: publish map",
    ),
)
SUITE: tuple[Litmus, ...] = (*FENCES, *GROUPS, *SHARED, *MAPS, *CLUSTERS, *LIVES, *TENSOR_MEMORY)
"""All rows."""
