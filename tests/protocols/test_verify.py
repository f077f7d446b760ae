"""Verdicts are the same bytes whatever the order of sets in a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.protocols.corpus_runs import ROOT
from tests.protocols.symex.interpreter.test_loop_equivalence import KERNEL as COPIES_OF_A_LOOP

_SEEDS = ("0", "101", "204", "233")
"""The last three once numbered the inputs of a loop so that its copies did not agree."""


@pytest.mark.parametrize(
    "name",
    [
        "ring/three_stages.consumer_stops_early.ptx",
        "cluster/one_answer_for_both.ptx",
        "wgmma/attention_of_two.ptx",
        "roles/tiles_without_work.ptx",
        "",
    ],
    ids=lambda name: name or "copies of a loop",
)
def test_the_same_kernel_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    text = (
        (ROOT / name).read_text()
        if name
        else COPIES_OF_A_LOOP.format(start="0", stride="1", strength="", more_steps="")
    )
    (tmp_path / "k.ptx").write_text(text)
    said = {_said(tmp_path, seed) for seed in _SEEDS}
    assert len(said) == 1


def _said(folder: Path, seed: str) -> str:
    command = [sys.executable, "-m", "ptxcheck", "check", "k.ptx", "--isolated", "--no-cache"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    options = ["--pedantic", "--verify-seconds", "120"]
    done = subprocess.run([*command, *options], cwd=folder, env=environment, capture_output=True, text=True)
    assert "checked 1 kernel" in done.stdout, done.stderr
    return done.stdout
