from __future__ import annotations

import pytest

from ptxcheck.ir import Function
from ptxcheck.launches import LaunchError, LaunchHint, hint_from_table, launch_of, parse_hint
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

from .fakes import HEADER


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
