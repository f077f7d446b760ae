from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.repair.edits import Edit, OverlapError, apply_edits


def test_edits_apply_in_the_order_of_the_text() -> None:
    assert apply_edits("abcdef", [Edit(4, 5, "X"), Edit(0, 1, ""), Edit(2, 2, "--")]) == "b--cdXf"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply_edits("ab", [Edit(1, 1, "1"), Edit(1, 1, "2")]) == "a12b"


def test_overlap_is_refused() -> None:
    with pytest.raises(OverlapError):
        apply_edits("abcdef", [Edit(0, 3, ""), Edit(2, 4, "")])


def test_an_edit_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        apply_edits("abc", [Edit(2, 9, "")])


@given(st.text(max_size=30), st.data())
def test_what_is_not_edited_stays(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edited = apply_edits(text, [Edit(start, end, "new")])
    assert edited == text[:start] + "new" + text[end:]
