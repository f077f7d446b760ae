"""The process that does the server's work: failures, giving up, growing old."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from ptxcheck.lsp import checker
from ptxcheck.lsp.checker import Checker
from ptxcheck.lsp.work import Failed
from tests.limits import WALL_SECONDS


def with_checker(story: Callable[[Checker], Coroutine[Any, Any, None]]) -> None:
    async def session() -> None:
        made = Checker()
        try:
            await story(made)
        finally:
            await made.close()

    asyncio.run(asyncio.wait_for(session(), WALL_SECONDS))


def test_one_process_does_it_all() -> None:
    async def story(worker: Checker) -> None:
        first = await worker.ask(os.getpid)
        assert first != os.getpid()
        assert await asyncio.gather(*(worker.ask(os.getpid) for _ in range(5))) == [first] * 5

    with_checker(story)


def test_failures_are_answers() -> None:
    async def story(worker: Checker) -> None:
        first = await worker.ask(os.getpid)
        failed = await worker.ask(partial(int, "x"))
        assert isinstance(failed, Failed)
        assert "ValueError: invalid literal" in failed.message
        assert await worker.ask(os.getpid) == first
        dead = await worker.ask(partial(os._exit, 3))
        assert dead == Failed("the process that checks has ended (exit code 3)")
        assert await worker.ask(os.getpid) != first

    with_checker(story)


def test_giving_up_a_short_job_keeps_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "_PATIENCE", WALL_SECONDS)

    async def story(worker: Checker) -> None:
        first = await worker.ask(os.getpid)
        await give_up(worker, partial(time.sleep, 0.3))
        assert await worker.ask(os.getpid) == first

    with_checker(story)


def test_giving_up_a_long_job_ends_the_process() -> None:
    """Who gives up does not wait for the job, which takes longer than the whole test may."""

    async def story(worker: Checker) -> None:
        first = await worker.ask(os.getpid)
        await give_up(worker, partial(time.sleep, 10 * WALL_SECONDS))
        assert await worker.ask(os.getpid) != first

    with_checker(story)


async def give_up(worker: Checker, job: Callable[[], Any]) -> None:
    task = asyncio.create_task(worker.ask(job))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_process_is_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "_JOBS", 3)

    async def story(worker: Checker) -> None:
        processes = [await worker.ask(os.getpid) for _ in range(7)]
        assert [processes.index(each) for each in processes] == [0, 0, 0, 3, 3, 3, 6]

    with_checker(story)


def test_nothing_runs_before_the_first_job() -> None:
    async def story(worker: Checker) -> None:
        assert worker._process is None

    with_checker(story)
