"""One mistake is one finding for each kernel, with what follows from it: a ring of templates in dynamic memory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main

from .rings import compiled_text

_FOLDER = Path(__file__).parent
_STORED = _FOLDER / "ptx" / "pipe.a_wrong_parity.ptx"
FAULTS = {
    "a wrong parity": ("s.full[stage].wait(phase);", "s.full[stage].wait(phase ^ 1);", "MB021", 16),
    "a wrong parity of the producer": ("s.empty[stage].wait(phase ^ 1);", "s.empty[stage].wait(phase);", "MB020", 16),
    "a wrong arrival count": ("s.empty[i].init(4);", "s.empty[i].init(128);", "MB020", 16),
    "wrong bytes": ("arrive_and_expect(kTile * sizeof(float))", "arrive_and_expect(kTile * 2)", "TX001", 16),
    "a missing release": ("      if (threadIdx.x % 32 == 0) s.empty[stage].arrive();\n", "", "MB020", 16),
}  # fmt: skip
"""What is right, what stands there instead, the rule that tells of it, and the line of its wait."""


def faulty(fault: str) -> str:
    right, wrong, *_ = FAULTS[fault]
    text = (_FOLDER / "pipe.cu").read_text(encoding="utf-8")
    assert text.count(right) == 1
    return text.replace(right, wrong)


def found(path: Path) -> tuple[int, list[dict[str, object]]]:
    result = CliRunner().invoke(main, ["check", str(path), "--isolated", "--format", "json"])
    return result.exit_code, json.loads(result.stdout)["findings"]


def test_what_follows_is_listed_under_its_cause() -> None:
    status, findings = found(_STORED)
    own = [each for each in findings if not each.get("caused_by")]
    assert status == 1
    assert [each["rule"] for each in own] == ["MB021", "MB021"]
    assert {"SM021", "SM022", "NB020"} <= {each["rule"] for each in findings}
    causes = {each["fingerprint"] for each in own}
    assert all(each["caused_by"] in causes for each in findings if each not in own)
    assert all("seen the phase before the first" in str(each["message"]) for each in own)


def _printed(form: str) -> str:
    result = CliRunner().invoke(main, ["check", str(_STORED), "--isolated", "--format", form])
    assert result.exit_code == 1
    return result.stdout


def test_reviews_have_each_mistake_once() -> None:
    """In formats that show one place at a time what follows is part of the message, or of the summary."""
    assert [line.startswith("::error ") for line in _printed("github").splitlines()].count(True) == 2
    assert _printed("github").count("%0Aso: ") == 12
    assert [
        line.startswith("##vso[task.logissue type=error") for line in _printed("azure").splitlines()
    ].count(True) == 2
    assert [each["check_name"] for each in json.loads(_printed("gitlab"))] == ["MB021", "MB021"]
    assert all(
        "6 more follow from it: MB022, NB020, SM021" in each["description"]
        for each in json.loads(_printed("gitlab"))
    )
    assert [each["code"]["value"] for each in json.loads(_printed("rdjson"))["diagnostics"]] == [
        "MB021",
        "MB021",
    ]
    *lines, summary = _printed("concise").splitlines()
    assert ["hang[MB021]" in line for line in lines] == [True, True]
    assert "2 findings (2 hang) and 12 that follow from them" in summary
    assert ElementTree.fromstring(_printed("junit")).get("failures") == "2"
    (run,) = json.loads(_printed("sarif"))["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["MB021", "MB021"]
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == ["MB021"]
    for each in run["results"]:
        said = [place["message"]["text"] for place in each["relatedLocations"] if "message" in place]
        assert [text.startswith("so: ") for text in said].count(True) == 6


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_instance_has_one_finding(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "pipe.cu"
    path.write_text(faulty(fault), encoding="utf-8")
    status, findings = found(path)
    *_, rule, line = FAULTS[fault]
    own = [each for each in findings if not each.get("caused_by")]
    assert status == 1
    assert [each["rule"] for each in own] == [rule, rule]
    assert [each["location"]["line"] for each in own] == [line, line]  # type: ignore[index]
    assert len({each["kernel"] for each in own}) == 2


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_the_right_one_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "pipe.cu"
    path.write_text((_FOLDER / "pipe.cu").read_text(encoding="utf-8"), encoding="utf-8")
    assert found(path) == (0, [])


if __name__ == "__main__":
    _STORED.write_text(compiled_text(faulty("a wrong parity"), "pipe.cu"), encoding="utf-8")
