"""A release that is missing: who arrives, where, and how a CUDA source says it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.edits import apply_edits
from ptxcheck.repair.patch import Patch, Release
from ptxcheck.repair.source_releases import release_insertions
from ptxcheck.repair.strategies.release import insert_release
from ptxcheck.repair.subject import subject_of
from ptxcheck.rules import RULES
from tests.new_user.rings import ring, stored_path

_RING = stored_path("a missing release", "bounds").read_text(encoding="utf-8")
_COUNT = "mov.u32 \t%r42, 128;"
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")


def _judge() -> TextJudge:
    return TextJudge("ring.ptx", RULES, Config())


def _proposed(text: str) -> list[Patch]:
    state = _judge()(text)
    (finding,) = state.findings
    return list(insert_release(subject_of(state.views[finding.kernel or ""], finding)))


@pytest.mark.parametrize(("count", "by_one_lane"), [(128, False), (4, True)])
def test_as_many_arrive_as_the_barrier_counts(count: int, by_one_lane: bool) -> None:
    text = _RING.replace(_COUNT, _COUNT.replace("128", str(count)))
    patch, *_ = _proposed(text)
    patched = apply_edits(text, patch.edits)
    assert patch.release is not None
    assert patch.release.by_one_lane is by_one_lane
    assert ("bar.warp.sync -1;" in patched) is by_one_lane
    assert _judge()(patched).findings == ()


@pytest.mark.parametrize("count", [1, 5, 160])
def test_no_threads_are_as_many(count: int) -> None:
    assert _proposed(_RING.replace(_COUNT, _COUNT.replace("128", str(count)))) == []


def test_what_is_of_another_variable_is_addressed_from_its_start() -> None:
    """Where variables lie to each other is not known: a distance of one from the other is no address."""
    patch, *_ = _proposed(_RING)
    assert "E5empty" in patch.edits[0].replacement
    assert not re.search(r"\[%r47\+", patch.edits[0].replacement)


_FUNCTIONS = """__device__ void wait(uint64_t *bar, int parity) { asm volatile("mbarrier.try_wait.parity ..."); }
__device__ void expect(uint64_t *bar) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;"); }
"""
_ARRIVE = (
    '__device__ void hand_back(uint64_t *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"); }\n'
)
_KERNEL = """__global__ void k() {
  WAIT_EMPTY;
  for (;;) {
    WAIT_FULL;
    for (int j = 0; j < 4; ++j) {
      sum += tile[j];
    }
    ++i;
  }
}
"""


def _inserted(functions: str, empty: str, full: str, *, by_one_lane: bool = False) -> list[str]:
    text = functions + _KERNEL.replace("WAIT_EMPTY", empty).replace("WAIT_FULL", full)
    own, stuck = (text[: text.index(each)].count("\n") + 1 for each in (full, empty))
    release = Release((0,), (1,), by_one_lane=by_one_lane)
    found = []
    for place, added, line in release_insertions(text, release, [[1, own]], [[1, stuck]]):
        assert text.count("\n", 0, place) + 1 == line
        found.append(f"{text.splitlines()[line - 1].strip()} <- {' '.join(added.split())}")
    return found


def test_a_function_of_the_file_arrives() -> None:
    found = _inserted(_FUNCTIONS + _ARRIVE, "wait(&empty[s], 1)", "wait(&full[stage], 0)")
    assert found[0] == "++i; <- hand_back(&empty[stage]);"
    assert "} <- hand_back(&empty[stage]);" in found
    assert not any("expect(" in each for each in found)


def test_without_one_asm_arrives() -> None:
    first, second, *_ = _inserted(_FUNCTIONS, "wait(&empty[s], 1)", "wait(&full[stage], 0)")
    assert '"r"(static_cast<unsigned>(__cvta_generic_to_shared(&empty[stage])))' in first
    assert '"r"(&empty[stage])' in second


def test_a_method_arrives() -> None:
    first, *_ = _inserted("", "pipe.empty[s].wait(1)", "pipe.full[stage].try_wait(0)")
    assert first == "++i; <- pipe.empty[stage].arrive();"


def test_one_lane_of_each_warp_arrives() -> None:
    first, *_ = _inserted(_ARRIVE, "wait(empty + 8 * s, 1)", "wait(full + 8 * stage, 0)", by_one_lane=True)
    assert first == "++i; <- __syncwarp(); if (threadIdx.x % 32 == 0) hand_back(empty + 8 * stage);"


def test_a_warp_that_has_met_does_not_meet_again() -> None:
    text = _KERNEL.replace("++i;", "__syncwarp();")
    full, empty = "wait(&full[stage], 0)", "wait(&empty[s], 1)"
    text = _ARRIVE + text.replace("WAIT_EMPTY", empty).replace("WAIT_FULL", full)
    own, stuck = (text[: text.index(each)].count("\n") + 1 for each in (full, empty))
    _, added, _ = next(
        iter(release_insertions(text, Release((0,), (1,), by_one_lane=True), [[own]], [[stuck]]))
    )
    assert " ".join(added.split()) == "if (threadIdx.x % 32 == 0) hand_back(&empty[stage]);"


def test_barriers_that_only_a_number_tells_apart_are_named_as_the_other_wait_does() -> None:
    first, *_ = _inserted(_ARRIVE, "wait(&bars[1], 1)", "wait(&bars[0], 0)")
    assert first == "++i; <- hand_back(&bars[1]);"


@needs_nvcc
def test_a_source_without_a_function_that_arrives_is_repaired(tmp_path: Path) -> None:
    text = ring("a missing release", "bounds").replace("init(&empty[i], CONSUMERS);", "init(&empty[i], 4);")
    start = text.index("__device__ void arrive(")
    text = text[:start] + text[text.index("__device__ void expect(") :]
    path = tmp_path / "ring.cu"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["fix", str(path), "--in-place"])
    assert result.exit_code == 0, result.output
    assert "safe: " in result.output
    assert "if (threadIdx.x % 32 == 0) asm volatile(" in path.read_text(encoding="utf-8")
    assert CliRunner().invoke(main, ["check", str(path)]).exit_code == 0
