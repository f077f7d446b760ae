"""The pre-commit hooks and the GitHub action, run as their users' tools run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ptxcheck import cli

from .fakes import HEADER

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parent.parent

GOOD = (
    HEADER
    + """.visible .entry k()
{
  bar.sync 0;
  ret;
}
"""
)
BAD = GOOD.replace("bar.sync 0;", "bar.sync 17;")
SUPPRESSED = GOOD.replace("bar.sync 0;", "bar.sync 17; // ptxcheck: ignore[NB001, PT003] an experiment")


@pytest.fixture
def path_with_ptxcheck(tmp_path: Path) -> str:
    """Return a PATH on which `ptxcheck` is the one under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ptxcheck"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m ptxcheck.cli "$@"\n')
    script.chmod(0o755)
    return f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"


class Repository:
    """A repository with the hooks installed; `commit` returns Git's exit code and output."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )

    def commit(self, **files: str) -> tuple[int, str]:
        for name, text in files.items():
            (self.folder / name.replace("_", ".")).write_text(text)
        self.run("git", "add", "-A")
        done = self.run("git", "commit", "-m", "change")
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path, path_with_ptxcheck: str) -> Repository:
    pytest.importorskip("pre_commit")
    if shutil.which("git") is None:
        pytest.skip("no git")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    # `python` hooks are installed from the network; the same hooks run from PATH here.
    local = [{**hook, "language": "system"} for hook in hooks]
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / ".pre-commit-config.yaml").write_text(
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]})
    )
    identity = {
        f"GIT_{who}_{what}": f"{what}@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    made = Repository(
        folder,
        {**os.environ, **identity, "PATH": path_with_ptxcheck, "PRE_COMMIT_HOME": str(tmp_path / "home")},
    )
    assert made.run("git", "init", "-q").returncode == 0
    installed = made.run(sys.executable, "-m", "pre_commit", "install")
    assert installed.returncode == 0, installed.stderr
    return made


def test_a_bad_kernel_blocks_the_commit(repository: Repository) -> None:
    status, output = repository.commit(k_ptx=BAD)
    assert status != 0
    assert "k.ptx:6:3: error[NB001]" in output or "[NB001]" in output
    assert repository.run("git", "log").returncode != 0


def test_a_good_kernel_passes(repository: Repository) -> None:
    status, output = repository.commit(k_ptx=GOOD)
    assert status == 0, output
    assert repository.run("git", "log", "--oneline").stdout.count("\n") == 1


def test_a_suppressed_kernel_passes_with_its_reason(repository: Repository) -> None:
    status, output = repository.commit(k_ptx=SUPPRESSED)
    assert status == 0, output
    status, output = repository.commit(k_ptx=SUPPRESSED.replace(" an experiment", ""))
    assert status != 0
    assert "has no reason" in output


def test_other_files_are_left_alone(repository: Repository) -> None:
    status, output = repository.commit(notes_txt="bar.sync 17;")
    assert status == 0
    assert "Skipped" in output


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_cuda(repository: Repository) -> None:
    source = '__global__ void k() {{ asm volatile("bar.sync {};"); }}\n'
    status, output = repository.commit(k_cu=source.format(17))
    assert status != 0
    status, output = repository.commit(k_cu=source.format(0))
    assert status == 0, output


def test_triton_kernels(repository: Repository, tmp_path: Path) -> None:
    kernel = tmp_path / "triton/HASH/k.ptx"
    kernel.parent.mkdir(parents=True)
    repository.environment["TRITON_CACHE_DIR"] = str(tmp_path / "triton")
    kernel.write_text(BAD)
    status, output = repository.commit(k_py="pass\n")
    assert status != 0
    assert "[NB001]" in output
    kernel.write_text(GOOD)
    status, output = repository.commit(k_py="pass\n")
    assert status == 0, output


def action() -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return value


def check_step(tmp_path: Path, path: str, **inputs: str) -> tuple[int, str, str]:
    """Run the action's check step as the runner would; return exit code, output, and its outputs."""
    description = action()
    (step,) = [step for step in description["runs"]["steps"] if step["id"] == "check"]
    values = {name: str(spec["default"]) for name, spec in description["inputs"].items()} | inputs
    installed = tmp_path / "temp/ptxcheck/bin"
    installed.mkdir(parents=True)
    found = shutil.which("ptxcheck", path=path)
    assert found is not None
    (installed / "ptxcheck").symlink_to(found)
    environment = {
        name: values[value[len("${{ inputs.") : -len(" }}")]] for name, value in step["env"].items()
    }
    output = tmp_path / "output"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            **environment,
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_OUTPUT": str(output),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr, output.read_text()


def test_action_annotates(tmp_path: Path, path_with_ptxcheck: str) -> None:
    (tmp_path / "a b.ptx").write_text(BAD)
    (tmp_path / "c.ptx").write_text(GOOD)
    status, output, outputs = check_step(
        tmp_path, path_with_ptxcheck, paths="a b.ptx\nc.ptx\n", args="--pedantic\n"
    )
    assert (status, outputs) == (1, "exit-code=1\n")
    assert "::error file=a b.ptx,line=6" in output


def test_action_writes_sarif(tmp_path: Path, path_with_ptxcheck: str) -> None:
    (tmp_path / "c.ptx").write_text(GOOD)
    status, output, outputs = check_step(tmp_path, path_with_ptxcheck, format="sarif")
    assert (status, outputs) == (0, "exit-code=0\n"), output
    assert '"2.1.0"' in (tmp_path / "ptxcheck.sarif").read_text()


def test_every_input_of_the_action_is_used_and_none_is_pasted_into_a_script() -> None:
    description = action()
    used = [value for step in description["runs"]["steps"] for value in step["env"].values()]
    assert all(f"${{{{ inputs.{name} }}}}" in used for name in description["inputs"])
    assert not any("${{" in step["run"] for step in description["runs"]["steps"])


def test_hooks_are_fast_and_can_be_told_to_verify() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert all("--no-verify" in hook["entry"].split() for hook in hooks)
    (flag,) = [option for option in cli.check_command.params if option.name == "verify"]
    assert {"--verify"} == set(flag.opts)
