"""Calls with the body of the callee in their place: values, names and places of each copy."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ptxcheck.cfg import Facts, Uniformity, analyse, build
from ptxcheck.cfg.inlining import with_calls_inlined
from ptxcheck.ir import Function, Instruction, Module
from ptxcheck.launch import Launch
from ptxcheck.opcodes.op import Op
from ptxcheck.parser import parse_module
from ptxcheck.parser.show import show
from ptxcheck.source import Source

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func outside(.param .b32 a);\n"
TWICE = """
.func (.param .b32 doubled) twice(.param .b32 number)
{
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  ld.param.b32 %r1, [number];
  setp.eq.u32 %p1, %r1, 7;
  @%p1 bra SEVEN;
  add.u32 %r2, %r1, %r1;
  st.param.b32 [doubled], %r2;
  ret;
SEVEN:
  st.param.b32 [doubled], 77;
  ret;
}
"""
CALL = """
  {{
    .param .b32 in; .param .b32 back;
    st.param.b32 [in], {argument};
    {guard} call.uni (back), {name}, (in);
    ld.param.b32 {result}, [back];
  }}
"""


def call(argument: str, result: str, name: str = "twice", guard: str = "") -> str:
    return CALL.format(argument=argument, result=result, name=name, guard=guard)


def module_of(body: str, functions: str = TWICE) -> Module:
    text = f"{HEAD}{functions}\n.visible .entry k(.param .u32 n) {{\n{DECLARED}{body}\nret;\n}}\n"
    module = parse_module(Source("k.ptx", text))
    assert not module.problems
    assert all(not f.body.problems for f in module.functions if f.body is not None)
    return module


DECLARED = ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b16 %h<8>; .reg .f32 %f<4>; .reg .pred %p<4>;\n"


def inlined(body: str, functions: str = TWICE) -> Function:
    module = module_of(body, functions)
    return with_calls_inlined(module.entries[0], module)


def facts_of(body: str, functions: str = TWICE) -> Facts:
    module = module_of(body, functions)
    return analyse(build(with_calls_inlined(module.entries[0], module)), module, Launch())


def stored(facts: Facts) -> list[int | None]:
    """Return the constants that the kernel stores at last, in order."""
    stores = [(p, i) for p, i in enumerate(facts.cfg.instructions) if i.operation.op is Op.ST]
    return [facts.constant(point, each["b"]) for point, each in stores]


STRAIGHT = """
.func (.param .b32 doubled) straight(.param .b32 number)
{
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [number];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [doubled], %r2;
  ret;
}
"""


def calls_left(function: Function) -> int:
    assert function.body is not None
    return sum(each.operation.op is Op.CALL for each in function.body.instructions)


KEEP = "st.global.u32 [%rd1], {};"


def test_two_copies_have_registers_and_parameters_of_their_own() -> None:
    body = call("5", "%r1", "straight") + call("7", "%r2", "straight")
    assert stored(facts_of(body + KEEP.format("%r1") + KEEP.format("%r2"), STRAIGHT)) == [10, 14]


def test_each_return_leads_behind_the_call() -> None:
    facts = facts_of(call("5", "%r1") + KEEP.format("%r1"))
    last = max(p for p, i in enumerate(facts.cfg.instructions) if i.operation.op is Op.ST)
    assert facts.range(last, facts.cfg.instructions[last]["b"]) == (10, 77)
    assert len(facts.cfg.exits) == 1


def test_what_a_thread_passes_differs_between_threads_in_the_copy_too() -> None:
    facts = facts_of("mov.u32 %r3, %tid.x;" + call("%r3", "%r1") + KEEP.format("%r1"))
    last = max(p for p, i in enumerate(facts.cfg.instructions) if i.operation.op is Op.ST)
    assert facts.uniform(last, facts.cfg.instructions[last]["b"]) is Uniformity.DIVERGENT


def test_a_guarded_call_may_be_left_out() -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4;" + call("5", "%r2", guard="@%p1")
    function = inlined(body)
    assert function.body is not None
    (point,) = function.body.inlined_calls
    first = function.body.instructions[point]
    assert first.guard is not None
    assert first.guard.negated
    assert calls_left(function) == 0


NESTED = (
    STRAIGHT
    + """
