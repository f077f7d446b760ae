"""Statements and operands: what the scanner reads and what the grammar reads is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.ir import (
    Address,
    Arguments,
    Component,
    FloatImmediate,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Symbol,
    SymbolOffset,
    Vector,
)
from ptxcheck.parser import parse_module
from ptxcheck.parser.body import BodyReader
from ptxcheck.parser.grammar import RawStatement, parse
from ptxcheck.parser.scope import Names
from ptxcheck.parser.show import show_instruction, show_operand
from ptxcheck.source import Source


def read(statements: str) -> list[Instruction]:
    body = BodyReader(statements, 0, len(statements)).read()
    assert body.problems == ()
    return list(body.instructions)


def operand(text: str) -> Operand:
    return read(f"foo {text};")[0].operands[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r1", Register("%r1")),
        ("name", Symbol("name")),
        ("$L__BB0_1", Symbol("$L__BB0_1")),
        ("42", Immediate(42)),
        ("-42", Immediate(-42)),
        ("0x1F", Immediate(31)),
        ("0X1fU", Immediate(31)),
        ("017", Immediate(15)),
        ("0b101U", Immediate(5)),
        ("~0", Immediate(-1)),
        ("1 << 4 | 3", Immediate(19)),
        ("1 ? 2 : 3", Immediate(2)),
        ("-7 / 2", Immediate(-3)),
        ("-7 % 2", Immediate(-1)),
        ("!0", Immediate(1)),
        ("WARP_SZ", Immediate(32)),
        ("(4*2)+WARP_SZ", Immediate(40)),
        ("0f3F800000", FloatImmediate(0x3F800000, 32)),
        ("-0f3F800000", FloatImmediate(0xBF800000, 32)),
        ("0d3FF0000000000000", FloatImmediate(0x3FF0000000000000, 64)),
        ("1.5", FloatImmediate(0x3FF8000000000000, 64)),
        (".5", FloatImmediate(0x3FE0000000000000, 64)),
        ("1e3", FloatImmediate(0x408F400000000000, 64)),
        ("%tid.x", Component(Register("%tid"), "x")),
        ("_", Sink()),
        ("!%p1", Negated(Register("%p1"))),
        ("%p1|%p2", Pair(Register("%p1"), Register("%p2"))),
        ("_|%p2", Pair(Sink(), Register("%p2"))),
        ("smem+16", SymbolOffset(Symbol("smem"), 16)),
        ("{%r1, _, 3}", Vector((Register("%r1"), Sink(), Immediate(3)))),
        ("[%r1]", Address(Register("%r1"))),
        ("[%r1+8]", Address(Register("%r1"), 8)),
        ("[%r1+-8]", Address(Register("%r1"), -8)),
        ("[%r1+(4*2)]", Address(Register("%r1"), 8)),
        ("[smem]", Address(Symbol("smem"))),
        ("[16]", Address(None, 16)),
        ("[%rd1, {%r1, %r2}]", Address(Register("%rd1"), 0, (Vector((Register("%r1"), Register("%r2"))),))),
    ],
)
def test_operand_forms(text: str, expected: Operand) -> None:
    assert operand(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[%r1-4]", "[%r1+%r2]", "[4+%r1]", "%r1+4", "-%r1", "08", "0fABC", "0f3F8000001", "_x y",
        "[%r1", "{%r1",
        "1/0", "%r1 %r2", "%r1,", ",%r1", "buffer, , 18432", ",", "%r1, ,%r2", "%tid.q", "'a'", "1_000", "0d1", "!5 6",
    ],
)  # fmt: skip
def test_bad_operands_are_located_errors(text: str) -> None:
    body = BodyReader(f"foo {text}; ret;", 0, len(text) + 10).read()
    assert len(body.problems) == 1
    assert body.instructions[-1].operation.text == "ret"


def test_call_keeps_its_argument_lists_and_other_operands_lose_parentheses() -> None:
    call, move = read("call (%r1), f, (%r2, 3); mov.u32 %r1, (4);")
    assert call.operands == (
        Arguments((Register("%r1"),)),
        Symbol("f"),
        Arguments((Register("%r2"), Immediate(3))),
    )
    assert move.operands == (Register("%r1"), Immediate(4))


def test_guard_comment_and_line_breaks_inside_a_statement() -> None:
    guarded, commented = read("@!%p1 add.s32\n %r1, %r2,\n -3; mov /* x */ \n.u32 %r1, // y\n 2;")
    assert guarded.guard is not None
    assert guarded.guard.negated
    assert show_instruction(guarded) == "@!%p1 add.s32 %r1, %r2, -3;"
    assert show_instruction(commented) == "mov.u32 %r1, 2;"


@pytest.mark.parametrize("text", [";", "mov . u32 %r1, 2;", "add.s32 %r1 %r2;", "@p;", "1: ret;", "}"])
def test_bad_statements_are_one_error_each(text: str) -> None:
    source = f"ret; {text} \n exit;"
    body = BodyReader(source, 0, len(source)).read()
    assert len(body.problems) >= 1
    assert body.instructions[0].operation.text == "ret"


def test_nested_blocks_have_their_own_registers_and_labels() -> None:
    body_text = """
    .reg .pred P1; .reg .b32 r;
    { .reg .pred P1; AGAIN: @P1 bra DONE; bra AGAIN; DONE: }
    { .reg .pred P1; AGAIN: @P1 bra DONE; bra AGAIN; DONE: }
    @P1 bra OUT;
    OUT: ret;
    """
    body = BodyReader(body_text, 0, len(body_text)).read()
    assert body.problems == ()
    guards = [i.guard.register.scope for i in body.instructions if i.guard is not None]
    assert guards == [1, 2, 0]
    targets = [o.scope for i in body.instructions for o in i.operands if isinstance(o, Symbol)]
    assert targets == [1, 1, 2, 2, 0]
    assert body.labels[("DONE", 1)] == 2
    assert body.register_types[Register("P1", 2)] == ".pred"


def test_names_without_percent_are_registers_once_declared() -> None:
    text = "mov.u32 %r1, a; .reg .b32 a, b<3>; mov.u32 a, b2; mov.u32 %r1, b9x;"
    body = BodyReader(text, 0, len(text)).read()
    first, second, third = body.instructions
    assert first.operands[1] == Symbol("a")
    assert second.operands == (Register("a"), Register("b2"))
    assert third.operands[1] == Symbol("b9x")


def test_deep_nesting_is_an_error_and_not_a_crash() -> None:
    text = "{" * 100_000
    body = BodyReader(text, 0, len(text)).read()
    assert "nested" in body.problems[0].message


_names = st.sampled_from(["%r1", "%rd12", "%p3", "smem", "$L1", "_x"])
_numbers = st.integers(-(2**31), 2**32).map(str)
_simple = st.one_of(
    _names,
    _numbers,
    st.tuples(_names, st.integers(-64, 4096)).map(lambda t: f"[{t[0]}+{t[1]}]"),
    _names.map(lambda n: f"[{n}]"),
    st.lists(st.sampled_from(["%r1", "%f2", "_"]), min_size=1, max_size=4).map(
        lambda v: "{" + ", ".join(v) + "}"
    ),
)


@given(st.lists(_simple, min_size=1, max_size=4), st.sampled_from(["", "@%p1 ", "@!%p2 "]))
def test_scanner_and_grammar_agree(operands: list[str], guard: str) -> None:
    text = f"{guard}foo.bar.b32 {', '.join(operands)};"
    (fast,) = read(text)
    slow: RawStatement = parse("statement", text, Names())
    assert fast.operands == slow.operands
    assert (fast.guard is not None and fast.guard.register.name) == (slow.guard or False)


@given(st.lists(_simple, min_size=1, max_size=4))
def test_printed_operands_parse_to_the_same(operands: list[str]) -> None:
    (first,) = read(f"foo {', '.join(operands)};")
    (second,) = read(f"foo {', '.join(map(show_operand, first.operands))};")
    assert first == second


def test_undeclared_braces_do_not_swallow_the_next_function() -> None:
    text = ".version 8.0\n.target sm_90\n.entry a() { foo {; }\n.entry b() { ret; }\n"
    module = parse_module(Source("x.ptx", text))
    assert module.functions
    assert module.problems or any(f.body and f.body.problems for f in module.functions)


def test_an_operand_behind_much_space_is_read_in_linear_time() -> None:
    """Space, words and a bracket that nothing closes: nothing to try twice."""
    text = "foo " + " \n" * 20_000 + "%r1 (" + " x" * 20_000 + "; ret;"
    body = BodyReader(text, 0, len(text)).read()
    assert body.instructions[-1].operation.text == "ret"


def test_a_form_feed_is_no_operand() -> None:
    """PTX takes it for space."""
    text = "foo %r1, \f; foo \f%r1; ret;"
    body = BodyReader(text, 0, len(text)).read()
    assert [problem.message for problem in body.problems] == ["unexpected ';' in 'foo %r1, ;'"]
    assert [i.operation.text for i in body.instructions] == ["foo", "ret"]


_ARRAYS = """.version 8.6
.target sm_90
.address_size 64
.shared .align 8 .b8 bytes[64];
.shared .align 8 .b32 words[64];
.shared .align 16 .v4 .b32 vectors[16];
.visible .entry k(.param .u64 p) {{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  .shared .b64 own[8];
  {statement}
  ret;
}}
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("mov.u32 %r1, bytes[4];", SymbolOffset(Symbol("bytes"), 4)),
        ("mov.u32 %r1, words[4];", SymbolOffset(Symbol("words"), 16)),
        ("mov.u32 %r1, words[1 + 2];", SymbolOffset(Symbol("words"), 12)),
        ("mov.u32 %r1, vectors[2];", SymbolOffset(Symbol("vectors"), 8)),
        ("mov.u32 %r1, own[2];", SymbolOffset(Symbol("own"), 16)),
        ("ld.shared.u32 %r1, words[3];", Address(Symbol("words"), 12)),
    ],
)
def test_an_index_counts_numbers_of_the_array(statement: str, expected: Operand) -> None:
    # What ptxas 13.0 makes of these: in an array of vectors, too, the index counts their numbers.
    module = parse_module(Source("k.ptx", _ARRAYS.format(statement=statement)))
    (body,) = (each.body for each in module.bodies.values() if each.body)
    assert body.problems == ()
    assert next(iter(body.instructions)).operands[1] == expected


@pytest.mark.parametrize("statement", ["ld.param.u64 %rd1, p[1];", "mov.u32 %r1, words[%r2];"])
def test_other_indices_are_located_errors(statement: str) -> None:
    module = parse_module(Source("k.ptx", _ARRAYS.format(statement=statement)))
    (body,) = (each.body for each in module.bodies.values() if each.body)
    (problem,) = body.problems
    assert statement[:-1] in problem.message
