"""The newcomer's tasks in CONTRIBUTING.md: the rule works as it stands, and what is quoted is in the code."""

from __future__ import annotations

import re
from pathlib import Path

from ptxcheck.rules import Rule
from ptxcheck.source import Source

from .expectations import expected, found

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ptxcheck").rglob("*.py"))


def blocks(mark: str) -> list[str]:
    return re.findall(rf"<!-- {mark} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)


def test_the_rule_fires_on_its_bad_kernel_only() -> None:
    (code,) = blocks("a rule")
    module: dict[str, object] = {"__name__": "ptxcheck.rules.contributed", "__package__": "ptxcheck.rules"}
    exec(compile(code, "CONTRIBUTING.md", "exec"), module)
    rule = module["RULE"]
    assert isinstance(rule, Rule)
    bad, good = Source("bad.ptx", rule.bad), Source("good.ptx", rule.good)
    assert found(bad, rule) == expected(bad, rule.id) != []
    assert found(good, rule) == []


def test_what_is_quoted_is_in_the_code() -> None:
    quoted = blocks("from the code")
    assert len(quoted) == 4
    for text in quoted:
        assert text in PACKAGE, text


def test_files_that_are_named_are_there() -> None:
    named = re.findall(r"`((?:[\w.]+/)*[\w]+\.(?:py|md)|(?:[\w.]+/){2,})`", PAGE)
    assert len(named) > 10
    for name in named:
        places = (ROOT / name, ROOT / "ptxcheck" / name, ROOT / "ptxcheck/protocols/model" / name)
        places += tuple((ROOT / "ptxcheck/protocols").rglob(name)) if "/" not in name else ()
        assert any(place.exists() for place in places), name
