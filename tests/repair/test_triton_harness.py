"""Harnesses of Triton functions: what is compiled for which arguments, and how that is launched."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.descriptors import spec, violations
from ptxcheck.repair.harness import HarnessError, LaunchPlan, MapArgument
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.session import Plan, run_session
from ptxcheck.repair.triton_harness import ArgumentType, TensorDescriptor, TritonHarness

_RUNNABLE = Path(__file__).parents[2] / "corpus" / "runnable"
_KERNELS = _RUNNABLE / "triton_kernels"
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="no Triton")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:triton")


@dataclass
class _Parameter:
    """What Triton says of a parameter of a function."""

    name: str
    is_constexpr: bool = False
    is_const: bool = False
    annotation_type: str = ""
    do_not_specialize: bool = False
    do_not_specialize_on_alignment: bool = False
    default: Any = None
    has_default: bool = False


class _Function:
    __name__ = "kernel"

    def __init__(self, *parameters: _Parameter) -> None:
        self.params = parameters


def _harness(*parameters: _Parameter, arguments: Any, cases: Any = ({},), **given: Any) -> TritonHarness:
    """Return a harness of a function that cannot be compiled."""
    return TritonHarness(
        _Function(*parameters), cases, arguments, (1,), lambda before: {"x": before["x"]}, **given
    )


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([1000, 7], ArgumentType("i32")),
        ([1024, 32, 0], ArgumentType("i32", multiple=True)),
        ([1, 1], ArgumentType("constexpr", value=1)),
        ([1, 2], ArgumentType("i32")),
        ([1 << 31, 5], ArgumentType("i64")),
        ([(1 << 64) - 1], ArgumentType("u64")),
        ([True, False], ArgumentType("i1")),
        ([2.0, 0.5], ArgumentType("fp32")),
        ([None, None], ArgumentType("constexpr")),
        ([np.int32(48)], ArgumentType("i32", multiple=True)),
    ],
)
def test_a_number_is_specialised_for_what_holds_in_all_cases(
    numbers: list[Any], expected: ArgumentType
) -> None:
    harness = _harness(
        _Parameter("n"),
        cases=[{"at": n} for n in range(len(numbers))],
        arguments=lambda c: {"n": numbers[c["at"]]},
    )
    assert harness.types == {"n": expected}


def test_what_the_function_says_of_its_parameters_counts() -> None:
    harness = _harness(
        _Parameter("a", do_not_specialize=True),
        _Parameter("b", do_not_specialize_on_alignment=True),
        _Parameter("c", annotation_type="i64"),
        _Parameter("x", is_const=True),
        _Parameter("d", default=1, has_default=True),
        _Parameter("E", is_constexpr=True),
        _Parameter("F", is_constexpr=True, default=3, has_default=True),
        arguments=lambda case: {"a": 1, "b": 16, "c": 1, "x": np.zeros(4, np.float16)},
        constexprs={"E": 64},
    )
    assert list(harness.types.items()) == [
        ("a", ArgumentType("i32")),
        ("b", ArgumentType("i32")),
        ("c", ArgumentType("i64")),
        ("x", ArgumentType("*kfp16", multiple=True)),
        ("d", ArgumentType("constexpr", value=1)),
        ("E", ArgumentType("constexpr", value=64)),
        ("F", ArgumentType("constexpr", value=3)),
    ]


def test_a_stated_type_is_not_specialised_further() -> None:
    harness = _harness(
        _Parameter("n"),
        _Parameter("m"),
        arguments=lambda case: {"n": 1, "m": 32},
        signature={"n": "i64", "m": "i32:16"},
    )
    assert harness.types == {"n": ArgumentType("i64"), "m": ArgumentType("i32", multiple=True)}


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        ({}, {}, "the argument 'x' of kernel is not given"),
        ({"x": 1, "z": 1}, {}, "no parameter 'z'; it has x, B"),
        ({"x": 1, "B": 2}, {"constexprs": {}}, "'B' of kernel is a tl.constexpr"),
        ({"x": 1, "B": 2}, {}, "given as a constant and as an argument"),
        ({"x": 1}, {"constexprs": {}}, "the constant 'B' of kernel is not given"),
        ({"x": "1"}, {}, "'x' is of type str"),
        ({"x": 1 << 64}, {}, "which no integer type holds"),
        ({"x": np.zeros(1, np.complex64)}, {}, "no pointer to complex64"),
        ({"x": TensorDescriptor(np.zeros((4, 4)), [4])}, {}, "a block of shape"),
        ({"x": 8}, {"signature": {"x": "i32:16"}}, "not in every case"),
        ({"x": 8}, {"signature": {"x": "i32:8"}}, "is no type"),
        ({"x": 8}, {"cases": []}, "no cases"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: Any, given: Any, message: str) -> None:
    harness = _harness(
        _Parameter("x"),
        _Parameter("B", is_constexpr=True),
        arguments=lambda case: arguments,
        **{"constexprs": {"B": 4}, **given},
    )
    with pytest.raises(HarnessError, match=message):
        assert harness.types


def test_one_ptx_has_one_type() -> None:
    harness = _harness(
        _Parameter("x"),
        cases=[{"n": 2}, {"n": 4}],
        arguments=lambda case: {"x": np.zeros(1, f"float{case['n'] * 16}")},
    )
    with pytest.raises(HarnessError, match=r"several types: \*fp32, \*fp64"):
        assert harness.types


def test_an_array_that_is_given_twice_is_refused() -> None:
    same = np.zeros(4, np.float32)
    harness = _harness(_Parameter("x"), _Parameter("y"), arguments=lambda case: {"x": same, "y": same})
    with pytest.raises(HarnessError, match="one array twice"):
        assert harness.types


def test_an_autotuned_function_is_refused_with_what_to_give() -> None:
    harness = TritonHarness(object(), [{}], lambda case: {}, (1,), lambda before: {})
    with pytest.raises(HarnessError, match=r"give `\.fn`"):
        assert harness.types


@pytest.mark.parametrize("name", ["add.py", "gemm.py"])
def test_without_triton_it_is_said_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    result = CliRunner().invoke(main, ["run", str(_KERNELS / name)])
    assert result.exit_code == 2
    assert "pip install 'ptxcheck[triton]', or prepare the harness where Triton is" in result.output


# -- with the compiler


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give Triton a cache of its own."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _loaded(name: str) -> TritonHarness:
    harness = load_harness(_KERNELS / name)
    assert isinstance(harness, TritonHarness)
    return harness


def _shown(plan: LaunchPlan) -> Iterator[tuple[str, str]]:
    for name, argument in plan.arguments.items():
        if isinstance(argument, MapArgument):
            yield name, "map"
        else:
            yield name, str(argument.dtype) + ("*" if isinstance(argument, np.ndarray) else "")


@needs_triton
def test_a_function_with_pointers_is_compiled_and_planned(cache: Path) -> None:
    harness = _loaded("add.py")
    assert harness.kernel == "scaled_add"
    assert cache in harness.source.parents
    assert ".entry scaled_add(" in harness.source.read_text()
    plan = harness.plan({"n": 257})
    assert (plan.grid, plan.block, plan.cluster) == ((2, 1, 1), (128, 1, 1), None)
    assert list(_shown(plan)) == [
        ("x_ptr", "float32*"), ("y_ptr", "float32*"), ("out_ptr", "float32*"), ("n", "int32"), ("scale", "float32"),
        ("global_scratch", "uint64"), ("profile_scratch", "uint64"),
    ]  # fmt: skip
    assert plan.arguments["profile_scratch"] == 0


@needs_triton
def test_descriptors_and_workspaces_become_parameters(cache: Path) -> None:
    harness = _loaded("gemm.py")
    plan = harness.plan({"m": 256, "n": 128, "k": 192})
    assert (plan.grid, plan.block, plan.cluster) == ((2, 1, 1), (128, 1, 1), None)
    assert plan.shared > 3 * 2 * 128 * 64 * 2
    map_of_a = plan.arguments["a"]
    assert isinstance(map_of_a, MapArgument)
    assert dict(map_of_a.fields) == {"type": "float16", "box": [64, 128], "swizzle": 3, "l2": "128B"}
    shown = dict(_shown(plan))
    assert [shown[f"a.{part}"] for part in ("shape0", "shape1", "stride0", "stride1")] == ["int32"] * 2 + [
        "int64"
    ] * 2
    assert [plan.arguments[f"a.{part}"] for part in ("shape0", "shape1", "stride0", "stride1")] == [
        256,
        192,
        192,
        1,
    ]
    assert plan.data["a"].shape == (256, 192)
    encoded = spec.tensor_map_of(
        {"shape": [192, 256], "strides": [384], "address": 1 << 20, **map_of_a.fields}
    )
    assert not violations(encoded)
    scratch = plan.arguments["global_scratch"]
    assert isinstance(scratch, np.ndarray)
    assert scratch.nbytes == 2 * 128  # one map for each of two programs
    assert "wgmma.mma_async" in harness.source.read_text()


_FUNCTIONS = """
import triton
import triton.language as tl

