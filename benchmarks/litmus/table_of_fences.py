"""Rows about proxy fences: what threads store and read, and what copies and wgmma read and write."""

from __future__ import annotations

from .litmus_test import Kind, Litmus, Role, Variant

_CONTROL, _ASKED, _BROKEN = Kind.CONTROL, Kind.ASKED, Kind.BROKEN
STORED_IN_BULK = (
    "late = a | ?between | store tile | ?front | barrier | ?behind | leads: ?copier & late = b & "
    "bulk store & commit &"
    " ?wait | ?other | barrier | check global = value | barrier"
)
WAIT = "wait group = 0"
_MULTIPLIED = (
    "late = a | store operand | ?front | ?barrier | ?behind | late = b | multiply | multiplied | "
    "check product | barrier"
)

FENCES = (
    Litmus(
        "bulk_store_of_stored_bytes",
        "Does a bulk copy out of shared memory find what threads stored in front of a barrier?",
        ("PX001", "PX002", "PX005", "PX020", "fence-on-the-path"),
        (Role(12, STORED_IN_BULK),),
        (
            Variant("fence_of_the_writers", _CONTROL, {"front": "fence", "wait": WAIT}),
            Variant(
                "fence_of_the_copier",
                _ASKED,
                {"copier": "fence", "wait": WAIT},
                "the thread that copies has the fence, behind the barrier",
            ),
            Variant(
                "fence_of_another",
                _ASKED,
                {"behind": "other_warp: fence | barrier", "wait": WAIT},
                "a thread that neither stores all nor copies has the fence, between two barriers",
            ),
            Variant(
                "fence_of_one_writer",
                _ASKED,
                {"front": "leads: fence", "wait": WAIT},
                "one of the writers has the fence, in front of the barrier",
            ),
            Variant(
                "memory_fence",
                _ASKED,
                {"front": "fence.acq_rel.cta;", "wait": WAIT},
                "a memory fence in its place",
            ),
            Variant(
                "fence_of_global",
                _ASKED,
                {"front": "fence.proxy.async.global;", "wait": WAIT},
                "a proxy fence of global memory in its place",
            ),
            Variant(
                "fence_before_the_store",
                _ASKED,
                {"between": "fence", "wait": WAIT},
                "the fence in front of the stores",
            ),
            Variant("no_fence", _BROKEN, {"wait": WAIT}, "no fence"),
        ),
        size=24576,
        partner=32,
    ),
    Litmus(
        "wgmma_of_stored_bytes",
        "Does wgmma find what threads stored in front of a barrier?",
        ("fenced-behind-barrier", "fence-on-the-path", "PX020"),
        (Role(4, _MULTIPLIED),),
        (
            Variant("fence_of_the_writers", _CONTROL, {"front": "fence", "barrier": "barrier"}),
            Variant(
                "fence_behind",
                _ASKED,
                {"barrier": "barrier", "behind": "fence"},
                "each thread has the fence behind the barrier",
            ),
            Variant(
                "fence_of_another",
                _ASKED,
                {"barrier": "barrier", "behind": "other_warp: fence | barrier"},
                "one thread has the fence, between two barriers",
            ),
            Variant(
                "fence_of_one_writer",
                _ASKED,
                {"front": "leads: fence", "barrier": "barrier"},
                "one of the writers has the fence",
            ),
            Variant("no_fence", _BROKEN, {"barrier": "barrier"}, "no fence"),
        ),
        setup="ones | fence",
    ),
    Litmus(
        "wgmma_of_another_warp",
        "Does wgmma find what another warp of its warpgroup stored and fenced, with no barrier between?",
        ("stored-by-another-warp",),
        (Role(4, _MULTIPLIED),),
        (
            Variant("barrier", _CONTROL, {"front": "fence", "barrier": "barrier"}),
            Variant("no_barrier", _ASKED, {"front": "fence"}, "fence, and no barrier"),
            Variant("neither", _BROKEN, {}, "neither fence nor barrier"),
        ),
        setup="ones | fence",
    ),
    Litmus(
        "wgmma_of_copied_bytes",
        "Does wgmma find what cp.async brought, with no proxy fence?",
        ("unfenced-copy", "CA003"),
        (
            Role(
                4,
                (
                    "late = a | copy operand | ?wait | ?front | barrier | late = b | multiply | "
                    "multiplied | check product | cp.async.wait_all; | barrier"
                ),
            ),
        ),
        (
            Variant("fence", _CONTROL, {"wait": "cp.async.wait_all;", "front": "fence"}),
            Variant(
                "no_fence",
                _ASKED,
                {"wait": "cp.async.wait_all;"},
                "cp.async, its wait and a barrier, no fence",
            ),
            Variant("no_wait", _BROKEN, {"front": "fence"}, "the copies are not waited for"),
        ),
        setup="ones | fence",
    ),
    Litmus(
        "wgmma_of_copies_of_another_warp",
        (
            "Does wgmma find what another warp of its warpgroup copied by cp.async and waited for, "
            "with no barrier between?"
        ),
        ("stored-by-another-warp", "SM020"),
        (
            Role(
                4,
                (
                    "late = a | copy operand | ?wait | ?front | ?barrier | multiply | multiplied | check product | "
                    "cp.async.wait_all; | barrier"
                ),
            ),
        ),
        (
            Variant(
                "barrier", _CONTROL, {"wait": "cp.async.wait_all;", "front": "fence", "barrier": "barrier"}
            ),
            Variant(
                "fence_alone",
                _ASKED,
                {"wait": "cp.async.wait_all;", "front": "fence"},
                "each warp waits for its own copies and has the fence, no barrier",
            ),
            Variant(
                "wait_alone",
                _ASKED,
                {"wait": "cp.async.wait_all;"},
                "each warp waits for its own copies, neither fence nor barrier",
            ),
            Variant("no_wait", _BROKEN, {"front": "fence"}, "the copies are not waited for"),
        ),
        setup="ones | fence",
    ),
    Litmus(
        "slot_read_then_loaded",
        (
            "Does a bulk copy into shared memory come behind reads of the same bytes that a barrier "
            "puts in front of it?"
        ),
        ("slot-without-fence", "SM021"),
        (
            Role(
                4,
                (
                    "leads: late = b & expect = full & load tile | wait = full | late = a | read "
                    "tile | ?front | ?barrier | compare | ?last"
                ),
            ),
        ),
        (
            Variant("fence", _CONTROL, {"front": "fence", "barrier": "barrier"}),
            Variant("no_fence", _ASKED, {"barrier": "barrier"}, "a barrier, no fence"),
            Variant("no_barrier", _BROKEN, {}, "the next copy waits for nobody", may_hang=True),
        ),
        setup="leads: init = full",
    ),
    Litmus(
        "slot_of_a_ring",
        "Does a bulk copy into a slot of a ring come behind the reads of the consumers that handed it back?",
        ("slot-without-fence", "SM021"),
        (
            Role(4, "wait = full | ?early | late = a | read tile | ?front | ?late | compare"),
            Role(1, "first_lane: wait before = empty & late = b & expect = full & load tile"),
        ),
        (
            Variant("fence", _CONTROL, {"front": "fence", "late": "arrive = empty"}),
            Variant("no_fence", _ASKED, {"late": "arrive = empty"}, "arrivals, no fence"),
            Variant("arrives_first", _BROKEN, {"early": "arrive = empty"}, "arrivals in front of the reads"),
        ),
        setup="leads: init = full & mbarrier.init.shared::cta.b64 [empty], 128;",
        partner=16,
    ),
    Litmus(
        "slot_stored_then_loaded",
        (
            "Does a bulk copy into shared memory come behind stores to the same bytes that a barrier "
            "puts in front of it?"
        ),
        ("slot-without-fence", "SM022"),
        (
            Role(
                4,
                (
                    "late = a | store garbage | ?front | ?barrier | leads: late = b & expect = full "
                    "& load tile | wait = full | check tile | ?fence | barrier"
                ),
            ),
        ),
        (
            Variant("fence", _CONTROL, {"front": "fence", "barrier": "barrier", "fence": "fence"}),
            Variant("no_fence", _ASKED, {"barrier": "barrier"}, "a barrier, no fence"),
            Variant("no_barrier", _BROKEN, {}, "no barrier: the copy may come first"),
        ),
        setup="leads: init = full",
    ),
    Litmus(
        "bulk_load_of_stored_global",
        (
            "Does a bulk copy out of global memory find what threads of its CTA stored there in "
            "front of a barrier?"
        ),
        ("PX003",),
        (
            Role(
                4,
                (
                    "late = a | store global | ?front | barrier | leads: ?copier & late = b & expect "
                    "= full & load mine | wait = full | check tile | fence.proxy.async; | barrier"
                ),
            ),
        ),
        (
            Variant("fence_of_the_writers", _CONTROL, {"front": "fence.proxy.async;"}),
            Variant(
                "fence_of_global",
                _CONTROL,
                {"front": "fence.proxy.async.global;"},
                "a proxy fence of global memory",
            ),
            Variant(
                "fence_of_the_copier",
                _ASKED,
                {"copier": "fence.proxy.async;"},
                "the thread that copies has the fence, behind the barrier",
            ),
            Variant("no_fence", _ASKED, {}, "no fence"),
            Variant(
                "other_scope",
                _ASKED,
                {"front": "fence.proxy.async.shared::cta;"},
                "a proxy fence of shared memory",
            ),
        ),
        setup="leads: init = full",
    ),
)
"""Rows of fences."""
