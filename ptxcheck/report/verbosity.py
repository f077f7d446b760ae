"""How much text for people says."""

from __future__ import annotations

from enum import Enum


class Verbosity(Enum):
    """How much of what was found in order is told to people."""

    QUIET = "quiet"
    """Findings and problems alone, with the last line."""
    NORMAL = "normal"
    """Kernels that hold are one line together."""
    VERBOSE = "verbose"
    """Each kernel with all that its verdicts rest on."""
