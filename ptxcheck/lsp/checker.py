"""The server's side of the process that checks: requests that can be given up."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from typing import Any, TypeVar

from .work import Failed
from .worker import LENGTH_BYTES, framed

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds that an unwanted request may still take before its process is ended: a new one starts slower than that."""
_GRACE = 1.0
_JOBS = 200
"""Jobs of one process: what solvers and caches keep would grow for as long as the editor is open."""
_COMMAND = (sys.executable, "-P", "-m", "ptxcheck.lsp.worker")


class Checker:
    """Does one job after the other in a process of its own, which is started when it is needed."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._settling: set[asyncio.Task[None]] = set()
        self._done = 0

    async def ask(self, job: Callable[[], T | Failed]) -> T | Failed:
        """Return the result of a job. A caller that is cancelled gives the job up."""
        await self._turn.acquire()
        try:
            process = await self._started()
            reading = asyncio.ensure_future(self._answer(process, job))
        except BaseException:
            self._turn.release()
            raise
        try:
            answer: T | Failed = await asyncio.shield(reading)
        except asyncio.CancelledError:
            task = asyncio.create_task(self._settle(process, reading))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)
            raise
        try:
            self._done += 1
            if self._done >= _JOBS:
                await self._end(process)
        finally:
            self._turn.release()
        return answer

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._done = 0
            self._process = await asyncio.create_subprocess_exec(
                *_COMMAND, stdin=PIPE, stdout=PIPE, limit=1 << 26
            )
        return self._process

    async def _answer(self, process: Process, job: Callable[[], T | Failed]) -> T | Failed:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(framed(job))
            await process.stdin.drain()
            head = await process.stdout.readexactly(LENGTH_BYTES)
            answer: Any = pickle.loads(await process.stdout.readexactly(int.from_bytes(head, "little")))
        except (asyncio.IncompleteReadError, ConnectionError):
            await self._exit(process)
            return Failed(f"the process that checks has ended (exit code {process.returncode})")
        result: T | Failed = answer
        return result

    async def _settle(self, process: Process, reading: asyncio.Future[Any]) -> None:
        """Let an unwanted job end, or end its process; then it is the next one's turn."""
        try:
            await asyncio.wait([reading], timeout=_PATIENCE)
            if not reading.done():
                await self._end(process)
                await reading
        finally:
            self._turn.release()

    async def _end(self, process: Process) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await self._exit(process)

    @staticmethod
    async def _exit(process: Process) -> None:
        """Wait for a process that is about to end. A signal to a dead one would lose its exit code in asyncio."""
        try:
            await asyncio.wait_for(process.wait(), _GRACE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            await self._end(self._process)
