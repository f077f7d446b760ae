"""The walk through the program in docs/architecture.md: its functions exist, and a real check makes the calls."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType

import pytest

import ptxcheck

from .test_layers import LAYERS

ROOT = Path(__file__).parent.parent
KERNEL = ROOT / "corpus/protocols/ring/four_stages_filled_ahead.ptx"
"""A kernel that the product of role automata leaves to the runs of the first engine."""
MOST = 10
_STEP = re.compile(r"^( *)\* `(ptxcheck[\w.]*):([\w.]+)`", re.MULTILINE)
_INDENT = 4


@dataclass(frozen=True)
class Step:
    """A function of the walk, and the one that it is told to be called from."""

    module: str
    name: str
    caller: int | None

    @property
    def code(self) -> CodeType:
        found: object = import_module(self.module)
        for part in self.name.split("."):
            found = getattr(found, part)
        assert callable(found)
        code = inspect.unwrap(found).__code__
        assert isinstance(code, CodeType)
        return code


def walk(page: str) -> list[Step]:
    """Return the steps in the order of the document; the caller of each is the last one with less indentation."""
    _, _, rest = page.partition("<!-- walk -->\n")
    section, _, _ = rest.partition("<!-- end of walk -->")
    above: list[int] = []
    steps: list[Step] = []
    for indent, module, name in _STEP.findall(section):
        depth = len(indent) // _INDENT
        del above[depth:]
        steps.append(Step(module, name, above[-1] if above else None))
        above.append(len(steps) - 1)
    return steps


STEPS = walk((ROOT / "docs/architecture.md").read_text(encoding="utf-8"))


def calls_made(codes: dict[CodeType, int], run: Callable[[], object]) -> set[tuple[int, int]]:
    """Return pairs of functions of which the first was being executed when the second was called."""
    made: set[tuple[int, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        called = codes.get(frame.f_code) if event == "call" else None
        if called is None:
            return
        outer = frame.f_back
        while outer is not None:
            if outer.f_code in codes:
                made.add((codes[outer.f_code], called))
            outer = outer.f_back

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return made


@pytest.fixture(scope="module")
def made() -> set[tuple[int, int]]:
    source = ptxcheck.Source(str(KERNEL), KERNEL.read_text(encoding="utf-8"))
    codes = {step.code: number for number, step in enumerate(STEPS)}
    return calls_made(codes, lambda: ptxcheck.check(source))


def test_the_walk_is_short_and_starts_at_check() -> None:
    assert 2 <= len(STEPS) <= MOST
    assert [step.name for step in STEPS if step.caller is None] == ["check"]


@pytest.mark.parametrize("number", range(1, len(STEPS)), ids=lambda number: STEPS[number].name)
def test_each_function_is_called_from_the_one_above(number: int, made: set[tuple[int, int]]) -> None:
    caller = STEPS[number].caller
    assert caller is not None
    assert (caller, number) in made


def test_calls_that_are_not_made_are_not_seen() -> None:
    def inner() -> None:
        pass

    def outer() -> None:
        inner()

    codes = {outer.__code__: 0, inner.__code__: 1}
    assert calls_made(codes, outer) == {(0, 1)}
    assert calls_made(codes, inner) == set()


def test_indentation_says_who_calls() -> None:
    page = """<!-- walk -->
* `ptxcheck.a:f` x
    * `ptxcheck.b:g`
    * `ptxcheck.c:C.h`
<!-- end of walk -->
* `ptxcheck.d:i`
"""
    assert [(step.name, step.caller) for step in walk(page)] == [("f", None), ("g", 0), ("C.h", 0)]


def test_every_package_has_a_line() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("\n## The packages\n")
    table, _, _ = rest.partition("\n## ")
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
    assert named == [name for layer in LAYERS for name in layer]


def test_the_document_stays_short() -> None:
    assert len((ROOT / "docs/architecture.md").read_text(encoding="utf-8").splitlines()) <= 250
