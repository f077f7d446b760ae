"""Numbers that the user gives for quantities of the contract, such as the bytes of a tensor map's box.

Property: every byte count of an expect, an arrival or a copy that is made of quantities with a given number has that
number in it; all else stays as it is.

Argument: a quantity is known by the text that reports show of it, or by the copy whose box it is. Amounts are linear
forms, so each term is replaced by itself.

Not covered: values of parameters at an offset, which the interpreter puts in place as it reads them, and whether a
number is true: verdicts are then about these numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...launch import GivenValue
from ..model.actions import Action, Amount, Protocol, Transfer
from ..model.amounts import with_amounts
from ..symex.values.symbol import Form, plus, show_atom

AT_POINT = "box_bytes@"
"""A quantity of this name and a point: the bytes of the box that the copy at the point moves."""


def with_given(protocol: Protocol, given: Sequence[GivenValue]) -> Protocol:
    """Return a protocol with numbers in place of the quantities that have one."""
    numbers = {value.name.replace(" ", ""): value.value for value in given if value.offset is None}
    if not numbers:
        return protocol

    def change(action: Action, amount: Amount) -> Amount:
        box = numbers.get(f"{AT_POINT}{action.point}") if isinstance(action, Transfer) else None
        return _amount(amount, numbers, box)

    return with_amounts(protocol, change)


def _amount(amount: Amount, numbers: Mapping[str, int], box: int | None = None) -> Amount:
    if isinstance(amount, int):
        return amount
    total: Amount = amount.constant
    for name, factor in amount.terms:
        text = show_atom(name).replace(" ", "")
        number = box if box is not None and text.startswith("box_bytes(") else numbers.get(text)
        total = plus(total, Form(((name, factor),)) if number is None else factor * number)
    return total
