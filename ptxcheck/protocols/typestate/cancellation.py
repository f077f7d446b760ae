"""Cluster launch cancellation: whether the first CTA of a response is asked for behind a test of success.

Property: `untested` reports a query only when no branch or guard over it depends, through registers or
through memory, on any `is_canceled` query; or when such queries read the same response as it does, and all paths lead
from the response to it, with no branch on what they say: in a loop the branches over it are of the round before. A
function that stores such an answer, or that is no kernel, tests it somewhere that is not followed, and nothing is
reported.
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


def untested(view: KernelView) -> Iterator[tuple[int, bool]]:
    """Yield the queries for the first CTA that run whether or not the cancellation succeeded.

    And whether something is computed from the CTA that no test decides either: else only the query itself is undefined.
    """
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
        if point in tests or _depends(view, point, answers):
            continue
        decided = any(_depends(view, at, answers) for at in _deciding(view, point))
        if not decided or _is_passed_by(view, point, point, tests):
            users = view.facts.uses(point)
            yield point, not decided or any(_is_passed_by(view, point, user, tests) for user in users)


def _is_passed_by(view: KernelView, query: int, point: int, tests: list[int]) -> bool:
    """Tell whether each response that a query reads leads to a point, whatever tests of the same one say."""
    responses = _responses(view, query)
    own = [test for test in tests if responses and _responses(view, test) == responses]
    answers = _influenced(view, own) if own else None
    if answers is None:
        return False
    return all(_comes_to(view, each, point, answers) for each in responses)


def _comes_to(view: KernelView, start: int, point: int, answers: frozenset[int]) -> bool:
    """Tell whether all paths from one point come to another, and none past a branch on an answer before."""
    cfg, graph = view.cfg, view.cfg.graph
    first, last = graph.block_of[start], graph.block_of[point]
    if first == last and start < point:
        return True
    if first == last or not cfg.postdominators.dominates(last, first):
        return False
    seen = {first}
    work = [first]
    while work:
        block = work.pop()
        if _depends(view, cfg.blocks[block].last, answers):
            return False
        new = {each for each in cfg.successors[block] if each != last} - seen
        seen |= new
        work += new
    return True


def _responses(view: KernelView, point: int) -> frozenset[int]:
    """Return where the response that a query reads comes into its register; empty where that is not known."""
    response = view.cfg.instructions[point].operands[-1]
    if not isinstance(response, Register):
        return frozenset()
    found = frozenset(view.facts.definitions(point, response))
    return frozenset() if any(each < 0 for each in found) else found


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
