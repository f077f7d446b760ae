from __future__ import annotations

import pytest

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.ir import Function
from ptxcheck.launch import GivenValue
from ptxcheck.launches.hints import (
    LaunchError,
    LaunchHint,
    from_directives,
    given_value,
    hint_from_table,
    launch_of,
    parse_assumption,
    parse_hint,
)
from ptxcheck.parser import parse_module
from ptxcheck.results import NoteKind
from ptxcheck.source import Source
from tests.fakes import HEADER


def function(directives: str = "", name: str = "k") -> Function:
    text = f"{HEADER}.visible .entry {name}()\n{directives}\n{{\n  ret;\n}}\n"
    (found,) = parse_module(Source("k.ptx", text)).functions
    return found


@pytest.mark.parametrize(
    ("text", "kernel", "block", "cluster"),
    [
        ("block=384 cluster=2", "*", (384, 1, 1), (2, 1, 1)),
        ("block=32x4", "*", (32, 4, 1), None),
        ("block=(8, 4, 2) cluster=(2,1,1)", "*", (8, 4, 2), (2, 1, 1)),
        ("gemm*: cluster=4", "gemm*", None, (4, 1, 1)),
    ],
)
def test_hints(text: str, kernel: str, block: object, cluster: object) -> None:
    hint = parse_hint(text, "--launch")
    assert (hint.kernel, hint.block, hint.cluster) == (kernel, block, cluster)


@pytest.mark.parametrize(
    "text",
    ["", "384", "block", "block=0", "block=2048", "block=1,2,3,4", "grid=4", "block=32 grid=4", "block=x"],
)
def test_wrong_hints(text: str) -> None:
    with pytest.raises(LaunchError):
        parse_hint(text, "--launch")


def test_tables() -> None:
    assert hint_from_table("k", {"block": 128, "cluster": [2, 1]}, "c").cluster == (2, 1, 1)
    assert hint_from_table("k", "block=64", "c") == LaunchHint("k", (64, 1, 1), None, "c")
    for wrong in ({"grid": 1}, {}, 5, {"block": "many"}):
        with pytest.raises(LaunchError):
            hint_from_table("k", wrong, "c")


def test_directives() -> None:
    launch, _ = launch_of(function(".reqntid 128, 2\n.explicitcluster\n.reqnctapercluster 2, 1, 1"), ())
    assert (launch.block, launch.threads, launch.cluster, launch.max_threads) == (
        (128, 2, 1),
        256,
        (2, 1, 1),
        256,
    )
    launch, _ = launch_of(function(".maxntid 128, 1, 1"), ())
    assert (launch.block, launch.threads, launch.max_threads) == (None, None, 128)


def test_first_hint_counts() -> None:
    hints = (parse_hint("block=64", "--launch"), parse_hint("block=128 cluster=2", "configuration"))
    launch, complaints = launch_of(function(), hints)
    assert (launch.block, launch.threads, launch.cluster, complaints) == ((64, 1, 1), 64, (2, 1, 1), ())


def test_patterns_give_way_to_directives_and_names_must_agree() -> None:
    kernel = function(".reqntid 128")
    launch, complaints = launch_of(kernel, (parse_hint("block=64", "--launch"),))
    assert (launch.threads, complaints) == (128, ())
    launch, complaints = launch_of(kernel, (parse_hint("k: block=64", "--launch"),))
    assert (launch.threads, complaints) == (128, ("--launch: block 64×1×1 contradicts .reqntid 128×1×1",))
    _, complaints = launch_of(function(".maxntid 32"), (parse_hint("k: block=64", "--launch"),))
    assert complaints == ("--launch: block 64×1×1 exceeds .maxntid, 32 threads",)


PARAMETERS = ".param .u64 in, .param .u32 k_param_1, .param .align 64 .b8 map[128], .param .u32 n"
"""At 0, 8, 64 and 192."""


def with_parameters() -> Function:
    text = f"{HEADER}.visible .entry k({PARAMETERS})\n{{\n  ret;\n}}\n"
    (found,) = parse_module(Source("k.ptx", text)).functions
    return found


