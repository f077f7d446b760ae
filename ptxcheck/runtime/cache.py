"""Results kept between runs, by content, configuration and version.

An entry is read back only with classes of this package (so no file can make it run anything), only when its
checksum is right, and only when every file that the result rests on still has the same content. Whatever is
wrong with an entry, or with the folder, it counts as absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..version import __version__

_FORMAT = 2
_MAGIC = b"ptxcheck result\n"
_UNUSED_DAYS = 30
_DAY = 24 * 3600.0
_STAMP = "last-pruned"

_PACKAGE = __name__.partition(".")[0]


class Read(NamedTuple):
    """A file that a result rests on: its absolute path and digest, None when it could not be read."""

    path: str
    digest: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A result and what it rests on besides its key."""

    value: Any
    reads: tuple[Read, ...]


def default_folder() -> Path | None:
    """Return where results are kept: `PTXCHECK_CACHE_DIR`, or below the user's cache folder."""
    given = os.environ.get("PTXCHECK_CACHE_DIR")
    if given:
        return Path(given)
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return base / "ptxcheck" / "results"


def digest(*parts: str | bytes) -> str:
    """Return one digest of several texts; where one ends and the next begins counts."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def file_digest(path: str) -> str | None:
    """Return the digest of a regular file's bytes, None when there is none to read."""
    try:
        if not os.path.isfile(path):
            return None
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Cache:
    """A folder of results."""

    folder: Path

    @cached_property
    def _version(self) -> str:
        return digest(__version__, sys.version, str(_FORMAT), *_package_state())

    def key(self, *parts: str | bytes) -> str:
        """Return the name of a result that depends on these texts and on the version of ptxcheck."""
        return digest(self._version, *parts)

    def get(self, key: str) -> Any | None:
        """Return a result, or None when there is none that is whole and still true."""
        path = self._path(key)
        try:
            entry = _decoded(path.read_bytes())
        except (OSError, _CorruptError):
            return None
        if any(file_digest(read.path) != read.digest for read in entry.reads):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return entry.value

    def put(self, key: str, value: Any, paths: Iterable[str], since: float) -> None:
        """Keep a result that rests on the files `paths`, unless one of them changed after `since`."""
        names = sorted(set(paths))
        if any(_changed_after(path, since) for path in names):
            return
        entry = Entry(value, tuple(Read(path, file_digest(path)) for path in names))
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, _encoded(entry))

    def clear(self) -> None:
        """Forget all results. Raises OSError."""
        if self.folder.exists():
            for child in [*self.folder.glob("[0-9a-f][0-9a-f]"), self.folder / _STAMP]:
                shutil.rmtree(child) if child.is_dir() else child.unlink(missing_ok=True)

    def prune(self) -> None:
        """Once a day, forget results that were not used for a month."""
        stamp = self.folder / _STAMP
        now = time.time()
        with contextlib.suppress(OSError):
            if not self.folder.is_dir() or (stamp.exists() and now - stamp.stat().st_mtime < _DAY):
                return
            stamp.touch()
            for path in self.folder.glob("[0-9a-f][0-9a-f]/*"):
                if now - path.stat().st_mtime > _UNUSED_DAYS * _DAY:
                    path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


def _package_state() -> Iterable[str]:
    """Yield names, sizes and times of the package's files: an edited checkout is another version."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                state = os.stat(path)
                yield f"{os.path.relpath(path, root)} {state.st_size} {state.st_mtime_ns}"


def _changed_after(path: str, since: float) -> bool:
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return False
    return max(state.st_mtime, state.st_ctime) >= since


def _replace(path: Path, data: bytes) -> None:
    """Put a file in place at once. A crash may leave it cut off, which its checksum tells."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


class _CorruptError(Exception):
    """Bytes that are no entry."""


def _encoded(entry: Entry) -> bytes:
    payload = pickle.dumps(entry, protocol=5)
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def _decoded(data: bytes) -> Entry:
    start = len(_MAGIC) + hashlib.sha256().digest_size
    payload = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(payload).digest():
        raise _CorruptError("the checksum is wrong")
    try:
        entry = _Reader(io.BytesIO(payload)).load()
    except Exception as error:
        raise _CorruptError(str(error)) from error
    if not isinstance(entry, Entry):
        raise _CorruptError("not an entry")
    return entry


class _Reader(pickle.Unpickler):
    """Makes values of this package's data classes, named tuples and enumerations, and of nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == _PACKAGE and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module and _is_data(found):
                return found
        raise _CorruptError(f"{module}.{name} does not belong in a result")


def _is_data(kind: type) -> bool:
    return (
        is_dataclass(kind) or issubclass(kind, Enum) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    )
