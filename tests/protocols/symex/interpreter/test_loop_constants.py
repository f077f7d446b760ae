"""What a loop that is not followed leaves in registers to which each round gives the same number."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.values.symbol import Form
from ptxcheck.protocols.symex.values.trace import NotFollowedError
from tests.protocols.machine_runs import run

LOOP = """
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p];
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd1, %rd0, %rd1;
ld.global.u32 %r1, [%rd1];
{before}
mov.u32 %r2, 0;
LOOP:
setp.ge.u32 %p0, %r2, %r1;
@%p0 bra DONE;
{inside}
add.u32 %r2, %r2, 1;
bra LOOP;
DONE:
setp.lt.s32 %p1, %r5, 8;
@%p1 bra SKIP;
bar.sync 0;
SKIP:
"""
LOAD = "ld.param.u32 %r4, [m];\nadd.u32 %r5, %r4, 3;"


@pytest.mark.parametrize("before", ["", LOAD])
def test_a_parameter_that_is_loaded_in_each_round_is_the_same_for_all_threads(before: str) -> None:
    ran = run(LOOP.format(before=before, inside=LOAD))
    (question,) = ran.questions
    assert isinstance(question.condition.form, Form)
    assert [str(name[0]) for name, _ in question.condition.form.terms] == ["param"]


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("mov.u32 %r5, 9;", LOAD),
        ("", "add.u32 %r5, %r2, 3;"),
        ("", LOAD + "\n@%p2 add.u32 %r5, %r4, 4;"),
        ("", "ld.global.u32 %r4, [%rd0];\nadd.u32 %r5, %r4, 3;"),
    ],
    ids=["another before", "counts rounds", "two definitions", "from memory"],
)
def test_what_rounds_change_or_may_not_have_run_is_not(before: str, inside: str) -> None:
    with pytest.raises(NotFollowedError, match="differs between threads"):
        run(LOOP.format(before=before, inside=inside))