@triton.jit
def scale(x, n, stride, factor, BLOCK: tl.constexpr):
    places = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * stride
    tl.store(x + places, tl.load(x + places, mask=places < n) * factor, mask=places < n)

@triton.jit
def tiles(a, b, c, K, SIZE: tl.constexpr, ROLES: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [SIZE, K], [K, 1], [SIZE, 64])
    right = tl.make_tensor_descriptor(b, [K, SIZE], [SIZE, 1], [64, SIZE])
    sums = tl.zeros((SIZE, SIZE), tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=ROLES):
        sums = tl.dot(left.load([0, k]), right.load([k, 0]), sums)
    rows = tl.arange(0, SIZE)
    tl.store(c + rows[:, None] * SIZE + rows[None, :], sums)
"""
_GLUON = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

@gluon.jit
def copy_tile(x, y):
    tile = gl.allocate_shared_memory(x.dtype, x.block_type.shape, x.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, x.nbytes_per_cta)
    tma.async_load(x, [0, 0], full, tile)
    mbarrier.wait(full, 0)
    tma.async_store(y, [0, 0], tile)
    tma.store_wait(0)
"""


@pytest.fixture
def functions(tmp_path: Path, cache: Path) -> Mapping[str, Any]:
    return _defined(_FUNCTIONS, tmp_path)


