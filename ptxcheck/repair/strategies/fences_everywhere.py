"""Insert a proxy fence for all findings that lack one at once: who forgot it in one loop did so in the others."""

from __future__ import annotations

from collections.abc import Iterator

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...protocols.model.outcome import Flaw
from ..patch import Patch, Writer, combined
from ..subject import Subject

_RULES = ("PX020",)
_FENCES = ("fence.proxy.async.shared::cta;", "fence.proxy.async;")
_MOST = 32
"""Places."""
_COST = -1
"""In front of any patch that changes one place alone: it would be one of many."""


def fence_everywhere(subject: Subject) -> Iterator[Patch]:
    """Yield fences in front of what the threads do next, behind each write that lacks one, to let others go on.

    For one write alone `insert_statement` has more places.
    """
    if subject.finding.rule not in _RULES:
        return
    lacking = [each.problem for each in subject.violations if each.problem.flaw is Flaw.MISSING_PROXY_FENCE]
    places: set[int] = set()
    for problem in lacking:
        for _, write in problem.related:
            found = _next_syncs(subject, write, problem.point)
            if not found:
                return
            places |= found
    if not 1 < len(places) <= _MOST:
        return
    writer = Writer(subject.view)
    for cost, text in enumerate(_FENCES, _COST):
        edits = [writer.before(point, text) for point in sorted(places)]
        yield combined("fences everywhere", f"insert '{text}' at {len(places)} places", cost, edits)


def _next_syncs(subject: Subject, write: int, reader: int) -> set[int]:
    """Return where threads that have written come to a barrier, an arrival or the reader first, on any way."""
    cfg, instructions = subject.view.cfg, subject.view.body.instructions
    found: set[int] = set()
    seen: set[int] = set()
    work = [(cfg.graph.block_of[write], write + 1)]
    while work:
        index, start = work.pop()
        block = cfg.blocks[index]
        stop = next(
            (
                point
                for point in range(start, block.end)
                if point == reader
                or Trait.BARRIER in instructions[point].operation.traits
                or instructions[point].operation.op is Op.MBARRIER_ARRIVE
            ),
            None,
        )
        if stop is not None:
            found.add(stop)
            continue
        for other in cfg.successors[index]:
            if other != cfg.exit and other not in seen:
                seen.add(other)
                work.append((other, cfg.blocks[other].start))
    return found
