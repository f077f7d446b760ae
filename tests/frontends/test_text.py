from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptxcheck.frontends import (
    Input,
    InputKind,
    NvccOptions,
    load,
    text,
)
from ptxcheck.frontends.text import UnreadableError, decode


def test_ascii_is_kept_as_it_is() -> None:
    source, problems = decode(b".version 8.0\r\n", "k.ptx")
    assert (source.name, source.text, problems) == ("k.ptx", ".version 8.0\r\n", ())


def test_byte_order_mark_is_reported_and_dropped() -> None:
    source, (problem,) = decode(b"\xef\xbb\xbf.version 8.0", "k.ptx")
    assert source.text == ".version 8.0"
    assert problem.position == ("k.ptx", 1, 1)
    assert "byte order mark" in problem.message


def test_character_outside_ascii_is_located() -> None:
    source, (problem,) = decode(".version 8.0\n// naïve\n".encode(), "k.ptx")
    assert problem.position == ("k.ptx", 2, 6)
    assert "naïve" in source.text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x7fELF\x02\x01", "an ELF object"),
        (b"\x50\xed\x55\xba\x01", "a fat binary"),
        (b"abc\n\x00def", "binary data (byte 0x00)"),
        (b" \n", "is empty"),
        (b"", "is empty"),
    ],
)
def test_what_is_not_text(data: bytes, words: str) -> None:
    with pytest.raises(UnreadableError, match=words.replace("(", r"\(").replace(")", r"\)")):
        decode(data, "k.ptx")


def test_binary_is_located() -> None:
    with pytest.raises(UnreadableError) as caught:
        decode(b"abc\nde\x00f", "k.ptx")
    assert caught.value.problem("k.ptx").position == ("k.ptx", 2, 3)


def test_huge_line_is_located(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_LINE", 100)
    decode(b"short\n" * 100, "k.ptx")
    with pytest.raises(UnreadableError) as caught:
        decode(b"short\n" * 50 + b"x" * 200, "k.ptx")
    assert caught.value.line == 51


def problem_of(path: str) -> str:
    loaded = load(Input(path, InputKind.PTX), NvccOptions())
    assert loaded.source is None
    (problem,) = loaded.problems
    assert problem.position.file == path
    return problem.message


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    Path("folder").mkdir()
    Path("big.ptx").write_bytes(b"x" * 2000)
    assert "oo many levels of symbolic links" in problem_of("a")
    assert "is a folder" in problem_of("folder")
    assert "device" in problem_of("/dev/zero")
    monkeypatch.setattr(text, "MAX_BYTES", 1000)
    assert "larger than" in problem_of("big.ptx")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("x")
    path.chmod(0)
    assert "Permission denied" in problem_of(str(path))
