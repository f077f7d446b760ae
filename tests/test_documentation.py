"""Every command in the documentation is run, or at least understood; the site is built without a network."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ptxcheck import cli
from ptxcheck.rules import RULES

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])

_STEP = re.compile(
    r"<!-- file: (?P<file>\S+) -->\n```\w*\n(?P<text>.*?)```"
    r"|<!-- replace in (?P<target>\S+): (?P<old>.*?) -->\n```\w*\n(?P<new>.*?)```"
    r"|(?P<mark><!-- output -->\n)?```console\n(?P<console>.*?)```",
    re.DOTALL,
)
_COMMAND = re.compile(r"^(?:\$ |    |)(ptxcheck (?:[a-z]+|--).*?)(?:\s{2,}\S.*)?$", re.MULTILINE)


def steps(page: Path) -> list[re.Match[str]]:
    return list(_STEP.finditer(page.read_text(encoding="utf-8")))


TOLD = [page for page in PAGES if any(step["console"] and not step["mark"] for step in steps(page))]
"""Pages with a story in `console` blocks; outputs that are marked have a test of their own."""


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.name)
def test_stories_are_true(page: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    for step in steps(page):
        if step["file"]:
            (tmp_path / step["file"]).write_text(step["text"])
        elif step["target"]:
            replace(tmp_path / step["target"], step["old"].replace("\\n", "\n"), step["new"])
        elif not step["mark"]:
            for command, output in commands(step["console"]):
                run(command, output, tmp_path)


def replace(path: Path, old: str, new: str) -> None:
    """Replace the first line of `old`, whose lines may be indented in the file."""
    pattern = r"\n\s*".join(map(re.escape, old.split("\n")))
    (found,) = re.finditer(rf"^[ ]*{pattern}", path.read_text(), re.MULTILINE)
    kept = found[0].partition("\n")[2]
    path.write_text(path.read_text().replace(found[0], f"{new.rstrip()}\n{kept}"))


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a block with the lines of its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *output = part.splitlines()
        yield command, output


def run(command: str, expected: list[str], folder: Path) -> None:
    """Run a command; its output must be the lines expected, where `...` stands for lines, or a part of one."""
    name, *arguments = shlex.split(command)
    assert name == "ptxcheck", f"{command}: only ptxcheck is run"
    done = subprocess.run(
        [sys.executable, "-m", "ptxcheck", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else _line(line) for line in expected)
    assert re.fullmatch(pattern, done.stdout), f"{command}:\n{done.stdout}\nis not\n" + "\n".join(expected)


def _line(text: str) -> str:
    return re.escape(text).replace(re.escape("..."), ".*") + r"\n"


def test_the_runner_notices_wrong_output(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run("ptxcheck --version", ["ptxcheck 9.9.9"], tmp_path)
    with pytest.raises(AssertionError):
        run("ptxcheck explain MB001", ["...", "no such line", "..."], tmp_path)
    run(
        "ptxcheck explain MB001",
        ["...", "Example. `-` marks the lines of the bad kernel alone, `+` those of the good one.", "..."],
        tmp_path,
    )


def mentioned() -> list[tuple[str, str]]:
    """Return the command lines of all code blocks, by page."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"```(?:sh|console|yaml)?\n(.*?)```", text, re.DOTALL))
        code += "\n".join(re.findall(r"(?:^    .*\n)+", text, re.MULTILINE))
        code += "\n".join(re.findall(r"^\s+- (ptxcheck .*)$", text, re.MULTILINE))
        found += [
            (page.name, match[1].split(" | ")[0].split(" < ")[0].strip()) for match in _COMMAND.finditer(code)
        ]
    return found


@pytest.mark.parametrize(("page", "line"), dict.fromkeys(mentioned()))
def test_command_lines_are_understood(page: str, line: str) -> None:
    _, *arguments = shlex.split(line, comments=True)
    arguments = ["k.ptx" if argument == "PATHS..." else argument for argument in arguments]
    if arguments[0].startswith("-"):
        return
    command: click.Command = cli.main
    while isinstance(command, click.Group):
        name, *arguments = arguments
        names = name.split("|")
        assert all(each in command.commands for each in names), f"{page}: {line}"
        command = command.commands[names[0]]
    try:
        command.make_context(command.name, arguments)
    except click.MissingParameter:
        pass
    except click.UsageError as error:
        pytest.fail(f"{page}: {line}: {error.message}")


def test_enough_commands_are_seen() -> None:
    assert len(mentioned()) > 15


def test_the_site_is_built(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    for rule in RULES:
        assert rule.name in (site / "rules" / rule.id / "index.html").read_text(encoding="utf-8")
    page = (site / "tutorial/index.html").read_text(encoding="utf-8")
    fetched = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', page)
    assert fetched == []
