"""Terms of instructions, held to what the PTX ISA says that they compute."""

from __future__ import annotations

from itertools import product

import pytest

from ptxcheck.ir import Immediate, Operand, Register
from ptxcheck.parser import parse_module
from ptxcheck.protocols.races.semantics import Call, computed
from ptxcheck.source import Source
from ptxcheck.terms.bit_pool import Pool
from ptxcheck.terms.bitvectors import Bits

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


def _value(text: str, numbers: dict[str, int]) -> int | None:
    """Return what an instruction leaves in `%d`, None where it has no term."""
    head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .b32 %d, %a, %b; "
    body = parse_module(Source("k.ptx", f"{head} {text} ret; }}")).entries[0].body
    assert body is not None
    pool = Pool()

    def read(operand: Operand, width: int) -> Bits:
        if isinstance(operand, Immediate):
            return pool.number(operand.value, width)
        assert isinstance(operand, Register)
        return pool.number(numbers[operand.name], width)

    found = computed(Call(pool, body.instructions[0], 0, read))
    assert found is None or found.constant is not None
    return None if found is None else found.constant


@pytest.mark.parametrize("mode", [".clamp", ".wrap"])
def test_a_mask_of_bits(mode: str) -> None:
    for position, width in product((0, 1, 5, 31, 32, 33, 200), (0, 1, 4, 27, 31, 32, 36, 1000)):
        found = _value(f"bmsk{mode}.b32 %d, %a, %b;", {"%a": position, "%b": width})
        assert found == _mask(mode, position, width), (mode, position, width)


def _picked(a: int, b: int, picks: int) -> int:
    """Return what `prmt` computes, with bytes as PTX ISA 9.7.9.7 numbers them."""
    pool = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    found = []
    for place in range(4):
        pick = picks >> (4 * place) & 15
        byte = pool[pick & 7]
        found.append((255 if byte >= 128 else 0) if pick >= 8 else byte)
    return int.from_bytes(bytes(found), "little")


@pytest.mark.parametrize("picks", [0x3210, 0x7701, 0x5410, 0x7632, 0x0123, 0x9A8F, 0xC4D6, 0x12345])
def test_bytes_that_a_literal_picks(picks: int) -> None:
    for a, b in product((0, 0x80FF017F, 0x12345678, 0xFFFFFFFF), (0, 0x8899AABB, 0x7F00807F)):
        found = _value(f"prmt.b32 %d, %a, %b, {picks};", {"%a": a, "%b": b})
        assert found == _picked(a, b, picks), (a, b)


def test_other_picks_have_no_term() -> None:
    assert _value("prmt.b32.f4e %d, %a, %b, 1;", {"%a": 1, "%b": 2}) is None
