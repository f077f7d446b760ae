"""Which reads of answers of `clusterlaunchcontrol.try_cancel` may say that there was nothing to cancel.

Property: a read of bytes that an answer is written to is marked unless what the run has decided implies that this
answer says yes.

Argument: whoever decides by an answer asks `is_canceled` of what was read; the decisions of the run say of which reads
that is true. All others may say no: nobody has asked, or nothing depends on it.

Not covered: answers that threads hand on through shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...cfg.cfg import Cfg
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ..symex.values.approximated_terms import sources_of, variables_of
from ..symex.values.symbol import Atom, Condition, Form
from ..symex.values.trace import Trace
from .actions import Access, Action, Protocol, Span, Strand, Transfer

Path = Sequence[tuple[Condition, bool]]


def with_refusals(
    protocol: Protocol, cfg: Cfg, traces: Sequence[Trace], is_possible: Callable[[Path], bool]
) -> Protocol:
    """Return a protocol in which reads of answers that may say no, and requests, are marked.

    `traces` are those of its CTAs, the last one with all decisions.
    """
    operations = [instruction.operation for instruction in cfg.instructions]
    requests = requests_of(cfg)
    if not requests:
        return protocol
    places = {
        span
        for strand in protocol.strands
        for action in strand.actions
        if isinstance(action, Transfer) and action.point in requests
        for span in action.writes
    }
    path = traces[-1].path
    tests = {each.text for each in operations if each.has(Mod.IS_CANCELED)}
    yes = [
        atom for atom in variables_of(path) if atom[0] in tests and not is_possible((*path, _says_no(atom)))
    ]
    told = {source for atom in yes for source in sources_of(atom)}
    loaded = {trace.rank: trace.loaded for trace in traces}

    def marked(strand: Strand, action: Action, event: int) -> Action:
        if isinstance(action, Transfer) and action.point in requests:
            return as_request(action, strand.cta)
        if not isinstance(action, Access) or not any(_meets(span, places) for span in action.reads):
            return action
        return (
            action if told.intersection(loaded[strand.cta].get(event, ())) else replace(action, refused=True)
        )

    strands = []
    for strand in protocol.strands:
        numbered = zip(strand.actions, strand.events, strict=True)
        actions = tuple(marked(strand, action, event) for action, event in numbered)
        strands.append(replace(strand, actions=actions))
    return replace(protocol, strands=tuple(strands))


def requests_of(cfg: Cfg) -> frozenset[int]:
    """Return the points that ask to cancel a launch."""
    return frozenset(
        point
        for point, instruction in enumerate(cfg.instructions)
        if instruction.operation.op is Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL
    )


def as_request(action: Transfer, cta: int) -> Transfer:
    """Return a transfer of a CTA as a request.

    A request for all CTAs of the cluster is one, and its own CTA is told of it by the answer there.
    """
    return replace(action, asks=any(span.cta == cta for span in action.writes))


def _says_no(atom: Atom) -> tuple[Condition, bool]:
    return Condition("eq", Form(((atom, 1),)), 0), True


def _meets(span: Span, places: set[Span]) -> bool:
    return any(span.may_meet(place) for place in places)
