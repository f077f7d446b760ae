"""Which versions of PTX there are, and which the instruction table knows."""

from __future__ import annotations

from collections.abc import Mapping

from ..opcodes.target import Version
from .lookup import forms_of, rows_by_mnemonic

_LAST_MINOR: Mapping[int, int] = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 5}
"""For each major version the last minor one, counted from 0 (PTX ISA, release notes; what ptxas takes)."""

RELEASED = tuple(Version(major, minor) for major, last in _LAST_MINOR.items() for minor in range(last + 1))
"""All versions of PTX up to the newest that the table covers, in order."""


def known_versions() -> tuple[Version, Version]:
    """Return the first and the last version of PTX that some form of an instruction needs."""
    versions = [form.requirement.version for name in rows_by_mnemonic() for form in forms_of(name)]
    return min(versions), max(versions)
