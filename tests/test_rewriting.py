"""A kernel in other words is the same kernel: rewrites keep its verdicts, and change its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import judge
from benchmarks.mutation.subject import Subject, subjects
from benchmarks.rewriting.__main__ import compared
from benchmarks.rewriting.rewrites import REWRITES, Rewrite, renamed, rewritten
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

_RING = Path(__file__).parents[1] / "corpus" / "protocols" / "ring"
_KERNELS = ("one_stage.ptx", "one_stage.never_released.ptx")


def _subject(name: str) -> Subject:
    (subject,) = subjects(Source(name, (_RING / name).read_text(encoding="utf-8")))
    return subject


def _verdicts(text: str) -> dict[Property, VerdictKind]:
    (judged,) = judge(Source("kernel.ptx", text))
    return {verdict.property: verdict.kind for verdict in judged.verdicts}


_STATEMENTS = {
    "mirrored": ("setp.lt.s32 p, a, b;", "setp.gt.s32 p, b, a;"),
    "negated-branch": ("@p bra END;", "{ .reg .pred not0; not.pred not0, p; @!not0 bra END; }"),
    "product": ("shl.b32 a, b, 4;", "mul.lo.u32 a, b, 16;"),
    "difference": ("add.s32 a, b, -1;", "sub.s32 a, b, 1;"),
    "copied": ("and.b32 a, b, 3;", "{ .reg .b32 copy0; mov.b32 copy0, b; and.b32 a, copy0, 3; }"),
    "own-block": (
        "mbarrier.arrive.shared::cta.b64 _, [full];",
        "bra.uni BLOCK0; BLOCK0: mbarrier.arrive.shared::cta.b64 _, [full];",
    ),
    "tested": (
        "mbarrier.try_wait.parity.shared::cta.b64 p, [full], a;",
        "mbarrier.test_wait.parity.shared::cta.b64 p, [full], a;",
    ),
    "split": (
        "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], a;",
        "@p mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], a; @p mbarrier.arrive.shared::cta.b64 _, [full];",
    ),
    "flipped-twice": (
        "mbarrier.try_wait.parity.shared::cta.b64 p, [full], a;",
        "{ .reg .b32 parity0; xor.b32 parity0, a, 1; xor.b32 parity0, parity0, 1; "
        "mbarrier.try_wait.parity.shared::cta.b64 p, [full], parity0; }",
    ),
    "computed-place": (
        "mbarrier.init.shared::cta.b64 [full+8], 1;",
        "{ .reg .b32 place0; mov.b32 place0, full; add.s32 place0, place0, 8; "
        "mbarrier.init.shared::cta.b64 [place0], 1; }",
    ),
    "skipped": (
        "@!p mbarrier.arrive.shared::cta.b64 _, [full];",
        "@p bra AFTER0; mbarrier.arrive.shared::cta.b64 _, [full]; AFTER0:",
    ),
    "named-in-full": ("bar.sync 1, 64;", "barrier.cta.sync.aligned 1, 64;"),
}
_KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
{{
    .shared .align 8 .b64 full[2];
    .reg .pred p;
    .reg .b32 a, b;
    {statement}
END:
    ret;
}}
"""


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda each: each.name)
def test_a_statement_in_other_words(rewrite: Rewrite) -> None:
    statement, expected = _STATEMENTS[rewrite.name]
    (subject,) = subjects(Source("k.ptx", _KERNEL.format(statement=statement)))
    assert rewritten(subject, rewrite) == _KERNEL.format(statement=expected)
    (other,) = subjects(Source("k.ptx", _KERNEL.format(statement="mov.b32 a, b;")))
    assert rewritten(other, rewrite) is None


_COMMON = [each for each in REWRITES if each.name not in ("mirrored", "skipped")]


@pytest.mark.parametrize("rewrite", _COMMON, ids=lambda each: each.name)
@pytest.mark.parametrize("name", _KERNELS)
def test_verdicts_stay_as_they_are(name: str, rewrite: Rewrite) -> None:
    subject = _subject(name)
    text = rewritten(subject, rewrite)
    assert text is not None
    assert not parse_module(Source("kernel.ptx", text)).problems
    assert len(text.splitlines()) == len(subject.text.splitlines())
    assert _verdicts(text) == _verdicts(subject.text)


@pytest.mark.parametrize("name", _KERNELS)
def test_names_do_not_matter(name: str) -> None:
    subject = _subject(name)
    text = renamed(subject)
    (parameter, *_) = subject.function.parameters
    assert f"[{parameter.name}]" in subject.text
    assert f"[{parameter.name}]" not in text
    assert _verdicts(text) == _verdicts(subject.text)


@pytest.mark.parametrize(
    ("original", "other", "expected"),
    [
        (VerdictKind.PROVED, VerdictKind.VIOLATED, "opposite"),
        (VerdictKind.VIOLATED, VerdictKind.ASSUMES, "opposite"),
        (VerdictKind.VIOLATED, VerdictKind.UNKNOWN, "weaker"),
        (VerdictKind.ASSUMES, VerdictKind.PROVED, "stronger"),
        (VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES, "same"),
    ],
)
def test_verdicts_are_compared(original: VerdictKind, other: VerdictKind, expected: str) -> None:
    assert compared(original, other) == expected
