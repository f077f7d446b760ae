"""Writing a report to a file: whole, or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


class OutputError(Exception):
    """A report that could not be written; the message names the file."""


def write_atomically(path: str, text: str) -> None:
    """Replace a file by `text`; on any failure the old file stays as it was. Raises OutputError."""
    data = text.encode("utf-8", errors="backslashreplace")
    try:
        if _is_special(path):
            Path(path).write_bytes(data)
        else:
            _replace(os.path.realpath(path), data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"cannot write {path}: {reason}") from error


def _is_special(path: str) -> bool:
    """Tell whether a path is a pipe, terminal or device, which cannot be replaced."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _replace(path: str, data: bytes) -> None:
    if os.path.isdir(path):
        raise IsADirectoryError(21, "is a folder")
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".ptxcheck-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
