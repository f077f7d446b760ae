"""Rows about mbarriers, lanes, registers and the end of CTAs and grids."""

from __future__ import annotations

from .litmus_test import Kind, Litmus, Role, Variant

_CONTROL, _ASKED, _BROKEN = Kind.CONTROL, Kind.ASKED, Kind.BROKEN
_STEPS_OF_LANES = "late = a | ?lanes | store tile | ?meet | check tile | ?meet"

LIVES = (
    Litmus(
        "init_for_a_copy",
        "Does a bulk copy find an mbarrier that its own thread initialised just before?",
        ("MB027", "PX020"),
        (
            Role(
                4,
                (
                    "leads: init = full & ?fence & expect = full & load tile | barrier | wait first "
                    "= full | check tile | barrier | leads: inval = full"
                ),
            ),
        ),
        (
            Variant(
                "fence_of_init",
                _CONTROL,
                {"fence": "fence.mbarrier_init.release.cluster;"},
                "fence.mbarrier_init",
            ),
            Variant("proxy_fence", _CONTROL, {"fence": "fence"}, "fence.proxy.async"),
            Variant("no_fence", _ASKED, {}, "no fence", may_hang=True),
        ),
    ),
    Litmus(
        "barrier_left",
        "May the bytes of an mbarrier that was not invalidated be memory again, and an mbarrier again?",
        ("barrier-left", "MB026", "MB029"),
        (
            Role(
                4,
                (
                    "leads: init threads = full | barrier | late = a | arrive = full | wait first = "
                    "full | barrier | ?inval | leads: st.shared.v2.u32 [full], {value, garbage}; | "
                    "barrier | check barrier | barrier"
                ),
            ),
        ),
        (
            Variant("inval", _CONTROL, {"inval": "leads: inval = full | barrier"}),
            Variant("left", _ASKED, {}, "no mbarrier.inval", may_hang=True),
        ),
    ),
    Litmus(
        "late_observer",
        "May a warp that only waits come late to a phase, if nobody waits for it?",
        ("late-bystander", "MB021"),
        (
            Role(1, "leads: ?turn & expect = full & load tile & wait = full"),
            Role(1, "late = b | wait = full | ?arrive"),
        ),
        (
            Variant("waited_for", _CONTROL, {"turn": "wait before = empty", "arrive": "arrive = empty"}),
            Variant("observer", _ASKED, {}, "nobody waits for the second warp", may_hang=True),
        ),
        setup="leads: init = full & init warp = empty",
    ),
    Litmus(
        "lanes_pass_a_wait_together",
        "Do lanes that come to a wait together pass it before what one of them does completes another phase?",
        ("missed-phase", "MB021"),
        (
            Role(1, "wait = full | late = a | read tile | arrive = empty | compare"),
            Role(1, "?lanes"),
        ),
        (
            Variant(
                "one_lane",
                _CONTROL,
                {"lanes": "first_lane: wait before = empty & late = b & expect = full & load tile"},
                "one lane waits",
            ),
            Variant(
                "all_lanes",
                _ASKED,
                {"lanes": "wait before = empty | late = b | first_lane: expect = full & load tile"},
                "all lanes wait, and one acts",
                may_hang=True,
            ),
            Variant(
                "late_lanes",
                _ASKED,
                {"lanes": "late lanes = b | wait before = empty | first_lane: expect = full & load tile"},
                "lanes are late in front of the wait",
                may_hang=True,
            ),
            Variant(
                "sides_of_a_branch",
                _BROKEN,
                {
                    "lanes": (
                        "first_lane: wait before = empty & expect = full & load tile | !first_lane: "
                        "late = b & wait before = empty"
                    )
                },
                "the others wait on a side of their own",
                may_hang=True,
            ),
        ),
        setup="leads: init = full & init warp = empty",
        partner=16,
    ),
    Litmus(
        "one_lane_hands_back",
        "May one lane hand a slot back for its warp, behind the reads that all lanes execute together?",
        ("lanes-in-step", "MB021", "SM021"),
        (
            Role(1, "?before | wait = full | ?early | read tile | ?meet | ?late | compare"),
            Role(1, "first_lane: wait before = empty & late = b & expect = full & load tile"),
        ),
        (
            Variant("meeting", _CONTROL, {"meet": "bar.warp.sync -1;", "late": "first_lane: arrive = empty"}),
            Variant(
                "meeting_of_late_lanes",
                _CONTROL,
                {
                    "before": "late lanes = a",
                    "meet": "bar.warp.sync -1;",
                    "late": "first_lane: arrive = empty",
                },
                "lanes are late, and meet",
            ),
            Variant(
                "no_meeting",
                _ASKED,
                {"late": "first_lane: arrive = empty"},
                "lanes come together, and do not meet",
                may_hang=True,
            ),
            Variant(
                "late_lanes",
                _ASKED,
                {"before": "late lanes = a", "late": "first_lane: arrive = empty"},
                "lanes are late in front of the wait",
                may_hang=True,
            ),
            Variant(
                "arrives_first",
                _BROKEN,
                {"early": "first_lane: arrive = empty | late = a"},
                "handed back in front of the reads",
                may_hang=True,
            ),
        ),
        setup="leads: init = full & init = empty",
        partner=16,
    ),
    Litmus(
        "lanes_in_step",
        "Does a lane see what another lane of its warp stored in the instruction before?",
        ("lanes-in-step", "SM020", "SM021"),
        (Role(1, "?steps"),),
        (
            Variant("meeting", _CONTROL, {"steps": _STEPS_OF_LANES.replace("?meet", "bar.warp.sync -1;")}),
            Variant(
                "no_meeting",
                _ASKED,
                {"steps": "late = a | store tile | check tile"},
                "no bar.warp.sync, no branch",
            ),
            Variant(
                "late_lanes",
                _ASKED,
                {"steps": "late lanes = a | store tile | check tile"},
                "no bar.warp.sync, behind a loop that lanes leave one by one",
            ),
            Variant(
                "sides_of_a_branch",
                _BROKEN,
                {"steps": "!upper: store tile & check tile | upper: late = b & store tile & check tile"},
                "on two sides of a branch",
            ),
        ),
        size=512,
        partner=16,
        setup="leads: init = full",
    ),
    Litmus(
        "one_value",
        "May threads store one value to the same bytes by one instruction?",
        ("same-value", "SM022"),
        (Role(4, "late = a | ?store | barrier | check word | barrier"),),
        (
            Variant("one_thread", _CONTROL, {"store": "first_warp: store word = value"}),
            Variant("all_threads", _ASKED, {"store": "store word = value"}, "all warps store the value"),
            Variant(
                "other_values",
                _BROKEN,
                {
                    "store": (
                        "second_warp: mov.u32 value, garbage; | store word = value | and.b32 value, "
                        "round, 63;"
                    )
                },
                "one warp stores another value",
            ),
        ),
        setup="leads: init = full",
    ),
    Litmus(
        "copies_of_one_instruction",
        "May lanes copy to the same bytes by one cp.async?",
        ("copies-of-one-instruction", "SM022"),
        (
            Role(
                1,
                (
                    "late = a | ?copy | cp.async.wait_all; | bar.warp.sync -1; | ld.shared.u32 w0, "
                    "[tile]; | compare first | bar.warp.sync -1;"
                ),
            ),
        ),
        (
            Variant("one_lane", _CONTROL, {"copy": "leads: cp.async.cg.shared.global [tile], [from], 16;"}),
            Variant(
                "all_lanes",
                _ASKED,
                {"copy": "cp.async.cg.shared.global [tile], [from], 16;"},
                "all lanes copy the same bytes",
            ),
            Variant(
                "other_bytes",
                _BROKEN,
                {"copy": "odd: add.u64 from, from, 8192; | cp.async.cg.shared.global [tile], [from], 16;"},
                "odd lanes copy other bytes",
            ),
        ),
        size=512,
    ),
    Litmus(
        "lanes_that_poll",
        "Do lanes that poll by one instruction find one answer?",
        ("lanes-poll-alike",),
        (
            Role(1, "late = a | arrive = full | barrier"),
            Role(1, "late = b | ?first | ?poll | barrier"),
        ),
        (
            Variant("behind_the_wait", _CONTROL, {"first": "wait = full", "poll": "poll = full"}),
            Variant("test_wait", _ASKED, {"poll": "poll = full"}, "test_wait while the phase completes"),
            Variant(
                "try_wait", _ASKED, {"poll": "poll and try = full"}, "try_wait while the phase completes"
            ),
            Variant(
                "address_of_each_lane",
                _ASKED,
                {
                    "first": "mad.lo.u32 at, lane, late_b, 0; | shr.u32 at, at, 28; | add.u32 at, at, full;",
                    "poll": "poll = at",
                },
                "each lane has the address from a register of its own",
            ),
            Variant(
                "two_instructions", _BROKEN, {"poll": "poll by halves = full"}, "half of the lanes poll first"
            ),
        ),
        setup="leads: init warp = full",
    ),
    Litmus(
        "ended_lanes",
        "Are lanes that have ended waited for?",
        ("ended-lanes",),
        (Role(2, "late = a | store tile | bar.warp.sync -1; | barrier | check tile | barrier"),),
        (
            Variant("all_there", _CONTROL, {}),
            Variant(
                "half_ended", _ASKED, {"gone": "@upper ret;"}, "half of each warp has ended", may_hang=True
            ),
        ),
        setup="leads: init = full | ?gone",
    ),
    Litmus(
        "registers_of_a_warpgroup",
        "May warps of a warpgroup change their registers one by one?",
        ("registers-of-warpgroup", "WG010"),
        (Role(4, "?meet | late = a | ?change"),),
        (
            Variant(
                "together",
                _CONTROL,
                {
                    "meet": "barrier",
                    "change": (
                        "setmaxnreg.dec.sync.aligned.u32 40; | barrier | setmaxnreg.inc.sync.aligned.u32 96;"
                    ),
                },
            ),
            Variant(
                "one_by_one",
                _ASKED,
                {
                    "change": (
                        "setmaxnreg.dec.sync.aligned.u32 40; | late = b | setmaxnreg.inc.sync.aligned.u32 96;"
                    )
                },
                "each warp at its own time",
                may_hang=True,
            ),
            Variant(
                "one_warp",
                _ASKED,
                {
                    "change": (
                        "first_warp: setmaxnreg.dec.sync.aligned.u32 40; & late = b & "
                        "setmaxnreg.inc.sync.aligned.u32 96;"
                    )
                },
                "one warp alone",
                may_hang=True,
            ),
            Variant(
                "half_a_warp",
                _ASKED,
                {
                    "change": (
                        "upper: setmaxnreg.dec.sync.aligned.u32 40; & late = b & "
                        "setmaxnreg.inc.sync.aligned.u32 96;"
                    )
                },
                "half of each warp",
                may_hang=True,
            ),
        ),
        registers=96,
        setup="leads: init = full",
    ),
    Litmus(
        "dependent_grid",
        "Does a grid see what the grid before it stored, if it was launched early and does not wait?",
        ("PT011",),
        (
            Role(
                4,
                (
                    "griddepcontrol.launch_dependents; | ?wait | later: check global = previous | "
                    "late = a | barrier | store global"
                ),
            ),
        ),
        (
            Variant("wait", _CONTROL, {"wait": "griddepcontrol.wait;"}),
            Variant("no_wait", _BROKEN, {}, "no griddepcontrol.wait"),
        ),
        rounds=False,
        dependent=True,
    ),
    Litmus(
        "stores_at_exit",
        "Does a CTA that ends keep its shared memory until its bulk stores have read it?",
        ("exit-with-remote-access", "BG004"),
        (
            Role(
                32,
                (
                    "later: check global = previous | barrier | store tile | fence | barrier | "
                    "leads: bulk store & commit & ?wait | ?own"
                ),
            ),
        ),
        (
            Variant("wait", _CONTROL, {"wait": "wait group read = 0"}),
            Variant("no_wait", _ASKED, {}, "it ends while its stores are under way"),
            Variant(
                "last_group",
                _ASKED,
                {"wait": "wait group read = 0 | bulk store | commit"},
                "it waits for its first stores, and ends while others are under way",
            ),
            Variant(
                "overwritten", _BROKEN, {"own": "barrier | store garbage"}, "it overwrites the bytes itself"
            ),
        ),
        size=196608,
        dynamic=True,
        rounds=False,
    ),
    Litmus(
        "loads_at_exit",
        "Do bulk loads of a CTA that has ended reach the shared memory of the CTA behind it?",
        ("exit-with-remote-access",),
        (Role(32, "even_leads: init = full & fence & expect = full & load pieces & ?wait | ?own"),),
        (
            Variant(
                "wait",
                _CONTROL,
                {"wait": "wait first = full", "own": "odd_cta: store tile & barrier & late = a & check own"},
            ),
            Variant(
                "no_wait",
                _ASKED,
                {"own": "odd_cta: store tile & barrier & late = a & check own"},
                "it ends while its loads are under way",
                may_hang=True,
            ),
            Variant(
                "stored_over",
                _BROKEN,
                {"own": "even_cta: store tile & barrier & late = a & check own"},
                "it stores to these bytes itself meanwhile",
            ),
        ),
        size=196608,
        dynamic=True,
        rounds=False,
    ),
)
"""Rows of lives: of barriers, lanes, CTAs and grids."""
