"""Whole kernels: for which launch they are verified, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

from ..cfg import analyse, build
from ..cfg.cfg import Cfg
from ..cfg.local_words import with_words_in_registers
from ..cfg.special import MAX_THREADS
from ..ir import Function, Module
from ..launch import BlockOrigin, Dim, Launch
from ..opcodes.spec import Trait
from ..terms.effort import UNITS_PER_SECOND, Effort
from ..verdict import AssumptionKind, Need, Reason
from .model.fences import never_fences
from .product.for_all import Open, Shown, for_all
from .proof.evidence import BLOCK, Verification
from .proof.first.budget import Budget
from .proof.first.cluster_choice import MOST_CTAS, admitted_cluster, only_cluster, shapes_to_try
from .proof.first.cluster_use import uses_cluster
from .proof.first.driver.all_runs import Verifier
from .role_automata import role_automata
from .symex.slice.endless_loops import ENDLESS, polling_loops
from .symex.slice.layout import Layout, layout_of
from .symex.slice.sliced_program import Program
from .symex.values.trace import Assumption, Shape
from .typestate.block_candidates import suggested_blocks, usual_blocks
from .typestate.register_count import most_registers


def uses_barriers(cfg: Cfg) -> bool:
    """Tell whether there is anything to verify."""
    return any(Trait.MBARRIER in i.operation.traits for i in cfg.instructions)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a verification."""

    accesses: bool
    """With ordinary accesses of shared memory."""
    for_every_count: bool
    """By the product of role automata first."""


def verify(
    cfg: Cfg,
    function: Function,
    module: Module,
    launch: Launch,
    *,
    seconds: float = 20.0,
    accesses: bool = True,
    for_every_count: bool = True,
) -> Verification:
    """Verify one kernel for its launch, or for the first cluster shape that its counts admit.

    `seconds` limits the effort: what it counts takes about so long on the machine that it was fitted on. Without
    `accesses`, ordinary accesses of shared memory are left out (see `symex.values.trace`): less work, and slot safety
    stays unknown. With `for_every_count`, the product of role automata is asked before runs are made.
    """
    followed = with_words_in_registers(function)
    if followed is not function:
        cfg, function = build(followed), followed
    asked = _Asked(accesses, for_every_count)
    block = launch.block or _most_threads(function)
    if block is not None:
        origin = BlockOrigin.STATED if launch.block_is_exact else BlockOrigin.BOUND
        return _verify(cfg, function, module, launch, block, origin, Effort(seconds), asked)
    return _verify_suggested(cfg, function, module, launch, seconds, asked)


def shown_for_every_count(
    cfg: Cfg, function: Function, module: Module, launch: Launch, *, seconds: float = 20.0
) -> Shown | Open:
    """Ask the product of role automata alone, for a launch whose block and cluster are known; no run is made."""
    block = launch.block or _most_threads(function)
    cluster = launch.cluster or (None if uses_cluster(cfg) else (1, 1, 1))
    if block is None or cluster is None:
        return Open("the launch is not known", -1)
    return role_automata(cfg, function, module, launch, Shape(block, cluster), seconds=seconds).result


def _verify_suggested(
    cfg: Cfg, function: Function, module: Module, launch: Launch, seconds: float, asked: _Asked
) -> Verification:
    """Verify a kernel for the blocks that its code suggests; only what goes wrong in all of them is broken.

    Where it is, the blocks that hosts usually launch are tried, too, before that is said.
    """
    suggested = suggested_blocks(analyse(cfg, module, launch))
    broken: list[Verification] = []
    spent, whole = 0.0, Effort(seconds)
    for threads in (*suggested, *(usual_blocks(suggested) if suggested else ())):
        if spent >= seconds or whole.is_braked():
            return Verification(
                None, reasons=[Reason(_NOT_ALL_BLOCKS, -1, Need.BLOCK_OR_TIME)], seconds=spent
            )
        share = min(seconds / len(suggested), seconds - spent)
        block = (threads, 1, 1)
        effort = whole.part(share / seconds)
        result = _verify(cfg, function, module, launch, block, BlockOrigin.SUGGESTED, effort, asked)
        result.suggested_blocks = suggested
        spent += result.seconds
        result.seconds = spent
        if not _is_broken(result):
            return result
        broken.append(result)
    unknown = Verification(None, reasons=[Reason("the block size is not known", -1, Need.BLOCK)])
    if not broken:
        return unknown
    broken[0].seconds = spent
    return broken[0]


_NOT_ALL_BLOCKS = "the block size is not known, and not all that are usual were tried in time"


def _is_broken(result: Verification) -> bool:
    """Tell whether a kernel certainly goes wrong in a launch."""
    return any(result.is_sure(run, problem) for run in result.failures for problem in run.problems)


_TAKEN = {
    BlockOrigin.BOUND: "the block is taken to have all {} threads that it may have",
    BlockOrigin.SUGGESTED: "the block is taken to have {} threads, as its code suggests",
}


