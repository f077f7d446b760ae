"""The Git repository around the files that are checked: its root, and what changed in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import Input, InputKind

_TIMEOUT = 120.0
_HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
"""Settings with which Git runs no program that the repository names."""
_ONLY_NAMES = ("--no-ext-diff", "--no-textconv", "--name-only", "-z", "--diff-filter=d")


class RepositoryError(Exception):
    """Something that Git could not tell; the message says why."""


def find_root(folder: str) -> str | None:
    """Return the folder at or above `folder` that holds `.git`, without asking Git."""
    path = Path(folder).absolute()
    return next((str(parent) for parent in (path, *path.parents) if (parent / ".git").exists()), None)


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from a revision, as absolute real paths."""

    paths: frozenset[str]

    def touch(self, item: Input) -> bool:
        """Tell whether an input may have changed. A changed header may be part of any CUDA source."""
        if os.path.realpath(item.path) in self.paths:
            return True
        return item.kind is InputKind.CUDA and any(path.endswith(_HEADERS) for path in self.paths)


def changes_since(revision: str, folder: str) -> Changes:
    """Return what changed since the branch left `revision`, uncommitted and untracked files included.

    Raises RepositoryError when there is no Git, no repository, or no such revision.
    """
    top = _git(["rev-parse", "--show-toplevel"], folder)[0]
    differences = ["diff", *_ONLY_NAMES, "--merge-base", "--end-of-options", revision, "--"]
    changed = _git(differences, top)
    untracked = _git(["ls-files", "--others", "--exclude-standard", "-z"], top)
    return Changes(frozenset(os.path.realpath(os.path.join(top, name)) for name in (*changed, *untracked)))


def _git(arguments: Sequence[str], folder: str) -> list[str]:
    """Return what Git prints, split at its NULs or at the end of the line. Raises RepositoryError."""
    git = shutil.which("git")
    if git is None:
        raise RepositoryError("--since needs git on PATH")
    try:
        done = subprocess.run(
            [git, "--no-pager", *_SAFE, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RepositoryError(f"git cannot be run: {error}") from error
    if done.returncode != 0:
        text = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        raise RepositoryError(f"git {arguments[0]} failed: {text[0] if text else 'it says nothing'}")
    output = os.fsdecode(done.stdout)
    return [part for part in (output.split("\0") if "\0" in output else output.splitlines()) if part]
