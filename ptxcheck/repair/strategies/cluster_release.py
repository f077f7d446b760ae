"""Arrive at other CTAs of the cluster as well: what is written for several is free when all of them have read it."""

from __future__ import annotations

from collections.abc import Iterator

from ...explain.barrier_names import mbarriers_of
from ...ir import Address, Immediate
from ...opcodes.op import Op
from ...parser.show import show_operand
from ...protocols.model.actions import Action, Barrier, Init
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import guard_text, nearest, points_of
from ..subject import Subject

_RULES = ("SM02", "MB02", "TX", "CL02", "TM03", "TM04")
_MOST_CTAS = 8
_ARRIVALS = 4
_WAIT = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"


def tell_cluster(subject: Subject) -> Iterator[Patch]:
    """Yield, for each arrival at an own mbarrier, arrivals at that of every CTA, and one at that of the first CTA.

    The count of the mbarrier is taken times the CTAs that arrive then, and waits for it acquire from the cluster.
    """
    ctas = subject.view.launch.cluster_size
    if not subject.finding.rule.startswith(_RULES) or ctas is None or not 1 < ctas <= _MOST_CTAS:
        return
    view = subject.view
    arrivals = [
        point
        for point in nearest(points_of(view, Op.MBARRIER_ARRIVE), subject.around)
        if view.body.instructions[point].get("tx_count") is None
        and view.body.instructions[point].get("count") is None
    ]
    for rank, point in enumerate(arrivals[:_ARRIVALS]):
        counts = [*_counts(subject, point, ctas), *_waits(subject, point)]
        for more, (who, targets) in enumerate((("every CTA", range(ctas)), ("the first CTA", range(1)))):
            for far, arrival in enumerate(_arrivals(subject, point, targets)):
                summary = f"arrive at {who} of the cluster, and count all of them"
                edits = [*arrival, *counts]
                yield combined("cluster release", summary, 4 + rank + more + far, edits, needs_proof=True)


def _arrivals(subject: Subject, point: int, targets: range) -> Iterator[list[Edit]]:
    """Yield the arrivals in the place of one, and in front of each branch around it."""
    view, writer = subject.view, Writer(subject.view)
    instruction = view.body.instructions[point]
    address = instruction.get("addr")
    if not isinstance(address, Address):
        return
    own, there = f"%ptxcheck_own{point}", f"%ptxcheck_there{point}"
    base = "" if address.base is None else show_operand(address.base)
    lines = ["{", f".reg .b32 {own}, {there};", f"mov.u32 {own}, {base};"]
    if address.offset:
        lines.append(f"add.u32 {own}, {own}, {address.offset};")
    for target in targets:
        lines.append(f"mapa.shared::cluster.u32 {there}, {own}, {target};")
        guard = guard_text(instruction)
        lines.append(f"{guard}mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{there}];")
    lines.append("}")
    yield [writer.rewritten(point, "\n    ".join(lines))]
    control = view.cfg.control[view.cfg.graph.block_of[point]]
    for branch in sorted({view.cfg.blocks[each.branch].last for each in control}, reverse=True):
        known = all(
            view.facts.same_definition(point, register, branch, register) for register in instruction.reads()
        )
        if branch < point and known:
            yield [writer.delete(point), writer.before(branch, *lines)]


def _counts(subject: Subject, point: int, ctas: int) -> list[Edit]:
    """Return the initialisations of what an arrival arrives at, with the count times the CTAs."""
    writer = Writer(subject.view)
    edits = []
    for init, count in _inits(subject, point).items():
        if isinstance(subject.view.body.instructions[init].get("count"), Immediate):
            edits.append(writer.with_operand(init, "count", Immediate(count * ctas)))
    return edits


def _inits(subject: Subject, point: int) -> dict[int, int]:
    """Return where the mbarriers are initialised that an arrival arrives at in the violation, with their counts."""
    names = _barriers(subject, point)
    return {a.point: a.count for a in _actions(subject) if isinstance(a, Init) and a.barrier in names}


def _barriers(subject: Subject, point: int) -> set[Barrier]:
    """Return the mbarriers that the statement at a point is about, in every CTA that executes it."""
    return {each for a in _actions(subject) if a.point == point for each in mbarriers_of(a)}


def _actions(subject: Subject) -> Iterator[Action]:
    for violation in subject.violations[:1]:
        for strand in violation.run.protocol.strands:
            yield from strand.actions


def _waits(subject: Subject, point: int) -> list[Edit]:
    """Return the waits for those mbarriers, as ones that acquire from the whole cluster."""
    view, writer = subject.view, Writer(subject.view)
    names = _barriers(subject, point)
    found = sorted(
        {
            a.point
            for a in _actions(subject)
            if view.body.instructions[a.point].operation.op is Op.MBARRIER_TRY_WAIT
            and not names.isdisjoint(mbarriers_of(a))
        }
    )
    edits = []
    for wait in found:
        head = view.body.instructions[wait].operation.text
        if ".acquire" not in head:
            edits.append(writer.rewritten(wait, writer.statement(wait).replace(head, _WAIT, 1)))
    return edits
