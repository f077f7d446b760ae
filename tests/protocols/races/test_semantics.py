"""Terms of instructions, held to what the PTX ISA says that they compute."""

from __future__ import annotations

from itertools import product

import pytest

from ptxcheck.ir import Operand, Register
from ptxcheck.parser import parse_module
from ptxcheck.protocols.races.semantics import Call, computed
from ptxcheck.source import Source
from ptxcheck.terms.bit_pool import Pool

_ALL = 0xFFFFFFFF


def _mask(mode: str, position: int, width: int) -> int:
    """Return what `bmsk` computes, step by step as PTX ISA 9.7.1.22 writes it."""
    a1, b1 = position & 31, width & 31
    mask0, total = _ALL << a1 & _ALL, a1 + b1
    overflows = total >= 32
    if mode == ".clamp":
        if position >= 32:
            overflows, mask0 = True, 0
        overflows = overflows or width >= 32
    if overflows:
        mask1 = 0
    else:
        mask1 = _ALL if b1 == 0 else _ALL << total & _ALL
    return mask0 & ~mask1 & _ALL


@pytest.mark.parametrize("mode", [".clamp", ".wrap"])
def test_a_mask_of_bits(mode: str) -> None:
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .b32 %d, %a, %b; "
    module = parse_module(Source("k.ptx", f"{text} bmsk{mode}.b32 %d, %a, %b; ret; }}"))
    body = module.entries[0].body
    assert body is not None
    instruction = body.instructions[0]
    for position, width in product((0, 1, 5, 31, 32, 33, 200), (0, 1, 4, 27, 31, 32, 36, 1000)):
        numbers = {"%a": position, "%b": width}
        pool = Pool()

        def read(operand: Operand, bits: int, pool: Pool = pool, numbers: dict[str, int] = numbers) -> object:
            assert isinstance(operand, Register)
            return pool.number(numbers[operand.name], bits)

        found = computed(Call(pool, instruction, 0, read))  # type: ignore[arg-type]
        assert found is not None
        assert found.constant == _mask(mode, position, width), (mode, position, width)
