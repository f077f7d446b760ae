"""The pre-commit hooks and the GitHub action, run as their users' tools run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from ptxcheck import __version__, cli

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
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m ptxcheck "$@"\n')
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


def test_a_kernel_whose_roles_hang_blocks_the_commit(repository: Repository) -> None:
    kernel = ROOT / "corpus/protocols/ring/three_stages.consumer_stops_early.ptx"
    status, output = repository.commit(k_ptx=kernel.read_text())
    assert status != 0
    assert "MB020" in output


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


def run_step(
    which: str, tmp_path: Path, environment: dict[str, str], inputs: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as the runner would."""
    description = action()
    (step,) = [step for step in description["runs"]["steps"] if step["id"] == which]
    values = {name: str(spec["default"]) for name, spec in description["inputs"].items()} | inputs
    known = {f"${{{{ inputs.{name} }}}}": value for name, value in values.items()}
    known["${{ github.action_path }}"] = str(ROOT)
    (tmp_path / "temp").mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            **{name: known[value] for name, value in step["env"].items()},
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def check_step(tmp_path: Path, path: str, **inputs: str) -> tuple[int, str, str]:
    """Run the action's check step with the ptxcheck on a path; return exit code, output, and its outputs."""
    installed = tmp_path / "temp/ptxcheck/bin"
    installed.mkdir(parents=True)
    found = shutil.which("ptxcheck", path=path)
    assert found is not None
    (installed / "ptxcheck").symlink_to(found)
    done = run_step("check", tmp_path, {}, inputs)
    return done.returncode, done.stdout + done.stderr, (tmp_path / "output").read_text()


@pytest.mark.parametrize("version", ["", f"=={__version__}"])
def test_action_installs_and_checks(tmp_path: Path, version: str) -> None:
    """From the action's own files, and a released wheel; what ptxcheck depends on is that of this environment."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    wheels = tmp_path / "wheels"
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": sysconfig.get_paths()["purelib"],
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_NO_BUILD_ISOLATION": "0",  # which pip reads as: no isolation
        "PIP_IGNORE_INSTALLED": "1",
    }
    (tmp_path / "k.ptx").write_text(BAD)
    done = run_step("install", tmp_path, environment, {"version": version})
    assert done.returncode == 0, done.stdout + done.stderr
    (installed,) = (tmp_path / "temp/ptxcheck/lib").glob("*/site-packages/ptxcheck/cli.py")
    assert not installed.is_symlink()
    done = run_step("check", tmp_path, environment, {"paths": "k.ptx"})
    assert (done.returncode, "::error file=k.ptx,line=6" in done.stdout) == (1, True), (
        done.stdout + done.stderr
    )


def test_action_says_which_python_it_needs(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    (old / "python3").write_text("#!/bin/sh\nexit 1\n")
    (old / "python3").chmod(0o755)
    done = run_step("install", tmp_path, {"PATH": f"{old}:{os.environ['PATH']}"}, {})
    assert (done.returncode, done.stdout) == (
        2,
        "::error::ptxcheck needs Python 3.11 or newer: run actions/setup-python before it\n",
    )


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


def test_hooks_limit_verification_and_can_leave_it_out() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert all("--effort=low" in hook["entry"].split() for hook in hooks)
    (flag,) = [option for option in cli.main.commands["check"].params if option.name == "verify"]
    assert {"--no-verify"} == set(flag.secondary_opts)
