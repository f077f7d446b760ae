"""Delays change the schedule and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ptxcheck.parser import parse_module
from ptxcheck.repair.perturb import perturb
from ptxcheck.source import Source

_KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) {
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    .shared .align 8 .b64 bar;
    mov.u32 %r1, bar;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    bar.sync 0;
again:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra again;
    @%p1 bar.sync 0;
    ret;
}
"""


def test_delays_stand_before_synchronising_instructions_only() -> None:
    text = perturb(parse_module(Source("k.ptx", _KERNEL)), "k", 1, share=1.0)
    assert text.count("nanosleep.u32") == 4
    module = parse_module(Source("k.ptx", text))
    assert not module.problems
    plain = [line for line in text.splitlines() if line in _KERNEL.splitlines()]
    assert len(plain) >= len(_KERNEL.splitlines()) - 4


def test_a_seed_gives_one_text() -> None:
    module = parse_module(Source("k.ptx", _KERNEL))
    assert perturb(module, "k", 3) == perturb(module, "k", 3)
    assert len({perturb(module, "k", seed) for seed in range(8)}) > 1


def test_an_unknown_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="no kernel 'other'"):
        perturb(parse_module(Source("k.ptx", _KERNEL)), "other", 1)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
@pytest.mark.parametrize("seed", range(3))
def test_ptxas_takes_the_delayed_text(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(perturb(parse_module(Source("k.ptx", _KERNEL)), "k", seed, share=1.0))
    done = subprocess.run(
        ["ptxas", "-arch=sm_90a", str(path), "-o", str(tmp_path / "k.cubin")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
