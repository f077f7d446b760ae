"""What hovering says, against the instruction table and facts of the manual."""

from __future__ import annotations

import pytest

from ptxcheck.isa import forms_of, resolve, rows_by_mnemonic
from ptxcheck.isa.operands import is_special
from ptxcheck.lsp.hover import (
    hover_text,
    instruction_page,
    opcode_at,
    opcode_page,
)
from ptxcheck.lsp.meanings import instruction_meanings, modifier_meanings, register_meanings
from ptxcheck.lsp.names import Names
from ptxcheck.opcodes.target import Target, Version
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

from .kernels import HEADER, NESTED, RING


def hovered(text: str, at: str, shift: int = 0) -> str:
    names = Names(parse_module(Source("k.ptx", text)))
    found = hover_text(names, text.index(at) + shift)
    assert found is not None
    return found[0]


def test_every_instruction_has_a_meaning() -> None:
    assert instruction_meanings().keys() == set(rows_by_mnemonic())


def test_every_modifier_with_a_meaning_is_one() -> None:
    words = {
        word
        for name in rows_by_mnemonic()
        for form in forms_of(name)
        for slot in form.slots
        for word in slot.values
    }
    assert modifier_meanings().keys() <= words


@pytest.mark.parametrize("name", sorted(rows_by_mnemonic()))
def test_every_instruction_has_a_page(name: str) -> None:
    page = instruction_page(resolve(name, ()), Version(8, 0), Target(90))
    assert page is not None
    assert page.startswith(f"**{name}** (PTX ISA ")


def test_legality_is_that_of_the_file() -> None:
    wait = "mbarrier.try_wait.parity"
    assert "First in PTX 7.8, sm_90. Legal here (PTX 8.6, sm_90a)" in hovered(RING, wait)
    old = RING.replace("sm_90a", "sm_80").replace("8.6", "7.0")
    page = hovered(old, wait)
    assert "**Not legal here** (PTX 7.0, sm_80)" in page
    assert "needs PTX ISA 7.8 or later" in page
    assert "needs target sm_90 or higher" in hovered(RING.replace("sm_90a", "sm_80"), wait)


def test_modifiers_are_listed_with_what_they_need() -> None:
    page = hovered(RING, "mbarrier.arrive.expect_tx")
    assert "- `.shared::cta`: shared memory of the own CTA (PTX 7.8); or `.shared`" in page
    assert "- may have `.release`, `.relaxed`" in page


def test_an_illegal_modifier() -> None:
    page = hovered(RING.replace("mbarrier.init.shared::cta", "mbarrier.init.local"), "mbarrier.init")
    assert "**Not legal**: illegal modifier '.local' for 'mbarrier.init'" in page


def test_declarations() -> None:
    assert ".reg .b32 %r<4>" in hovered(NESTED, "%r2, bar")
    assert ".param .u32 n" in (page := hovered(NESTED, "[n]", 1))
    assert "Parameter of `names`: byte 8, 4 bytes" in page
    assert hovered(RING, "[full]", 1).endswith("8 bytes")
    assert ".func (.param .b32 out) helper(.param .b32 in)" in hovered(NESTED, "helper,")
    assert "thread in its CTA" in hovered(NESTED, "%tid")
    assert hovered(RING, "bra CONSUMER", 5) == "Label `CONSUMER`, line 22"


def test_nothing_to_say() -> None:
    text = HEADER + ".visible .entry k()\n{\n  // mov.u32 here\n  unknown.thing 0;\n  ret;\n}\n"
    names = Names(parse_module(Source("k.ptx", text)))
    assert hover_text(names, text.index("mov")) is None
    assert hover_text(names, text.index("unknown")) is None
    assert hover_text(names, len(text)) is None


def test_special_registers_are_special() -> None:
    assert [name for name in register_meanings() if not is_special(name)] == []


def test_inline_assembly() -> None:
    line = '  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar));'
    found = opcode_at(line, line.index("init"))
    assert found is not None
    assert (found[0], line[slice(*found[1])]) == (("mbarrier.init.shared::cta.b64",) * 2)
    page = opcode_page(found[0])
    assert page is not None
    assert "First in PTX 7.0, sm_80." in page
    assert "Legal" not in page
    assert opcode_at("  bar.sync(x);", 5) is None
    assert opcode_at(line, line.index("volatile")) is None