.func (.param .b32 all) four_times(.param .b32 some)
{
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [some];
  {
    .param .b32 in; .param .b32 back;
    st.param.b32 [in], %r1;
    call.uni (back), straight, (in);
    ld.param.b32 %r2, [back];
  }
  {
    .param .b32 in; .param .b32 back;
    st.param.b32 [in], %r2;
    call.uni (back), straight, (in);
    ld.param.b32 %r3, [back];
  }
  st.param.b32 [all], %r3;
  ret;
}
"""
)


def test_calls_in_a_callee_are_inlined_too() -> None:
    facts = facts_of(call("3", "%r1", "four_times") + KEEP.format("%r1"), NESTED)
    assert stored(facts) == [12]


COUNTED = """
.func (.param .b32 out) one(.param .b32 a)
{
  .shared .align 4 .b32 kept;
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  st.shared.b32 [kept], %r1;
  st.param.b32 [out], %r1;
  ret;
}
"""


def test_a_variable_that_lasts_is_one_for_all_calls() -> None:
    function = inlined(call("1", "%r1", "one") + call("2", "%r2", "one"), COUNTED)
    assert function.body is not None
    shared = [each for each in function.body.variables if each.space == ".shared"]
    assert len(shared) == 1
    stores = [i for i in function.body.instructions if i.operation.op is Op.ST]
    assert len({each["a"] for each in stores}) == 1


NARROW = """
.func (.param .align 4 .b8 out[8]) narrow(.param .align 4 .b8 in[8])
{
  .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<4>;
  ld.param.s8 %r1, [in];
  ld.param.v2.u8 {%h1, %h2}, [in+2];
  ld.param.f32 %f1, [in+4];
  st.param.v2.b8 [out], {%h2, %h1};
  st.param.b16 [out+2], 513;
  st.param.b32 [out+4], %r1;
  ret;
}
"""
NARROW_CALL = """
  {
    .param .align 4 .b8 in[8]; .param .align 4 .b8 back[8];
    mov.u32 %r1, 0xFFFE;
    st.param.b8 [in], %r1;
    mov.u16 %h1, 0x1234;
    st.param.v2.b8 [in+2], {%h1, 3};
    st.param.f32 [in+4], 0f3F800000;
    call.uni (back), narrow, (in);
    ld.param.v2.b8 {%h3, %h4}, [back];
    ld.param.u16 %r4, [back+2];
    ld.param.b32 %r5, [back+4];
  }
  cvt.u32.u16 %r2, %h3; cvt.u32.u16 %r3, %h4;
"""


def test_parts_of_a_structure_keep_their_width_and_sign() -> None:
    kept = "".join(KEEP.format(f"%r{n}") for n in (2, 3, 4, 5))
    assert stored(facts_of(NARROW_CALL + kept, NARROW)) == [3, 0x34, 513, 0xFFFFFFFE]


def test_bytes_that_are_loaded_in_another_width_are_not_known() -> None:
    whole = "ld.param.u16 %h1, [in+2]; mov.u16 %h2, 9;"
    other = NARROW.replace("ld.param.v2.u8 {%h1, %h2}, [in+2];", whole)
    kept = "".join(KEEP.format(f"%r{n}") for n in (2, 3))
    assert stored(facts_of(NARROW_CALL + kept, other))[-2:] == [9, None]


IN_REGISTERS = """
.func (.reg .b32 out) sum(.reg .b32 a, .reg .b32 b)
{
  add.u32 out, a, b;
  ret;
}
"""


def test_parameters_in_registers_are_moved() -> None:
    body = "mov.u32 %r1, 4; mov.u32 %r2, 5; call.uni (%r3), sum, (%r1, %r2);" + KEEP.format("%r3")
    assert stored(facts_of(body, IN_REGISTERS)) == [9]


IN_HALVES = """
.func (.reg .f16x2 out, .reg .pred odd) chosen(.reg .f16x2 a, .reg .pred p, .reg .f16 h)
{
  mov.b32 out, a;
  mov.pred odd, p;
  ret;
}
"""


def test_parameters_in_registers_of_any_type_are_moved_by_their_bits() -> None:
    body = "mov.u32 %r1, 4; setp.eq.u32 %p1, %r1, 4; call.uni (%r2, %p2), chosen, (%r1, %p1, %h1);"
    facts = facts_of(body + KEEP.format("%r2"), IN_HALVES)
    assert stored(facts) == [4]
    assert all(each.operation.form is not None for each in facts.cfg.instructions)


RECURSIVE = TWICE.replace("twice", "again").replace(
    "  add.u32", "  { .param .b32 in; .param .b32 back; call.uni (back), again, (in); }\n  add.u32"
)


@pytest.mark.parametrize(
    ("body", "functions"),
    [
        pytest.param(call("5", "%r1", "again"), RECURSIVE, id="recursion"),
        pytest.param("{ .param .b32 a; st.param.b32 [a], 1; call.uni outside, (a); }", "", id="no body"),
        pytest.param(
            "{ .param .b32 in; P: .callprototype _(.param .b32 _); mov.u64 %rd1, twice; call %rd1, (in), P; }",
            TWICE,
            id="by a pointer",
        ),
        pytest.param("call.uni twice;", TWICE, id="too few arguments"),
        pytest.param(
            call("5", "%r1").replace("back", "in").replace(".param .b32 in; .param", ".param", 1),
            TWICE,
            id="one variable for argument and result",
        ),
    ],
)
def test_what_stays_a_call(body: str, functions: str) -> None:
    module = module_of(body, functions)
    assert with_calls_inlined(module.entries[0], module) is module.entries[0]


def test_a_kernel_does_not_grow_without_end() -> None:
    chain = STRAIGHT
    for number in range(20):
        before = "straight" if number == 0 else f"f{number - 1}"
        chain += NESTED.removeprefix(STRAIGHT).replace("four_times", f"f{number}").replace("straight", before)
    function = inlined(call("1", "%r1", "f19"), chain)
    assert function.body is not None
    assert 10_000 < len(function.body.instructions) < 40_000
    assert calls_left(function) > 0


def test_calls_are_followed_to_a_depth() -> None:
    functions = "".join(
        f".func f{n}() {{ .reg .b32 %r<2>; mov.u32 %r1, {n}; call.uni f{n - 1}; ret; }}\n"
        for n in range(1, 600)
    )
    function = inlined("call.uni f599;", ".func f0() { ret; }\n" + functions)
    assert function.body is not None
    assert 60 < len(function.body.inlined_calls) < 70
    assert calls_left(function) == 1


PART = """
.func (.param .b32 out) part(.param .align 8 .b8 whole[8])
{
  .reg .b32 %r<4>; .reg .b16 %h<2>;
  ld.param.PIECE
  st.param.b32 [out], %r1;
  ret;
}
"""
WHOLE = """
  mov.u64 %rd1, 0x80FEDCBA98765432;
  { .param .align 8 .b8 to[8]; .param .b32 from;
    st.param.b64 [to], %rd1;
    call.uni (from), part, (to);
    ld.param.b32 %r1, [from]; }
