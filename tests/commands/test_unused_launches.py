"""Every command that takes launches says which of them are for no kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck import cli
from tests.fakes import KERNEL

COMMANDS = {
    "check": ("check",),
    "fix": ("fix",),
    "view": ("view", "-o", "page.html"),
    "show protocol": ("show", "protocol"),
    "show timeline": ("show", "timeline"),
    "show resources": ("show", "resources"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(("pattern", "is_told"), [("gemm*", True), ("*", False)])
def test_a_launch_that_is_for_no_kernel_is_told(
    name: str, pattern: str, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(KERNEL)
    words = (*COMMANDS[name], "k.ptx", "--launch", f"{pattern}: block=64")
    done = CliRunner().invoke(cli.main, words)
    assert ("no kernel that was checked is called gemm*; there is" in done.output) is is_told
