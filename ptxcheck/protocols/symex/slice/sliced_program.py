"""What the machine runs of a kernel: the part that its synchronising instructions depend on, made ready once.

Property: changing an instruction outside `Program.points` in a way that keeps the control flow graph does not
change which events a thread records, in which order, and with which operands.

Argument: `points` is the slice of events, ends of threads, places of accesses, and stores whose numbers are kept
(`dependences`, `kept_stores`); the machine runs all of it.

Not covered: numbers that come through global memory, or through stores that are not kept: they are symbols.
"""

from __future__ import annotations

from functools import cached_property

from ....cfg.cfg import Cfg
from ....cfg.loops import Loop
from ....ir import Module, Register, registers_of
from ....launch import Launch
from .branch_sides import doomed_blocks
from .computations import Computation, computation_of
from .constant_words import ConstantWords
from .dependences import Dependences
from .endless_loops import endless_loops
from .kept_stores import KeptStores
from .kernel import Kernel
from .layout import declared_sizes
from .loop_results import LoopResults
from .poll_answers import PollAnswers
from .regions import Regions
from .repeated_polls import polls_that_count, unrepeated_polls
from .synchronising_loops import SynchronisingLoops


class Program(Kernel):
    """A kernel with its slice, the regions of its branches, and its loops."""

    def __init__(
        self,
        cfg: Cfg,
        module: Module,
        launch: Launch,
        *,
        accesses: bool = False,
        decides_copies: bool = False,
    ) -> None:
        super().__init__(cfg, module, launch, accesses=accesses, decides_copies=decides_copies)
        self.loops = SynchronisingLoops(self)
        self.loop_results = LoopResults()
        self._dependences = Dependences(self)
        self.stores = KeptStores(self, self._dependences, self.loops, declared_sizes(cfg.function, module))
        self._computations: dict[int, Computation | None] = {}

    @cached_property
    def points(self) -> frozenset[int]:
        """Events, ends of threads, and what they depend on."""
        return self._dependences.of(self.stores.all)

    @cached_property
    def wanted(self) -> frozenset[Register]:
        """Registers that some relevant instruction reads."""
        found: set[Register] = set()
        for point in self.points:
            if point in self.events:
                found.update(name.register for name in self.needed(point))
            else:
                found.update(self.cfg.instructions[point].reads())
        for kind in self.accesses.values():
            found.update(registers_of(kind.operand))
        for mask in self.open_masks.values():
            found.update(registers_of(mask))
        return frozenset(found)

    @cached_property
    def constant_words(self) -> ConstantWords:
        """What constant memory is initialised with."""
        return ConstantWords(self.facts.module)

    @cached_property
    def regions(self) -> Regions:
        """The regions of branches."""
        return Regions(self, self.points, self.stores.all, self.wanted)

    @cached_property
    def endless(self) -> tuple[Loop, ...]:
        """Loops that are never left once they are entered a second time."""
        return tuple(endless_loops(self.facts))

    @cached_property
    def doomed(self) -> frozenset[int]:
        """Blocks from which every path aborts the grid before anything is synchronised."""
        return doomed_blocks(self.cfg, self.acting_blocks)

    @cached_property
    def peeks(self) -> frozenset[int]:
        """Polls that are not repeated until they succeed, or that count their failures.

        When one of the first fails, the thread may go on to something else.
        """
        return unrepeated_polls(self, self.doomed) | self.polls_that_count

    @cached_property
    def polls_that_count(self) -> frozenset[int]:
        """Polls that are repeated until they succeed, and how often they fail decides what their threads do."""
        return polls_that_count(self, self.doomed, self._answers)

    @cached_property
    def polls_of_lanes(self) -> frozenset[int]:
        """Those of the polls that are not repeated by which lanes of a warp would part if they found two answers."""
        return self._answers.decided_by_lanes(self.peeks)

    @cached_property
    def _answers(self) -> PollAnswers:
        return PollAnswers(self, self.points)

    def computation(self, point: int) -> Computation | None:
        """Return what an instruction computes, None where it does something else."""
        try:
            return self._computations[point]
        except KeyError:
            found = self._computations[point] = computation_of(self.cfg.instructions[point])
            return found
