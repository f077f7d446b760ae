"""Cluster launch cancellation: whether the first CTA of a response is asked for behind a test of success.

Property: `untested` reports a query only when no branch or guard over it depends, through registers or
through memory, on any `is_canceled` query. A function that stores such an answer, or that is no kernel, tests
it somewhere that is not followed, and nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...ir import Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling

if TYPE_CHECKING:
    from ...view import KernelView


def untested(view: KernelView) -> Iterator[int]:
    """Yield the queries for the first CTA that run whether or not the cancellation succeeded."""
    queries = [
        point
        for point, instruction in enumerate(view.cfg.instructions)
        if instruction.operation.op is Op.CLUSTERLAUNCHCONTROL_QUERY_CANCEL
        and not view.facts.never_runs(point)
    ]
    tests = [point for point in queries if _is_test(view, point)]
    if len(tests) == len(queries) or not view.function.is_entry or not _requests(view):
        return
    answers = _influenced(view, tests)
    if answers is None:
        return
    for point in queries:
        if point not in tests and not any(_depends(view, at, answers) for at in _deciding(view, point)):
            yield point


def _requests(view: KernelView) -> bool:
    wanted = Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL
    return any(instruction.operation.op is wanted for instruction in view.cfg.instructions)


def _is_test(view: KernelView, point: int) -> bool:
    """Tell `is_canceled` from the queries for a CTA: its result is a predicate."""
    instruction = view.cfg.instructions[point]
    return instruction.operation.slots.get("dtype") == ".pred"


def _influenced(view: KernelView, tests: list[int]) -> frozenset[int] | None:
    """Return the points whose results follow from a test, None when one leaves the registers."""
    found = set(tests)
    work = list(tests)
    while work:
        for user in view.facts.uses(work.pop()):
            instruction = view.cfg.instructions[user]
            if instruction.operation.traits & {Trait.STORE, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING}:
                return None
            if user not in found:
                found.add(user)
                work.append(user)
    return frozenset(found)


def _deciding(view: KernelView, point: int) -> Iterator[int]:
    yield point
    for branch, _ in controlling(view.cfg, view.cfg.graph.block_of[point]):
        yield view.cfg.blocks[branch].last


def _depends(view: KernelView, point: int, answers: frozenset[int]) -> bool:
    instruction = view.cfg.instructions[point]
    registers: list[Register] = [] if instruction.guard is None else [instruction.guard.register]
    if Trait.BRANCH in instruction.operation.traits:
        registers += instruction.reads()
    return any(answers.intersection(view.facts.definitions(point, register)) for register in registers)


__all__ = ["untested"]
