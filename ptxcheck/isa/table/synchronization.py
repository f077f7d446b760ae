"""PTX ISA 9.3, 9.7.14: barriers, fences, votes and other synchronisation of threads.

mbarrier, atomics and `tensormap.cp_fenceproxy` have modules of their own. Operands that analyses ask for:
`barrier` and `threads` of named barriers; `c` the predicate of a barrier reduction; `member_mask` the
lanes of a warp-collective; `d|p` its results; `addr` and `size` of a tensormap fence; `response` (an
address) and `mbar` of a cluster launch cancellation, `response` (a value) of its queries.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_BAR = frozenset({Trait.BARRIER, Trait.ALIGNED})
_BARRIER = frozenset({Trait.BARRIER})
_FENCE = frozenset({Trait.FENCE})
_LANES = frozenset({Trait.COLLECTIVE, Trait.CROSS_LANE})

_BARRIER_LIMITS = {"barrier": "0..15", "threads": "0..4294967264 step 32"}
_ARRIVE_LIMITS = {"barrier": "0..15", "threads": "32..4294967264 step 32"}
_SCOPE = ".cta .cluster@7.8+sm_90 .gpu .sys"


def _named(name: str, since: str, aligned: str, traits: frozenset[Trait]) -> tuple[Row, ...]:
    """Return the rows of `bar` or `barrier`, each with and without `.cta` in its name."""
    rows: list[Row] = []
    for prefix, first in ((name, since), (name + ".cta", "7.8")):
        rows += (
            Row(
                f"{prefix}.sync",
                Op.BAR_SYNC,
                "9.7.14.1",
                (f"{prefix}.sync{aligned} barrier{{, threads}}",),
                since=first,
                operands={"barrier": ".u32", "threads": ".u32"},
                traits=traits,
                limits=_BARRIER_LIMITS,
            ),
            Row(
                f"{prefix}.arrive",
                Op.BAR_ARRIVE,
                "9.7.14.1",
                (f"{prefix}.arrive{aligned} barrier, threads",),
                since=first,
                operands={"barrier": ".u32", "threads": ".u32"},
                traits=traits,
                limits=_ARRIVE_LIMITS,
            ),
            Row(
                f"{prefix}.red",
                Op.BAR_RED,
                "9.7.14.1",
                (f"{prefix}.red.popc{aligned}.u32 d, barrier{{, threads}}, c",),
                since=first,
                operands={"d": ".u32", "barrier": ".u32", "threads": ".u32", "c": "pred"},
                traits=traits | {Trait.CROSS_LANE},
                limits=_BARRIER_LIMITS,
            ),
            Row(
                f"{prefix}.red",
                Op.BAR_RED,
                "9.7.14.1",
                (f"{prefix}.red.op{aligned}.pred d, barrier{{, threads}}, c",),
                since=first,
                slots={"op": ".and .or"},
                operands={"d": "pred", "barrier": ".u32", "threads": ".u32", "c": "pred"},
                traits=traits | {Trait.CROSS_LANE},
                limits=_BARRIER_LIMITS,
            ),
        )
    return tuple(rows)


_BARRIERS = (
    *_named("bar", "1.0", "", _BAR),
    *_named("barrier", "6.0+sm_30", "{.aligned}", _BARRIER),
    Row(
        "bar.warp.sync",
        Op.BAR_WARP_SYNC,
        "9.7.14.2",
        ("bar.warp.sync member_mask",),
        since="6.0+sm_30",
        operands={"member_mask": ".b32"},
        traits=frozenset({Trait.BARRIER, Trait.COLLECTIVE}),
    ),
    Row(
        "barrier.cluster.arrive",
        Op.BARRIER_CLUSTER_ARRIVE,
        "9.7.14.3",
        ("barrier.cluster.arrive{.sem}{.aligned}",),
        since="7.8+sm_90",
        slots={"sem": ".release@8.0 .relaxed@8.0"},
        traits=_BARRIER,
    ),
    Row(
        "barrier.cluster.wait",
        Op.BARRIER_CLUSTER_WAIT,
        "9.7.14.3",
        ("barrier.cluster.wait{.sem}{.aligned}",),
        since="7.8+sm_90",
        slots={"sem": ".acquire@8.0"},
        traits=frozenset({Trait.BARRIER, Trait.WAIT}),
    ),
)

_FENCES = (
    Row(
        "membar",
        Op.MEMBAR,
        "9.7.14.4",
        ("membar.scope",),
        slots={"scope": ".cta .gl .sys"},
        traits=_FENCE,
    ),
    Row(
        "membar.proxy",
        Op.MEMBAR_PROXY,
        "9.7.14.4",
        ("membar.proxy.kind",),
        since="7.5+sm_70",
        slots={"kind": ".alias .async@8.0+sm_90"},
        traits=_FENCE,
    ),
    Row(
        "fence",
        Op.FENCE,
        "9.7.14.4",
        (
            "fence{.sem}.scope",
            "fence.sem(.acquire).restrict(.sync_restrict::shared::cluster).scope(.cluster) @8.6+sm_90",
            "fence.sem(.release).restrict(.sync_restrict::shared::cta).scope(.cluster) @8.6+sm_90",
            "fence.alias.restrict(.sync_restrict::read).sem(.release).scope(.sys) @9.5+sm_90",
        ),
        since="6.0+sm_70",
        slots={"sem": ".sc .acq_rel .acquire@8.6+sm_90 .release@8.6+sm_90", "scope": _SCOPE},
        traits=_FENCE,
    ),
    Row(
        "fence",
        Op.FENCE_MBARRIER_INIT,
        "9.7.14.4",
        ("fence.mbarrier_init.sem.scope",),
        since="8.0+sm_90",
        slots={"sem": ".release", "scope": ".cluster"},
        traits=_FENCE,
    ),
    Row(
        "fence.proxy",
        Op.FENCE_PROXY,
        "9.7.14.4",
        (
            "fence.proxy.kind(.alias) @7.5+sm_70",
            "fence.proxy.kind(.alias).sem(.acquire,.release).scope(.sys) @9.4+sm_90",
            "fence.proxy.kind(.async){.space(.global,.shared::cta,.shared::cluster)} @8.0+sm_90",
            "fence.proxy.kind(.tensormap::generic).sem(.release).scope @8.3+sm_90",
            "fence.proxy.kind(.tensormap::generic).sem(.acquire).scope [addr], size @8.3+sm_90",
            "fence.proxy.kind(.async::generic).sem(.acquire).restrict(.sync_restrict::shared::cluster)"
            ".scope(.cluster) @8.6+sm_90",
            "fence.proxy.kind(.async::generic).sem(.release).restrict(.sync_restrict::shared::cta)"
            ".scope(.cluster) @8.6+sm_90",
            "fence.proxy.kind(.async::generic).sem(.release).restrict(.sync_restrict::shared::cluster::read)"
            ".scope(.cta,.cluster) @9.4+sm_90",
            "fence.proxy.kind(.generic::fabric,.fabric::generic,.fabric::fabric).alias.sem(.acquire,.release)"
            ".scope(.sys) @9.3+sm_100",
        ),
        slots={"scope": _SCOPE},
        operands={"size": "imm"},
        traits=_FENCE,
        limits={"size": "128"},
    ),
)

_WARP = (
    Row(
        "vote",
        Op.VOTE,
        "9.7.14.9",
        ("vote.op.pred d, a",),
        since="1.2+until6.4/sm_70",
        slots={"op": ".all .any .uni"},
        operands={"d": "pred", "a": "pred"},
        traits=frozenset({Trait.CROSS_LANE}),
    ),
    Row(
        "vote",
        Op.VOTE,
        "9.7.14.9",
        ("vote.op.b32 d, a",),
        since="2.0+sm_20+until6.4/sm_70",
        slots={"op": ".ballot"},
        operands={"d": ".b32", "a": "pred"},
        traits=frozenset({Trait.CROSS_LANE}),
    ),
    Row(
        "vote",
        Op.VOTE_SYNC,
        "9.7.14.10",
        ("vote.sync.op.pred d, a, member_mask",),
        since="6.0+sm_30",
        slots={"op": ".all .any .uni"},
        operands={"d": "pred", "a": "pred", "member_mask": ".b32"},
        traits=_LANES,
    ),
    Row(
        "vote",
        Op.VOTE_SYNC,
        "9.7.14.10",
        ("vote.sync.op.b32 d, a, member_mask",),
        since="6.0+sm_30",
        slots={"op": ".ballot"},
        operands={"d": ".b32", "a": "pred", "member_mask": ".b32"},
        traits=_LANES,
    ),
    Row(
        "match",
        Op.MATCH_SYNC,
        "9.7.14.11",
        ("match.op(.any).sync.type d, a, member_mask", "match.op(.all).sync.type d=all{|p}, a, member_mask"),
        since="6.0+sm_70",
        slots={"type": ".b32 .b64"},
        operands={"d": "w .b32", "all": "w_ .b32", "p": "w_ pred", "member_mask": ".b32"},
        traits=_LANES,
    ),
    Row(
        "activemask",
        Op.ACTIVEMASK,
        "9.7.14.12",
        ("activemask.b32 d",),
        since="6.2+sm_30",
        operands={"d": ".b32"},
        traits=frozenset({Trait.VOLATILE, Trait.CROSS_LANE}),
    ),
    Row(
        "redux",
        Op.REDUX_SYNC,
        "9.7.14.13",
        (
            "redux.sync.op(.add,.min,.max).type(.u32,.s32) d, a, member_mask",
            "redux.sync.op(.and,.or,.xor).type(.b32) d, a, member_mask",
            "redux.sync.op(.min,.max){.abs}{.NaN}.type(.f32) d, a, member_mask @8.6+sm_100a|sm_100f",
        ),
        since="7.0+sm_80",
        operands={"member_mask": ".b32"},
        traits=_LANES,
    ),
    Row(
        "elect",
        Op.ELECT_SYNC,
        "9.7.14.15",
        ("elect.sync d|p, member_mask",),
        since="8.0+sm_90",
        operands={"d": "w_ .b32", "p": "w pred", "member_mask": ".b32"},
        traits=_LANES,
    ),
)

_GRID = (
    Row(
        "griddepcontrol",
        Op.GRIDDEPCONTROL_LAUNCH_DEPENDENTS,
        "9.7.14.14",
        ("griddepcontrol.launch_dependents",),
        since="7.8+sm_90",
    ),
    Row(
        "griddepcontrol",
        Op.GRIDDEPCONTROL_WAIT,
        "9.7.14.14",
        ("griddepcontrol.wait",),
        since="7.8+sm_90",
        traits=frozenset({Trait.WAIT}),
    ),
    Row(
        "clusterlaunchcontrol.try_cancel.async",
        Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL,
        "9.7.14.18",
        ("clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128 [response], [mbar]",),
        since="8.6+sm_100",
        slots={
            "space": ".shared::cta",
            "completion": ".mbarrier::complete_tx::bytes",
            "multicast": ".multicast::cluster::all@8.6+sm_100a|sm_100f|sm_110f|sm_120f",
        },
        traits=frozenset({Trait.ASYNC, Trait.ASYNC_PROXY_WRITE}),
    ),
    Row(
        "clusterlaunchcontrol.query_cancel",
        Op.CLUSTERLAUNCHCONTROL_QUERY_CANCEL,
        "9.7.14.19",
        ("clusterlaunchcontrol.query_cancel.query(.is_canceled).dtype(.pred).atype(.b128) d, response",),
        since="8.6+sm_100",
        operands={"d": "pred", "response": ".b128"},
        traits=frozenset({Trait.PURE}),
    ),
    Row(
        "clusterlaunchcontrol.query_cancel",
        Op.CLUSTERLAUNCHCONTROL_QUERY_CANCEL,
        "9.7.14.19",
        (
            "clusterlaunchcontrol.query_cancel.query(.get_first_ctaid).vec(.v4).dtype(.b32).atype(.b128)"
            " d, response",
            "clusterlaunchcontrol.query_cancel.query(.get_first_ctaid::x,.get_first_ctaid::y,"
            ".get_first_ctaid::z).dtype(.b32).atype(.b128) d, response",
        ),
        since="8.6+sm_100",
        operands={"d": ".b32*vec", "response": ".b128"},
        traits=frozenset({Trait.PURE}),
    ),
)

ROWS = (*_BARRIERS, *_FENCES, *_WARP, *_GRID)
