"""Who acts at a step of a schedule, and what it knows then."""

from __future__ import annotations

from .clock import Clock, Components, stamped


class Actor:
    """Who acts now: a strand, the number of its action, what it knows before, and what relaxed arrivals publish."""

    __slots__ = ("_components", "_stamp", "clock", "number", "released", "strand")

    def __init__(
        self, components: Components, strand: int, number: int, clock: Clock, released: Clock
    ) -> None:
        self.strand = strand
        self.number = number
        """Counted from one."""
        self.clock = clock
        self.released = released
        self._components = components
        self._stamp: Clock | None = None

    @property
    def stamp(self) -> Clock:
        """What is known after the action, and handed on."""
        if self._stamp is None:
            self._stamp = stamped(self.clock, self.strand, self.number)
            self._components.publish(self._stamp, self.strand)
        return self._stamp
