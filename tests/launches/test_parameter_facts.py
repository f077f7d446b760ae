"""Conditions on parameters: what is read of them, what they say of bytes, and which kernels they fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck import check
from ptxcheck.config import Config
from ptxcheck.ir import Function
from ptxcheck.launch import FactOrigin, ParameterFact
from ptxcheck.launches.hints import (
    LaunchError,
    launch_of,
    parse_assumption,
    specialised,
)
from ptxcheck.launches.parameter_facts import (
    Argument,
    Condition,
    Specialisation,
    contradiction,
    fact_lines,
    fact_of,
    parse_condition,
    specialised_facts,
)
from ptxcheck.parser import parse_module
from ptxcheck.report import Format, Verbosity, render
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from tests.descriptors.device.kernels import kernel as map_kernel

POINTER = ".param .u64 .ptr .global .align 1"


def entry(*parameters: str, name: str = "k") -> Function:
    declared = ", ".join(f"{text} p{index}" for index, text in enumerate(parameters))
    text = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry {name}({declared}) {{ ret; }}\n"
    return parse_module(Source("k.ptx", text)).functions[0]


def compiled(*types: str, name: str = "k", multiple: int = 16) -> Specialisation:
    arguments = (Argument(f"a{index}", kind, multiple) for index, kind in enumerate(types))
    return Specialisation(name, tuple(arguments))


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("n % 16 == 0", Condition("n", "n % 16 == 0", 16, 0)),
        ("param+8%0x10==4", Condition("param+8", "param+8%0x10==4", 16, 4)),
        ("n.s32  >= 1", Condition("n.s32", "n.s32 >= 1", low=1)),
        ("n > 1", Condition("n", "n > 1", low=2)),
        ("n<8", Condition("n", "n<8", high=7)),
        ("n <= 8", Condition("n", "n <= 8", high=8)),
        ("n = 8", None),
        ("n == 8", None),
    ],
)
def test_parsing(text: str, condition: Condition | None) -> None:
    assert parse_condition(text) == condition


@pytest.mark.parametrize(
    "text", ["n % 16 == 16", "n % 0 == 0", "n % 16 == x", "n >= 1.5", "(n) >= 1", "n % -4 == 0"]
)
def test_bad_conditions_are_errors_of_the_option(text: str) -> None:
    with pytest.raises(LaunchError, match="--assume"):
        parse_assumption(text)


@given(
    st.one_of(st.none(), st.integers(-200, 300)),
    st.one_of(st.none(), st.integers(-200, 300)),
    st.booleans(),
)
def test_bounds_keep_every_number_that_meets_them(low: int | None, high: int | None, signed: bool) -> None:
    place = "n.s8" if signed else "n"
    fact = fact_of(Condition(place, "", low=low, high=high), 0, 1)
    for byte in range(256):
        number = byte - 256 if signed and byte > 127 else byte
        meets = (low is None or number >= low) and (high is None or number <= high)
        if meets and fact is not None:
            assert fact.low <= byte
            assert fact.high is None or byte <= fact.high
    if fact is None and not signed:
        assert (
            (low or 0) > (255 if high is None else high)
            or (high is not None and high < 0)
            or (low or 0) > 255
        )


def test_arguments_keep_their_order_in_front_of_workspaces() -> None:
    kernel = entry(POINTER, ".param .u32", ".param .f32", ".param .u64", POINTER, POINTER)
    facts = specialised_facts(kernel, compiled("!tt.ptr<f16>", "i32", "f32", "i64", multiple=16))
    assert [(fact.name, fact.offset, fact.size, fact.modulus) for fact in facts] == [
        ("0 (a0)", 0, 8, 16),
        ("1 (a1)", 8, 4, 16),
        ("2 (a2)", 12, 4, 16),
        ("3 (a3)", 16, 8, 16),
    ]


@pytest.mark.parametrize(
    ("parameters", "made_for"),
    [
        ((POINTER, ".param .u32"), compiled("!tt.ptr<f16>", "i32", name="other")),
        ((POINTER, ".param .u32"), compiled("i32", "!tt.ptr<f16>")),
        ((POINTER, ".param .u64"), compiled("!tt.ptr<f16>", "i32")),
        ((POINTER, ".param .u64"), compiled("!tt.ptr<f16>", "!tt.ptr<f16>")),
        ((POINTER, POINTER), compiled("!tt.ptr<f16>", "i64")),
        ((POINTER,), compiled("!tt.ptr<f16>", "i32")),
        ((POINTER, ".param .u64"), compiled("!tt.ptr<f16>")),
        ((POINTER, POINTER, POINTER, POINTER), compiled("!tt.ptr<f16>")),
        ((POINTER,), compiled("!unknown.type")),
    ],
)
def test_a_specialisation_that_does_not_fit_says_nothing(
    parameters: tuple[str, ...], made_for: Specialisation
) -> None:
    assert specialised_facts(entry(*parameters), made_for) == ()


def test_older_compilers_do_not_mark_pointers() -> None:
    kernel = entry(".param .u64", ".param .u32")
    assert len(specialised_facts(kernel, compiled("!tt.ptr<f16>", "i32"))) == 2


def test_what_the_source_assumes() -> None:
    arguments = (
        Argument("n", "i32", low=1),
        Argument("m", "i32", 16, high=8),
        Argument("k", "i32", low=-3, high=3),
    )
    facts = specialised_facts(entry(*[".param .u32"] * 3), Specialisation("k", arguments))
    assert [(fact.text, fact.low, fact.high) for fact in facts] == [
        ("1 <= n", 1, (1 << 31) - 1),
        ("m % 16 == 0", 0, None),
    ]
    assert fact_lines(facts) == (
        "Triton specialised argument 1 (m) for multiples of 16",
        "the kernel's source assumes (tl.assume) 1 <= n",
    )


def fact(**fields: int) -> ParameterFact:
    return ParameterFact("n", 0, 4, FactOrigin.GIVEN, "the condition", **fields)


def test_contradictions() -> None:
    assert contradiction([fact(modulus=16), fact(low=1)], []) is None
    assert "hold together" in str(contradiction([fact(low=5), fact(low=0, high=4)], []))
    assert "given value 3" in str(contradiction([fact(modulus=16)], [(0, 4, 3)]))
    assert contradiction([fact(modulus=16)], [(0, 4, 32), (4, 4, 3)]) is None


def test_hints_reach_the_launch() -> None:
    kernel = entry(POINTER, ".param .u32")
    made_for = specialised(compiled("!tt.ptr<f16>", "i32"))
    launch, complaints = launch_of(
        kernel, (made_for, parse_assumption("p1.s32 >= 1"), parse_assumption("absent >= 1"))
    )
    assert ([one.text for one in launch.facts], complaints) == (
        ["a0 % 16 == 0", "a1 % 16 == 0", "p1.s32 >= 1"],
        (),
    )
    _, complaints = launch_of(kernel, (parse_assumption("k: absent >= 1"),))
    assert complaints == ("--assume: the kernel has no parameter absent",)
    launch, complaints = launch_of(kernel, (made_for, parse_assumption("p1=3")))
    assert (launch.facts, complaints) == ((), ("a1 % 16 == 0 contradicts the given value 3",))
    _, complaints = launch_of(kernel, (parse_assumption("p1.s32 >= -4"),))
    assert "no range" in complaints[0]


# ---- through the pipeline

TTIR = """module {
  tt.func public @made(%source: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("source"(#loc)), \
%workspace: !tt.ptr<i8> loc("workspace"(#loc)), %rows: i32 loc("rows"(#loc)), \
%columns: i32 {tt.divisibility = 16 : i32} loc("columns"(#loc))) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32 loc(#loc1)
    %0 = arith.cmpi sgt, %rows, %c0_i32 : i32 loc(#loc3)
    llvm.intr.assume %0 : i1 loc(#loc4)
    %1 = arith.cmpi sgt, %columns, %c0_i32 : i32 loc(#loc3)
    llvm.intr.assume %1 : i1 loc(#loc4)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""


def verdicts(target: str | Source, *assumed: str) -> Mapping[Property, VerdictKind]:
    config = Config(launch=tuple(map(parse_assumption, assumed)))
    table = check(target, config=config).kernels[0].verification
    assert table is not None
    return {each.property: each.kind for each in table.verdicts}


def test_a_kernel_beside_its_compilation_is_proved(tmp_path: Path) -> None:
    path = tmp_path / "made.ptx"
    path.write_text(map_kernel())
    assert verdicts(str(path))[Property.DESCRIPTOR_LEGALITY] is VerdictKind.ASSUMES
    path.with_suffix(".ttir").write_text(TTIR)
    assert verdicts(str(path))[Property.DESCRIPTOR_LEGALITY] is VerdictKind.PROVED
    text = render(check(str(path)), Format.TEXT, verbosity=Verbosity.VERBOSE)
    assert "given: Triton specialised arguments 0 (source), 3 (columns) for multiples of 16" in text
    assert "given: the kernel's source assumes (tl.assume) 1 <= rows, 1 <= columns" in text


def test_a_compilation_of_something_else_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "made.ptx"
    path.write_text(map_kernel())
    for other in (TTIR.replace("@made", "@other"), TTIR.replace("%rows: i32", "%rows: i64"), "not MLIR", ""):
        path.with_suffix(".ttir").write_text(other)
        assert verdicts(str(path))[Property.DESCRIPTOR_LEGALITY] is VerdictKind.ASSUMES


def test_conditions_by_hand() -> None:
    source = Source("made.ptx", map_kernel())
    conditions = ("param+0 % 16 == 0", "columns % 8 == 0", "columns >= 1", "rows >= 1")
    assert verdicts(source, *conditions)[Property.DESCRIPTOR_LEGALITY] is VerdictKind.PROVED
    for index in range(len(conditions)):
        fewer = conditions[:index] + conditions[index + 1 :]
        assert verdicts(source, *fewer)[Property.DESCRIPTOR_LEGALITY] is VerdictKind.ASSUMES
    wrong = ("param+0 % 16 == 8", *conditions[1:])
    assert verdicts(source, *wrong)[Property.DESCRIPTOR_LEGALITY] is not VerdictKind.PROVED
    findings = check(source, config=Config(launch=tuple(map(parse_assumption, wrong)))).active
    assert [finding.rule for finding in findings] == ["TD050"]


def test_a_condition_of_no_kernel_is_told() -> None:
    report = check(Source("made.ptx", map_kernel()), config=Config(launch=(parse_assumption("absent >= 1"),)))
    assert [problem.message for problem in report.problems] == [
        "no kernel that was checked has a parameter absent"
    ]
