"""What registers hold behind a loop that counts: the number of its rounds in place of the last ordinal.

Property: `ExitValues.behind` returns what registers hold where threads leave a loop, modulo their width: in sums with
the ordinal of the loop, what the branch tells of it stands in its place.

Argument: all rounds come to the branch, and its predicate is one function of the number of the round
(`recurrences.counted_exits`). Let the sum that it bounds be `k - a*q` in the ordinal q. Where it leaves on equality,
`a*q` is what k is more than the bound. Where it leaves as soon as the sum is not above the bound, and each round takes
one away, the round before has found it above: it is the bound now. In the first round there is none before; then q is
0. Which of the two it is tells the predicate with 0 for q: it is that of the first round. With a modulus q stands for
`modulus*q + r`, and only `r = 0` is the first round. Rounds that come to a number as they wrap around are an assumption
of who asks (`Questions.note_passed`).

Not covered: bounds that are numbers of the text; steps of more than one where the loop is left on an order, as the last
one may pass the bound; ordinals inside of products, quotients and masks; what an inner loop has counted when an outer
one is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from ...cfg.graph import Edge
from ...cfg.loops import Loop
from ..symex.slice.sliced_program import Program
from ..symex.values import lane_arithmetic as lanes
from ..symex.values.lane_arithmetic import condition_of
from ..symex.values.register_file import Piece
from ..symex.values.substitution import with_pins
from ..symex.values.symbol import Atom, Form, Value, plus, times
from ..symex.values.traversal import walk
from .kept_loops import Kept
from .recurrences import counted_exits
from .round_names import ordinal
from .valuations import Valuation

_WIDTH = 64


@dataclass(frozen=True, slots=True)
class _Counted:
    """What is known of an ordinal where its loop is left: `scale` times it is a number."""

    ordinal: Atom
    scale: int
    number: Value


@dataclass(frozen=True, slots=True)
class Bounding:
    """What a loop counts to that is left at a branch: its ordinal, `scale` times, is `number` there.

    Where it is left on an order, and `number` is negative, it is left in its first round.
    """

    loop: Loop
    scale: int
    number: Form
    is_order: bool


@dataclass(slots=True)
class ExitValues:
    """The exits of the loops of one kernel."""

    program: Program
    threads: int
    kept: Kept
    _counted: Callable[[int], frozenset[int]] = field(init=False)

    def __post_init__(self) -> None:
        loops = {loop.header: loop for loop in self.program.cfg.loops}
        self._counted = cache(lambda header: counted_exits(self.program, loops[header]))

    def predicate(self, block: int, contents: Valuation) -> Form | None:
        """Return the predicate of a branch that is one for all threads; None where it is a number by now."""
        guard = self.program.cfg.instructions[self.program.cfg.blocks[block].last].guard
        pieces = contents.get(guard.register, ()) if guard is not None else ()
        value = pieces[0][1] if len(pieces) == 1 else None
        return value if isinstance(value, Form) and not value.differs else None

    def behind(
        self, edge: Edge, predicate: Form | None, residues: Mapping[int, int], contents: Valuation
    ) -> Valuation:
        """Return what registers hold behind an edge that all threads take by a predicate, as it was before answers."""
        bounding = self.bounding(edge, predicate)
        if bounding is None or predicate is None:
            return contents
        residue = residues[bounding.loop.header]
        return _replaced(contents, self._found(bounding, predicate, _holds(edge), residue))

    def bounding(self, edge: Edge, predicate: Form | None) -> Bounding | None:
        """Return what tells of an ordinal behind an edge, None where nothing does."""
        loop = self._left_by(edge)
        if loop is None or predicate is None or edge.guard is None:
            return None
        condition, positive = condition_of(predicate)
        name = ordinal(loop.header).terms[0][0]
        factor = dict(condition.form.terms).get(name, 0)
        others = tuple(each for each in condition.form.terms if each[0] != name)
        if not factor or any(each == name for each in walk(others)):
            return None
        rest = plus(Form(others, condition.form.constant), -condition.bound) if others else None
        above = times(rest, -1 if factor > 0 else 1) if isinstance(rest, Form) else None
        if not isinstance(above, Form):
            return None
        holds = _holds(edge) == positive
        if condition.relation == "eq" and holds:
            return Bounding(loop, abs(factor), above, is_order=False)
        if condition.relation != "lt" or holds != (factor < 0) or abs(factor) != self.kept.modulus:
            return None
        # left where `rest - scale*q < 0`: it is -1 then
        above = plus(above, 1) if factor < 0 else above
        return Bounding(loop, abs(factor), above, is_order=True) if isinstance(above, Form) else None

    def _left_by(self, edge: Edge) -> Loop | None:
        """Return the loop that is left, if it is kept, the innermost one, and counted there."""
        loop = next(iter(self.program.cfg.loops_around(edge.source)), None)
        if loop is None or edge.target in loop.blocks or loop.header not in self.kept.opened:
            return None
        return loop if edge.source in self._counted(loop.header) else None

    def _found(self, bounding: Bounding, predicate: Form, truth: bool, residue: int) -> _Counted:
        name, scale, above = ordinal(bounding.loop.header).terms[0][0], bounding.scale, bounding.number
        if residue or not bounding.is_order:
            return _Counted(name, scale, above)
        first = with_pins(predicate, {name: 0}, self.threads)
        if isinstance(first, int):
            leaves_at_once = bool(first & 1) == truth
            return _Counted(name, scale, 0 if leaves_at_once else above)
        at_once, later = (0, above) if truth else (above, 0)
        return _Counted(name, scale, lanes.choose(first, at_once, later, self.threads))


def _holds(edge: Edge) -> bool:
    """Tell whether the predicate of a branch holds where an edge is taken."""
    return edge.guard is not None and not edge.guard.negated


def _replaced(contents: Valuation, counted: _Counted) -> Valuation:
    return {
        register: [(held, _value(value, counted)) for held, value in pieces]
        if any(_names(piece, counted.ordinal) for piece in pieces)
        else pieces
        for register, pieces in contents.items()
    }


def _names(piece: Piece, name: Atom) -> bool:
    value = piece[1]
    return isinstance(value, Form) and any(each == name for each, _ in value.terms)


def _value(value: Value, counted: _Counted) -> Value:
    factor = dict(value.terms).get(counted.ordinal, 0) if isinstance(value, Form) else 0
    if not isinstance(value, Form) or not factor or factor % counted.scale:
        return value
    others = tuple(each for each in value.terms if each[0] != counted.ordinal)
    rest: Value = Form(others, value.constant) if others else value.constant
    return lanes.add(rest, lanes.multiply(counted.number, factor // counted.scale, _WIDTH), _WIDTH)


__all__ = ["ExitValues"]
