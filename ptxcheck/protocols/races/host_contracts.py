"""What a host may keep to so that no two threads meet: the weakest of some conditions on one number that it passes.

Property: under the condition that `weakest` gives, none of the pairs can meet, and each of the two accesses of every
pair is still made by some thread.

Argument: the pairs' own questions are asked again with the condition, which none has an answer for, and whether a
thread comes to each access, which each has. Conditions are tried from the weakest on, multiples from the smallest on.

Not covered: conditions on two numbers, upper bounds, other residues than 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...terms.bitvectors import Bits, variables_of
from .kernel import Kernel
from .pairs import Pair, Pairs
from .passages import Context
from .questions import UndecidedError

_MULTIPLES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a parameter: how `--assume` takes it, or in words where it does not."""

    text: str
    claim: Bits
    is_option: bool = True


def weakest(
    kernel: Kernel, pairs: Sequence[Pair], passed: Sequence[str], threads: int
) -> Iterator[Condition]:
    """Yield for each of the numbers that the host passes the weakest condition that excludes all of some pairs."""
    named = {variable.name: variable for pair in pairs for variable in variables_of(pair.claim)}
    if not pairs or kernel.effort.is_over:
        return
    for name in passed:
        variable = named.get(name)
        for condition in () if variable is None else _conditions(kernel, variable, threads):
            if all(_excludes(kernel, condition.claim, pair) for pair in pairs):
                yield condition
                break


def _conditions(kernel: Kernel, number: Bits, threads: int) -> Iterator[Condition]:
    pool, width, name = kernel.pool, number.width, number.name
    zero, one = pool.number(0, width), pool.number(1, width)
    yield Condition(f"{name} >= 1", pool.ule(one, number))
    for multiple in sorted({*_MULTIPLES, threads}):
        if multiple & (multiple - 1) == 0:
            rest = pool.and_(number, pool.number(multiple - 1, width))
            yield Condition(f"{name} % {multiple} == 0", pool.eq(rest, zero))
    power = pool.eq(pool.and_(number, pool.sub(number, one)), zero)
    yield Condition(f"{name} is a power of two", pool.both(power, pool.ule(one, number)), is_option=False)


def _excludes(kernel: Kernel, condition: Bits, pair: Pair) -> bool:
    """Tell whether a pair cannot meet under a condition, though both accesses are made."""
    base = Pairs(kernel, pair.relation, (), threads=pair.threads).base
    thread, context = pair.threads[0], Context()
    made = (
        kernel.pool.both(
            thread.arrives(kernel.cfg.graph.block_of[point], context), thread.guard(point, context)
        )
        for point in pair.points
    )
    try:
        if kernel.questions.numbers((*base, condition, pair.claim)) is not None:
            return False
        return all(kernel.questions.numbers((*base, condition, each)) is not None for each in made)
    except UndecidedError:
        return False


__all__ = ["Condition", "weakest"]
