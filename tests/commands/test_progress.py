"""What a terminal shows of a long run."""

from __future__ import annotations

import pytest

from ptxcheck.commands.progress import progress_bar, progress_line


def test_the_line_says_how_far_a_run_is_and_fits_the_terminal() -> None:
    line = progress_line(3, 10, "a\x1b[31m.ptx", 200)
    assert line == f"checking [{'#' * 9}{' ' * 21}] 3/10 a\\u001b[31m.ptx"
    assert progress_line(0, 0, "a.ptx", 200).endswith("] 0/0 a.ptx")
    assert len(progress_line(3, 10, "a" * 300, 80)) == 79


def test_the_line_is_gone_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as shown:
        shown(1, 2, "k.ptx")
    written = capsys.readouterr()
    assert written.out == ""
    assert "1/2 k.ptx" in written.err
    assert written.err.endswith("\r\x1b[2K")
