"""Test a bound where other places of the kernel do: in front of a first step that was peeled, around a refill."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..patch import Patch, Writer, combined
from ..sites import nearest, step_at
from ..slices import is_branch, is_set, loop_tests
from ..subject import Subject

_COPIES = frozenset({Trait.ASYNC})
_MOST = 4


def test_bound(subject: Subject) -> Iterator[Patch]:
    """Yield the tests with which loops end, in front of steps of the finding and behind branches around copies."""
    if subject.finding.counterexample is None:
        return
    yield from _test_first(subject)
    yield from _test_around(subject)


def _test_first(subject: Subject) -> Iterator[Patch]:
    """Yield the test of a loop in front of a step outside it, where what it compares is known."""
    view, writer = subject.view, Writer(subject.view)
    texts: dict[str, tuple[int, int]] = {}
    for test, branch in loop_tests(view):
        texts.setdefault(f"{writer.statement(test)} {writer.statement(branch)}", (test, branch))
    for far, point in enumerate(subject.around[:_MOST]):
        step = step_at(view, point)
        for rank, (text, (test, branch)) in enumerate(texts.items()):
            inside = view.cfg.loop_of(branch)
            if inside is not None and view.cfg.graph.block_of[step.first] in inside.blocks:
                continue
            if all(is_set(view, step.first, register) for register in view.body.instructions[test].reads()):
                edit = writer.ahead(step.first, text)
                cost = 4 + min(far, 3) + rank // 2
                yield combined("bound", f"'{text}' before the step", cost, [edit], needs_proof=True)


def _test_around(subject: Subject) -> Iterator[Patch]:
    """Yield, behind a branch around a copy in a loop, the branch around it at the end of what the loop counts."""
    view, writer = subject.view, Writer(subject.view)
    instructions = view.body.instructions
    tests = {
        bound: test
        for test, _ in loop_tests(view)
        if isinstance(bound := instructions[test].operands[-1], Register)
    }
    ends = {branch for _, branch in loop_tests(view)}
    branches = tuple(branch for branch in _branches_around_copies(subject) if branch not in ends)
    for rank, branch in enumerate(nearest(branches, subject.around)[:_MOST]):
        counters = _counters(subject, branch)
        for bound, test in tests.items():
            for more, counter in enumerate(counters if is_set(view, branch, bound) else ()):
                name, own = f"%ptxcheck_last{branch}", instructions[branch]
                target = writer.statement(branch).split()[-1]
                lines = (
                    "{",
                    f".reg .pred {name};",
                    f"{instructions[test].operation.text} {name}, {counter.name}, {bound.name};",
                    f"@{name} bra {target}",
                    "}",
                )
                edit = writer.after(branch, *lines)
                assert own.guard is not None
                summary = f"no copy where {counter.name} has come to {bound.name}"
                yield combined("bound", summary, 4 + rank + more, [edit], needs_proof=True)


def _branches_around_copies(subject: Subject) -> Iterator[int]:
    view = subject.view
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.traits & _COPIES and view.cfg.loop_of(point) is not None:
            for each in view.cfg.control[view.cfg.graph.block_of[point]]:
                branch = view.cfg.blocks[each.branch].last
                if branch < point and is_branch(view.body.instructions[branch]):
                    yield branch


def _counters(subject: Subject, branch: int) -> list[Register]:
    """Return what is counted, or computed from that by an addition, in the loop around a branch; the last first."""
    view = subject.view
    loop = view.cfg.loop_of(branch)
    points = [] if loop is None else [p for block in loop.blocks for p in view.cfg.blocks[block].points]
    added = [
        register
        for point in sorted(points, reverse=True)
        if view.body.instructions[point].operation.op is Op.ADD
        for register in view.body.instructions[point].writes()
        if view.facts.definitions(branch, register)
    ]
    return list(dict.fromkeys(added))[:_MOST]
