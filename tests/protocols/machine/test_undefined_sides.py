"""A register that only one side of a branch writes: what it holds there is not lost where the sides meet."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.first.deciding import Question
from ptxcheck.protocols.symex.values.approximated_terms import zeros
from ptxcheck.protocols.symex.values.symbol import (
    Condition,
    Form,
    atom,
    show_atom,
)

from .running import run

_BODY = """
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [m];
mov.u32 %r9, smem;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra AROUND;
setp.eq.u32 %p2, %r2, 7;
selp.u32 %r3, 8, 16, %p2;
AROUND:
setp.ne.u32 %p3, %r1, 0;
@%p3 bra END;
add.u32 %r4, %r9, %r3;
mbarrier.init.shared.b64 [%r4], 1;
END:
"""


@pytest.mark.parametrize("is_seven", [True, False])
def test_what_one_side_writes_is_known_behind_the_branch(is_seven: bool) -> None:
    """Where n is zero the register was written, and the barrier is at one of two places."""

    def choose(question: Question) -> bool:
        ((name, factor),) = question.condition.form.terms
        number = {"n": 0, "m": 7 if is_seven else 5}[str(name[1])]
        return (
            question.condition.holds(factor * number + question.condition.form.constant) == question.positive
        )

    ran = run(_BODY, choose=choose)
    (start,) = ran.operands("mbarrier.init", "addr")
    assert isinstance(start, int)
    assert start % 1024 == (8 if is_seven else 16)


def test_parameters_that_are_zero_in_a_path_are_told() -> None:
    flag, pointer = atom("param", "flag", 0, 4), atom("param", "pointer", 8, 8)
    factor = atom("setp", ".eq", atom("param", "factor", 16, 4).terms[0][0], 0)
    path = [(condition_of(form), truth) for form, truth in ((flag, True), (pointer, False), (factor, True))]
    told = {show_atom(name).partition("+")[0]: is_zero for name, is_zero in zeros(path).items()}
    assert told == {"flag": True, "pointer": False, "factor": False}


def condition_of(form: Form) -> Condition:
    return Condition("eq", form, 0)
