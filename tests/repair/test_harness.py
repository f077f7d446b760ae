"""Harness files: what they give for each case, and what they refuse."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ptxcheck.repair.harness import HarnessError, MapArgument
from ptxcheck.repair.harness_files import load_harness

_RUNNABLE = Path(__file__).parents[2] / "corpus" / "runnable"
_MINIMAL = 'kernel = "k"\nsource = "k.ptx"\nblock = [32]\n'


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "k.toml"
    path.write_text(text)
    return path


_TRITON = pytest.mark.skipif(find_spec("triton") is None, reason="no Triton")


@pytest.mark.filterwarnings("ignore::UserWarning:triton")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=[_TRITON] if path.parent != _RUNNABLE else [])
        for path in sorted(_RUNNABLE.rglob("*"))
        if path.suffix in (".toml", ".py")
    ],
)
def test_each_runnable_kernel_has_cases_and_a_reference_that_can_fail(path: Path) -> None:
    harness = load_harness(path)
    assert harness.source.exists()
    assert len(harness.cases) >= 4
    verdicts = []
    for case in harness.cases:
        plan = harness.plan(case)
        assert list(plan.arguments) == list(harness.plan(case).arguments)
        buffers = plan.buffers
        spoilt = {name: array + 1 for name, array in buffers.items()}
        verdicts.append(harness.verdict(case, buffers, spoilt))
    assert all(verdicts)


def test_shapes_and_values_are_expressions_over_the_case(tmp_path: Path) -> None:
    text = (
        _MINIMAL
        + 'grid = ["n // 4", 2]\nshared = "n * 8"\ncases = [{ n = 8 }]\n'
        + (
            '[[argument]]\nname = "x"\ndtype = "float32"\nshape = ["n", 3]\nfill = "range"\n'
            '[[argument]]\nname = "y"\ndtype = "float32"\nshape = ["n"]\nreference = "x.sum(axis=1)"\n'
            '[[argument]]\nname = "n"\ndtype = "int32"\nvalue = "n"\n'
        )
    )
    harness = load_harness(_written(tmp_path, text))
    plan = harness.plan(harness.cases[0])
    assert (plan.grid, plan.block, plan.cluster, plan.shared) == ((2, 2, 1), (32, 1, 1), None, 64)
    x, n = plan.arguments["x"], plan.arguments["n"]
    assert isinstance(x, np.ndarray)
    assert x.shape == (8, 3)
    assert isinstance(n, np.int32)
    right = {**plan.buffers, "y": x.sum(axis=1)}
    assert harness.verdict(harness.cases[0], plan.buffers, right) == ""
    assert "8 of 8 elements differ" in harness.verdict(
        harness.cases[0], plan.buffers, {**right, "y": x.sum(axis=1) + 1}
    )


def test_a_tensor_map_names_its_buffer(tmp_path: Path) -> None:
    text = _MINIMAL + (
        '[[argument]]\nname = "map"\nof = "x"\nbox = [8, 8]\n'
        '[[data]]\nname = "x"\ndtype = "float16"\nshape = [64, 64]\n'
    )
    plan = load_harness(_written(tmp_path, text)).plan({})
    assert plan.arguments["map"] == MapArgument("x", {"box": [8, 8]})
    assert plan.data["x"].shape == (64, 64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('source = "k.ptx"\nblock = [32]\n', "'kernel' is missing"),
        (_MINIMAL + "blok = 3\n", "unknown key 'blok'"),
        (_MINIMAL + "block = \n", "Invalid value"),
        (_MINIMAL + '[[argument]]\ndtype = "int32"\n', "argument 0 has no name"),
        (_MINIMAL + '[[argument]]\nname = "x"\ndtype = "int33"\nshape = [1]\n', "'int33' is no data type"),
        (_MINIMAL + '[[argument]]\nname = "x"\nshape = [1]\n', "has no dtype"),
        (_MINIMAL + '[[argument]]\nname = "x"\ndtype = "int32"\n', "neither value, shape nor of"),
        (_MINIMAL + '[[argument]]\nname = "x"\ndtype = "int32"\nvalue = "m"\n', "cannot evaluate 'm'"),
        (_MINIMAL + "grid = [0]\n", "launch shape"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        load_harness(_written(tmp_path, text)).plan({})


def test_a_python_harness_that_throws_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("1 / 0\n")
    with pytest.raises(HarnessError, match="ZeroDivisionError"):
        load_harness(path)
    path.write_text("kernel = 'k'\n")
    with pytest.raises(HarnessError, match="does not define source, cases, plan, verdict"):
        load_harness(path)
    with pytest.raises(HarnessError, match="cannot read"):
        load_harness(tmp_path / "none.toml")
