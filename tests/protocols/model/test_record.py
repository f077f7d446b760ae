"""Problems hold the schedule up to where they were met, without a copy for each."""

from __future__ import annotations

from ptxcheck.protocols.model.outcome import FirstSteps, Flaw, Step
from ptxcheck.protocols.model.record import Record


def test_schedule_of_a_problem_ends_where_it_was_met() -> None:
    record = Record()
    record.steps += [Step(0, 0, None), Step(0, 1, None)]
    record.add(Flaw.READ_TOO_EARLY, 0, 7, None, -1, "", happened=True)
    record.add(Flaw.OVERWRITE, 0, 8, None, -1, "", happened=True)
    record.steps.append(Step(1, 0, None))
    record.add(Flaw.OVERWRITE, 0, 9, None, -1, "", happened=True)
    record.add(Flaw.OVERWRITE, 0, 10, None, -1, "", happened=False)
    first, second, third, open_one = (problem.schedule for problem in record.problems)
    assert tuple(first) == (Step(0, 0, None), Step(0, 1, None))
    assert second is first
    assert tuple(third) == tuple(record.steps)
    assert not open_one


def test_problems_on_one_schedule_take_no_copies() -> None:
    record = Record()
    record.steps += [Step(0, number, None) for number in range(1000)]
    record.add(Flaw.OVERWRITE, 0, 1, None, -1, "", happened=True)
    schedule = record.problems[0].schedule
    assert isinstance(schedule, FirstSteps)
    assert schedule.growing is record.steps


def test_first_steps_are_equal_by_what_they_are() -> None:
    steps = [Step(0, number, None) for number in range(4)]
    two = FirstSteps(steps, 2)
    assert two == FirstSteps(steps[:3], 2)
    assert hash(two) == hash(FirstSteps(steps[:3], 2))
    assert two != FirstSteps(steps, 3)
    assert two[-1] == steps[1]
    assert two[0:5] == tuple(steps[:2])
