"""Values that threads receive through shared memory and that nobody knows as numbers: answers of
`clusterlaunchcontrol.try_cancel`, tiles that a scheduler warp hands on.

Property: a symbol of kind `RECEIVED` with age 0 stands for what its thread has read last at a point, one with age n for
what it had read there n times before.

Argument: whenever a point is executed, every register that holds such a symbol of that point gets the symbol that is
one older. So the same text stands at the head of a loop in every round, and the product knows of each thread which
values it holds (`product.received`).

Not covered: values older than `OLDEST`, and reads by some threads of those that execute a block together: these are
not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...cfg.optypes import typing_of
from ...ir import Instruction
from ..symex.values.kinds import Kind
from ..symex.values.register_file import RegisterFile
from ..symex.values.symbol import FROM_SHARED, Atom, Form, Value, atom
from ..symex.values.trace import NotFollowedError, ThreadSet
from ..symex.values.traversal import walk
from .naming_decider import NamingDecider
from .variables import is_of_variables

OLDEST = 2


@dataclass(slots=True)
class ReceivedReads:
    """Reads whose values are followed; they only grow."""

    follows: bool = False
    """Whether reads that decide what threads do are followed at all."""
    points: set[int] = field(default_factory=set)


@dataclass(slots=True)
class ReceivedValues:
    """What the registers of one CTA hold of received values."""

    reads: ReceivedReads
    registers: RegisterFile
    decider: NamingDecider
    threads: ThreadSet = 0
    """Who executes the node."""
    done: set[int] = field(default_factory=set)
    """Points that were executed in the node."""

    def begin(self, threads: ThreadSet) -> None:
        """Begin a node."""
        self.threads = threads
        self.done.clear()

    def read(
        self, point: int, instruction: Instruction, address: Value, guard: ThreadSet, offset: int
    ) -> Form:
        """Return what threads read at a point, `offset` bytes behind the first. Raises NotFollowedError."""
        if not (isinstance(address, int) or is_of_variables(address)):
            raise NotFollowedError("what threads receive lies at different places", point)
        if guard != self.threads:
            raise NotFollowedError("some threads of a group receive a value", point)
        if point not in self.done:
            self.done.add(point)
            self._grow_older(point)
        width = typing_of(instruction.operation).width
        return atom(Kind.RECEIVED, offset, width, point, 0, differs=0)

    def is_new(self, truth: Form) -> bool:
        """Tell whether a predicate depends on what the node itself has received."""
        return any(point_of(name) in self.done for name in received_in(truth))

    def _grow_older(self, point: int) -> None:
        contents = self.registers.contents()
        for register, pieces in contents.items():
            contents[register] = [
                (held, aged(value, point) if isinstance(value, Form) else value) for held, value in pieces
            ]
        answers = self.decider.answers
        self.decider.answers = {aged(truth, point): answer for truth, answer in answers.items()}


def received_in(form: Form) -> Iterator[Atom]:
    """Yield the symbols of received values in a form, in the order of the text."""
    if not form.origin & FROM_SHARED:
        return iter(())
    return (name for name in walk(form.terms) if name.kind is Kind.RECEIVED)


def point_of(name: Atom) -> int:
    """Return where a value was received."""
    return int(str(name[3]))


def age_of(name: Atom) -> int:
    """Return how many values its thread has received at the same point since."""
    return int(str(name[4]))


def place_of(name: Atom) -> tuple[int, int]:
    """Return the offset from where threads read and the size, in bytes, of a received value."""
    return int(str(name[1])), int(str(name[2])) // 8


def is_received(name: Atom) -> bool:
    """Tell whether an atom is a received value, or what an operation makes of some."""
    if name.inner_kind is Kind.OPCODE:
        return any(each.inner_kind is Kind.RECEIVED for each in walk(name))
    return name.inner_kind is Kind.RECEIVED


def aged(form: Form, point: int) -> Form:
    """Return a form behind a further read at a point. Raises NotFollowedError."""

    def older(name: Atom) -> Atom:
        if point_of(name) != point:
            return name
        kind, place, width, _, age = name
        if age_of(name) == OLDEST:
            raise NotFollowedError(
                "a value is kept while threads receive more of them than are followed", point
            )
        return Atom((kind, place, width, point, int(str(age)) + 1), 0)

    names = {name: older(name) for name in received_in(form)}
    return renamed(form, {old: new for old, new in names.items() if old is not new})


def renamed(form: Form, names: dict[Atom, Atom]) -> Form:
    """Return a form with other symbols in place of some, at any depth."""
    if not names:
        return form
    known: dict[Atom, Atom] = dict(names)

    def changed(part: object) -> object:
        if isinstance(part, Atom):
            found = known.get(part)
            if found is None:
                inner = tuple(map(changed, part.inner))
                same = all(new is old for new, old in zip(inner, part.inner, strict=True))
                found = known[part] = part if same else Atom(inner, part.differs)
            return found
        if isinstance(part, tuple):
            inner = tuple(map(changed, part))
            return part if all(new is old for new, old in zip(inner, part, strict=True)) else _in_order(inner)
        return part

    terms = changed(form.terms)
    assert isinstance(terms, tuple)
    return Form(terms, form.constant)


def _in_order(parts: tuple[object, ...]) -> tuple[object, ...]:
    """Return the terms of a sum in their order, anything else as it is."""
    terms = [
        each for each in parts if isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], Atom)
    ]
    if len(terms) < len(parts) or isinstance(parts, Atom):
        return parts
    return tuple(sorted(terms, key=lambda term: term[0].digest))
