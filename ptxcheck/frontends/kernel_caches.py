"""Folders in which compilers keep the PTX of kernels: Triton's cache, and that of PyTorch Inductor."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Callable, Mapping


def triton_cache() -> str:
    """Return Triton's cache folder: `TRITON_CACHE_DIR`, or below `TRITON_HOME` or the home folder."""
    given = os.environ.get("TRITON_CACHE_DIR")
    return given or os.path.join(os.environ.get("TRITON_HOME") or os.path.expanduser("~"), ".triton", "cache")


def inductor_cache() -> str:
    """Return PyTorch Inductor's cache folder: `TORCHINDUCTOR_CACHE_DIR`, or the user's below the temporary one."""
    given = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if given:
        return given
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = str(os.getuid())
    return os.path.join(tempfile.gettempdir(), "torchinductor_" + re.sub(r'[\\/:*?"<>|]', "_", user))


KERNEL_CACHES: Mapping[str, Callable[[], str]] = {"@triton": triton_cache, "@inductor": inductor_cache}
"""Words that stand for folders on the command line."""
