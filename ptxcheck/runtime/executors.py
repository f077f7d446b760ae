"""Doing one thing to many items: here, in processes of this machine, or on a cluster.

Every executor yields each item's index with its result, in any order, and survives the loss of a process: the
item that was being worked on gets a result made by `lost`, the others are worked on elsewhere.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_PRELOADED = ["ptxcheck.checker", "ptxcheck.pipeline.one_input", "ptxcheck.parser", "ptxcheck.rules"]
_GRACE = 5.0
"""Seconds that a process may take to end after its connection has closed."""


class Executor(Protocol):
    """Something that works on items."""

    def run(
        self, task: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R]
    ) -> Iterator[tuple[int, R]]:
        """Yield `(index, task(item))` for each item; `lost(item, why)` stands in where a process died."""
        ...


class Serial:
    """Works in this process, in order."""

    def run(
        self, task: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R]
    ) -> Iterator[tuple[int, R]]:
        """Yield results in order. Nothing can be lost."""
        for index, item in enumerate(items):
            yield index, task(item)


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Processes:
    """Works in `jobs` processes of this machine. Tasks, items and results must be picklable."""

    jobs: int

    def run(
        self, task: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R]
    ) -> Iterator[tuple[int, R]]:
        """Yield results as they come. Processes are stopped when the iterator is closed. Raises ExecutorError."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
        try:
            _start_forkserver()
        except OSError as error:
            advice = "use --jobs 1, or a TMPDIR with a shorter path"
            raise ExecutorError(f"no further processes can be started: {error}: {advice}") from error
        waiting = deque(range(len(items)))
        busy: dict[Connection, tuple[_Worker, int]] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self.jobs:
                    _give(_Worker(context, task), waiting, items, busy)
                for connection in wait(list(busy)):
                    assert isinstance(connection, Connection)
                    worker, index = busy.pop(connection)
                    try:
                        yield index, worker.answer()
                    except _LostError as error:
                        yield index, lost(items[index], str(error))
                    else:
                        _give(worker, waiting, items, busy)
        finally:
            for worker, _ in busy.values():
                worker.kill()


def _start_forkserver() -> None:
    """Start the process that the others are forked from deaf to Ctrl-C: it would tell where in its imports it was."""
    resource_tracker.ensure_running()  # it unblocks the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ExecutorError(Exception):
    """An executor that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Dask:
    """Works on an existing Dask cluster, whose workers see the same files under the same paths."""

    address: str

    def run(
        self, task: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R]
    ) -> Iterator[tuple[int, R]]:
        """Yield results as they come. Raises ExecutorError.

        Dask tries items elsewhere when their worker is lost, and gives up those that lost several: also one that only
        waited beside a deadly one, so what failed is tried once more, each alone.
        """
        try:
            from distributed import Client, as_completed
        except ImportError as error:
            raise ExecutorError("a Dask cluster needs: pip install 'ptxcheck[distributed]'") from error
        try:
            client = Client(self.address, timeout=_GRACE)
        except (OSError, ValueError, TimeoutError) as error:
            raise ExecutorError(f"no Dask scheduler answers at {self.address}: {error}") from error
        with client:
            there = partial(_in_folder, os.getcwd(), task)
            places = {client.submit(there, item, pure=False): index for index, item in enumerate(items)}
            suspects: list[int] = []
            for future in as_completed(places):
                try:
                    result = future.result()
                except Exception:  # its own, or that of a cluster which has lost it together with a worker
                    suspects.append(places[future])
                    continue
                yield places[future], result
            for index in sorted(suspects):
                try:
                    result = client.submit(there, items[index], pure=False).result()
                except Exception as error:
                    result = lost(items[index], _reason(error))
                yield index, result


def _in_folder(folder: str, task: Callable[[T], R], item: T) -> R:
    """Do a task where relative paths mean the same as for who asked."""
    if os.getcwd() != folder:
        os.chdir(folder)
    return task(item)


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def executor_at(address: str) -> Executor:
    """Return the executor of an address such as `dask://host:8786`. Raises ExecutorError."""
    kind, separator, place = address.partition("://")
    if kind != "dask" or not separator or not place:
        raise ExecutorError(f"{address!r} is no executor: write dask://host:port")
    return Dask(f"tcp://{place}")


class _LostError(Exception):
    """A process that ended, or failed, before it gave its result."""


class _Worker:
    """A process with the connection to it."""

    def __init__(self, context: ForkServerContext, task: Callable[[T], R]) -> None:
        self.connection, far = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(far, task), daemon=True)
        self.process.start()
        far.close()

    def answer(self) -> Any:
        """Return the result of the item given last. Raises _LostError."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            raise _LostError(self._end()) from None
        if isinstance(answer, _Failure):
            self.kill()
            raise _LostError(answer.text)
        return answer

    def _end(self) -> str:
        self.process.join(_GRACE)
        status = self.process.exitcode
        self.kill()
        if status is None:
            return "it closed its connection"
        if status >= 0:
            return f"it ended with exit code {status}"
        name = signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
        return f"it was ended by {name}" + (": out of memory?" if name == "SIGKILL" else "")

    def kill(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


@dataclass(frozen=True, slots=True)
class _Failure:
    """What a process sends in place of a result."""

    text: str


def _give(
    worker: _Worker,
    waiting: deque[int],
    items: Sequence[T],
    busy: dict[Connection, tuple[_Worker, int]],
) -> None:
    """Send the next item to a process, or end the process when there is none."""
    if not waiting:
        worker.kill()
        return
    index = waiting.popleft()
    with suppress(BrokenPipeError):  # a process that is gone is found out when its answer is awaited
        worker.connection.send(items[index])
    busy[worker.connection] = (worker, index)


def _serve(connection: Connection, task: Callable[[T], R]) -> None:
    """Work on items until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            item = connection.recv()
            connection.send(_done(task, item))


def _done(task: Callable[[T], R], item: T) -> R | _Failure:
    try:
        return task(item)
    except MemoryError:
        return _Failure("out of memory")
    except Exception as error:
        return _Failure(f"{type(error).__name__}: {error}")
