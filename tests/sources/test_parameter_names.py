"""Parameters have the names of the CUDA source in what people read, and as options."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.explain.spoken import spoken
from ptxcheck.launches.hints import parse_assumption
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.sources.demangled_names import kernel_name, names_kernel
from ptxcheck.sources.parameter_names import with_source_names

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "corpus" / "demo"
PTX = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry _Z4ringPKfi(.param .u64 _Z4ringPKfi_param_0, .param .u32 _Z4ringPKfi_param_1)
{
  ret;
}
"""


def names(source: str) -> list[str]:
    (function,) = with_source_names(parse_module(Source("k.ptx", PTX)), [source]).entries
    return [parameter.source_name for parameter in function.parameters]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("__global__ void ring(const float *in, int n) {}", ["in", "n"]),
        ("__global__ void __launch_bounds__(4 * (2 + 1)) ring(const float *__restrict__ in, int n);", ["in", "n"]),
        ("template <class T>\n__global__ void\nring(T<int, 3> in /* , int x */, int n = f(1, 2)) {}", ["in", "n"]),
        ("__global__ void ring(const float *in, int) {}", ["in", ""]),
        ("__global__ void ring(const float *in, int n, int m) {}", ["", ""]),
        ("void ring(const float *in, int n) {}\n__global__ void other(int a, int b) {}", ["", ""]),
        ("__global__ void ring(float *a, int b); __global__ void ring(int *c, int d);", ["", ""]),
        ('const char *s = "__global__ void ring(int x, int y)";', ["", ""]),
    ],
)  # fmt: skip
def test_names_come_from_the_definition(source: str, found: list[str]) -> None:
    assert names(source) == found


def test_texts_are_in_the_words_of_the_source() -> None:
    module = with_source_names(
        parse_module(Source("k.ptx", PTX)), ["__global__ void ring(const float *in, int n) {}"]
    )
    say = spoken(module.entries[0])
    assert say("param_1 is 3, _Z4ringPKfi_param_0+8 and param_2, my_param_1") == (
        "n is 3, in+8 and param_2, my_param_1"
    )


def test_a_report_and_its_options_use_them() -> None:
    path = DEMO / "ring.ptx"
    config = Config(source_roots=(str(DEMO),))
    text = path.read_text(encoding="utf-8").replace("corpus/demo/ring.cu", str(DEMO / "ring.cu"))
    (finding,) = ptxcheck.check(Source("ring.ptx", text), config=config).active
    assert finding.counterexample is not None
    assert [each.partition(" ")[0] for each in finding.counterexample.inputs] == ["tiles"]
    given = Config(source_roots=(str(DEMO),), launch=(parse_assumption("tiles=0"),))
    report = ptxcheck.check(Source("ring.ptx", text), config=given)
    assert (report.problems, report.active) == ((), ())


def test_instances_of_a_template_are_told_apart() -> None:
    mangled = "_Z4ringILi3ELi512EEv6Params"
    assert kernel_name(mangled) == "ring<3, 512>"
    assert kernel_name("_Z4ringPKfi") == "ring"
    assert names_kernel("ring<3, *>", mangled)
    assert names_kernel("ring", mangled)
    assert not names_kernel("ring<4, 512>", mangled)
