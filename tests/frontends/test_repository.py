from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import ptxcheck.rules
from ptxcheck import cli
from ptxcheck.frontends import Input, InputKind
from ptxcheck.frontends.repository import (
    Changes,
    RepositoryError,
    changes_since,
    find_root,
)
from tests.fakes import KERNEL, rule

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


def git(*args: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", *identity, *args], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ptxcheck.rules, "RULES", (rule(),))
    git("init", "-q", "-b", "main")
    Path("src").mkdir()
    for name in ("a", "b", "c"):
        Path(f"src/{name}.ptx").write_text(KERNEL)
    git("add", "-A")
    git("commit", "-q", "-m", "first")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.main, ("check", *args, "--format", "json"))


def inputs(result: Result) -> list[str]:
    found: list[str] = json.loads(result.stdout)["inputs"]
    return found


def test_only_changed_files_are_checked() -> None:
    assert inputs(run("src", "--since", "HEAD")) == []
    assert run("src", "--since", "HEAD").exit_code == 0
    Path("src/a.ptx").write_text(KERNEL + "\n")
    Path("src/ä new.ptx").write_text(KERNEL)
    Path("src/b.ptx").unlink()
    assert inputs(run("src", "--since", "HEAD")) == ["src/a.ptx", "src/ä new.ptx"]


def test_since_the_branch_left() -> None:
    git("checkout", "-q", "-b", "topic")
    Path("src/a.ptx").write_text(KERNEL + "\n")
    git("commit", "-q", "-a", "-m", "topic")
    git("checkout", "-q", "main")
    Path("src/c.ptx").write_text(KERNEL + "\n")
    git("commit", "-q", "-a", "-m", "main goes on")
    git("checkout", "-q", "topic")
    assert inputs(run("src", "--since", "main")) == ["src/a.ptx"]


def test_a_header_may_be_part_of_any_cuda_source(tmp_path: Path) -> None:
    changes = Changes(frozenset({str(tmp_path / "x.cuh")}))
    assert changes.touch(Input("k.cu", InputKind.CUDA))
    assert not changes.touch(Input("k.ptx", InputKind.PTX))


@pytest.mark.parametrize("revision", ["nowhere", "--output=harm", "-h", ""])
def test_bad_revisions(revision: str) -> None:
    result = run("src", f"--since={revision}")
    assert result.exit_code == 2
    assert result.stderr.startswith("ptxcheck: git diff failed: ")
    assert not Path("harm").exists()


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(RepositoryError, match="not a git repository"):
        changes_since("HEAD", ".")


def test_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RepositoryError, match="needs git"):
        changes_since("HEAD", ".")


def test_a_repository_cannot_run_a_program(tmp_path: Path) -> None:
    script = tmp_path / "harm.sh"
    script.write_text("#!/bin/sh\ntouch harmed\n")
    script.chmod(0o755)
    for setting in ("core.fsmonitor", "diff.external", "diff.x.textconv", "core.pager"):
        git("config", setting, str(script))
    Path(".gitattributes").write_text("*.ptx diff=x\n")
    Path("src/a.ptx").write_text(KERNEL + "\n")
    assert inputs(run("src", "--since", "HEAD")) == ["src/a.ptx"]
    assert not list(tmp_path.rglob("harmed"))


def test_root(tmp_path: Path) -> None:
    assert find_root("src") == str(tmp_path)
    shutil.rmtree(".git")
    assert find_root("src") != str(tmp_path)


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab"])
def test_reviews_get_paths_from_the_root(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("src")
    result = CliRunner().invoke(cli.main, ["check", "a.ptx", "--format", form])
    assert "src/a.ptx" in result.stdout
    absolute = CliRunner().invoke(cli.main, ["check", str(Path("a.ptx").absolute()), "--format", form])
    assert absolute.stdout == result.stdout
