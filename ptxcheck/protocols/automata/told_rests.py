"""What rounds tell of a number modulo another one: a loop that has counted to it was gone through so many times.

Property: where `ToldRests.told` tells a value of a number of the host, it is the number modulo `told[number]`, with
numbers for variables.

Argument: a hidden register counts the rounds of a loop modulo m: it is a variable (`environments`), so that no node
tells its numbers apart. Where rounds are left by a comparison of their ordinal with n + c, and n + c is not negative,
the ordinal is n + c (`exit_values`): n is what was counted, less c. Where a size is below a small number, it is one of
few, and asked for. A number of the host is one number for all threads, and stays what it is: what some threads have
counted holds for all that go on with them. It is forgotten where a further round of a loop around begins, by the end of
which it has been counted anew. So a ring that its loader counts, and that its readers compute from n, stands in one of
finitely many places for all n. The modulus itself stands for nothing known.

Not covered: loops that count otherwise than by one, or to a sum of several numbers; residues in front of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...cfg.graph import Edge
from ...ir import Register
from ..symex.slice.sliced_program import Program
from ..symex.values import lane_arithmetic as lanes
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import condition_of
from ..symex.values.register_file import Piece
from ..symex.values.symbol import Atom, Form, Value
from ..symex.values.trace import ThreadSet
from .exit_values import Bounding, ExitValues
from .kept_loops import Kept, RestartError
from .naming_decider import NamingDecider
from .told_numbers import MOST_FIRST, is_below
from .valuations import Valuation
from .variables import is_of_variables, register_of

_WORD = 32
_ROUNDS, _REST = "rounds of the loop at", "rest of"


def rounds_of(header: int) -> Register:
    """Return the hidden register that counts the rounds of a loop."""
    return Register(f"{_ROUNDS} {header}")


def rest_of(number: Atom) -> Register:
    """Return the hidden register that holds what rounds tell of a number."""
    return Register(f"{_REST} {number.digest.hex()}")


def counts_rounds(name: Atom) -> bool:
    """Tell whether a variable is a hidden register: those move with no ring."""
    return register_of(name)[1].startswith((_ROUNDS, _REST))


def _is_rest(value: Value, modulus: int) -> bool:
    if not isinstance(value, Form):
        return False
    (name, factor), *others = value.terms
    match name.inner:
        case (Kind.REM, _, int(divisor), *_):
            return divisor == modulus and factor == 1 and not others and not value.constant
        case _:
            return False


def _rest(value: Value, modulus: int) -> Value:
    return (
        value if _is_rest(value, modulus) else lanes.remainder(value, modulus, _WORD, signed_operands=False)
    )


def _compared(relation: str, value: int | Form, bound: int, *, signed: bool) -> Form | bool:
    found = lanes.compare(relation, value, bound, _WORD, signed_operands=signed)
    return found if isinstance(found, Form) else bool(found)


def _known(truth: Form | bool, decider: NamingDecider) -> bool | None:
    return decider.answer(truth) if isinstance(truth, Form) else truth


@dataclass(slots=True)
class ToldRests:
    """What the rounds of one kernel tell."""

    program: Program
    kept: Kept
    exits: ExitValues
    _written: dict[int, frozenset[Register]] = field(default_factory=dict)
    """Registers that the rounds of loops write which end with a block."""

    def changed_by_rounds(self, block: int) -> frozenset[Register]:
        """Return the registers that rounds of a loop write which end with a block."""
        found = self._written.get(block)
        if found is None:
            cfg = self.program.cfg
            blocks = [each for loop in cfg.loops if block in loop.latches for each in loop.blocks]
            written = (cfg.instructions[p].writes() for each in blocks for p in cfg.blocks[each].points)
            found = self._written[block] = frozenset(register for each in written for register in each)
        return found

    def live(self, block: int) -> Iterator[Register]:
        """Yield the hidden registers that matter at the start of a block."""
        cfg, counting = self.program.cfg, self.kept.counting
        around = {loop.header for loop in cfg.loops_around(block)}
        yield from (rounds_of(header) for header in counting if header in around)
        anew: set[Atom] = {
            number
            for header, number in counting.items()
            if header in around or block in {loop.header for loop in cfg.loops_around(header)}
        }
        yield from (rest_of(number) for number in dict.fromkeys(counting.values()) if number not in anew)

    def at_head(self, header: int, contents: Valuation, threads: ThreadSet, *, repeats: bool) -> Valuation:
        """Return what registers hold at the header of a loop, with one round more where it is a further one."""
        number = self.kept.counting.get(header)
        if number is None:
            return contents
        register, modulus = rounds_of(header), self.kept.residues.told[number]
        pieces = contents.get(register, ()) if repeats else ((threads, 0),)
        return {
            **contents,
            register: [
                (held, _rest(lanes.add(v, 1, _WORD), modulus) if repeats else v) for held, v in pieces
            ],
        }

    def to_ask(self, edge: Edge, branch: Form | None, decider: NamingDecider) -> Form | None:
        """Return what is still to be known for an edge to tell a number; None where that is all known, or it does not.

        Raises RestartError where a loop that is left was not known to tell one.
        """
        bounding = self._telling(edge, branch, decider)
        if bounding is not None:
            is_negative = _compared(".lt", bounding.number, 0, signed=True)
            return (
                is_negative
                if isinstance(is_negative, Form) and _known(is_negative, decider) is None
                else None
            )
        few = self._is_below(edge, branch, decider)
        if few is None:
            return None
        number, bound = few
        below = (is_below(number, each) for each in range(1, bound))
        return next((each for each in below if decider.answer(each) is None), None)

    def behind(
        self, edge: Edge, branch: Form | None, contents: Valuation, threads: ThreadSet, decider: NamingDecider
    ) -> Valuation:
        """Return what registers hold behind an edge for which nothing is to be asked."""
        bounding = self._telling(edge, branch, decider)
        if bounding is not None:
            is_negative = _known(_compared(".lt", bounding.number, 0, signed=True), decider)
            return contents if is_negative else self._counted(bounding, contents)
        few = self._is_below(edge, branch, decider)
        if few is None:
            return contents
        number, bound = few
        found = next(n for n in range(bound) if n == bound - 1 or decider.answer(is_below(number, n + 1)))
        return {**contents, rest_of(number): [(threads, found % self.kept.residues.told[number])]}

    def spread(self, contents: Valuation, threads: ThreadSet) -> Valuation:
        """Let all threads that go on together know of a number what some of them have found."""
        found: dict[Register, list[Piece]] = {}
        for number in self.kept.residues.told:
            values = [value for _, value in contents.get(rest_of(number), ()) if is_of_variables(value)]
            if values:  # a number rather than a variable
                found[rest_of(number)] = [(threads, min(values, key=lambda each: isinstance(each, Form)))]
        return {**contents, **found} if found else contents

    def _counted(self, bounding: Bounding, contents: Valuation) -> Valuation:
        ((number, _),) = bounding.number.terms
        modulus = self.kept.residues.told[number]
        less = -bounding.number.constant % modulus
        rest = [
            (held, _rest(lanes.add(v, less, _WORD), modulus))
            for held, v in contents.get(rounds_of(bounding.loop.header), ())
        ]
        return {**contents, rest_of(number): rest} if rest else contents

    def _is_below(self, edge: Edge, branch: Form | None, decider: NamingDecider) -> tuple[Atom, int] | None:
        """Return of which size an edge tells that it is one of the first few numbers, and below which."""
        if not self.kept.counting or branch is None or edge.guard is None:
            return None
        condition, positive = condition_of(branch)
        if condition.relation != "lt" or len(condition.form.terms) != 1:
            return None
        ((number, factor),) = condition.form.terms
        bound = condition.bound - condition.form.constant
        holds = positive != edge.guard.negated
        if number not in self.kept.counting.values() or (factor, holds) not in ((1, True), (-1, False)):
            return None
        bound = bound if holds else 1 - bound
        is_few = 0 < bound <= MOST_FIRST and decider.told.is_size(Form(((number, 1),)))
        return (number, bound) if is_few else None

    def _telling(self, edge: Edge, branch: Form | None, decider: NamingDecider) -> Bounding | None:
        told = self.kept.residues.told
        bounding = self.exits.bounding(edge, branch) if told else None
        if bounding is None or bounding.scale != 1 or self.kept.modulus != 1:
            return None
        counted_to = decider.made(bounding.number, -1)
        if not isinstance(counted_to, Form):
            return None
        bounding = replace(bounding, number=counted_to)
        (number, factor), *others = counted_to.terms
        if others or factor != 1 or number not in told:
            return None
        header = bounding.loop.header
        if header not in self.kept.counting:
            self.kept.counting[header] = number
            self.kept.variables.setdefault(header, set()).add(rounds_of(header))
            raise RestartError
        if self.kept.counting[header] != number:
            return None
        return bounding

    def filled(self, ways: Sequence[Valuation], threads: ThreadSet) -> list[Valuation]:
        """Return what some threads hold in several ways: where one of them tells nothing of a number, the modulus."""
        missing: dict[Register, int] = {}
        for number, modulus in self.kept.residues.told.items():
            told = [bool(way.get(rest_of(number))) for way in ways]
            if any(told) and not all(told):
                missing[rest_of(number)] = modulus
        filling: dict[Register, list[Piece]] = {r: [(threads, modulus)] for r, modulus in missing.items()}
        return [{**filling, **way} for way in ways]

    def told(self, valuation: Valuation, threads: ThreadSet, decider: NamingDecider) -> Valuation:
        """Let a decider know what registers, and its answers, tell of numbers; return that as registers hold it."""
        residues = decider.residues
        if not residues.told:
            return valuation
        here: dict[Atom, int | Form] = {}
        first: dict[Register, list[Piece]] = {}
        residues.here, residues.unless = {}, {}
        for number, modulus in residues.told.items():
            pieces = valuation.get(rest_of(number), ())
            value = pieces[0][1] if len(pieces) == 1 and pieces[0][0] == threads else modulus
            if not isinstance(value, int | Form) or not is_of_variables(value):
                continue
            is_nothing = not _is_rest(value, modulus) and _compared(".eq", value, modulus, signed=False)
            known = _known(is_nothing, decider)
            if known is None and isinstance(is_nothing, Form):
                residues.unless[number] = is_nothing
            elif not known:
                here[number] = value
                if isinstance(is_nothing, Form) and isinstance(rest := _rest(value, modulus), int | Form):
                    first[rest_of(number)] = [(threads, rest)]
            elif (one := decider.told.first_number(number)) is not None:
                here[number] = one % modulus
                first[rest_of(number)] = [(threads, here[number])]
        residues.here = here
        residues.behind = frozenset(number for number in residues.told if valuation.get(rest_of(number)))
        residues.least = {number: decider.told.least(number) for number in residues.told}
        return {**valuation, **first}


__all__ = ["ToldRests", "counts_rounds", "rest_of", "rounds_of"]
