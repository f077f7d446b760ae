"""Searches of paths cost about as much as a kernel is long: twice the text, about twice the steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.protocols.typestate.conditions import Assumptions, Conditions, Literal
from ptxcheck.protocols.typestate.paths import Paths, Query, Witness
from ptxcheck.source import Source

from ...fakes import HEADER

_TWICE = 2.4


class Effort:
    """Searches, and the assumptions that they carry along from guard to guard."""

    def __init__(self) -> None:
        self.searches = 0
        self.steps = 0

    def of(self, text: str) -> tuple[int, int, list[str]]:
        """Return searches and steps of a check by rules alone, and what was found."""
        self.searches = self.steps = 0
        report = check(Source("k.ptx", text), config=Config(verify=False))
        assert not report.problems
        return self.searches, self.steps, [f"{f.rule} {f.location.primary.line}" for f in report.findings]


@pytest.fixture
def effort(monkeypatch: pytest.MonkeyPatch) -> Effort:
    found = Effort()
    find, assume = Paths.find, Conditions.assume

    def counted_find(self: Paths, query: Query) -> Witness | None:
        found.searches += 1
        return find(self, query)

    def counted_assume(self: Conditions, assumed: Assumptions, literal: Literal) -> Assumptions | None:
        found.steps += 1 + len(assumed)
        return assume(self, assumed, literal)

    monkeypatch.setattr(Paths, "find", counted_find)
    monkeypatch.setattr(Conditions, "assume", counted_assume)
    return found


def unknown_instructions(count: int) -> str:
    """Each may give its guard another value, in a loop around a copy."""
    return (
        HEADER
        + f""".visible .entry k(.param .u64 target, .param .u32 rounds)
{{
    .shared .align 128 .b8 tile[512];
    .reg .pred stop;
    .reg .b32 n, step, at;
    .reg .b64 to;
    ld.param.u64 to, [target];
    ld.param.u32 n, [rounds];
    mov.u32 step, 0;
    mov.u32 at, tile;
ROUND:
    setp.ge.u32 stop, step, n;
    {"@stop bra.ge.u32 stop, step, n;" * count}
    @stop bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [to], [at], 128;
    cp.async.bulk.commit_group;
    add.u32 step, step, 1;
    bra ROUND;
DONE:
    ret;
}}
"""
    )


def guarded_copies(count: int) -> str:
    """Each copy and each commit is guarded by one of six inputs."""
    inputs = range(6)
    pairs = "\n".join(
        f"@%p{i % 6} cp.async.cg.shared.global [%r1+{16 * i}], [%rd1], 16;\n"
        f"@%p{(5 * i + 1) % 6} cp.async.commit_group;"
        for i in range(count)
    )
    return (
        HEADER
        + f""".visible .entry k(.param .u64 p, {", ".join(f".param .u32 a{i}" for i in inputs)})
{{
    .reg .pred %p<6>;
    .reg .b32 %r<2>, %t<6>;
    .reg .b64 %rd<2>;
    .shared .align 16 .b8 buffer[4096];
    mov.u32 %r1, buffer;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd1, %rd1;
    {" ".join(f"ld.param.u32 %t{i}, [a{i}]; setp.eq.s32 %p{i}, %t{i}, {i};" for i in inputs)}
{pairs}
    @%p3 cp.async.wait_group 0;
    ret;
}}
"""
    )


def copies_of_one_place(count: int) -> str:
    copies = [line for line in guarded_copies(count).splitlines(keepends=True) if "commit_group" not in line]
    text = "".join(copies)
    for number in range(count):
        text = text.replace(f"[%r1+{16 * number}]", "[%r1]")
    return text.replace("    @%p3", "    cp.async.commit_group;\n    @%p3")


def early_reads(count: int) -> str:
    """Some threads never wait, and others wait or not, before they read the same address."""
    loads = "ld.global.u32 word, [source];\n" * count
    return (
        HEADER
        + f""".visible .entry k(.param .u64 from, .param .u64 to, .param .u32 flag) .reqntid 128
{{
    .reg .b32 t, word;
    .reg .b64 source, target;
    .reg .pred last, some;
    ld.param.u64 source, [from];
    cvta.to.global.u64 source, source;
    ld.param.u64 target, [to];
    cvta.to.global.u64 target, target;
    mov.u32 t, %tid.x;
    setp.ge.u32 last, t, 96;
    ld.param.u32 word, [flag];
    setp.eq.u32 some, word, 3;
    @last bra LAST;
    @some griddepcontrol.wait;
    {loads}
    bra STORE;
LAST:
    {loads}
STORE:
    st.global.u32 [target], word;
    ret;
}}
"""
    )


def handovers_by_computed_numbers(count: int) -> str:
    return (
        HEADER
        + f""".visible .entry k(.param .u32 rounds) .reqntid 128
{{
    .reg .pred stop, other;
    .reg .b32 thread, warp, n, step, there, here, turn, number;
    ld.param.u32 n, [rounds];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    and.b32 turn, warp, 1;
    and.b32 number, warp, 2;
    add.u32 here, number, 1;
    add.u32 there, number, 2;
    mov.u32 step, 0;
    setp.ne.u32 other, turn, 0;
    @other bra READER;
WRITE:
    setp.ge.u32 stop, step, n;
    @stop bra DONE;
    {"bar.sync there, 64; bar.arrive here, 64;" * count}
    add.u32 step, step, 1;
    bra WRITE;
READER:
    setp.ge.u32 stop, step, n;
    @stop bra DONE;
    {"bar.arrive there, 64; bar.sync here, 64;" * count}
    add.u32 step, step, 1;
    bra READER;
DONE:
    ret;
}}
"""
    )


@pytest.mark.parametrize("kernel", [unknown_instructions, guarded_copies])
def test_what_no_guard_asks_about_is_not_carried_along(effort: Effort, kernel: Callable[[int], str]) -> None:
    _, few, _ = effort.of(kernel(24))
    _, many, _ = effort.of(kernel(48))
    assert few < many < _TWICE * few


def test_all_uncommitted_copies_are_found(effort: Effort) -> None:
    """Copies 55, 58 and 59 have no commit behind them under a guard that holds wherever theirs does."""
    _, _, found = effort.of(guarded_copies(60))
    lines = guarded_copies(60).splitlines()
    copies = [lines.index(next(x for x in lines if f"[%r1+{16 * i}]" in x)) + 1 for i in (55, 58, 59)]
    assert [one for one in found if one.startswith("CA005")] == [f"CA005 {line}" for line in copies]


def test_a_place_that_is_told_is_not_looked_at_again(effort: Effort) -> None:
    few, _, _ = effort.of(copies_of_one_place(24))
    many, _, found = effort.of(copies_of_one_place(48))
    assert few < many < _TWICE * few
    assert sum(one.startswith("CA007") for one in found) == 47


@pytest.mark.parametrize("kernel", [early_reads, handovers_by_computed_numbers])
def test_one_answer_for_all_that_a_thread_executes_together(
    effort: Effort, kernel: Callable[[int], str]
) -> None:
    few, _, one = effort.of(kernel(8))
    many, _, other = effort.of(kernel(16))
    assert few == many
    assert len(one) == len(other)
