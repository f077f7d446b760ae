"""Ctrl-C at any moment: one line, exit code 130, nothing left behind, and results of earlier runs still right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from ptxcheck.runtime.cache import Cache, _decoded
from ptxcheck.runtime.interrupts import Interrupts, _descendants
from ptxcheck.runtime.scratch import remove_scratch, scratch_folder
from tests.fakes import KERNEL, hear_interrupts
from tests.limits import WALL_SECONDS

RING = Path(__file__).parent.parent.parent / "corpus/protocols/ring/three_stages.ptx"
INTERRUPTS = 40
STEP_SECONDS = 0.0075
FILES = 200
_EVERY = 10
"""Of these interrupts one waits until a result was kept, so that all together are at all stages of the work."""


def started(*arguments: str) -> subprocess.Popen[bytes]:
    """Start the program, and return when it takes care of Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ptxcheck", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    until(lambda: catches_interrupts(process.pid))
    return process


def catches_interrupts(process: int) -> bool:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    has_thread = (
        fields["State"].split()[0] == "Z" or int(fields["Threads"]) > 1
    )  # started once the signal is caught
    return has_thread and bool(int(fields.get("SigCgt", "0"), 16) & 1 << signal.SIGINT - 1)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WALL_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def entries() -> list[Path]:
    """Return the results that are kept."""
    found = Path(os.environ["PTXCHECK_CACHE_DIR"]).glob("??/*")
    return [path for path in found if not path.name.startswith(".new")]


def is_further(process: subprocess.Popen[bytes], before: int) -> bool:
    """Tell whether a process has kept a result, or has ended: how it ended is looked at then."""
    return len(entries()) > before or process.poll() is not None


def checked(kept: list[Path]) -> list[Path]:
    """Return results whose checksum is right and whose value can be read: all of them."""
    for entry in kept:
        _decoded(entry.read_bytes())
    return kept


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Interrupt all processes of the terminal, and return the exit code and standard error."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=WALL_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, errors


