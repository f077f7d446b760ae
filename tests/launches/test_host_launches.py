"""Launches by host code: whose they are, what counts before them, and several of one kernel."""

from __future__ import annotations

import pytest

from ptxcheck.config import Config
from ptxcheck.frontends import Input, InputKind, Loaded
from ptxcheck.hostcode.launches import launches_in
from ptxcheck.ir import Module
from ptxcheck.launches.hints import LaunchHint, parse_hint
from ptxcheck.launches.host_launches import HostHint, hints_of, launches_of
from ptxcheck.parser import parse_module
from ptxcheck.pipeline.one_input import check_input
from ptxcheck.pipeline.part import Part
from ptxcheck.results import NoteKind
from ptxcheck.rules import RULES
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Source
from tests.fakes import HEADER

ENTRY = ".visible .entry {}(.param .u32 {}_param_0)\n{}\n{{ ret; }}\n"


def module(*names: str, directives: str = "") -> Module:
    entries = "".join(ENTRY.format(name, name, directives) for name in names)
    return parse_module(Source("k.ptx", HEADER + entries))


def hints(body: str, made: Module, kernels: str = "__global__ void k(int n) {}") -> tuple[HostHint, ...]:
    text = f"{kernels}\nvoid run(int n) {{ {body} }}\n"
    return hints_of(made, launches_in(Source("run.cu", text)).launches)


@pytest.mark.parametrize(
    ("launch", "names", "meant"),
    [
        ("k<<<1, 32>>>(n);", ("k",), ["k"]),
        ("k<<<1, 32>>>(n);", ("_Z1ki", "_Z2kki"), ["_Z1ki"]),
        ("a::k<<<1, 32>>>(n);", ("_ZN1a1kEi", "_ZN1b1kEi"), ["_ZN1a1kEi"]),
        ("k<<<1, 32>>>(n);", ("_ZN1a1kEi",), ["_ZN1a1kEi"]),
        ("c::k<<<1, 32>>>(n);", ("_ZN1a1kEi",), []),
        ("k<2><<<1, 32>>>(n);", ("_Z1kILi2EEvi", "_Z1kILi4EEvi"), ["_Z1kILi2EEvi"]),
        ("k<2><<<1, 32>>>(n);", ("_Z1kILi4EEvi",), []),
        ("k<half, 4><<<1, 32>>>(n);", ("_Z1kI6__halfLi2EEvi", "_Z1kI6__halfLi4EEvi"), ["_Z1kI6__halfLi4EEvi"]),
        ("k<half><<<1, 32>>>(n);", ("_Z1kI6__halfEvi", "_Z1kIfEvi"), ["_Z1kI6__halfEvi", "_Z1kIfEvi"]),
        ("k<half><<<1, 32>>>(n); k<float><<<1, 64>>>(n);", ("_Z1kI6__halfEvi", "_Z1kIfEvi"), []),
        ("k<<<1, 32>>>(n);", ("other",), []),
    ],
)  # fmt: skip
def test_whose_launch_it_is(launch: str, names: tuple[str, ...], meant: list[str]) -> None:
    assert [each.hint.kernel for each in hints(launch, module(*names))] == meant


def made(body: str, directives: str = "", *stated: LaunchHint) -> list[tuple[object, object, str]]:
    holder = module("_Z1ki", directives=directives)
    function = holder.entries[0]
    found, _ = launches_of(function, stated, hints(body, holder))
    return [(each.launch.block, each.launch.cluster, each.launch.block_from) for each in found]


AT = "<<<>>> at run.cu:2"


def test_what_the_user_states_counts_before() -> None:
    assert made("k<<<1, 64>>>(n);") == [((64, 1, 1), (1, 1, 1), AT)]
    option = parse_hint("block=96", "--launch")
    assert made("k<<<1, 64>>>(n);", "", option) == [((96, 1, 1), None, "--launch")]
    assert made("k<<<1, 96>>>(n);", "", option) == [((96, 1, 1), (1, 1, 1), "--launch")]