def _verify(
    cfg: Cfg,
    function: Function,
    module: Module,
    launch: Launch,
    block: Dim,
    origin: BlockOrigin,
    effort: Effort,
    asked: _Asked,
) -> Verification:
    """Verify one kernel for one block."""
    accesses = asked.accesses
    taken = {}
    if origin in _TAKEN:
        taken[BLOCK] = Assumption(AssumptionKind.BLOCK, _TAKEN[origin].format(prod(block)), -1)
    known = launch.cluster
    program = Program(cfg, module, launch, accesses=accesses)
    registers = most_registers(function.attributes, prod(block))
    if known is None and not uses_cluster(cfg):
        known = (1, 1, 1)
    layout = layout_of(function, module, launch.given, launch.facts)

    def verifier(program: Program, cluster: Dim, *, is_probe: bool = False) -> Verifier:
        shape = Shape(block, cluster)
        return Verifier(program, layout, launch.given, shape, effort, registers, is_probe=is_probe)

    most, is_only = _most_ctas(function), False
    if known is None:
        barriers_only = partial(verifier, Program(cfg, module, launch), is_probe=True)
        shape, is_admitted = admitted_cluster(barriers_only, shapes_to_try(cfg, most))
    else:
        shape, is_admitted = known, True
    own = effort.part(_PART_OF_PRODUCT)

    def judged(cluster: Dim, *, asks_product: bool) -> Verification:
        ask = partial(_by_product, program, layout, launch, Shape(block, cluster), registers, own, asked)
        return _judged(partial(verifier, program, cluster), ask if asks_product else None)

    result = judged(shape, asks_product=is_admitted)
    while known is None and prod(shape) < result.least_ctas <= MOST_CTAS:
        chosen = _larger_cluster(barriers_only, cfg, result.least_ctas, most)
        if chosen is None:
            break
        shape, is_admitted, is_only = chosen
        result = judged(shape, asks_product=is_admitted or is_only)
    if accesses and program.thread_copies and _may_be_by_copies(result) and not Budget(effort).is_late():
        decided = verifier(Program(cfg, module, launch, accesses=True, decides_copies=True), shape).run()
        if any(not run.doubt for run in decided.failures) or _is_decided(decided):
            result = decided
    if not accesses:
        result.memory_doubts.append(Reason("ordinary accesses of shared memory were not followed", -1))
    result.assumptions.update(taken)
    result.block_origin = origin
    _note_loops(program, result)
    result.never_fences = never_fences(cfg)
    result.is_admitted = is_admitted
    result.inferred = known is None and not is_only and (shape != (1, 1, 1) or bool(result.failures))
    _note_clock(result, effort, own)
    result.seconds = effort.spent / UNITS_PER_SECOND
    return result


def _judged(make: Callable[[], Verifier], ask: Callable[[], Shown | Open | None] | None) -> Verification:
    """Verify for one shape of the cluster: by the product, where that is to be asked, or else by runs.

    What it shows for sizes that are not empty, or work in whole clusters, is told where runs do not show all, and none
    goes wrong for sure.
    """
    by_product = None if ask is None else ask()
    shown = make().show(by_product) if isinstance(by_product, Shown) else None
    if shown is not None and not (isinstance(by_product, Shown) and by_product.is_left_to_host):
        return shown
    sizes = by_product.sizes if by_product is not None else {}
    ran = make().run(sizes)
    if shown is None or ran.complete or any(not run.doubt for run in ran.failures):
        return ran
    return shown


def _larger_cluster(
    verifier: Callable[[Dim], Verifier], cfg: Cfg, least: int, most: int
) -> tuple[Dim, bool, bool] | None:
    """Return a cluster of as many CTAs as a run needs, whether some run admits it, and whether it is the only one."""
    shape, is_admitted = admitted_cluster(verifier, shapes_to_try(cfg, most), least)
    if prod(shape) >= least:
        return shape, is_admitted, False
    only = only_cluster(cfg, least, most)
    return None if only is None else (only, False, True)


def _most_ctas(function: Function) -> int:
    """Return how many CTAs a cluster of a kernel may have by `.maxclusterrank`."""
    stated = function.attributes.get(".maxclusterrank", ())
    return min((*stated, MOST_CTAS))


_PART_OF_PRODUCT = 0.3
"""What the product of role automata may take of the effort for one kernel, besides that of runs."""


def _by_product(
    program: Program,
    layout: Layout,
    launch: Launch,
    shape: Shape,
    registers: int | None,
    effort: Effort,
    asked: _Asked,
) -> Shown | Open | None:
    """Ask the product of role automata; None where it is not to be asked."""
    if not asked.for_every_count or not asked.accesses or effort.limit is None:
        return None
    return for_all(program, layout, launch.given, shape, registers, effort)


_ENDED_FIRST = "the clock ended the search for what holds for every count: it took too long for so much work"
_BRAKED = "the clock ended this: it took twice the processor time that so much work should"


def _note_clock(result: Verification, effort: Effort, own: Effort) -> None:
    """Note what the clock has ended: all, or what the product of role automata had of its own."""
    if effort.was_braked:
        result.reasons.insert(0, Reason(_BRAKED, -1, Need.TIME))
    elif own.was_braked:
        result.bounds.append(Reason(_ENDED_FIRST, -1, Need.TIME))


def _may_be_by_copies(result: Verification) -> bool:
    """Tell whether all that keeps a kernel from a verdict is that accesses may meet, or may not."""
    return bool(result.memory_doubts) and not result.failures and not result.reasons


def _is_decided(result: Verification) -> bool:
    return not (result.memory_doubts or result.failures or result.reasons)


def _note_loops(program: Program, result: Verification) -> None:
    """Note loops that are not known to end."""
    endless = [Reason(ENDLESS, program.cfg.blocks[loop.latches[0]].last) for loop in program.endless]
    result.reasons[:0] = endless  # first: a run that takes too many steps may do so for that
    for point in polling_loops(program.cfg, program.definitions):
        text = "what is polled in shared memory is stored there in the end"
        polled = Assumption(AssumptionKind.POLLED, text, point)
        result.assumptions.setdefault(polled.key, polled)


def _most_threads(function: Function) -> Dim | None:
    given = function.attributes.get(".maxntid")
    if not given or not 1 <= prod(given) <= MAX_THREADS:
        return None
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z