"""


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("u32 %r1, [whole];", 0x98765432),
        ("u32 %r1, [whole+4];", 0x80FEDCBA),
        ("u8 %r1, [whole+2];", 0x76),
        ("s8 %r1, [whole+7];", 0xFFFFFF80),
        ("u16 %r1, [whole+5];", 0xFEDC),
    ],
)
def test_parts_of_what_is_passed_as_a_whole_are_followed(piece: str, expected: int) -> None:
    assert stored(facts_of(WHOLE + KEEP.format("%r1"), PART.replace("PIECE", piece))) == [expected]


def test_a_kernel_without_calls_is_itself() -> None:
    module = module_of("mov.u32 %r1, 1;")
    assert with_calls_inlined(module.entries[0], module) is module.entries[0]


def test_the_body_tells_which_calls_were_inlined() -> None:
    function = inlined("mov.u32 %r3, 1;" + call("%r3", "%r1"))
    assert function.body is not None
    ((point, callee),) = function.body.inlined_calls.items()
    assert callee == "twice"
    jump = function.body.instructions[point]
    text = module_of("mov.u32 %r3, 1;" + call("%r3", "%r1")).source.text
    assert text[jump.start : jump.end] == "call.uni (back), twice, (in);"


TABLE = """
.func (.param .b32 out) picked(.param .b32 which)
{
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [which];
T: .branchtargets A, B;
  brx.idx %r1, T;
A: st.param.b32 [out], 10;
  ret;
B: st.param.b32 [out], 20;
  ret;
}
"""


def test_jump_tables_of_a_copy_lead_into_it() -> None:
    facts = facts_of(call("1", "%r1", "picked") + call("0", "%r2", "picked"), TABLE)
    assert facts.cfg.graph.unknown_targets == ()


PTXAS = shutil.which("ptxas")


@pytest.mark.skipif(PTXAS is None, reason="no ptxas")
@pytest.mark.parametrize(
    ("body", "functions"),
    [
        (call("5", "%r1") + call("7", "%r2") + "mov.u64 %rd1, 0;" + KEEP.format("%r1"), TWICE),
        (call("3", "%r1", "four_times"), NESTED),
        (call("1", "%r1", "one") + call("2", "%r2", "one"), COUNTED),
        (NARROW_CALL, NARROW),
        (call("1", "%r1", "picked") + call("0", "%r2", "picked"), TABLE),
    ],
)
def test_ptxas_takes_the_kernel_as_it_is_inlined(body: str, functions: str, tmp_path: Path) -> None:
    module = module_of(body, functions)
    kernel = with_calls_inlined(module.entries[0], module)
    assert calls_left(kernel) == 0
    path = tmp_path / "k.ptx"
    path.write_text(show(replace(module, items=(kernel,))))
    assert PTXAS is not None
    done = subprocess.run(
        [PTXAS, "-arch=sm_90", str(path), "-o", str(tmp_path / "k.cubin")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not re.search("error|fatal", done.stderr), done.stderr


def test_instructions_of_a_copy_differ_from_those_of_another() -> None:
    function = inlined(call("5", "%r1") + call("7", "%r2"))
    assert function.body is not None
    adds: list[Instruction] = [i for i in function.body.instructions if i.operation.op is Op.ADD]
    assert adds[0] != adds[1]
    assert adds[0].span == adds[1].span
