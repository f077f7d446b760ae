"""Cluster launch cancellation: whether the first CTA of a response is asked for behind a test of success.

Property: `untested` reports a query only when no branch or guard over it depends, through registers, on any
`is_canceled` query; or when such queries read the same response as it does, and all paths lead from the response to it,
whatever branches on what they say decide: in a loop the branches over it are of the round before. It tells that the CTA
takes effect only where nothing tests the response, or where what is computed from the CTA is stored, decides a branch
or the like, and neither depends on such a test.

Argument: a register depends on a test also where the branch taken decides which definition of it arrives at a join: a
tile number that stays in range only behind a success (implicit flow; Ferrante et al., 1987, control dependence).
Numbers that are computed in front of the test and then left alone are undefined and harmless: compilers move the
computation there.

Not covered: what is done in front of the test under a further condition does not count as done. A function that stores
such an answer, or that is no kernel, tests it somewhere that is not followed, and nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...ir import Register, Vector, registers_of
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling

if TYPE_CHECKING:
    from ...view import KernelView


def untested(view: KernelView) -> Iterator[tuple[int, bool]]:
    """Yield the queries for the first CTA that run whether or not the cancellation succeeded.

    And whether the CTA takes effect: else only the query, and numbers in registers that come of it, are undefined.
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
    decided = _decided(view, answers)
    for point in queries:
        if point in tests or _depends(view, point, answers):
            continue
        query = _query(view, point, tests)
        if not _is_behind(view, point, decided) or _is_passed_by(view, query, point):
            yield point, query.decided is None or _takes_effect(view, query, decided)


@dataclass(frozen=True, slots=True)
class _Query:
    point: int
    responses: frozenset[int]
    """Where the response comes into registers."""
    decided: frozenset[int] | None
    """Points whose results depend on tests of these responses, None where nothing tests them."""


def _query(view: KernelView, point: int, tests: list[int]) -> _Query:
    responses = _responses(view, point)
    own = [test for test in tests if responses and _responses(view, test) == responses]
    answers = _influenced(view, own) if own else None
    return _Query(point, responses, None if answers is None else _decided(view, answers))


def _takes_effect(view: KernelView, query: _Query, decided: frozenset[int]) -> bool:
    """Tell whether more than numbers in registers comes of the CTA that a query gives, whatever tests of it say."""
    seen = {query.point}
    work = [query.point]
    while work:
        for user in view.facts.uses(work.pop()):
            is_tested = _is_behind(view, user, decided) and not _is_passed_by(view, query, user)
            if user in seen or is_tested:
                continue
            if Trait.PURE not in view.cfg.instructions[user].operation.traits:
                return True
            seen.add(user)
            work.append(user)
    return False


def _is_behind(view: KernelView, point: int, answers: frozenset[int]) -> bool:
    """Tell whether a guard or branch over a point depends on an answer, perhaps on one of another round."""
    return any(_depends(view, at, answers) for at in _deciding(view, point))


def _is_passed_by(view: KernelView, query: _Query, point: int) -> bool:
    """Tell whether each response that a query reads leads to a point, whatever tests of the same one say."""
    decided = query.decided
    return decided is not None and all(_comes_to(view, each, point, decided) for each in query.responses)


def _comes_to(view: KernelView, start: int, point: int, answers: frozenset[int]) -> bool:
    """Tell whether all paths from one point come to another, whatever branches on an answer between them decide."""
    cfg, graph = view.cfg, view.cfg.graph
    first, last = graph.block_of[start], graph.block_of[point]
    if first == last and start < point:
        return True
    if first == last or not cfg.postdominators.dominates(last, first):
        return False
    leading = {last} | _blocks_behind([last], cfg.predecessors, first)
    asking = (
        block
        for block in {first} | _blocks_behind([first], cfg.successors, last)
        if _depends(view, cfg.blocks[block].last, answers)
    )
    return all(leading.issuperset(cfg.successors[block]) for block in asking)


def _blocks_behind(starts: list[int], steps: Sequence[Sequence[int]], end: int) -> set[int]:
    """Return the blocks that steps lead to, but not through one of them."""
    found: set[int] = set()
    while starts:
        new = set(steps[starts.pop()]) - found - {end}
        found |= new
        starts += new
    return found


def _responses(view: KernelView, query: int) -> frozenset[int]:
    """Return where the response that a query reads comes into registers, before it is moved; empty if that is open."""
    found: set[int] = set()
    work = [(query, view.cfg.instructions[query].operands[-1])]
    seen = {query}
    while work:
        point, response = work.pop()
        if not isinstance(response, Register | Vector):
            return frozenset()
        for register in registers_of(response):
            for each in view.facts.definitions(point, register):
                if each < 0:
                    return frozenset()
                instruction = view.cfg.instructions[each]
                if instruction.operation.op is not Op.MOV:
                    found.add(each)
                elif each not in seen:
                    seen.add(each)
                    work.append((each, instruction.operands[-1]))
    return frozenset(found)


def _requests(view: KernelView) -> bool:
    wanted = Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL
    return any(instruction.operation.op is wanted for instruction in view.cfg.instructions)


def _is_test(view: KernelView, point: int) -> bool:
    """Tell `is_canceled` from the queries for a CTA: its result is a predicate."""
    instruction = view.cfg.instructions[point]
    return instruction.operation.slots.get("dtype") == ".pred"


def _influenced(view: KernelView, tests: list[int]) -> frozenset[int] | None:
    """Return the points whose results follow from a test, None when one leaves the registers."""
    found = _following(view, tests)
    leaving = {Trait.STORE, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING}
    left = any(view.cfg.instructions[point].operation.traits & leaving for point in found)
    return None if left else found


def _following(view: KernelView, starts: Iterable[int]) -> frozenset[int]:
    """Return points and all that is computed from their results, whatever reads it last."""
    found = set(starts)
    work = list(found)
    while work:
        new = set(view.facts.uses(work.pop())) - found
        found |= new
        work += new
    return frozenset(found)


def _decided(view: KernelView, answers: frozenset[int]) -> frozenset[int]:
    """Return the points whose results follow from answers, or from which definition answers let arrive there."""
    cfg = view.cfg
    block_of = cfg.graph.block_of
    branches = {
        block: frozenset(branch for branch, _ in controlling(cfg, block)) for block in range(len(cfg.blocks))
    }
    found = answers
    while True:
        asking = {block for block in branches if _depends(view, cfg.blocks[block].last, found)}
        new = {
            user
            for block, over in branches.items()
            if over & asking
            for point in cfg.blocks[block].points
            for user in view.facts.uses(point)
            if over & asking - branches[block_of[user]]
        } - found
        if not new:
            return found
        found |= _following(view, new)


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
