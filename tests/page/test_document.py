"""The page as a file: what is in it, and that nothing in the data leaves its place."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.page import (
    NoKernelError,
    build_page,
)
from ptxcheck.page.document import as_json, d3, document, own_script
from ptxcheck.source import Source

from .kernels import ATTACKS, HANGS, hostile


def data_of(page: str) -> dict[str, object]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    found: dict[str, object] = json.loads(text)
    return found


@pytest.mark.parametrize("attack", ATTACKS)
def test_data_is_inert_and_whole(attack: str) -> None:
    text = as_json({"a": [attack, {attack: 1}]})
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    shown = json.loads(text)["a"][0]
    assert shown == attack.replace("\u202e", "\\u202e")


def test_lone_surrogates_and_controls_are_spelt_out() -> None:
    assert json.loads(as_json({"a": "x\udc80\x1b[31m\x00"}))["a"] == "x\\udc80\\u001b[31m\\u0000"


def test_data_does_not_reach_into_the_template() -> None:
    page = document({"a": "{{scripts}}{{policy}}"}, "{{data}}", ["/* library */"])
    assert "<title>{{data}}</title>" in page
    assert data_of(page) == {"a": "{{scripts}}{{policy}}"}


def test_the_title_is_escaped() -> None:
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in document({}, "</title><script>", [])


def test_the_policy_allows_these_scripts_and_nothing_else() -> None:
    page = document({}, "t", ["let library = 1;"])
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    directives = {name: values for name, *values in (part.split() for part in policy.split(";"))}
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    def source(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    assert directives["default-src"] == ["'none'"]
    assert directives["script-src"] == [source(script) for script in scripts]
    assert directives["style-src"] == [source(style)]
    assert set(directives) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert "unsafe" not in policy


def test_own_scripts_never_parse_markup() -> None:
    script = own_script()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        ".html(",
        "</script",
    ):
        assert word not in script


def test_nothing_is_fetched() -> None:
    page = build_page(Source("k.ptx", HANGS.read_text()), "k.ptx", Config()).text
    head = page[: page.index('<script type="application/json"')]
    assert re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*\"|url\(|@import", head) == []
    own = own_script()
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import)\b\s*\(", own)


@pytest.mark.parametrize("path", [HANGS])
def test_same_input_same_bytes(path: object) -> None:
    made = [build_page(Source("k.ptx", HANGS.read_text()), "k.ptx", Config()).text for _ in range(2)]
    assert made[0] == made[1]


def test_a_counterexample_leads_to_its_run() -> None:
    page = build_page(Source("k.ptx", HANGS.read_text()), "k.ptx", Config())
    data = data_of(page.text)
    findings, kernels = data["findings"], data["kernels"]
    assert isinstance(findings, list)
    assert isinstance(kernels, list)
    (finding,) = findings
    run = kernels[0]["picture"]["runs"][finding["run"]]
    assert run["finding"] == 0
    assert run["message"] == finding["message"]
    (bad,) = [event for event in run["events"] if event[-1]]
    (told,) = page.report.findings
    assert told.counterexample is not None
    assert bad[0] == told.counterexample.bad


def test_one_kernel_of_several() -> None:
    source = Source("k.ptx", hostile("x"))
    page = build_page(source, "k.ptx", Config(), "constructor")
    assert [kernel.name for kernel in page.report.kernels] == ["constructor"]
    assert {finding.kernel for finding in page.report.findings} == {"constructor"}
    with pytest.raises(NoKernelError, match="no kernel is called other; there are: __proto__, constructor"):
        build_page(source, "k.ptx", Config(), "other")


def test_no_kernel() -> None:
    with pytest.raises(NoKernelError):
        build_page(Source("k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n"), "k.ptx", Config())


def test_the_library_that_draws_is_there_with_its_license() -> None:
    text, assets = d3(), Path(document.__code__.co_filename).parent / "assets"
    version = re.match(r"// https://d3js.org v(\d+\.\d+\.\d+) ", text)
    assert version is not None
    assert (assets / "d3.LICENSE").read_text(encoding="utf-8").startswith(f"D3 {version[1]} ")
    assert "</script" not in text.lower()
