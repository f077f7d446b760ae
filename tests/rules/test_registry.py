"""Every rule is registered, has all its texts, fires on its bad kernel and is silent on its good one."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import ptxcheck
from ptxcheck import rules
from ptxcheck.config import Config
from ptxcheck.rules import (
    RULES,
    Rule,
    UnknownSelectorError,
    select_rules,
)
from ptxcheck.source import Source
from ptxcheck.sources.former_names import FORMER_NAMES

from .. import fakes
from ..expectations import expected, fired, found

MECHANICS = {"rule", "selection", "info"}


def defined() -> Iterator[Rule]:
    for module in pkgutil.walk_packages(rules.__path__, "ptxcheck.rules."):
        if module.name.rsplit(".", 1)[-1] not in MECHANICS:
            found = importlib.import_module(module.name)
            for value in vars(found).values():
                members = value if isinstance(value, tuple) else (value,)
                yield from (member for member in members if isinstance(member, Rule))


def example(name: str, text: str, rule: Rule) -> Source:
    return Source(f"{name}.{rule.language}", text)


def test_no_rule_is_left_out() -> None:
    missing = {rule.id for rule in defined()} - {rule.id for rule in RULES}
    assert not missing, f"not in RULES: {sorted(missing)}"


def test_the_file_of_a_rule_has_its_name() -> None:
    for module in pkgutil.walk_packages(rules.__path__, "ptxcheck.rules."):
        rule = getattr(importlib.import_module(module.name), "RULE", None)
        if rule is not None:
            assert module.name.rsplit(".", 1)[-1] == rule.name.replace("-", "_")


def test_ids_and_names_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
class TestRule:
    def test_id_and_name(self, rule: Rule) -> None:
        assert re.fullmatch(r"[A-Z]{2}\d{3}", rule.id), "two letters of the family and three digits"
        assert not re.match(r"PTX\d", rule.id)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)

    def test_texts(self, rule: Rule) -> None:
        for text in (
            rule.since,
            rule.section,
            rule.summary,
            rule.consequence,
            rule.advice,
            rule.bad,
            rule.good,
        ):
            assert text.strip()

    def test_fires_where_expected_on_the_bad_kernel(self, rule: Rule) -> None:
        source = example("bad", rule.bad, rule)
        wanted = expected(source, rule.id)
        assert wanted, "no `// expect:` in the bad kernel"
        assert found(source, rule) == wanted

    def test_verification_does_not_refute_the_bad_kernel(self, rule: Rule) -> None:
        if rule.approximates:
            report = ptxcheck.check(example("bad", rule.bad, rule), rules=(rule,))
            assert fired(report) == expected(example("bad", rule.bad, rule), rule.id)

    def test_is_silent_on_the_good_kernel(self, rule: Rule) -> None:
        assert found(example("good", rule.good, rule), rule) == []

    def test_kernels_are_fully_understood(self, rule: Rule) -> None:
        for text in (rule.bad, rule.good):
            report = ptxcheck.check(example("k", text, rule), rules=())
            assert report.problems == ()


ONE = fakes.rule("MB001")
TWO = fakes.rule("MB002", pedantic=True)
THREE = fakes.rule("WG001", confidence=ptxcheck.finding.Confidence.POSSIBLE)
SLOW = fakes.rule("SM001", severity=ptxcheck.finding.Severity.SLOW)
ALL = (SLOW, THREE, TWO, ONE)


def ids(*select: str, ignore: tuple[str, ...] = (), **flags: bool) -> list[str]:
    return [rule.id for rule in select_rules(ALL, select or ("ALL",), ignore, **flags)]


def test_selection() -> None:
    assert ids() == ["MB001", "SM001"]
    assert ids(pedantic=True) == ["MB001", "MB002", "SM001"]
    assert ids(possible=True) == ["MB001", "SM001", "WG001"]
    assert ids("MB") == ["MB001"]
    assert ids("MB002", "WG") == ["MB002"]
    assert ids("rule-wg001") == ["WG001"]
    assert ids("slow") == ["SM001"]
    assert ids(ignore=("SM",)) == ["MB001"]
    assert ids(ignore=("hang",)) == ["SM001"]


def test_unknown_selector_suggests() -> None:
    with pytest.raises(UnknownSelectorError, match="did you mean MB00"):
        ids("MB003")
    with pytest.raises(UnknownSelectorError, match="`ptxcheck rules` lists them"):
        ids("qqqqqqqq")


def test_a_former_name_is_told_the_new_one() -> None:
    with pytest.raises(UnknownSelectorError, match="wait-of-a-bystander was renamed to unsynchronised-obs"):
        select_rules(RULES, ("wait-of-a-bystander",))


def test_former_names_lead_to_rules_of_today() -> None:
    names = {rule.name for rule in RULES}
    assert set(FORMER_NAMES.values()) <= names
    assert names.isdisjoint(FORMER_NAMES)


def test_configuration_may_turn_a_rule_on() -> None:
    config = Config(select=("MB002",))
    report = ptxcheck.check(fakes.source(), rules=ALL, config=config)
    assert [finding.rule for finding in report.findings] == ["MB002"]
