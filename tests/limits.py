"""Limits of tests: none that a busy machine comes near, so that it gives the answers that a quiet one gives."""

from __future__ import annotations

import time

WALL_SECONDS = 600.0
"""After which a process that a test waits for hangs, however busy the machine is."""
VERIFY_SECONDS = 10.0
"""The effort of one verification, which also says how many further sizes are run."""
_SLOWER = 4


class SlowClock:
    """Stands for `time` where verification asks how long it took: its clock is so slow that no limit is reached."""

    @staticmethod
    def process_time() -> float:
        """Return a quarter of the processor time."""
        return time.process_time() / _SLOWER

    perf_counter = process_time
