"""Places in other CTAs: an address that `mapa` made of a symbol is a number once the symbol is one."""

from __future__ import annotations

from ptxcheck.protocols.symex.values.lane_arithmetic import multiply
from ptxcheck.protocols.symex.values.substitution import leaves, mapped, with_pins
from ptxcheck.protocols.symex.values.symbol import Form, atom
from ptxcheck.protocols.symex.values.trace import RANK_SHIFT, SHARED_WINDOW

STAGE = atom("param", "n", 0, 4)
NAME = STAGE.terms[0][0]


def test_numbers_are_mapped_at_once() -> None:
    assert mapped(1088, 3, generic=False) == 3 << RANK_SHIFT | 1088
    assert mapped(1 << RANK_SHIFT | 1088, 0, generic=True) == SHARED_WINDOW + 1088


def test_symbols_are_mapped_when_they_are_numbers() -> None:
    place = mapped(multiply(STAGE, 8, 32), 1, generic=False)
    assert isinstance(place, Form)
    assert list(leaves(place)) == [NAME]
    assert with_pins(place, {NAME: 5}, 1) == 1 << RANK_SHIFT | 40
