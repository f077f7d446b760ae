"""From the paths on a command line to the files to check, in a stable order."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path

from ..results import Problem, ProblemKind
from ..source import Position
from .fatbin import SUFFIXES as OBJECT_SUFFIXES
from .ignored import IgnoreFiles
from .kernel_caches import KERNEL_CACHES

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"


HOST_SUFFIXES = frozenset((".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".cpp", ".cc", ".cxx", ".py"))
LARGEST_HOST_FILE = 1 << 23
"""Bytes; a larger source is generated and is left out."""
_HEADS = (b"cuTensorMapEncode", b"make_tma_copy", b"make_tma_atom")


class InputKind(Enum):
    """What a file holds, by its name."""

    PTX = ".ptx"
    CUDA = ".cu"
    HOST = "host"
    """C++ or Python that may encode tensor maps."""
    OBJECT = "object"
    """An object, library or fat binary with PTX in it; checked when it is named outright."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to check. `path` is as the user wrote it, or `-` for PTX on standard input."""

    path: str
    kind: InputKind

    @property
    def name(self) -> str:
        """The name to show."""
        return STANDARD_INPUT_NAME if self.path == STANDARD_INPUT else self.path


class _Search:
    """What a search leaves out; it remembers whether Git's files left out a kernel."""

    def __init__(self, exclude: Sequence[str], gitignore: bool) -> None:
        self._exclude = exclude
        self._gitignore = gitignore
        self.has_ignored = False

    def below(self, folder: str) -> Callable[[str, bool], bool]:
        """Return whether a path below a folder is kept; the second argument says whether it is a folder."""
        ignored = IgnoreFiles(folder) if self._gitignore else None

        def keeps(path: str, is_folder: bool) -> bool:
            if is_excluded(path, self._exclude):
                return False
            if ignored is None or not ignored.leaves_out(path, is_folder=is_folder):
                return True
            self.has_ignored |= is_folder or _kind_in_folder(path) is not None
            return False

        return keeps

    def without_git(self) -> _Search:
        """Return the same search where Git has no say."""
        return _Search(self._exclude, False)

    def nothing(self, path: str, message: str) -> Problem:
        """Return that a search found nothing."""
        hint = "; .gitignore leaves out some of what is there: add --no-gitignore, or name the files"
        return _problem(path, message + (hint if self.has_ignored else ""))


def discover(
    paths: Sequence[str], exclude: Sequence[str] = (), *, gitignore: bool = False
) -> tuple[tuple[Input, ...], tuple[Problem, ...]]:
    """Return the files that files, folders, globs and `-` name, each once, and what names nothing.

    `exclude` holds patterns of paths to leave out of folders and globs, and `gitignore` leaves out what Git ignores.
    Files that are named outright are kept.
    """
    found: dict[str, Input] = {}
    problems: list[Problem] = []
    for path in paths:
        for item in _expand(path, _Search(exclude, gitignore)):
            if isinstance(item, Problem):
                problems.append(item)
            else:
                found.setdefault(_identity(item.path), item)
    return tuple(found.values()), tuple(problems)


def _identity(path: str) -> str:
    return path if path == STANDARD_INPUT else os.path.abspath(path)


def _expand(path: str, searching: _Search) -> Iterator[Input | Problem]:
    if path == STANDARD_INPUT:
        yield Input(STANDARD_INPUT, InputKind.PTX)
        return
    try:
        is_folder = Path(path).is_dir()
        exists = is_folder or os.path.lexists(path)
    except (OSError, ValueError) as error:
        yield _problem(path, f"cannot be looked up: {error}")
        return
    if is_folder:
        yield from _in_folder(path, searching)
    elif exists:
        yield _named(path)
    elif path in KERNEL_CACHES:
        if not is_empty_cache(path):
            yield from _expand(KERNEL_CACHES[path](), searching.without_git())
    elif glob.has_magic(path):
        yield from _in_glob(path, searching)
    else:
        yield _problem(path, "no such file or folder")


def is_empty_cache(word: str) -> bool:
    """Tell whether a word stands for a cache in which no kernel lies yet."""
    folder = KERNEL_CACHES[word]() if word in KERNEL_CACHES and not os.path.lexists(word) else None
    return folder is not None and not any(
        _kind_in_folder(os.path.join(parent, name)) is not None
        for parent, _, names in os.walk(folder)
        for name in names
    )


def _named(path: str) -> Input | Problem:
    """Return a file that the user names outright: any name is PTX, unless it says CUDA, C++ or Python."""
    suffix = Path(path).suffix.lower()
    if suffix in HOST_SUFFIXES:
        if encodes_maps(path):
            return Input(path, InputKind.HOST)
        message = f"{suffix} files are checked for tensor maps only, and this one encodes none"
        return _problem(path, f"{message}: name a .ptx or .cu file")
    if suffix in OBJECT_SUFFIXES:
        return Input(path, InputKind.OBJECT)
    return Input(path, InputKind.CUDA if suffix == ".cu" else InputKind.PTX)


def _in_folder(folder: str, searching: _Search) -> Iterator[Input | Problem]:
    """Yield the kernels below a folder, hidden folders left out. Links to folders are not followed."""
    errors: list[OSError] = []
    keeps = searching.below(folder)
    count = 0
    for parent, folders, files in os.walk(folder, onerror=errors.append):
        folders[:] = sorted(
            name for name in folders if name[0] != "." and keeps(os.path.join(parent, name), True)
        )
        for name in sorted(files):
            path = os.path.join(parent, name)
            kind = _kind_in_folder(path)
            if kind is not None and keeps(path, False):
                count += 1
                yield _found(path, kind)
    for error in errors:
        yield _problem(error.filename or folder, f"cannot be read: {error.strerror}")
    if count == 0 and not errors:
        yield searching.nothing(folder, "no .ptx or .cu file in this folder")


def _in_glob(pattern: str, searching: _Search) -> Iterator[Input | Problem]:
    keeps = searching.below(_literal_part(pattern))
    count = 0
    for path in sorted(glob.iglob(pattern, recursive=True)):
        kind = None if os.path.isdir(path) else _kind_in_folder(path)
        if kind is not None and keeps(path, False):
            count += 1
            yield _found(path, kind)
    if count == 0:
        yield searching.nothing(pattern, "no .ptx or .cu file matches this pattern")


def _literal_part(pattern: str) -> str:
    """Return the folder that a pattern names outright."""
    parts = Path(pattern).parts
    literal = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return str(Path(*parts[:literal])) if literal else "."


def _found(path: str, kind: InputKind) -> Input | Problem:
    """Return a file that a search found; a pipe would keep the run waiting, so it has to be named outright."""
    return _problem(path, "is a pipe: name it to read it") if Path(path).is_fifo() else Input(path, kind)


def _kind_in_folder(path: str) -> InputKind | None:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in HOST_SUFFIXES:
        return InputKind.HOST if encodes_maps(path) else None
    return next((kind for kind in InputKind if kind.value == suffix), None)


def encodes_maps(path: str) -> bool:
    """Whether a file speaks of encoding a tensor map: a quick test, so that folders are searched quickly."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST_HOST_FILE:
            return False
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return False
    return any(head in data for head in _HEADS)


def is_excluded(path: str, exclude: Sequence[str]) -> bool:
    """Tell whether a pattern names a path, or a folder or file in it."""
    parts = Path(path).parts
    return any(fnmatch(path, pattern) or any(fnmatch(part, pattern) for part in parts) for pattern in exclude)


def _problem(path: str, message: str) -> Problem:
    return Problem(ProblemKind.INPUT, message, Position(path, 0))