def test_what_the_kernel_is_compiled_for() -> None:
    assert made("k<<<1, 64>>>(n);", ".reqntid 128") == [((128, 1, 1), None, "")]
    assert made("k<<<1, 64>>>(n);", ".maxntid 128") == [((64, 1, 1), (1, 1, 1), AT)]
    assert made("k<<<1, 256>>>(n);", ".maxntid 128") == [(None, None, "")]
    assert made("k<<<1, 64>>>(n);", ".reqnctapercluster 2") == [((64, 1, 1), (2, 1, 1), AT)]
    assert made("k<<<1, n>>>(n);", ".maxntid 128") == [(None, (1, 1, 1), "")]


def test_launches_that_are_alike_are_one() -> None:
    assert len(made("k<<<1, 64>>>(n); k<<<9, 64>>>(n);")) == 1
    assert [block for block, _, _ in made("k<<<1, 64>>>(n); k<<<1, 96>>>(n);")] == [(64, 1, 1), (96, 1, 1)]


def test_known_arguments() -> None:
    holder = module("_Z1ki")
    (found,), _ = launches_of(holder.entries[0], (), hints("k<<<1, 64>>>(7);", holder))
    assert found.launch.given == ()
    assert found.with_constants is not None
    assert [(each.name, each.value) for each in found.with_constants.given] == [("param_0", 7)]


FREE = changed(RING, (".reqntid 64", ""))
"""A ring of a producer warp and a consumer warp; nothing in it says the block."""


def checked(launches: str, text: str = FREE, **settings: object) -> Part:
    host = f"extern __global__ void kernel(const float *in, int tiles);\nint main() {{ {launches} }}\n"
    loaded = Loaded(Input("k.cu", InputKind.CUDA), Source("k.cu.ptx", text), host=Source("k.cu", host))
    rules = [rule for rule in RULES if not rule.pedantic]
    return check_input(loaded, rules, Config(**settings))  # type: ignore[arg-type]


def test_a_verdict_says_where_its_launch_is_from() -> None:
    (kernel,) = checked("kernel<<<1, 64>>>(in, tiles);").kernels
    assert kernel.verification is not None
    assert kernel.verification.block == (64, 1, 1)
    assert kernel.verification.block_origin == "<<<>>> at k.cu:2"
    assert kernel.verification.kind.value in ("proved", "proved-bounded")


def test_of_several_launches_the_one_that_fails_is_named() -> None:
    part = checked("kernel<<<1, 64>>>(in, tiles);\nkernel<<<1, 32>>>(in, tiles);")
    (kernel,) = part.kernels
    assert kernel.verification is not None
    assert kernel.verification.kind.value == "violated"
    assert kernel.verification.block == (32, 1, 1)
    (other,) = kernel.verification.other_launches
    assert "64×1×1" in other
    assert "k.cu:2" in other
    assert {finding.message.partition("; launched ")[2] for finding in part.findings} == {
        "with 32 threads by <<<>>> at k.cu:3"
    }


def test_what_fails_in_all_launches_is_found_once() -> None:
    wrong = changed(FREE, ("_, [%r8], 1024;", "_, [%r8], 2048;"))
    one = checked("kernel<<<1, 64>>>(in, tiles);", wrong)
    two = checked("kernel<<<1, 64>>>(in, tiles);\nkernel<<<1, 96>>>(in, tiles);", wrong)
    assert [each.message for each in one.findings] == [each.message for each in two.findings] != []


def test_a_launch_that_the_kernel_is_not_compiled_for_is_told() -> None:
    part = checked("kernel<<<1, 128>>>(in, tiles);", RING)
    (note,) = (note for note in part.notes if note.kind is NoteKind.HOST_LAUNCH)
    assert (
        note.message == "the launch by <<<>>> at k.cu:2 fails: its block 128×1×1 contradicts .reqntid 64×1×1"
    )
    assert not any(
        note.kind is NoteKind.HOST_LAUNCH for note in checked("kernel<<<1, 64>>>(in, n);", RING).notes
    )


def test_more_launches_than_are_judged_are_told() -> None:
    part = checked("".join(f"kernel<<<1, {32 * n}>>>(in, tiles);\n" for n in range(2, 10)), verify=False)
    (note,) = (note for note in part.notes if note.kind is NoteKind.HOST_LAUNCH)
    assert note.message == "host code launches this kernel in 2 more ways, which were not judged"
    assert not part.kernels[0].complete
