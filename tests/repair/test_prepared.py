"""Harnesses as data: what is written is what is launched, and nothing of the file that it came from is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ptxcheck.repair.harness import Array, Case, HarnessError, LaunchPlan, MapArgument
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.prepared import prepare, worker_file

_PTX = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .align 64 .b8 b[128], .param .u32 n, .param .b16 s)
{
    ret;
}
"""


@dataclass
class _Doubles:
    """Stands for a harness that knows its results."""

    source: Path
    kernel: str = "k"
    cases: Sequence[Case] = field(default_factory=lambda: [{"n": 3}, {"n": 0}])
    rtol: float = 0.0
    atol: float = 0.5

    def plan(self, case: Case) -> LaunchPlan:
        data = np.arange(case["n"] * 8, dtype=np.float32).reshape(-1, 8).astype(ml_dtypes.bfloat16)
        arguments = {
            "a": np.arange(case["n"], dtype=np.float64),
            "b": MapArgument("b", {"box": [8, 1]}),
            "n": np.int32(case["n"]),
            "s": ml_dtypes.bfloat16(1.5),
        }
        return LaunchPlan((2, 1, 1), (64, 1, 1), (2, 1, 1), 77, arguments, {"b": data})

    def expected(self, case: Case) -> Mapping[str, Array]:
        plan = self.plan(case)
        return {"a": plan.buffers["a"] * 2, "b": plan.data["b"]}

    def verdict(self, case: Case, before: Mapping[str, Array], after: Mapping[str, Array]) -> str:
        raise AssertionError("the data are asked")


@pytest.fixture
def given(tmp_path: Path) -> _Doubles:
    source = tmp_path / "any.ptx"
    source.write_text(_PTX)
    return _Doubles(source)


def test_a_prepared_harness_launches_the_same(given: _Doubles, tmp_path: Path) -> None:
    path = prepare(given, tmp_path / "folder" / "inside")
    given.source.unlink()
    read = load_harness(path)
    assert (read.kernel, read.source.read_text(), list(read.cases)) == ("k", _PTX, given.cases)
    for case in given.cases:
        was, plan = given.plan(case), read.plan(case)
        assert (plan.grid, plan.block, plan.cluster, plan.shared) == ((2, 1, 1), (64, 1, 1), (2, 1, 1), 77)
        assert list(plan.arguments) == ["a", "b", "n", "s"]
        assert plan.arguments["b"] == was.arguments["b"]
        assert isinstance(plan.arguments["n"], np.int32)
        assert plan.arguments["n"] == case["n"]
        assert plan.arguments["s"].dtype == ml_dtypes.bfloat16  # type: ignore[union-attr]
        for name, array in was.buffers.items():
            assert plan.buffers[name].dtype == array.dtype
            np.testing.assert_array_equal(plan.buffers[name], array)


def test_it_compares_with_what_was_written(given: _Doubles, tmp_path: Path) -> None:
    read = load_harness(prepare(given, tmp_path))
    case = given.cases[0]
    before = given.plan(case).buffers
    right = {**before, "a": np.array([0.0, 2.4, 4.0])}
    assert read.verdict(case, before, right) == ""
    assert "a: 1 of 3 elements differ, first at (1,)" in read.verdict(
        case, before, {**right, "a": right["a"] + 0.2}
    )
    assert "b: 24 of 24" in read.verdict(case, before, {**right, "b": before["b"] + 4})


def test_the_process_with_the_gpu_reads_data_where_there_are_some(given: _Doubles, tmp_path: Path) -> None:
    with worker_file(tmp_path / "given.py", given) as path:
        assert load_harness(path).kernel == "k"
    assert not path.exists()
    other = tmp_path / "k.toml"
    other.write_text('kernel = "k"\nsource = "k.ptx"\nblock = [32]\n')
    with worker_file(other, load_harness(other)) as path:
        assert path == other


def test_what_cannot_be_read_is_named(given: _Doubles, tmp_path: Path) -> None:
    path = prepare(given, tmp_path)
    (tmp_path / "k.1.npz").write_bytes(b"PK half a file")
    read = load_harness(path)
    with pytest.raises(HarnessError, match=r"cannot read .*k\.1\.npz"):
        read.plan(given.cases[1])
    table = json.loads(path.read_text())
    path.write_text(json.dumps({**table, "format": 99}))
    with pytest.raises(HarnessError, match="prepare it again"):
        load_harness(path)
    path.write_text("{")
    with pytest.raises(HarnessError, match=r"k\.json"):
        load_harness(path)
    with pytest.raises(HarnessError, match=r"cannot write to .*any\.ptx"):
        prepare(given, given.source / "below a file")
