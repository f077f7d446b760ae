"""Words that decide what warps do: what the product finds in them is right in every schedule, or nothing is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

KERNEL = Path(__file__).parents[3] / "corpus" / "protocols" / "roles" / "dispatched_by_a_word.ptx"
STORE = "    @!skip st.shared.u32 [command], 2;\n"
MEETINGS = "    bar.sync 1, 64;\n    bar.sync 1, 64;\n"


def shown(*edits: tuple[str, str]) -> Shown | Open:
    text = KERNEL.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return shown_for_every_count(*launched(Source("k.ptx", text), "dispatched_by_a_word"), seconds=6.0)


def test_a_worker_that_is_told_to_end() -> None:
    found = shown()
    assert isinstance(found, Shown)
    assert found.states <= 12


ONE_BARRIER = (
    (STORE + "    bar.sync 1, 64;\n", STORE),
    (MEETINGS, "    bar.sync 1, 64;\n"),
)
BY_HOST = "    setp.lt.u32 stop, n, 5;\n    selp.b32 x, 2, 3, stop;\n    @!skip st.shared.u32 [command], x;\n"


@pytest.mark.parametrize(
    "edits",
    [
        ONE_BARRIER,
        ((STORE, BY_HOST),),
        ((STORE, "    @!skip st.shared.u16 [command], 2;\n    @!skip st.shared.u16 [command+2], 1;\n"),),
        ((STORE, STORE + "    @!skip atom.shared.add.u32 x, [command], 1;\n"),),
        ((STORE, ""),),
        (("    @last bra DONE;\n", "    setp.eq.u32 last, value, 3;\n    @last bra DONE;\n"),),
    ],
    ids=[
        "read before it is stored", "a number of the host", "two halves", "an atomic behind it", "never told",
        "told another number",
    ],
)  # fmt: skip
def test_nothing_is_shown(edits: tuple[tuple[str, str], ...]) -> None:
    assert isinstance(shown(*edits), Open)


def test_two_halves_make_one_word() -> None:
    halves = "    @!skip st.shared.u16 [command], 2;\n    @!skip st.shared.u16 [command+2], 0;\n"
    assert isinstance(shown((STORE, halves)), Shown)
