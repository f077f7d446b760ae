"""Which versions of PTX the instruction table knows."""

from __future__ import annotations

from ..opcodes.target import Version
from .lookup import forms_of, rows_by_mnemonic


def known_versions() -> tuple[Version, Version]:
    """Return the first and the last version of PTX that some form of an instruction needs."""
    versions = [form.requirement.version for name in rows_by_mnemonic() for form in forms_of(name)]
    return min(versions), max(versions)