@pytest.mark.parametrize(
    ("name", "number", "offset", "size"),
    [
        ("param+0", 5, 0, 8),
        ("param+8", 5, 8, 4),
        ("param_1", 5, 8, 4),
        ("in", 1 << 40, 0, 8),
        ("n", 5, 192, 4),
        ("map+4", 5, 68, 4),
        ("param+68.u64", 5, 68, 8),
        ("map", 1 << 33, 64, 8),
    ],
)
def test_places_of_given_values(name: str, number: int, offset: int, size: int) -> None:
    assert given_value(with_parameters(), name, number) == GivenValue(name, number, offset, size)


def test_given_values_of_the_contract_and_of_nothing() -> None:
    kernel = with_parameters()
    assert given_value(kernel, "box_bytes(param+64)", 4096) == GivenValue("box_bytes(param+64)", 4096)
    for name in ("m", "param+196", "n+4", "param+12", "1"):
        assert given_value(kernel, name, 1) is None
    negative = given_value(kernel, "n", -1)
    assert negative is not None
    assert negative.value == 0xFFFFFFFF


def test_assumptions() -> None:
    assert parse_assumption("gemm*: n = 0x10").values == (("n", 16),)
    assert parse_hint("block=32 param+8=4 box_bytes(param+64)=1024", "c").values == (
        ("param+8", 4),
        ("box_bytes(param+64)", 1024),
    )
    table = hint_from_table("k", {"block": 32, "assume": {"param+8": 4}}, "c")
    assert (table.block, table.values) == ((32, 1, 1), (("param+8", 4),))
    for wrong in ("n", "n=x", "=4", "n=1.5", "n=0x10000000000000000"):
        with pytest.raises(LaunchError):
            parse_assumption(wrong)
    for tables in ({"assume": {"n": "4"}}, {"assume": 4}):
        with pytest.raises(LaunchError):
            hint_from_table("k", tables, "c")


def test_given_values_reach_the_launch() -> None:
    hints = (parse_assumption("n=8"), parse_assumption("n=9"), parse_assumption("absent=1"))
    launch, complaints = launch_of(with_parameters(), hints)
    assert ([value.value for value in launch.given], complaints) == ([8], ())
    _, complaints = launch_of(with_parameters(), (parse_assumption("k: absent=1"),))
    assert complaints == ("--assume: the kernel has no parameter absent",)


def test_a_shape_that_no_gpu_can_launch_is_no_launch() -> None:
    for directive in (".reqntid 2048", ".maxntid 1212121212121212", ".reqnctapercluster 4096"):
        module = parse_module(
            Source("x.ptx", f".version 9.0\n.target sm_90a\n.visible .entry k() {directive} {{ ret; }}\n")
        )
        launch = from_directives(module.functions[0])
        assert (launch.block, launch.max_threads, launch.cluster) == (None, None, None)


def test_a_kernel_is_named_as_in_its_source() -> None:
    mangled = "_ZN3app5scaleILi128EEEvPf"
    for pattern in (mangled, "app::scale", "scale", "scale<128>", "sc*", "*"):
        assert LaunchHint(pattern).applies(mangled), pattern
    for pattern in ("app", "scal", "scale<64>", "_ZN3app"):
        assert not LaunchHint(pattern).applies(mangled), pattern


def test_a_launch_for_no_kernel_is_told() -> None:
    source = Source("k.ptx", HEADER + ".visible .entry scale() .reqntid 32 { ret; }\n")
    report = check(source, config=Config(launch=(parse_hint("scal: block=32", "--launch"),)))
    (note,) = report.notes
    assert note.kind is NoteKind.LAUNCH
    assert note.message == "no kernel that was checked is called scal; there is scale"
    assert not check(source, config=Config(launch=(parse_hint("scal: block=32", "ptxcheck.toml"),))).notes
    assert not check(source, config=Config(launch=(parse_hint("scale: block=32", "--launch"),))).notes