def left_in(folder: Path) -> list[str]:
    """Return the commands of processes that run in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_here = Path(os.readlink(entry / "cwd")) == folder
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if is_here and state != "Z" and entry.name != str(os.getpid()):
            found.append((entry / "cmdline").read_text())
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    temporary = Path(tempfile.mkdtemp())  # sockets in it must have short paths, and those of pytest are long
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield folder
    until(lambda: left_in(folder) == [])
    assert list(temporary.iterdir()) == []
    temporary.rmdir()


def test_the_cache_is_sound_after_many_interrupts(place: Path) -> None:
    text = RING.read_text()
    for number in range(FILES):
        Path(f"k{number:03}.ptx").write_text(f"{text}\n// {number}\n")
    ends = []
    kept_before = 0
    for number in range(INTERRUPTS):
        if len(entries()) > FILES // 4:  # or a fast machine has nothing left to do when it is interrupted
            kept_before += len(checked(entries()))
            for entry in entries():
                entry.unlink()
        before = len(entries())
        process = started("check", ".", f"-j{number % 3 or 1}")
        if number % _EVERY == 0:
            until(partial(is_further, process, before))
        time.sleep(number * STEP_SECONDS)
        ends.append(interrupted(process))
    assert ends == [(130, b"ptxcheck: interrupted\n")] * INTERRUPTS
    assert kept_before + len(checked(entries())) >= INTERRUPTS // _EVERY
    names = sorted(map(str, Path().glob("k*.ptx")))[:5]
    plain = [sys.executable, "-m", "ptxcheck", "check", *names, "--format", "json"]
    kept, fresh = (
        subprocess.run([*plain, *more], capture_output=True, check=False).stdout
        for more in ((), ("--no-cache",))
    )
    assert kept == fresh


def test_compilers_end_too(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    compiler = tools / "nvcc"
    compiler.write_text("#!/bin/sh\nsleep 1000 &\nsleep 1000\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    for name in ("a.cu", "b.cu"):
        Path(name).write_text("__global__ void k() {}\n")
    for jobs in ("-j1", "-j2"):
        process = started("check", "a.cu", "b.cu", jobs)
        until(lambda: sum(text.startswith("sleep") for text in left_in(place)) >= 2)
        code, errors = interrupted(process)
        *before, last = errors.splitlines()
        assert (code, last) == (130, b"ptxcheck: interrupted")
        assert all(line.startswith(b"ptxcheck: compiling and checking ") for line in before)


def test_an_ignored_signal_stays_ignored(place: Path) -> None:
    Path("k.ptx").write_text(KERNEL)
    done = subprocess.run(
        [
            "sh",
            "-c",
            'trap "" INT; kill -INT $$; exec "$@"',
            "sh",
            sys.executable,
            "-m",
            "ptxcheck",
            "check",
            "k.ptx",
        ],
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    assert done.stdout.startswith(b"k.ptx") or b"checked 1 kernel" in done.stdout


def test_last_words_are_said_before_the_end() -> None:
    code = (
        "import os, signal, time\n"
        "from ptxcheck.runtime.interrupts import Interrupts\n"
        "watched = Interrupts()\n"
        "watched.watch()\n"
        "watched.last_words = lambda: print('two repairs so far', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(1000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, preexec_fn=hear_interrupts
    )
    assert (done.returncode, done.stdout) == (130, b"two repairs so far\n")
    assert done.stderr == b"ptxcheck: interrupted\n"


def test_what_an_interrupt_breaks_is_not_told(place: Path) -> None:
    code = (
        "import os, signal, sys, threading, time\n"
        "from ptxcheck.__main__ import main\n"
        "from ptxcheck.runtime import executors, scratch\n"
        "removed = threading.Event()\n"
        "def remove_sockets():\n"
        "    removed.set()\n"
        "    time.sleep(0.3)  # the other thread meets what is gone before the end\n"
        "def start_forkserver():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    removed.wait()\n"
        "    raise FileNotFoundError(2, 'No such file or directory')\n"
        "scratch.remove_sockets = remove_sockets\n"
        "executors._start_forkserver = start_forkserver\n"
        "sys.argv = ['ptxcheck', 'check', '-j2', 'a.ptx', 'b.ptx']\n"
        "main()\n"
    )
    for name in ("a.ptx", "b.ptx"):
        Path(name).write_text(KERNEL)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, preexec_fn=hear_interrupts
    )
    assert (done.returncode, done.stderr) == (130, b"ptxcheck: interrupted\n")


@pytest.mark.parametrize(
    "setting",
    [
        "sys.modules['multiprocessing.util'] = types.ModuleType('multiprocessing.util')",
        "scratch.remove_scratch = lambda processes: 1 / 0",
    ],
    ids=["while multiprocessing is imported", "what is left cannot be removed"],
)
def test_an_interrupt_ends_the_process_whatever_goes_wrong_on_the_way(setting: str) -> None:
    code = (
        "import os, signal, sys, time, types\n"
        "from ptxcheck.runtime import scratch\n"
        "from ptxcheck.runtime.interrupts import Interrupts\n"
        f"{setting}\n"
        "Interrupts().watch()\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(1000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        preexec_fn=hear_interrupts,
        timeout=WALL_SECONDS,
    )
    assert (done.returncode, done.stderr) == (130, b"ptxcheck: interrupted\n")


@pytest.mark.parametrize("first", ["ptxcheck.runtime.interrupts", "signal", "threading"])
def test_an_interrupt_before_it_is_watched_for_is_told_the_same(first: str) -> None:
    code = (
        "import importlib.abc, os, runpy, signal, sys\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {first!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        f"sys.modules.pop({first!r}, None)\n"
        "sys.argv = ['ptxcheck', 'rules']\n"
        "runpy.run_module('ptxcheck', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, preexec_fn=hear_interrupts
    )
    assert (done.returncode, done.stderr) == (130, b"ptxcheck: interrupted\n")


def test_descendants_are_all_that_were_started() -> None:
    process = subprocess.Popen(["sh", "-c", "sleep 1000 & sleep 1000"], start_new_session=True)
    try:
        until(lambda: len(_descendants(process.pid)) == 2)
        assert set(_descendants(process.pid)) < set(_descendants(os.getpid()))
        assert process.pid not in _descendants(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_scratch_of_other_processes_stays(place: Path) -> None:
    with scratch_folder() as folder:
        Path(folder, "file").touch()
        remove_scratch([os.getpid() + 1])
        assert Path(folder).exists()
        remove_scratch([os.getpid()])
        assert not Path(folder).exists()


def test_nothing_is_watched_before_it_is_asked_for() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    Interrupts()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_an_entry_that_was_cut_off_is_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = cache.key("k")
    cache.put(key, (1, 2), (), 0.0)
    (entry,) = tmp_path.glob("??/*")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert cache.get(key) is None
