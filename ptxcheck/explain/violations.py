"""Whole-kernel verification of one view: its result, and each way in which the kernel breaks its contract, once."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from ..descriptors.contract import Contract
from ..ir import Immediate
from ..launch import BlockOrigin, GivenValue, Launch
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from ..protocols.contract.given import AT_POINT
from ..protocols.model.actions import Barrier
from ..protocols.model.outcome import (
    Flaw,
    Location,
    Problem,
    SharedByte,
    SharedMemory,
    Step,
    TensorColumn,
)
from ..protocols.model.sync_objects import (
    ClusterBarrier,
    DivergentWarpBarrier,
    HaltPoint,
    LockstepBarrier,
    NamedBarrier,
    RegisterBudget,
    WarpBarrier,
)
from ..protocols.proof.evidence import (
    PROPERTIES,
    Run,
    Verification,
    show_equations,
)
from ..protocols.proof.simulate import scheduled_steps
from ..protocols.symex.values.trace import Shape
from ..protocols.verify import verify
from ..verdict import AssumptionSource, Need, Property, Reason, Verdict, VerdictKind
from ..view import KernelView
from .barrier_history import held_after
from .barrier_names import barriers_of
from .race_causes import cause_of

_TRAITS = frozenset({Trait.MBARRIER, Trait.ASYNC})
_RACES = frozenset(
    {
        Flaw.READ_TOO_EARLY, Flaw.OVERWRITE, Flaw.WRITES_COLLIDE, Flaw.MISSING_PROXY_FENCE, Flaw.UNFENCED_COPY,
        Flaw.FENCED_BEHIND_BARRIER, Flaw.FENCED_ON_THE_WAY, Flaw.UNRELEASED_STORE, Flaw.NARROW_ACQUIRE,
    }
)  # fmt: skip
_HELD = frozenset({VerdictKind.PROVED, VerdictKind.ASSUMES})
_LIFECYCLE = frozenset({Flaw.UNINITIALISED, Flaw.DOUBLE_INIT, Flaw.UNORDERED_INIT})

_OF_TIME = frozenset({Need.TIME, Need.BLOCK_OR_TIME, Need.VALUES_OR_TIME})

_MECHANISMS: Mapping[type[Location | None], str] = {
    type(None): "", Barrier: "mbarrier", NamedBarrier: "bar", ClusterBarrier: "cluster", WarpBarrier: "warp",
    DivergentWarpBarrier: "lanes", LockstepBarrier: "lanes", HaltPoint: "stopped", RegisterBudget: "registers",
    SharedByte: "shared", SharedMemory: "cta", TensorColumn: "tmem",
}  # fmt: skip


class Cause(Enum):
    """What a deadlock is about, as far as rules tell it apart."""

    ARRIVALS = "arrivals"
    BYTES = "bytes"


@dataclass(frozen=True)
class Violation:
    """One flaw of a run. Not `certain`: it rests on something taken for granted."""

    shape: Shape
    run: Run
    problem: Problem
    certain: bool
    cause: Cause = Cause.ARRIVALS
    block_origin: BlockOrigin = BlockOrigin.STATED
    suggested_blocks: tuple[int, ...] = ()

    @property
    def mechanism(self) -> str:
        """Return the word by which rules tell apart what a problem is about; "" for nothing in particular."""
        return _MECHANISMS[type(self.problem.barrier)]


_Flaw = tuple[Run, Problem, Cause]
"""A problem with its run; the cause is that of a deadlock."""


@dataclass(frozen=True)
class WholeKernel:
    """What verification of one kernel gave."""

    result: Verification
    failure: str = ""
    """What went wrong in ptxcheck itself, or ""."""

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict for each property: one is `violated` by a violation that rules make a finding of."""
        if self.failure:
            reason = Reason("the verifier itself failed", -1)
            return tuple(Verdict(which, VerdictKind.UNKNOWN, (reason,)) for which in PROPERTIES)
        return self.result.verdicts([each.problem for each in self.violations if each.certain])

    def shows(self, properties: Iterable[Property], point: int) -> bool:
        """Tell whether all runs of the kernel keep some properties, and some of the runs execute a point.

        What holds as far as threads come, or but for some values, holds in some runs only. What is taken of the
        hardware at the point itself is not shown, but named.
        """
        if self.result.stops_early:
            return False
        held = {
            verdict.property
            for verdict in self.verdicts
            if verdict.kind in _HELD
            and all(
                (each.source, each.point) != (AssumptionSource.HARDWARE, point)
                for each in verdict.assumptions
            )
        }
        return held.issuperset(properties) and self.result.covers(point)

    @property
    def equations(self) -> tuple[str, ...]:
        """Return what the host must make true."""
        return tuple(show_equations(self.result))

    @property
    def out_of_time(self) -> bool:
        """Tell whether more time might decide more."""
        return any(reason.need in _OF_TIME for reason in self.result.reasons)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Return each flaw once: lifecycles by barrier, deadlocks by what is missing, races by both ends and
        what the copies in them tell of their end.

        What is certain comes first. Flaws that are taken for one belong to one property.
        """
        shape = self.result.shape
        if shape is None:
            return ()
        is_sure = self.result.is_sure
        found = [each for run in self.result.failures for each in _flaws(run, is_sure)]
        # What is certain comes first: what is in doubt must not stand for it.
        found.sort(key=lambda each: not is_sure(each[0], each[1]))
        return tuple(
            Violation(
                shape,
                run,
                problem,
                is_sure(run, problem),
                cause,
                self.result.block_origin,
                self.result.suggested_blocks,
            )
            for run, problem, cause in _each_once(found)
        )

    @cached_property
    def strict(self) -> tuple[Violation, ...]:
        """Return what the PTX ISA forbids and released libraries rely on, each once."""
        shape = self.result.shape
        if shape is None:
            return ()
        is_sure = not self.result.assumptions and not self.result.inferred
        flaws = ((run, problem, Cause.ARRIVALS) for run in self.result.strict for problem in run.problems)
        return tuple(
            Violation(shape, run, problem, is_sure and problem.demonstrated)
            for run, problem, _ in _each_once(flaws)
        )


def _each_once(flaws: Iterable[_Flaw]) -> Iterator[_Flaw]:
    known: set[object] = set()
    for each in flaws:
        keys = _keys(each[0], each[1])
        if known.isdisjoint(keys):
            known.update(keys)
            yield each


def _keys(run: Run, problem: Problem) -> list[object]:
    """Return what two reports of one thing have in common."""
    if problem.flaw is Flaw.DEADLOCK:
        return [(problem.flaw, problem.barrier), (problem.flaw, problem.point)]
    if problem.flaw in _LIFECYCLE:
        return [(problem.flaw, problem.barrier), (problem.flaw, problem.point)]
    if problem.flaw not in _RACES:
        return [(problem.flaw, problem.point)]
    about = cause_of(run.protocol, problem)
    earlier = [(problem.flaw, "after", point, about) for _, point in problem.related]
    return [(problem.flaw, problem.point, about), *earlier]


def whole_kernel(view: KernelView) -> WholeKernel | None:
    """Verify a kernel; None when that is turned off, or it has nothing that verification is about.

    A failure of the verifier is part of the result, so that it is met once and not by every rule.
    """
    seconds = view.verify_seconds
    if seconds is None or not view.function.is_entry or not concerns(view):
        return None
    try:
        result = verify(
            view.cfg,
            view.function,
            view.module,
            verified_launch(view),
            seconds=seconds,
            for_every_count=view.for_every_count,
        )
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rsplit('/ptxcheck/', 1)[-1]}:{frame.lineno}"
        return WholeKernel(Verification(None), f"{type(error).__name__}: {error} at {place}")
    return WholeKernel(result)


def verified_launch(view: KernelView) -> Launch:
    """Return the launch of a kernel, with the bytes of boxes that are known."""
    return replace(view.launch, given=(*view.launch.given, *_known_boxes(view)))


def _known_boxes(view: KernelView) -> Iterator[GivenValue]:
    """Yield the bytes of the boxes of tensor maps that are known, by the copies that move them."""
    for point, size in view.get(Contract).box_bytes.items():
        yield GivenValue(f"{AT_POINT}{point}", size)


def concerns(view: KernelView) -> bool:
    """Tell whether a kernel has what verification is about.

    That is mbarriers, the cluster barrier, barriers that not all threads take part in, and groups of asynchronous work.
    """
    return any(
        not _TRAITS.isdisjoint(instruction.operation.traits)
        or instruction.operation.op in (Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT, Op.BAR_ARRIVE)
        or (instruction.operation.op is Op.BAR_SYNC and _is_named(instruction.operands))
        for instruction in view.cfg.instructions
    )


def _is_named(operands: tuple[object, ...]) -> bool:
    """Tell whether a barrier is another one than barrier 0 of all threads."""
    return len(operands) > 1 or not (isinstance(operands[0], Immediate) and operands[0].value == 0)


def _flaws(run: Run, is_sure: Callable[[Run, Problem], bool]) -> Iterator[_Flaw]:
    """Yield the flaws of a run; of blocked strands that wait for each other one, those that are certain first.

    That is one that lacks bytes, or that the others wait for.
    """
    for problem in run.problems:
        if problem.flaw is not Flaw.DEADLOCK:
            yield run, problem, Cause.ARRIVALS
    for blocked in _apart([problem for problem in run.problems if problem.flaw is Flaw.DEADLOCK]):
        causes = [_cause(run, problem) for problem in blocked]
        root, cause = min(
            zip(blocked, causes, strict=True),
            key=lambda each: (
                not is_sure(run, each[0]),
                each[1] is not Cause.BYTES,
                _helpers(run, each[0]),
            ),
        )
        yield run, root, cause


def _apart(blocked: Sequence[Problem]) -> list[list[Problem]]:
    """Return blocked strands in sets: those of one wait for each other, at one instruction or for one barrier."""
    found: list[list[Problem]] = []
    for problem in blocked:
        together = [each for each in found if any(_hang_together(problem, other) for other in each)]
        found = [each for each in found if each not in together]
        found.append([other for each in together for other in each] + [problem])
    return found


def _hang_together(one: Problem, other: Problem) -> bool:
    # Of strands that are blocked at one instruction for one barrier there is one problem.
    return (
        one.point == other.point
        or one.barrier == other.barrier
        or any(point == other.point for _, point in one.related)
        or any(point == one.point for _, point in other.related)
    )


def stuck_at(violation: Violation) -> dict[int, int]:
    """Return the action that each strand cannot do when none can go on; nothing where that is not what goes wrong."""
    if violation.problem.flaw is not Flaw.DEADLOCK:
        return {}
    strands = violation.run.protocol.strands
    done = {index: 0 for index, strand in enumerate(strands) if strand.actions}
    for step in steps_of(violation.run, violation.problem):
        done[step.strand] = step.index + 1
    return {index: at for index, at in done.items() if at < len(strands[index].actions)}


def steps_of(run: Run, problem: Problem) -> tuple[Step, ...]:
    """Return the schedule that shows a problem."""
    return tuple(problem.schedule) or scheduled_steps(run.protocol)


def _helpers(run: Run, problem: Problem) -> int:
    """Return how many strands would still do something for what a blocked strand waits for."""
    done = dict.fromkeys(range(len(run.protocol.strands)), 0)
    for step in steps_of(run, problem):
        done[step.strand] = step.index + 1
    return sum(
        any(problem.barrier in barriers_of(action) for action in strand.actions[done[index] + 1 :])
        for index, strand in enumerate(run.protocol.strands)
        if index != problem.strand
    )


def _cause(run: Run, problem: Problem) -> Cause:
    if not isinstance(problem.barrier, Barrier):
        return Cause.ARRIVALS
    held = held_after(run.protocol, steps_of(run, problem)).get(problem.barrier)
    return Cause.BYTES if held is not None and held.pending <= 0 else Cause.ARRIVALS
