from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import ptxcheck
from ptxcheck.rules import Hit
from ptxcheck.runtime import profile as profile_module
from ptxcheck.runtime.profile import Profile, profile_table
from ptxcheck.view import KernelView
from tests.fakes import rule, source


def slow(view: KernelView) -> Iterator[Hit]:
    assert view.facts
    time.sleep(0.05)
    yield Hit(0, "slow")


def test_profile_names_rules_analyses_and_phases() -> None:
    profile = Profile()
    report = ptxcheck.check(source(), rules=(rule("XX001", slow),), profile=profile)
    assert len(report.findings) == 1
    assert set(profile.seconds) == {
        "read",
        "parse",
        "locate and suppress",
        "rule XX001 rule-xx001",
        "analysis facts",
        "analysis cfg",
        "analysis contract",
        "analysis ordinary_kernel",
        "analysis whole_kernel",
        "analysis dependent_launch",
        "analysis device_maps",
        "analysis global_arrays",
        "analysis global_handovers",
        "analysis global_places",
        "analysis global_ways",
        "analysis matrix_tiles",
        "analysis wgmma",
    }
    assert profile.seconds["rule XX001 rule-xx001"] >= 0.05
    lines = profile_table(profile).splitlines()
    assert lines[-1].endswith("total")


def test_an_activity_does_not_count_the_one_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(profile_module, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    profile = Profile()
    with profile.activity("outer"):
        clock.now += 1
        with profile.activity("inner"):
            clock.now += 20
        clock.now += 300
    assert profile.seconds == {"outer": 301, "inner": 20}
