"""Folders for temporary files, named after their process: who ends it can remove them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_PREFIX = "ptxcheck"


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder, which is removed when its `with` block ends."""
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}-{os.getpid()}-")


def remove_scratch(processes: Iterable[int]) -> None:
    """Remove what processes that have been stopped left behind."""
    for process in processes:
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}-{process}-*"):
            shutil.rmtree(folder, ignore_errors=True)


def remove_sockets() -> None:
    """Remove the folder that `multiprocessing` has for this process, which cannot start others after that."""
    util = sys.modules.get("multiprocessing.util")
    folder = getattr(util, "get_temp_dir", None)  # none either while it is imported: nothing was started then
    if folder is not None:
        shutil.rmtree(folder(), ignore_errors=True)
