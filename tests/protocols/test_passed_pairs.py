"""Accesses that are let pass though nothing orders them: what comes behind the second is compared with the first."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

INIT = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; setp.eq.u32 %p7, %r9, 96;
    @%p9 mbarrier.init.shared.b64 [%r1+512], 128; bar.sync 0;
"""
END = "bar.sync 0; mbarrier.arrive.shared.b64 _, [%r1+512];"
ALL_STORE = "st.shared.u32 [%r1], 7;"
CASES = {
    "one stores another value, then all": ("@!%p9 bra ON; st.shared.u32 [%r1], 5; ON:", ALL_STORE),
    "all store, then one another value": (ALL_STORE, "@!%p9 bra ON; st.shared.u32 [%r1], 5; ON:"),
    "all store, then one reads": (ALL_STORE, "@!%p9 bra ON; ld.shared.u32 %r2, [%r1]; ON:"),
    "one of a warp stores, one of another reads": (
        "@!%p7 bra A; st.shared.u32 [%r1], 7; A:", "@!%p9 bra ON; ld.shared.u32 %r2, [%r1]; ON:",
    ),
}  # fmt: skip


def _verify(first: str, between: str, then: str) -> Verification:
    return verified(kernel(INIT + first + between + then + END))


@pytest.mark.parametrize("name", CASES)
def test_who_stored_first_is_compared_with_what_comes_later(name: str) -> None:
    first, then = CASES[name]
    assert kind(_verify(first, "", then), Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert kind(_verify(first, "bar.sync 0;", then), Property.SLOT_SAFETY) in (
        VerdictKind.PROVED,
        VerdictKind.ASSUMES,
    )


@pytest.mark.parametrize("value", ["7", "%r9"])
def test_stores_of_a_thread_that_a_predicate_chooses_are_not_known_to_be_in_order(value: str) -> None:
    store = f"@%p7 st.shared.u32 [%r1], {value};"
    reads = "@!%p9 bra ON; ld.shared.u32 %r2, [%r1]; ON:"
    assert kind(_verify(store, "", reads), Property.SLOT_SAFETY) is VerdictKind.UNKNOWN
    assert kind(_verify(store, "bar.sync 0;", reads), Property.SLOT_SAFETY) is VerdictKind.PROVED


def test_one_value_of_all_threads_is_let_pass_round_after_round() -> None:
    rounds = "".join(f"st.shared.u32 [%r1], {value}; bar.sync 0;" for value in (1, 2, 3))
    assert kind(_verify(rounds, "", ""), Property.SLOT_SAFETY) in (VerdictKind.PROVED, VerdictKind.ASSUMES)
