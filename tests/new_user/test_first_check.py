"""The first check of a new user finds each fault in every place of use, with no option: the table of `docs/ci.md`."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from ptxcheck.cli import main
from tests.lsp.editor import Editor, edit

from .rings import FAULTS, STYLES, compiled, install, ring, stored_path

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parent.parent.parent
NOTHING = "nothing"
FORMS = [(fault, style) for fault in FAULTS for style in STYLES]
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")


@dataclass(frozen=True)
class Row:
    """What the documentation promises for a fault."""

    status: int
    rule: str
    line: int
    message: str
    repair: str


def rows() -> dict[str, Row]:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    _, _, table = text.partition("<!-- first check -->\n")
    found: dict[str, Row] = {}
    for line in table.partition("\n\n")[0].splitlines()[2:]:
        fault, status, finding, repair = (cell.strip() for cell in line.strip("|").split("|"))
        match = re.fullmatch(r"`\w+\[(\w+)\]` at `ring\.cu:(\d+)`: (.*)", finding)
        rule, place, message = match.groups() if match is not None else ("", "0", "")
        found[fault] = Row(int(status), rule, int(place), message.replace("`", ""), repair.strip("`"))
    return found


ROWS = rows()


def test_every_fault_has_its_row() -> None:
    assert list(ROWS) == list(FAULTS)
    assert [bool(row.rule) for row in ROWS.values()] == [fault != NOTHING for fault in FAULTS]


@pytest.fixture(params=FORMS, ids=lambda form: "-".join(form).replace(" ", "_"))
def form(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Row, str]:
    """A folder with one form of the ring, and nothing else; the row of its fault, and its style."""
    fault, style = request.param
    monkeypatch.setenv("PATH", install(tmp_path / "bin"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("ring.cu").write_text(ring(fault, style), encoding="utf-8")
    return ROWS[fault], style


def run(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    assert "internal error" not in result.output
    return result


def check(row: Row, form: str) -> str:
    """Check in a format, with no option; what finds nothing is no failure of the job."""
    result = run("check", "ring.cu", f"--format={form}")
    assert result.exit_code == row.status, result.output
    return result.stdout


LAUNCHED = {
    "bounds": "; if launched with 160 threads (from `__launch_bounds__`)",
    "launch": "",
}
FROM = {"bounds": "block 160×1×1 (from `__launch_bounds__`)", "launch": "(from <<<>>> at "}


def test_on_the_command_line(form: tuple[Row, str]) -> None:
    row, style = form
    text = check(row, "text")
    (verdict,) = (
        line
        for line in text.splitlines()
        if re.match(r"\S+( \(.*?\))? ring (at ring\.cu:30; |\(block )", line)
    )
    assert FROM[style] in verdict
    assert verdict.startswith("violated ") is (row.status == 1)
    assert row.message in text
    concise = check(row, "concise")
    start = f"ring.cu:{row.line}:"
    assert [row.rule in line for line in concise.splitlines() if line.startswith(start)] == [
        True
    ] * row.status
    value = json.loads(check(row, "json"))
    assert [(each["rule"], each["location"]["line"]) for each in value["findings"]] == [
        (row.rule, row.line)
    ] * row.status
    for each in value["findings"]:
        assert each["location"]["file"] == "ring.cu"
        assert each["message"].startswith(row.message)
        assert each["message"].endswith(LAUNCHED[style])
    (kernel,) = value["kernels"]
    assert kernel["verification"]["block"] == [160, 1, 1]


def test_in_reviews(form: tuple[Row, str]) -> None:
    row, _ = form
    root = ElementTree.fromstring(check(row, "junit"))
    assert (root.get("tests"), root.get("failures")) == ("1", str(row.status))
    assert all(row.rule in (each.get("message") or "") for each in root.iter("failure"))
    gitlab = [
        (each["check_name"], each["location"]["path"], each["location"]["lines"]["begin"])
        for each in json.loads(check(row, "gitlab"))
    ]
    assert gitlab == [(row.rule, "ring.cu", row.line)] * row.status
    github = [line for line in check(row, "github").splitlines() if line.startswith("::error ")]
    assert len(github) == row.status
    assert all(f"file=ring.cu,line={row.line}," in line and row.rule in line for line in github)
    (sarif,) = json.loads(check(row, "sarif"))["runs"]
    places = [
        (
            each["ruleId"],
            each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            each["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for each in sarif["results"]
    ]
    assert places == [(row.rule, "ring.cu", row.line)] * row.status


def test_before_a_commit(form: tuple[Row, str]) -> None:
    row, _ = form
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (hook,) = (hook for hook in hooks if hook["id"] == "ptxcheck-cuda")
    assert re.search(hook["files"], "ring.cu")
    program, *words = shlex.split(hook["entry"])
    result = run(*words, "ring.cu")
    assert (program, result.exit_code) == ("ptxcheck", row.status), result.output
    assert row.message in result.output


def test_on_the_page(form: tuple[Row, str]) -> None:
    row, style = form
    result = run("view", "ring.cu", "--output", "page.html")
    assert result.exit_code == row.status, result.output
    page = Path("page.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    value = json.loads(data)
    assert [each["rule"] for each in value["findings"]] == [row.rule] * row.status
    (kernel,) = value["kernels"]
    assert FROM[style] in kernel["launched"]
    assert [each["finding"] for each in kernel["picture"]["runs"] if each["finding"] is not None] == (
        [0] * row.status
    )


def test_a_timeline_is_of_that_launch(form: tuple[Row, str]) -> None:
    row, _ = form
    result = run("show", "timeline", "ring.cu")
    assert result.exit_code == 0, result.output
    assert "block 160×1×1" in result.output
    assert ("for ever" in result.output or "never" in result.output) is (row.status == 1), result.output


def _shows(editor: Editor, uri: str, row: Row) -> bool:
    """Tell whether a document has the finding of a row and no other."""
    told = [
        (each.code, each.range.start.line, row.message in each.message)
        for each in editor.diagnostics.get(uri, ())
    ]
    return uri in editor.diagnostics and told == [(row.rule, row.line - 1, True)] * row.status


@pytest.mark.parametrize("style", STYLES)
def test_in_an_editor(style: str, tmp_path: Path) -> None:
    path = tmp_path / "ring.cu"

    async def story(editor: Editor) -> None:
        uri = ""
        for fault, row in ROWS.items():
            text = ring(fault, style)
            path.write_text(text, encoding="utf-8")
            if uri:
                editor.change(uri, text)
                editor.save(uri)
            else:
                uri = editor.open(path.as_uri(), text, "cuda-cpp")
            await editor.until(partial(_shows, editor, uri, row), fault)

    edit(tmp_path, story, environment={"PATH": install(tmp_path / "bin")})


@needs_nvcc
@pytest.mark.parametrize(
    ("fault", "style"),
    [
        (NOTHING, "bounds"),
        ("a wrong parity", "launch"),
        ("a wrong arrival count", "bounds"),
        ("wrong bytes", "launch"),
        ("a missing release", "bounds"),
    ],
)
def test_repair(fault: str, style: str, tmp_path: Path) -> None:
    row = ROWS[fault]
    path = tmp_path / "ring.cu"
    path.write_text(ring(fault, style), encoding="utf-8")
    result = run("fix", str(path), "--in-place")
    assert result.exit_code == 0, result.output
    assert row.repair in result.output
    assert run("check", str(path)).exit_code == 0


@needs_nvcc
@pytest.mark.parametrize("style", STYLES)
def test_stored_ptx_has_what_nvcc_makes_today(style: str) -> None:
    """Another release may write it otherwise, but not with other directives and places of the source."""
    told = re.compile(r"^\s*\.(?:maxntid|reqntid|entry|visible|param|loc)\b.*$", re.MULTILINE)
    made, stored = compiled(NOTHING, style), stored_path(NOTHING, style).read_text(encoding="utf-8")
    release = re.compile(r"^// Cuda compilation tools.*$", re.MULTILINE)
    if release.findall(made) != release.findall(stored):
        pytest.skip("stored by another release")
    assert told.findall(made) == told.findall(stored)
