"""The versions of PTX that messages name are ones that exist."""

from __future__ import annotations

from ptxcheck.isa.lookup import forms_of, rows_by_mnemonic
from ptxcheck.isa.versions import RELEASED, known_versions
from ptxcheck.opcodes.target import Version
from ptxcheck.protocols.typestate.legality import _FIRST_VERSION, NEWEST_VERSION


def test_every_requirement_names_a_version_that_exists() -> None:
    needed = {
        requirement.version
        for name in rows_by_mnemonic()
        for form in forms_of(name)
        for requirement in (
            form.requirement,
            *(value.requirement for slot in form.slots for value in slot.values.values()),
        )
    }
    assert needed | set(_FIRST_VERSION.values()) <= set(RELEASED)


def test_released_versions() -> None:
    assert list(RELEASED) == sorted(set(RELEASED))
    assert RELEASED[-1] == NEWEST_VERSION == known_versions()[1]
    assert Version(8, 8) in RELEASED
    assert Version(8, 9) not in RELEASED
    assert Version(9, 0) in RELEASED
