"""Repaired kernels of the corpus become trials with harnesses made from their parameters."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.hardware.trials import read_trials
from benchmarks.hardware.twins import good_twin, prepare_twins
from benchmarks.repair import Record
from ptxcheck.repair.harness_files import load_harness

_CORPUS = Path(__file__).parents[2] / "corpus"
_TWIN = "protocols/cluster/two_ctas_in_step.one_round_less.ptx"
_BLACKWELL = "protocols/tcgen05/commits_release_stages.commits_twice.ptx"
_WITH_MAPS = "bad/WG018/stride_of_another_swizzle.ptx"
_LEFT = "protocols/ring/one_stage.counts_33.ptx"


def _prepared(tmp_path: Path, names: dict[str, str]) -> int:
    texts = tmp_path / "texts"
    texts.mkdir(exist_ok=True)
    lines = []
    for name, outcome in names.items():
        for each in (name, good_twin(name)):
            if (_CORPUS / each).exists():
                target = tmp_path / "corpus" / each
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(_CORPUS / each, target)
        shutil.copy(_CORPUS / name, texts / f"{name.replace('/', '-')}.ptx")
        lines.append(json.dumps(asdict(Record(name, "group", (), outcome, False, 1.0, 1, ()))))
    results = tmp_path / "results.jsonl"
    results.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return prepare_twins([results], texts, tmp_path / "trials", tmp_path, seeds=2)


def test_a_repaired_twin_runs_beside_its_correct_kernel(tmp_path: Path) -> None:
    assert _prepared(tmp_path, {_TWIN: "safe"}) == 2
    correct, repair = read_trials(tmp_path / "trials")
    assert (correct.kind, repair.kind) == ("correct", "repair")
    assert correct.harness == repair.harness
    assert repair.original == correct.image
    for image in (repair.image, *repair.delayed, *correct.delayed):
        assert (tmp_path / "trials" / image).exists()
    harness = load_harness(tmp_path / repair.harness)
    plan = harness.plan(harness.cases[repair.case])
    assert (plan.grid, plan.block, plan.cluster) == ((8, 1, 1), (32, 1, 1), (2, 1, 1))
    scalars = [value for value in plan.arguments.values() if isinstance(value, np.generic)]
    assert [int(value) for value in scalars] == [33]


def test_only_what_is_safe_and_runs_there_is_taken_and_only_once(tmp_path: Path) -> None:
    names = {_TWIN: "safe", _BLACKWELL: "safe", _WITH_MAPS: "safe", _LEFT: "left"}
    assert _prepared(tmp_path, names) == 2
    assert _prepared(tmp_path, names) == 0
    assert len(read_trials(tmp_path / "trials")) == 2
