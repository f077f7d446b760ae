"""The second of two threads: what the first one has, with the other one's variables.

Property: `MirroredTerms` gives the terms that `ThreadTerms` of the second thread would give.

Argument: the terms of a thread differ from those of another one in the names of its variables alone, which end in its
number: `ThreadTerms` asks for the number for nothing else. So a term is copied part by part, with the bounds that it
has.
"""

from __future__ import annotations

from ...cfg import Edge, Name, Uniformity
from ...ir import Operand
from ...terms.bitvectors import Bits, Kind
from .kernel import Kernel
from .passages import Context
from .thread_terms import ThreadTerms

Threads = tuple[ThreadTerms, ThreadTerms]


class MirroredTerms(ThreadTerms):
    """Registers of a thread, made of those of another one."""

    def __init__(self, other: ThreadTerms, thread: int) -> None:
        super().__init__(other.kernel, thread, other.level)
        self._other = other
        self._ending, self._own = f"~{other.thread}", f"~{thread}"
        self._copies: dict[Bits, Bits] = {}

    def copy(self, term: Bits) -> Bits:
        """Return a term of the other thread as one of this one."""
        copies = self._copies
        work = [term]
        while work:
            each = work[-1]
            if each in copies:
                work.pop()
                continue
            missing = [part for part in each.parts if part not in copies]
            if missing:
                work += missing
                continue
            work.pop()
            copies[each] = self._copied(each, tuple(copies[part] for part in each.parts))
        return copies[term]

    def _copied(self, term: Bits, parts: tuple[Bits, ...]) -> Bits:
        if term.kind is Kind.VARIABLE and term.name.endswith(self._ending):
            name = term.name.removesuffix(self._ending) + self._own
            return self.pool.variable(name, term.width, term.low, term.high)
        return self.pool.copied(term, parts)

    def operand(self, point: int, operand: Operand | None, width: int, context: Context) -> Bits:
        return self.copy(self._other.operand(point, operand, width, context))

    def value(self, name: Name, context: Context) -> Bits | None:
        found = self._other.value(name, context)
        return None if found is None else self.copy(found)

    def address(self, point: int, operand: Operand, context: Context) -> Bits:
        return self.copy(self._other.address(point, operand, context))

    def guard(self, point: int, context: Context) -> Bits:
        return self.copy(self._other.guard(point, context))

    def taken(self, edge: Edge, context: Context) -> Bits:
        return self.copy(self._other.taken(edge, context))

    def arrives(self, block: int, context: Context) -> Bits:
        return self.copy(self._other.arrives(block, context))


def two_threads(kernel: Kernel, level: Uniformity) -> Threads:
    """Return two threads of a block; `level` is how far they must agree to have one variable."""

    def made() -> Threads:
        first = ThreadTerms(kernel, 1, level)
        return first, MirroredTerms(first, 2)

    return kernel.once((two_threads, level), made)


def one_thread(kernel: Kernel, level: Uniformity = Uniformity.CTA) -> ThreadTerms:
    """Return the first of two threads."""
    return two_threads(kernel, level)[0]
