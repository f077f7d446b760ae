"""Addresses that variables decide are of the space that the instruction wants, or are not followed."""

from __future__ import annotations

import pytest

from ptxcheck.ir import Address, Register
from ptxcheck.protocols.automata.variables import variable
from ptxcheck.protocols.symex.interpreter.generic_addresses import check_generic, check_offset
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.symbol import Form
from ptxcheck.protocols.symex.values.trace import SHARED_WINDOW, NotFollowedError

STAGE = Form(((variable(1, Register("stage"), 1), 1),))
OPERAND = Address(Register("bar"), 0)
OFFSET = lanes.add(lanes.multiply(STAGE, 8, 64), 1024, 64)
GENERIC = lanes.add(OFFSET, SHARED_WINDOW, 64)
IS_LAST = lanes.compare(".eq", STAGE, 3, 32, signed_operands=True)
ONE_OF_TWO = lanes.choose(IS_LAST, SHARED_WINDOW + 1024, SHARED_WINDOW + 1032, 32)


def test_a_generic_address() -> None:
    check_generic(OPERAND, GENERIC, 1, 32, 7)
    with pytest.raises(NotFollowedError):
        check_generic(OPERAND, OFFSET, 1, 32, 7)


@pytest.mark.parametrize("address", [GENERIC, ONE_OF_TWO])
def test_an_offset(address: Form) -> None:
    check_offset(OPERAND, OFFSET, 1, 32, 7)
    with pytest.raises(NotFollowedError):
        check_offset(OPERAND, address, 1, 32, 7)
