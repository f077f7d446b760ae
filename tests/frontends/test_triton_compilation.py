"""Texts of Triton's that lie beside PTX."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.checker import check
from ptxcheck.frontends.triton_compilation import read_specialisation, specialisation_beside
from ptxcheck.launches.parameter_facts import Argument
from ptxcheck.runtime.cache import Cache


def text(arguments: str, body: str = "", name: str = "k") -> str:
    return (
        f'#loc = loc("k.py":1:1)\nmodule {{\n  tt.func public @{name}({arguments}) attributes {{noinline = false}} '
        f"{{\n{body}    tt.return loc(#loc)\n  }} loc(#loc)\n}} loc(#loc)\n"
    )


def arguments(signature: str, body: str = "") -> tuple[Argument, ...]:
    found = read_specialisation(text(signature, body))
    assert found is not None
    return found.arguments


def test_signatures() -> None:
    signature = (
        '%a_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("a_ptr"(#loc)), %n: i32 loc("n, (m"(#loc)), '
        "%map: !tt.tensordesc<128x64xf16, #shared> loc(unknown), %s: f32"
    )
    assert arguments(signature) == (
        Argument("a_ptr", "!tt.ptr<f16>", 16),
        Argument("n", "i32"),
        Argument("map", "!tt.tensordesc<128x64xf16, #shared>"),
        Argument("s", "f32"),
    )
    assert arguments("") == ()


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "module {}",
        text("%a: i32") + text("%b: i32"),
        text("%a"),
        "tt.func public @k(%a: i32",
        text("i32"),
    ],
)
def test_what_is_no_kernel(wrong: str) -> None:
    assert read_specialisation(wrong) is None


BODY = """    %c0_i32 = arith.constant 0 : i32 loc(#loc)
    %c-7_i32 = arith.constant -7 : i32 loc(#loc)
    %c16_i32 = arith.constant 16 : i32 loc(#loc)
"""


@pytest.mark.parametrize(
    ("assumed", "expected"),
    [
        ("%0 = arith.cmpi sgt, %n, %c0_i32 : i32", Argument("n", "i32", low=1)),
        ("%0 = arith.cmpi sge, %n, %c16_i32 : i32", Argument("n", "i32", low=16)),
        ("%0 = arith.cmpi slt, %n, %c16_i32 : i32", Argument("n", "i32", high=15)),
        ("%0 = arith.cmpi sle, %n, %c-7_i32 : i32", Argument("n", "i32", high=-7)),
        ("%0 = arith.cmpi slt, %c0_i32, %n : i32", Argument("n", "i32", low=1)),
        ("%0 = arith.cmpi eq, %n, %c16_i32 : i32", Argument("n", "i32", low=16, high=16)),
        ("%0 = arith.cmpi ult, %n, %c16_i32 : i32", Argument("n", "i32")),
        ("%0 = arith.cmpi ne, %n, %c0_i32 : i32", Argument("n", "i32")),
        ("%0 = arith.cmpi sgt, %n, %unknown : i32", Argument("n", "i32")),
        (
            "%1 = arith.remsi %n, %c16_i32 : i32\n    %0 = arith.cmpi eq, %1, %c0_i32 : i32",
            Argument("n", "i32", assumed_multiple_of=16),
        ),
        (
            "%1 = arith.cmpi sgt, %n, %c0_i32 : i32\n    %2 = arith.cmpi slt, %n, %c16_i32 : i32\n"
            "    %0 = arith.andi %1, %2 : i1",
            Argument("n", "i32", low=1, high=15),
        ),
        (
            "%1 = arith.cmpi sgt, %n, %c0_i32 : i32\n    %2 = arith.cmpi slt, %n, %c16_i32 : i32\n"
            "    %0 = arith.ori %1, %2 : i1",
            Argument("n", "i32"),
        ),
    ],
)
def test_assumptions(assumed: str, expected: Argument) -> None:
    body = f"{BODY}    {assumed} loc(#loc)\n    llvm.intr.assume %0 : i1 loc(#loc)\n"
    assert arguments("%n: i32", body) == (expected,)
    assert arguments("%n: i32", body.replace("    llvm", "      llvm")) == (Argument("n", "i32"),)
    behind_a_label = body.replace("    llvm", "  ^bb1:  // pred: ^bb0\n    llvm")
    assert arguments("%n: i32", behind_a_label) == (Argument("n", "i32"),)


def test_files_beside(tmp_path: Path) -> None:
    ptx = tmp_path / "k.sm_90a.ptx"
    assert specialisation_beside(str(ptx)) is None
    (tmp_path / "k.sm_90a.ttgir").write_text(text("%n: i32"))
    found = specialisation_beside(str(ptx))
    assert found is not None
    assert found.arguments == (Argument("n", "i32"),)
    (tmp_path / "k.sm_90a.ttir").write_text(text("%m: i32"))
    found = specialisation_beside(str(ptx))
    assert found is not None
    assert found.arguments == (Argument("m", "i32"),)
    assert specialisation_beside("\0.ptx") is None


def test_a_text_that_appears_is_no_result_of_before(tmp_path: Path) -> None:
    ptx = tmp_path / "k.ptx"
    ptx.write_text(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }\n"
    )
    cache = Cache(tmp_path / "cache")
    assert check(str(ptx), cache=cache).kernels[0].launch.facts == ()
    ptx.with_suffix(".ttir").write_text(text("%n: i32 {tt.divisibility = 16 : i32}"))
    assert len(check(str(ptx), cache=cache).kernels[0].launch.facts) == 1
    ptx.with_suffix(".ttir").unlink()
    assert check(str(ptx), cache=cache).kernels[0].launch.facts == ()
