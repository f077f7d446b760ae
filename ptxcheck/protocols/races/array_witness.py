"""Runs with numbers that show a race of two accesses of global memory: of a block, or of two CTAs of a grid.

Property: a `Race` is in the runs of two threads for each of three sizes, small ones too, whatever is loaded.

Argument: as in `witness`. CTAs are next to each other along one axis, of a grid that is small along each: how large a
grid is, and along which axes, is up to the host.

Not covered: guards by two numbers of the host, which may be flags of which it passes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...launch import Dim
from ...terms.bitvectors import Numbers, variables_of
from .pairs import Pair, Pairs, Relation
from .questions import UndecidedError
from .replay import Replay, Run
from .thread_terms import LOADED
from .witness import Race, Witnesses, events_at, thread_of

_FEW_CTAS = 4
"""CTAs of the grid along each axis, where threads of different ones are looked at."""


class ArrayWitnesses(Witnesses):
    """Looks for runs that show what the solver has found of arrays of global memory."""

    def race(self, pair: Pair) -> Race | None:
        """Return a race of global memory that all settings have, small sizes too; None where two numbers decide it.

        Two numbers may be flags of which a host passes one, and a race of large sizes alone may be beyond a capacity.
        """
        addresses = variables_of(pair.first.address, pair.second.address)
        if any(variable.name.startswith(LOADED) for variable in addresses):
            return None
        passed = {name for name, is_pointer in self.parameters if not is_pointer}
        named = {each.name for each in variables_of(pair.first.condition, pair.second.condition)}
        if len(passed & named) > 1:
            return None
        x, y, z = self.block
        between = pair.relation is Relation.OTHER_BLOCKS
        threads = x * y * z
        sizes = (2 * threads, 4 * threads, 8 * threads) if between else (min(threads, 64), threads, 2048)
        chosen = [thread_of(terms, pair.numbers) for terms in pair.threads]
        found: Race | None = None
        for size in dict.fromkeys(sizes):
            inputs = self.inputs(size)
            if between:
                race = self._between_ctas(pair, inputs)
            else:
                race = self.shown(pair, chosen, size, inputs) or self.searched(pair, size, inputs)
            if race is None:
                return None
            found = found or race
        return found

    def _between_ctas(self, pair: Pair, inputs: Mapping[str, int]) -> Race | None:
        """Return a race of two threads of CTAs that are neighbours along one axis, in a small grid.

        How large a grid is, and along which axes, is up to the host: rows of a fixed length have as many CTAs as fit.
        """
        pool, point = self.kernel.pool, pair.points[0]
        inputs = {**inputs, **{f"%nctaid.{axis}": _FEW_CTAS for axis in "xyz"}}
        asked = Pairs(self.kernel, pair.relation, (), threads=pair.threads)
        claims = (*asked.base, *self.fixed(pair.claim, inputs), pair.claim)
        few = pool.number(_FEW_CTAS, 32)
        places = [[terms.special(f"%ctaid.{axis}", point) for terms in pair.threads] for axis in "xyz"]
        for along in range(3):
            apart = pool.true
            for axis, (one, two) in enumerate(places):
                step = pool.number(int(axis == along), 32)
                next_ = pool.either(pool.eq(one, pool.add(two, step)), pool.eq(two, pool.add(one, step)))
                apart = pool.both(apart, pool.both(next_, pool.both(pool.ult(one, few), pool.ult(two, few))))
            try:
                numbers = self.kernel.questions.numbers((*claims, apart))
            except UndecidedError:
                return None
            race = None if numbers is None else self._of_ctas(pair, inputs, numbers)
            if race is not None:
                return race
        return None

    def _of_ctas(self, pair: Pair, inputs: Mapping[str, int], numbers: Numbers) -> Race | None:
        """Return a race of the two threads that numbers of the solver name."""
        runs: list[tuple[Dim, Dim, Run]] = []
        for terms in pair.threads:
            x, y, z = (numbers.get(terms.special(f"%ctaid.{axis}", pair.points[0]), 0) for axis in "xyz")
            here = {**inputs, "%ctaid.x": x, "%ctaid.y": y, "%ctaid.z": z}
            thread = thread_of(terms, numbers)
            run = Replay(self.program(with_values=False), here, self.block, thread).result()
            runs.append(((x, y, z), thread, run))
        (cta, thread, run), (its_cta, its_thread, its_run) = runs
        for mine in events_at(run, pair.points[0]):
            for its in events_at(its_run, pair.points[1]):
                if self.is_race(mine, its, pair.relation):
                    told = self.told(pair, (thread, its_thread), inputs, mine, its)
                    ctas = (cta, its_cta) if told.threads == (thread, its_thread) else (its_cta, cta)
                    return replace(told, ctas=ctas)
        return None


__all__ = ["ArrayWitnesses"]
