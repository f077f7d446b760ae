from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

import ptxcheck
from ptxcheck.finding import Severity
from ptxcheck.results import Note, NoteKind, Report
from ptxcheck.runtime.cache import Cache, Entry, _encoded
from ptxcheck.source import Position
from tests.fakes import HEADER, KERNEL, LOCATED, crash, rule, source

NOTE = Note(NoteKind.OPAQUE, "text", Position("k.ptx", 3))
KEY = "ab" * 32


def counted(calls: list[str]) -> Any:
    """Return a rule that notes each kernel it runs on."""
    inner = rule().check

    def check(view: Any) -> Any:
        calls.append(view.function.name)
        yield from inner(view)

    return rule(check=check)


def run(calls: list[str], cache: Cache, target: Any = "k.ptx", **options: Any) -> Report:
    return ptxcheck.check(target, rules=(counted(calls),), cache=cache, **options)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(KERNEL)
    return Cache(tmp_path / "results")


def test_a_second_run_checks_nothing_and_says_the_same(cache: Cache) -> None:
    calls: list[str] = []
    first = run(calls, cache)
    assert first.findings
    assert run(calls, cache) == first
    assert calls == ["k"]


def test_what_changes_the_result_makes_a_new_one(cache: Cache) -> None:
    calls: list[str] = []
    run(calls, cache)
    run(calls, cache, config=ptxcheck.Config(severity={"XX": Severity.NOTE}))
    Path("k.ptx").write_text(KERNEL + "\n")
    run(calls, cache)
    os.rename("k.ptx", "l.ptx")
    assert run(calls, cache, "l.ptx").findings[0].location.primary.file == "l.ptx"
    ptxcheck.check("l.ptx", rules=(rule("XX002"),), cache=cache)
    assert calls == ["k"] * 4


def test_a_source_file_that_changes_counts(cache: Cache) -> None:
    folder = Path("src")
    folder.mkdir()
    cuda = folder / "k.cu"
    cuda.write_text("\n" * 20)
    Path("k.ptx").write_text(LOCATED.replace("{cu}", str(cuda)))
    config = ptxcheck.Config(source_roots=("src",))
    time.sleep(0.05)
    calls: list[str] = []
    assert not run(calls, cache, config=config).suppressed
    assert not run(calls, cache, config=config).suppressed
    cuda.write_text("\n" * 9 + "x; // ptxcheck: ignore[XX001] a reason\n")
    assert run(calls, cache, config=config).suppressed
    cuda.unlink()
    assert not run(calls, cache, config=config).suppressed
    assert len(calls) == 3


def test_texts_are_kept_too(cache: Cache) -> None:
    calls: list[str] = []
    assert run(calls, cache, source()) == run(calls, cache, source())
    assert len(calls) == 1


def test_failures_of_the_tool_are_not_kept(cache: Cache) -> None:
    for _ in range(2):
        assert ptxcheck.check("k.ptx", rules=(rule(check=crash),), cache=cache).problems
    assert not list(cache.folder.glob("*/*"))


def test_an_unreadable_file_is_not_kept(cache: Cache) -> None:
    Path("k.ptx").write_bytes(b"")
    calls: list[str] = []
    for _ in range(2):
        assert run(calls, cache).problems
    Path("k.ptx").write_text(HEADER)
    assert not run(calls, cache).problems


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "folder", "other"])
def test_damage_counts_as_absent(cache: Cache, damage: str) -> None:
    calls: list[str] = []
    first = run(calls, cache)
    (entry,) = cache.folder.glob("*/*")
    data = entry.read_bytes()
    match damage:
        case "cut":
            entry.write_bytes(data[: len(data) // 2])
        case "flip":
            entry.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        case "empty":
            entry.write_bytes(b"")
        case "folder":
            entry.unlink()
            entry.mkdir()
        case "other":
            entry.write_bytes(_encoded(Entry("no part", ())))
    assert run(calls, cache) == first
    assert calls == ["k", "k"]


class Harm:
    """Pickles to a call of a function."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize("call", [(os.mkdir, "harm"), (eval, "open('harm', 'w')"), (pickle.loads, b"")])
def test_no_entry_can_run_anything(cache: Cache, call: tuple[Any, ...]) -> None:
    cache.put(KEY, NOTE, (), time.time())
    assert cache.get(KEY) == NOTE
    cache.put(KEY, Harm(*call), (), time.time())
    assert cache.get(KEY) is None
    assert not Path("harm").exists()


@pytest.mark.parametrize("name", ["Path.unlink", "write_atomically", "os"])
def test_only_data_of_this_package_is_read(cache: Cache, name: str) -> None:
    text = f"cptxcheck.output\n{name}\n.".encode()
    payload = _encoded(Entry(NOTE, ()))
    assert payload
    cache.put(KEY, NOTE, (), time.time())
    import hashlib

    path = cache._path(KEY)
    path.write_bytes(b"ptxcheck result\n" + hashlib.sha256(text).digest() + text)
    assert cache.get(KEY) is None


def test_a_file_that_changes_during_the_run_is_not_kept(cache: Cache) -> None:
    since = time.time() - 1
    cache.put(KEY, NOTE, [os.path.abspath("k.ptx")], since)
    assert cache.get(KEY) is None


def test_a_folder_that_cannot_be_written_is_no_error(cache: Cache) -> None:
    cache.folder.write_text("a file in its place")
    assert run([], cache).findings


def test_clear_and_prune(cache: Cache) -> None:
    run([], cache)
    (entry,) = cache.folder.glob("*/*")
    os.utime(entry, (1, 1))
    (cache.folder / "last-pruned").unlink(missing_ok=True)
    cache.prune()
    assert not entry.exists()
    run([], cache)
    (cache.folder / "not-ours").write_text("")
    cache.clear()
    assert [path.name for path in cache.folder.iterdir()] == ["not-ours"]
