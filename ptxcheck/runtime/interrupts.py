"""Ctrl-C of the command line: the process ends at once, wherever it is, with exit code 130.

The signal only wakes a thread, which waits for nothing else. So nothing is raised in the middle of a computation: no
code of a solver is cut off between two steps that belong together, and no destructor runs. Processes that this one
started are killed with all of theirs, and temporary folders are removed. Whatever is to last is written whole or not
at all (`runtime.cache`, `runtime.output`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event, Thread
from typing import NoReturn

INTERRUPTED = 130
"""Exit code: 128 and the number of SIGINT."""
_LAST_WORDS_SECONDS = 0.7
_CLEAR_LINE = b"\r\x1b[2K\x1b[?25h"
"""Removes what a progress bar has drawn in its line, and shows the cursor that it hid."""


class Interrupts:
    """What becomes of Ctrl-C from now on."""

    def __init__(self) -> None:
        self.last_words: Callable[[], None] | None = None
        """Called before the end, in a thread of its own, while the work goes on: tells what was found so far."""
        self._is_ending = Event()

    def watch(self) -> None:
        """Wait for Ctrl-C beside the work. To be called first, by the only thread.

        Where the signal is ignored, as in the background of a script, it stays so.
        """
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            return
        heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.signal(signal.SIGINT, lambda _number, _frame: _tell(told))
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)  # also while the first thread runs native code
        Thread(target=self._wait, args=(heard,), name="interrupts", daemon=True).start()

    def give_way(self) -> None:
        """Let Ctrl-C end the process where it was heard: what goes wrong in the work by then is a consequence."""
        if self._is_ending.is_set():
            Event().wait()

    def _wait(self, heard: int) -> None:
        while os.read(heard, 1) != bytes([signal.SIGINT]):
            pass  # another signal that has a handler
        self._is_ending.set()
        started = _stopped_descendants()
        try:
            if self.last_words is not None:
                _say(_CLEAR_LINE if sys.stderr.isatty() else b"")
                words = Thread(target=self.last_words, daemon=True)
                words.start()
                words.join(_LAST_WORDS_SECONDS)
            _remove_what_is_left((os.getpid(), *started))
        finally:  # nothing that goes wrong on the way keeps the process from its end
            _end(started)


def _remove_what_is_left(processes: Iterable[int]) -> None:
    """Remove what stopped processes have in folders for temporary files."""
    from .scratch import remove_scratch, remove_sockets

    remove_scratch(processes)
    remove_sockets()


def _end(started: list[int]) -> NoReturn:
    """Kill processes and leave; other threads do not get to see that the processes are gone."""
    _say((_CLEAR_LINE if sys.stderr.isatty() else b"") + b"ptxcheck: interrupted\n")
    for process in started:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    os._exit(INTERRUPTED)


def _tell(pipe: int) -> None:
    with suppress(OSError):
        os.write(pipe, bytes([signal.SIGINT]))


def _say(data: bytes) -> None:
    with suppress(OSError):
        os.write(2, data)


def _stopped_descendants() -> list[int]:
    """Return all processes that this one has started, and those that they have, each stopped."""
    stopped: dict[int, None] = {}
    while fresh := [each for each in _descendants(os.getpid()) if each not in stopped]:
        for process in fresh:
            with suppress(OSError):
                os.kill(process, signal.SIGSTOP)
            stopped[process] = None
    return list(stopped)


def _descendants(process: int) -> list[int]:
    """Return the processes below one, by `/proc`; none where there is no such folder."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:
            # proc(5): the parent is the second field behind the name, which is in parentheses and may hold any other
            fields = stat.read().rpartition(b")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(name))
    found = list(children.get(process, ()))
    for each in found:
        found += children.get(each, ())
    return found
