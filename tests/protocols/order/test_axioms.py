"""The table of axioms: each row can be told apart, says what it rests on, and shows where it is relied on."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.axiom import Axiom
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.rules import RULES


def test_ids_and_texts_are_unique() -> None:
    assert len({axiom.id for axiom in AXIOMS}) == len({axiom.text for axiom in AXIOMS}) == len(AXIOMS)


@pytest.mark.parametrize("axiom", AXIOMS, ids=lambda axiom: axiom.id)
def test_row(axiom: Axiom) -> None:
    assert axiom.source
    pedantic = {rule.id for rule in RULES if rule.pedantic}
    assert axiom.rule in pedantic or (not axiom.rule and axiom.properties)
