"""Checks every kernel as Triton compiles it, through Triton's compilation listener.

>>> import ptxcheck.triton
>>> ptxcheck.triton.install("error")

Triton 3.4 and newer call `triton.knobs.compilation.listener` after each compilation, also when its own cache
had the kernel. Each PTX text is checked once in a process. What Triton specialised the kernel for counts as known.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..checker import check
from ..config import Config
from ..frontends.triton_compilation import SUFFIXES, first_specialisation
from ..launches.hints import specialised
from ..launches.parameter_facts import Specialisation
from ..report import Format, render
from ..results import Report
from ..runtime.cache import Cache, default_folder
from ..source import Source

Level = Literal["warn", "error"]


class KernelWarning(UserWarning):
    """A kernel that was just compiled has findings."""


class KernelError(Exception):
    """A kernel that was just compiled has findings; `report` says which."""

    def __init__(self, report: Report) -> None:
        super().__init__("ptxcheck\n" + render(report, Format.TEXT))
        self.report = report


class NotSupportedError(Exception):
    """This Triton has no compilation listener, or is not there; the message says so."""


def install(
    level: Level = "warn", config: Config | None = None, seen: Callable[[Report], None] | None = None
) -> Callable[[], None]:
    """Check kernels from now on: warn with `KernelWarning`, or raise `KernelError` where it is launched.

    A listener that is there already is still called. `seen` is given every report, clean ones too. Returns a
    function that takes the listener away again. Raises NotSupportedError.
    """
    compilation = _compilation_knobs()
    listener = _Listener(level, config or Config(), seen, compilation.listener)
    compilation.listener = listener

    def remove() -> None:
        if compilation.listener is listener:
            compilation.listener = listener.before

    return remove


def _compilation_knobs() -> Any:
    try:
        from triton import knobs
    except ImportError as error:
        raise NotSupportedError(f"Triton 3.4 or newer is needed: {error}") from error
    if not hasattr(knobs.compilation, "listener"):
        raise NotSupportedError("Triton 3.4 or newer is needed: this one has no compilation listener")
    return knobs.compilation


@dataclass
class _Listener:
    level: Level
    config: Config
    seen: Callable[[Report], None] | None
    before: Callable[..., None] | None
    _checked: set[tuple[str, Specialisation | None]] = field(default_factory=set)

    def __call__(self, *, src: Any, metadata: Any, metadata_group: Mapping[str, str], **others: Any) -> None:
        """Called by Triton with the source, what it found out, and the paths of what it made, by file name."""
        if self.before is not None:
            self.before(src=src, metadata=metadata, metadata_group=metadata_group, **others)
        for name, path in metadata_group.items():
            if name.endswith(".ptx"):
                names = (str(Path(name).with_suffix(suffix)) for suffix in SUFFIXES)
                made_for = first_specialisation(Path(metadata_group[n]) for n in names if n in metadata_group)
                text = Path(path).read_text(encoding="utf-8", errors="replace")
                self._check(name, text, made_for, _file_of(src))

    def _check(self, name: str, text: str, made_for: Specialisation | None, file: str | None) -> None:
        if (text, made_for) in self._checked:
            return
        self._checked.add((text, made_for))
        hints = () if made_for is None else (specialised(made_for),)
        roots = self.config.source_roots + (() if file is None else (os.path.dirname(file),))
        folder = default_folder()
        report = check(
            Source(name, text),
            config=replace(self.config, source_roots=roots, launch=(*self.config.launch, *hints)),
            cache=None if folder is None else Cache(folder),
        )
        if self.seen is not None:
            self.seen(report)
        if not (report.active or report.problems):
            return
        if self.level == "error":
            raise KernelError(report)
        warnings.warn("ptxcheck\n" + render(report, Format.TEXT), KernelWarning, stacklevel=2)


def _file_of(src: Any) -> str | None:
    """Return the Python file of a Triton source, whose lines may be shown."""
    function = getattr(getattr(src, "fn", None), "fn", None)
    code = getattr(function, "__code__", None)
    return None if code is None else os.path.abspath(code.co_filename)