def _defined(text: str, folder: Path) -> Mapping[str, Any]:
    path = folder / "functions.py"
    path.write_text(text)
    names: dict[str, Any] = {"__file__": str(path), "__name__": "functions"}
    exec(compile(text, str(path), "exec"), names)
    return names


@needs_triton
@pytest.mark.parametrize(("bytes_a_row", "swizzle"), [(128, 3), (64, 2), (32, 1)])
def test_descriptors_of_gluon_have_a_layout(
    cache: Path, tmp_path: Path, bytes_a_row: int, swizzle: int
) -> None:
    names = _defined(_GLUON, tmp_path)
    layout = names["gl"].NVMMASharedLayout(bytes_a_row, 16, 2)
    x, y = np.ones((64, 64), np.float16), np.zeros((64, 64), np.float16)
    harness = TritonHarness(
        names["copy_tile"],
        [{}],
        lambda case: {"x": TensorDescriptor(x, [64, 64], layout), "y": TensorDescriptor(y, [64, 64], layout)},
        (1,),
        lambda before: {"y": before["x"]},
    )
    plan = harness.plan({})
    map_of_x = plan.arguments["x"]
    assert isinstance(map_of_x, MapArgument)
    assert (map_of_x.fields["box"], map_of_x.fields["swizzle"]) == ([bytes_a_row // 2, 64], swizzle)
    assert plan.arguments["y.stride0"] == 64


def _scale(functions: Mapping[str, Any], **numbers: Any) -> TritonHarness:
    return TritonHarness(
        functions["scale"],
        [{}],
        lambda case: {"x": np.ones(64, np.float32), **numbers},
        lambda meta: (-(-meta["n"] // meta["BLOCK"]),),
        lambda before: {"x": before["x"] * before["factor"]},
        {"BLOCK": 64},
    )


@needs_triton
@pytest.mark.parametrize(
    ("numbers", "left"),
    [
        ({"n": 60, "stride": 2, "factor": 0.5}, ["x", "n", "stride", "factor"]),
        ({"n": 60, "stride": 1, "factor": 0.5}, ["x", "n", "factor"]),
        ({"n": 1, "stride": 1, "factor": 1}, ["x"]),
    ],
)
def test_what_is_specialised_away_is_no_parameter(functions: Any, numbers: Any, left: list[str]) -> None:
    plan = _scale(functions, **numbers).plan({})
    assert [name for name in plan.arguments if "scratch" not in name] == left


@needs_triton
def test_a_kernel_of_several_ctas_is_a_cluster(functions: Any) -> None:
    harness = replace(_scale(functions, n=60, stride=2, factor=0.5), num_ctas=2, num_warps=8)
    plan = harness.plan({})
    assert (plan.grid, plan.block, plan.cluster) == ((2, 1, 1), (256, 1, 1), (2, 1, 1))


@needs_triton
def test_warps_that_specialisation_adds_are_launched(functions: Any) -> None:
    def harness(*, roles: bool) -> TritonHarness:
        matrix = np.ones((128, 128), np.float16)
        return TritonHarness(
            functions["tiles"],
            [{}],
            lambda case: {"a": matrix, "b": matrix.copy(), "c": np.zeros((128, 128), np.float32), "K": 128},
            (1,),
            lambda before: {"c": before["a"] @ before["b"]},
            {"SIZE": 128, "ROLES": roles},
        )

    assert harness(roles=False).plan({}).block == (128, 1, 1)
    many = harness(roles=True).plan({}).block[0]
    assert many > 128
    assert f".reqntid {many}" in harness(roles=True).source.read_text()


@needs_triton
def test_what_triton_does_not_compile_is_said(functions: Any) -> None:
    with pytest.raises(HarnessError, match=r"Triton does not compile scale: .*"):
        assert replace(_scale(functions, n=60, stride=2, factor=0.5), constexprs={"BLOCK": 63}).kernel
    with pytest.raises(HarnessError, match="'hopper' is no target"):
        assert replace(_scale(functions, n=60, stride=2, factor=0.5), target="hopper").kernel


@needs_triton
def test_types_are_those_of_the_jit(functions: Any) -> None:
    """What `triton.compile` is given is what the JIT would give it for the same arguments."""
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.runtime.jit import MockTensor, create_function_from_signature

    function = functions["scale"]
    backend = CUDABackend(__import__("triton").backends.compiler.GPUTarget("cuda", 90, 32))
    bind = create_function_from_signature(function.signature, function.params, backend)
    for numbers in (
        {"n": 60, "stride": 1, "factor": 0.5},
        {"n": 64, "stride": 3, "factor": 7},
        {"n": 1 << 40, "stride": 2, "factor": True},
    ):
        _, found, _ = bind(MockTensor(__import__("triton").language.float32), **numbers, BLOCK=64)
        types = list(_scale(functions, **numbers).types.values())
        assert [kind.replace("u1", "i1") for kind, _ in found] == [kind.type for kind in types]
        assert [mark == "D" for _, mark in found] == [kind.multiple for kind in types]


_WORKER = """
import json, sys
sys.modules["triton"] = None
from pathlib import Path
from ptxcheck.repair.harness_files import load_harness
harness = load_harness(Path(sys.argv[1]))
print(json.dumps({"gpu": "stand-in", "capability": [9, 0], "driver": 13000, "clocks": ""}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    for case in harness.cases:
        plan = harness.plan(case)
        x, y = plan.buffers["x_ptr"], plan.buffers["y_ptr"]
        made = {**plan.buffers, "out_ptr": [x + y / 2, x][0] * (x >= 0) + x * (x < 0)}
        wrong = harness.verdict(case, plan.buffers, made)
        nothing = harness.verdict(case, plan.buffers, plan.buffers)
    outcome = "wrong" if wrong or not nothing else "right"
    print(json.dumps({"outcome": outcome, "detail": wrong, "case": -1, "runs": len(harness.cases)}), flush=True)
"""


@needs_triton
def test_the_process_that_launches_needs_no_triton(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text(_WORKER)
    path = _KERNELS / "add.py"
    plan = Plan(_loaded("add.py").source.read_text(), rounds=0)
    session = run_session(path, plan, command=(sys.executable, str(tmp_path / "worker.py")))
    assert session.is_right, session.result.detail


@needs_triton
def test_ptx_of_another_compilation_is_not_launched(cache: Path, tmp_path: Path) -> None:
    text = _loaded("add.py").source.read_text()
    fewer = text.replace(".param .u32 scaled_add_param_3,", "").replace(
        "[scaled_add_param_3]", "[scaled_add_param_4]"
    )
    with pytest.raises(HarnessError, match="not of one compilation"):
        run_session(_KERNELS / "add.py", Plan(fewer), command=(sys.executable, "-c", "raise SystemExit"))


@needs_triton
def test_the_command_prepares(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    result = CliRunner().invoke(main, ["run", str(_KERNELS / "add.py"), "--prepare", str(folder)])
    assert result.exit_code == 0, result.output
    assert "ptxcheck run" in result.output
    assert load_harness(folder / "scaled_add.json").plan({"n": 1}).block == (128, 1, 1)


def test_only_a_triton_harness_is_prepared(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["run", str(_RUNNABLE / "ring.toml"), "--prepare", str(tmp_path)])
    assert result.exit_code == 2
    assert "is not a Triton harness" in result.output
