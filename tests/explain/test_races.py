"""Which kernels are judged for races and divergent barriers."""

from __future__ import annotations

import pytest

from ptxcheck.explain.races import ordinary_kernel
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.view import KernelView

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
JUDGED = {
    "a barrier": "bar.sync 0;",
    "lanes that exchange": "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;",
    "shared memory": "st.shared.u32 [a], 1;",
}
NOT_JUDGED = {
    "nothing that threads share": "add.u32 %r0, %r1, 1;",
    "a counted barrier": "bar.sync 1, 32;",
    "an asynchronous copy": "cp.async.commit_group;",
}


def view(body: str, seconds: float | None = 10.0) -> KernelView:
    text = f"{HEAD}.visible .entry k() .reqntid 32 {{ .reg .b32 %r<4>; .shared .b32 a; {body} ret; }}"
    module = parse_module(Source("k.ptx", text))
    (function,) = module.entries
    return KernelView(module, function, from_directives(function), verify_seconds=seconds)


@pytest.mark.parametrize("name", JUDGED)
def test_judged(name: str) -> None:
    assert ordinary_kernel(view(JUDGED[name])) is not None


@pytest.mark.parametrize("name", NOT_JUDGED)
def test_not_judged(name: str) -> None:
    assert ordinary_kernel(view(NOT_JUDGED[name])) is None


def test_nothing_is_judged_without_verification() -> None:
    assert ordinary_kernel(view("bar.sync 0;", None)) is None


def test_a_failure_is_told_and_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: KernelView) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("ptxcheck.explain.races.judged", fail)
    found = ordinary_kernel(view("bar.sync 0;"))
    assert found is not None
    assert "broken" in found.failure
    assert {verdict.kind.value for verdict in found.verdicts} == {"unknown"}
