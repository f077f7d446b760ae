"""PTX ISA 9.3, 9.7.14.16: mbarrier instructions.

Operands that analyses ask for: `addr` the mbarrier; `count` arrivals; `tx_count` bytes expected or completed;
`state` the phase token (written by arrivals, read by waits); `parity`; `wait_complete` (a pair with
`report_seen` on waits that report); `report_value`; `hint` the suspend-time hint; `mask` the CTAs of a
multicast. A remote arrival has the sink `_` in place of `state`.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_MBARRIER = frozenset({Trait.MBARRIER})
_ARRIVE = frozenset({Trait.MBARRIER, Trait.VOLATILE})
_WAIT = frozenset({Trait.MBARRIER, Trait.WAIT, Trait.VOLATILE})

_LOCAL = ".shared .shared::cta@7.8"
_ANY = ".shared .shared::cta@7.8 .shared::cluster@8.0+sm_90"
_SCOPE = ".cta@8.0 .cluster@8.0+sm_90"
_RELEASE = {
    "space": _LOCAL,
    "sem": ".release@8.0 .relaxed@8.6+sm_90",
    "scope": _SCOPE,
    "multicast": ".multicast::cluster::32b",
}
_RELAXED = {"space": _ANY, "sem": ".relaxed", "scope": _SCOPE, "multicast": ".multicast::cluster::32b"}
_ACQUIRE = {
    "space": _LOCAL,
    "sem": ".acquire@8.0 .relaxed@8.6+sm_90",
    "scope": _SCOPE,
    "report": ".phase_type::primary@9.3+sm_90",
    "conditional": ".phase_type::conditional@9.3+sm_90",
}
_ARRIVE_OPERANDS = {"state": "w_ .b64", "_": "w_ sink", "count": ".u32", "tx_count": ".u32", "mask": ".b32"}
_WAIT_OPERANDS = {
    "wait_complete": "w pred",
    "report_seen": "w pred",
    "report_value": "w .b8",
    "state": "r .b64",
    "parity": ".b32",
    "hint": ".u32",
}


def _arrivals(name: str) -> tuple[str, ...]:
    """Return the syntax lines that `mbarrier.arrive` and `mbarrier.arrive_drop` share."""
    remote = ".space(.shared::cluster)"
    return (
        f"{name}{{.sem.scope}}{{.space}}.b64 state, [addr]",
        f"{name}{{.sem.scope}}{{.space}}.b64 state, [addr], count @7.8+sm_90",
        f"{name}{{.sem.scope}}{remote}.b64 _, [addr]{{, count}} @8.0+sm_90",
        f"{name}.noComplete{{.sem(.release).scope(.cta)}}{{.space}}.b64 state, [addr], count",
        f"{name}{{.sem.scope}}{{{remote}}}.multicast.b64 _, [addr]{{, count}}, mask @9.4+sm_107f",
    )


def _expecting(name: str) -> tuple[str, ...]:
    remote = ".space(.shared::cluster)"
    return (
        f"{name}{{.sem.scope}}{{.space}}.b64 state, [addr], tx_count",
        f"{name}{{.sem.scope}}{remote}.b64 _, [addr], tx_count",
        f"{name}{{.sem.scope}}{{{remote}}}.multicast.b64 _, [addr], tx_count, mask @9.4+sm_107f",
    )


_COUNT_LIMITS = {"count": "1..4294967295"}

ROWS = (
    Row(
        "mbarrier.init",
        Op.MBARRIER_INIT,
        "9.7.14.16.12",
        ("mbarrier.init{.layout}{.space}.b64 [addr], count",),
        since="7.0+sm_80",
        slots={"space": _LOCAL, "layout": ".layout::v0@9.3+sm_90 .layout::v1@9.3+sm_90"},
        operands={"count": ".u32"},
        traits=_MBARRIER,
    ),
    Row(
        "mbarrier.inval",
        Op.MBARRIER_INVAL,
        "9.7.14.16.13",
        ("mbarrier.inval{.space}.b64 [addr]",),
        since="7.0+sm_80",
        slots={"space": _LOCAL},
        traits=_MBARRIER,
    ),
    Row(
        "mbarrier.expect_tx",
        Op.MBARRIER_EXPECT_TX,
        "9.7.14.16.14",
        (
            "mbarrier.expect_tx{.sem.scope}{.space}.b64 [addr], tx_count",
            "mbarrier.expect_tx{.sem.scope}{.space(.shared::cluster)}.multicast.b64 [addr], tx_count, mask"
            " @9.4+sm_107f",
        ),
        since="8.0+sm_90",
        slots=_RELAXED,
        operands={"tx_count": ".u32", "mask": ".b32"},
        traits=_MBARRIER,
    ),
    Row(
        "mbarrier.complete_tx",
        Op.MBARRIER_COMPLETE_TX,
        "9.7.14.16.15",
        (
            "mbarrier.complete_tx{.sem.scope}{.space}.b64 [addr], tx_count",
            "mbarrier.complete_tx{.sem.scope}{.space(.shared::cluster)}.multicast.b64 [addr], tx_count, mask"
            " @9.4+sm_107f",
        ),
        since="8.0+sm_90",
        slots=_RELAXED,
        operands={"tx_count": ".u32", "mask": ".b32"},
        traits=_MBARRIER,
    ),
    Row(
        "mbarrier.arrive",
        Op.MBARRIER_ARRIVE,
        "9.7.14.16.16",
        _arrivals("mbarrier.arrive"),
        since="7.0+sm_80",
        slots=_RELEASE,
        operands=_ARRIVE_OPERANDS,
        traits=_ARRIVE,
        limits=_COUNT_LIMITS,
    ),
    Row(
        "mbarrier.arrive.expect_tx",
        Op.MBARRIER_ARRIVE,
        "9.7.14.16.16",
        _expecting("mbarrier.arrive.expect_tx"),
        since="8.0+sm_90",
        slots=_RELEASE,
        operands=_ARRIVE_OPERANDS,
        traits=_ARRIVE,
    ),
    Row(
        "mbarrier.arrive_drop",
        Op.MBARRIER_ARRIVE_DROP,
        "9.7.14.16.17",
        _arrivals("mbarrier.arrive_drop"),
        since="7.0+sm_80",
        slots=_RELEASE,
        operands=_ARRIVE_OPERANDS,
        traits=_ARRIVE,
        limits=_COUNT_LIMITS,
    ),
    Row(
        "mbarrier.arrive_drop.expect_tx",
        Op.MBARRIER_ARRIVE_DROP,
        "9.7.14.16.17",
        _expecting("mbarrier.arrive_drop.expect_tx"),
        since="8.0+sm_90",
        slots=_RELEASE,
        operands=_ARRIVE_OPERANDS,
        traits=_ARRIVE,
    ),
    Row(
        "cp.async.mbarrier.arrive",
        Op.CP_ASYNC_MBARRIER_ARRIVE,
        "9.7.14.16.18",
        ("cp.async.mbarrier.arrive{.noinc}{.space}.b64 [addr]",),
        since="7.0+sm_80",
        slots={"space": _LOCAL},
        traits=frozenset({Trait.MBARRIER, Trait.ASYNC}),
    ),
    Row(
        "mbarrier.test_wait",
        Op.MBARRIER_TEST_WAIT,
        "9.7.14.16.19",
        (
            "mbarrier.test_wait{.sem.scope}{.space}.b64 wait_complete, [addr], state",
            "mbarrier.test_wait.report{.sem.scope}{.space}.b64 wait_complete{|report_seen}{, report_value},"
            " [addr], state",
        ),
        since="7.0+sm_80",
        slots=_ACQUIRE,
        operands=_WAIT_OPERANDS,
        traits=_WAIT,
    ),
    Row(
        "mbarrier.test_wait.parity",
        Op.MBARRIER_TEST_WAIT,
        "9.7.14.16.19",
        (
            "mbarrier.test_wait.parity{.conditional}{.sem.scope}{.space}.b64 wait_complete, [addr], parity",
            "mbarrier.test_wait.parity.report{.sem.scope}{.space}.b64 wait_complete{|report_seen}"
            "{, report_value}, [addr], parity",
        ),
        since="7.1+sm_80",
        slots=_ACQUIRE,
        operands=_WAIT_OPERANDS,
        traits=_WAIT,
        limits={"parity": "0, 1"},
    ),
    Row(
        "mbarrier.try_wait",
        Op.MBARRIER_TRY_WAIT,
        "9.7.14.16.19",
        (
            "mbarrier.try_wait{.sem.scope}{.space}.b64 wait_complete, [addr], state{, hint}",
            "mbarrier.try_wait.report{.sem.scope}{.space}.b64 wait_complete{|report_seen}{, report_value},"
            " [addr], state{, hint}",
        ),
        since="7.8+sm_90",
        slots=_ACQUIRE,
        operands=_WAIT_OPERANDS,
        traits=_WAIT,
    ),
    Row(
        "mbarrier.try_wait.parity",
        Op.MBARRIER_TRY_WAIT,
        "9.7.14.16.19",
        (
            "mbarrier.try_wait.parity{.conditional}{.sem.scope}{.space}.b64 wait_complete, [addr], parity"
            "{, hint}",
            "mbarrier.try_wait.parity.report{.sem.scope}{.space}.b64 wait_complete{|report_seen}"
            "{, report_value}, [addr], parity{, hint}",
        ),
        since="7.8+sm_90",
        slots=_ACQUIRE,
        operands=_WAIT_OPERANDS,
        traits=_WAIT,
        limits={"parity": "0, 1"},
    ),
    Row(
        "mbarrier.pending_count",
        Op.MBARRIER_PENDING_COUNT,
        "9.7.14.16.20",
        ("mbarrier.pending_count{.layout}.b64 d, state",),
        since="7.0+sm_80",
        slots={"layout": ".layout::v0@9.3+sm_90"},
        operands={"d": ".u32", "state": "r .b64"},
        traits=frozenset({Trait.PURE}),
    ),
    Row(
        "mbarrier.check_layout",
        Op.MBARRIER_CHECK_LAYOUT,
        "9.7.14.16.21",
        ("mbarrier.check_layout.layout{.space}.b64 d, [addr]",),
        since="9.3+sm_90",
        slots={"space": _LOCAL, "layout": ".layout::v0 .layout::v1"},
        operands={"d": "pred"},
        traits=_MBARRIER,
    ),
)
