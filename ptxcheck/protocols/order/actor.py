"""Who acts at a step of a schedule, and what it knows then.

Property: `stamp` is what the actor knew before the action, and the action itself, in the rows of `OWN_ROWS`; what its
own CTA has shown it is in the row for other CTAs.

Argument: a clock counts the actions of each strand, so that the number of this one says that it and all before it
were done. It is made once, so everything that one action hands on is the same clock.

Not covered: what an action lets the actor know. Whoever performs the action changes the clock of its strand.
"""

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
