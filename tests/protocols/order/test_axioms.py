"""The table of axioms: one row for each order that a verdict may rest on, by the profile that gives it."""

from __future__ import annotations

from ptxcheck.protocols.model.axiom import Profile
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.protocols.order.clock import Row
from ptxcheck.protocols.order.isa_axioms import ISA


def test_each_sense_of_known_rests_on_the_words_of_ptx() -> None:
    assert set(ISA) == set(Row) - {Row.IN_ORDER, Row.RELEASED}
    for axiom in ISA.values():
        assert axiom.profile is Profile.ISA
        assert axiom.source.startswith("PTX ISA ")
        assert not axiom.is_stated, "what PTX gives is no assumption"


def test_what_goes_beyond_ptx_is_of_the_hardware_profile_and_names_no_section() -> None:
    for axiom in AXIOMS:
        assert axiom.profile is Profile.HARDWARE
        assert "PTX ISA" not in axiom.source


def test_every_axiom_has_a_name_of_its_own() -> None:
    names = [axiom.id for axiom in (*AXIOMS, *ISA.values())]
    assert len(names) == len(set(names))
