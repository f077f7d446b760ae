"""Values that roles read from shared memory: whether those of a run can be read in one schedule.

The machine gives each read of shared memory by a role a symbol that is named by its place and how often the role has
read there: all roles are taken to read the same values in the same order (`SHARED_LOAD`). A schedule that goes wrong
shows more: what wrote the bytes before each read of it. The values are possible when nobody computed them (answers of
`clusterlaunchcontrol.try_cancel`, or what shared memory held at first), a symbol stands for one write alone, and the
decisions of the run, which ask whether there is work and nothing else, agree about symbols that stand for the same
one. Reads that the schedule does not come to say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from heapq import merge

from ....cfg.cfg import Cfg
from ....isa.modifier import Mod
from ....opcodes.op import Op
from ...model.actions import (
    Access,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from ...model.outcome import Step
from ...order.memory_steps import memory_steps
from ...symex.values.approximated_terms import doubt_of, sources_of, variables_of
from ...symex.values.symbol import (
    Atom,
    Condition,
    Form,
    plus,
)
from ...symex.values.trace import OFFSET_MASK, Trace

Path = Sequence[tuple[Condition, bool]]
_Write = tuple[int, int] | None
"""CTA and event of an answer; None for what shared memory held at first. Copies for all CTAs are one answer."""
_Name = tuple[_Write, tuple[object, ...]]
_PAGE = 256
"""Bytes of shared memory whose writes are looked through together."""
_MOST_PAGES = 256


@dataclass(frozen=True, slots=True)
class Answers:
    """What a kernel asks the hardware for: points of the requests, and opcodes that test an answer for yes or no."""

    requests: frozenset[int]
    tests: frozenset[str]

    @classmethod
    def of(cls, cfg: Cfg) -> Answers:
        """Return the requests and tests of a kernel."""
        operations = [instruction.operation for instruction in cfg.instructions]
        asks = Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL
        return cls(
            frozenset(point for point, operation in enumerate(operations) if operation.op is asks),
            frozenset(operation.text for operation in operations if operation.has(Mod.IS_CANCELED)),
        )


class _UnknownError(Exception):
    """What was read is not an answer, or not one alone."""


def are_possible(
    protocol: Protocol,
    steps: Sequence[Step],
    traces: Sequence[Trace],
    path: Path,
    answers: Answers,
    is_possible: Callable[[Path], bool],
) -> bool:
    """Tell whether a schedule can read what a run decided on.

    `traces` are those of the CTAs of the protocol.
    """
    inputs = {atom: set(sources_of(atom)) for atom in variables_of(path)}
    sources = {source for each in inputs.values() for source in each}
    wanted = {atom for atom in sources if atom[0] == "shared"}
    known = {atom for trace in traces for atoms in trace.loaded.values() for atom in atoms}
    if any(atom[0] == "deep" for atom in sources) or not wanted <= known:
        return False
    reading = _Reading({trace.rank: trace.loaded for trace in traces}, wanted, answers.requests)
    try:
        for step, action in memory_steps(protocol, steps):
            reading.enter(protocol.strands[step.strand], step.index, action)
        same = reading.representatives()
        if any(atom[0] not in answers.tests and not each.isdisjoint(same) for atom, each in inputs.items()):
            return False
        as_read = [(replace(c, form=_with(c.form, same)), truth) for c, truth in path]
    except _UnknownError:
        return False
    truths: dict[Condition, bool] = {}
    if any(truths.setdefault(condition, truth) is not truth for condition, truth in as_read):
        return False
    return doubt_of(as_read, answers.tests) is None and is_possible(as_read)


@dataclass(slots=True)
class _Reading:
    """What was written and read so far in a schedule."""

    loaded: Mapping[int, Mapping[int, tuple[Atom, ...]]]
    wanted: AbstractSet[Atom]
    requests: AbstractSet[int]
    writes: list[tuple[Span, _Write]] = field(default_factory=list)
    """Newest last. Writes that are no answers are (-1, -1)."""
    places: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Which of them may reach each page of the shared memory of a CTA."""
    anywhere: list[int] = field(default_factory=list)
    """Those of which that is not known, or that may reach many pages."""
    names: dict[Atom, _Name] = field(default_factory=dict)

    def enter(self, strand: Strand, index: int, action: Access | Transfer) -> None:
        """Note what one action reads, then what it writes. Raises _UnknownError."""
        event = strand.events[index]
        atoms = self.loaded[strand.cta].get(event, ()) if isinstance(action, Access) else ()
        wanted = [atom for atom in atoms if atom in self.wanted]
        if wanted:
            writes = {self._last_write(span) for span in action.reads}
            if len(writes) != 1:
                raise _UnknownError
            write = writes.pop()
            for atom in wanted:
                name = (write, _place(atom))
                if self.names.setdefault(atom, name) != name:
                    raise _UnknownError
        answer = isinstance(action, Transfer) and action.point in self.requests
        for span in action.writes:
            pages = _pages(span)
            for at in [self.anywhere] if pages is None else [self.places[page] for page in pages]:
                at.append(len(self.writes))
            self.writes.append((span, (strand.cta, event) if answer else (-1, -1)))

    def _last_write(self, read: Span) -> _Write:
        pages = _pages(read)
        found = (
            [range(len(self.writes))]
            if pages is None
            else [self.anywhere, *map(self.places.__getitem__, pages)]
        )
        for number in merge(*map(reversed, found), reverse=True):
            written, write = self.writes[number]
            if not written.may_meet(read):
                continue
            unknown = read.start < 0 or written.start < 0 or not written.exact
            if unknown or write == (-1, -1) or read.start < written.start or written.end < read.end:
                raise _UnknownError
            return write
        return None

    def representatives(self) -> dict[Atom, Atom]:
        """Return one symbol for all that stand for the same bytes of one answer."""
        chosen: dict[_Name, Atom] = {}
        return {atom: chosen.setdefault(name, atom) for atom, name in self.names.items()}


def _pages(span: Span) -> list[tuple[int, int]] | None:
    """Return the pages that some bytes may be in, None when there are many or they are not known."""
    first = span.start // _PAGE
    end = span.start + max(span.size, span.reach, 1)
    if span.start < 0 or end > (first + _MOST_PAGES) * _PAGE:
        return None
    return [(span.cta, page) for page in range(first, (end - 1) // _PAGE + 1)]


def _place(atom: Atom) -> tuple[object, ...]:
    """Return where a symbol was read, whichever CTA it was, and its width."""
    _, address, width, *_ = atom
    return (address & OFFSET_MASK if isinstance(address, int) else address, width)


def _with(form: Form, same: Mapping[Atom, Atom]) -> Form:
    """Return a form with other symbols in place of some, at any depth. Raises _UnknownError when none is left."""
    known: dict[object, object] = {}

    def changed(part: object) -> object:
        if not isinstance(part, tuple):
            return part
        if part in known:
            return known[part]
        if isinstance(part, Atom):
            inner = tuple(changed(each) for each in part)
            found: object = same.get(part, part if inner == tuple(part) else Atom(inner, part.differs))
        else:
            found = tuple(changed(each) for each in part)
        known[part] = found
        return found

    total: Form | int = form.constant
    for name, factor in form.terms:
        other = changed(name)
        assert isinstance(other, Atom)
        total = plus(total, Form(((other, 1),)), factor)
    if isinstance(total, int):
        raise _UnknownError
    return total
