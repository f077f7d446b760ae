"""Rules of other packages, installed as a package is: a module and its metadata on the path."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import HEADER

ROOT = Path(__file__).parents[2]
TRAP = HEADER + ".visible .entry k()\n{\n  trap;\n}\n"


def documented() -> str:
    page = (ROOT / "docs/own-rules.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- acme_rules.py -->\n```python\n(.*?)```", page, re.DOTALL)
    return str(code)


def install(folder: Path, code: str, point: str = "acme_rules:RULE", version: str = "1.0") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "acme_rules.py").write_text(code)
    metadata = folder / "acme_rules-1.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-rules\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[ptxcheck.rules]\nacme = {point}\n")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "ptxcheck", *arguments],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "k.ptx").write_text(TRAP)
    return tmp_path / "site"


def test_the_documented_rule(site: Path) -> None:
    install(site, documented())
    done = run(site, "check", "k.ptx", "--format", "concise", "--jobs", "2")
    assert "k.ptx:6:3: note[ACME001] this kernel ends the whole grid" in done.stdout, done.stderr
    assert done.returncode == 1
    assert run(site, "check", "k.ptx", "--ignore", "ACME").returncode == 0
    assert "ACME001 trap-in-kernel (note)" in run(site, "explain", "ACME001").stdout
    assert "ACME001" in run(site, "rules").stdout


def test_rules_that_come_and_go_are_not_read_from_the_cache(site: Path) -> None:
    site.mkdir()
    assert run(site, "check", "k.ptx").returncode == 0
    install(site, documented())
    assert run(site, "check", "k.ptx").returncode == 1
    install(site, documented().replace("is Op.TRAP", "is Op.RET"), version="2.0")
    assert run(site, "check", "k.ptx").returncode == 0


@pytest.mark.parametrize(
    ("code", "point", "message"),
    [
        ("import nowhere", "acme_rules:RULE", "cannot be loaded: ModuleNotFoundError"),
        ("RULE = 3", "acme_rules:RULE", "is no Rule: int"),
        ("", "acme_rules:MISSING", "cannot be loaded: AttributeError"),
        (None, "acme_rules:RULE", "there is a rule MB001"),
        ("id", "acme_rules:RULE", "'acme' is no id of a rule"),
    ],
)
def test_plugins_that_cannot_be_used(site: Path, code: str | None, point: str, message: str) -> None:
    if code is None:
        code = documented().replace('"ACME001"', '"MB001"')
    elif code == "id":
        code = documented().replace('"ACME001"', '"acme"')
    install(site, code, point)
    refuses(site, ("check", "k.ptx"), point, message)


@pytest.mark.parametrize("command", [("rules",), ("fix", "k.ptx")])
def test_other_commands_refuse_them_too(site: Path, command: tuple[str, ...]) -> None:
    install(site, "RULE = 3")
    refuses(site, command, "acme_rules:RULE", "is no Rule: int")


def refuses(site: Path, command: tuple[str, ...], point: str, message: str) -> None:
    done = run(site, *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"rule plugin acme of acme-rules ({point})" in done.stderr
    assert message in done.stderr
    assert "internal error" not in done.stderr


def test_several_rules_and_a_rule_that_raises(site: Path) -> None:
    code = documented() + (
        "\nfrom dataclasses import replace\n\ndef fails(view):\n    raise ValueError('no')\n    yield\n\n"
        "RULES = (RULE, replace(RULE, id='ACME002', name='fails', check=fails))\n"
    )
    install(site, code, "acme_rules:RULES")
    done = run(site, "check", "k.ptx", "--format", "concise")
    assert done.returncode == 2
    assert "[ACME001]" in done.stdout
    assert "ACME002" in done.stdout
