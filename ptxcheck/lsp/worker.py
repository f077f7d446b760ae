"""The process that checks, so that neither a slow kernel nor a crash reaches the server: `python -m` runs it.

Requests come on standard input and answers go to standard output, pickled, each behind its length. When the
server is gone, or asks for it with SIGTERM, the process ends and takes a running compiler with it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from .work import Failed

LENGTH_BYTES = 8


def framed(value: Any) -> bytes:
    """Return a value as it is sent."""
    data = pickle.dumps(value)
    return len(data).to_bytes(LENGTH_BYTES, "little") + data


def _received(requests: int, jobs: queue.SimpleQueue[Callable[[], Any]]) -> None:
    """Put what comes into the queue; at the end of it, end the process."""
    while head := _read(requests, LENGTH_BYTES):
        jobs.put(pickle.loads(_read(requests, int.from_bytes(head, "little"))))
    os.kill(os.getpid(), signal.SIGTERM)


def _read(descriptor: int, length: int) -> bytes:
    """Return so many bytes, or none at the end. Not buffered: a thread in a buffered read spoils the exit."""
    parts: list[bytes] = []
    while length:
        part = os.read(descriptor, min(length, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _end(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # what is cut off complains
    raise SystemExit(0)


def serve(requests: int, answers: BinaryIO) -> None:
    """Answer requests, one after the other, until the process is ended."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
    threading.Thread(target=_received, args=(requests, jobs), daemon=True).start()
    from .. import parser, rules  # noqa: F401  the first request finds them imported

    while True:
        job = jobs.get()
        try:
            answer = job()
        except Exception as error:
            answer = Failed(f"internal error, please report it: {type(error).__name__}: {error}")
        answers.write(framed(answer))
        answers.flush()


def main() -> None:
    """Serve on standard input and output; whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.fileno(), answers)


if __name__ == "__main__":
    main()
