"""Open documents: what the editor holds, what was found in it, and the names in it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import PurePath

from lsprotocol import types

from ..frontends import HOST_SUFFIXES
from ..parser import parse_module
from ..results import KernelResult, Report
from ..source import Source
from .diagnostics import Document, Shown
from .names import Names
from .text import Lines
from .work import Failed, Repaired


class Language(Enum):
    """How a document is checked."""

    PTX = "ptx"
    """As it is typed."""
    CUDA = "cuda"
    """When it is saved: a compiler reads it from its file."""
    HOST = "host"
    """C++ or Python that may encode tensor maps, as it is typed."""


_CUDA_NAMES = ("cuda", "cuda-cpp")
_HOST_NAMES = ("c", "cpp", "python", "objective-cpp")


def language_of(name: str, language_id: str) -> Language:
    """Return how to check a document: its suffix says it, else what the editor calls its language."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".ptx":
        return Language.PTX
    if suffix == ".cu":
        return Language.CUDA
    if suffix in HOST_SUFFIXES:
        return Language.HOST
    if language_id in _CUDA_NAMES:
        return Language.CUDA
    return Language.HOST if language_id in _HOST_NAMES else Language.PTX


@dataclass(frozen=True, slots=True)
class _Whole:
    """What a check with verification said of one kernel: its text, the row it started at, and its diagnostics."""

    text: str
    row: int
    shown: tuple[Shown, ...]


@dataclass
class Open:
    """One open document. A new version of its text makes a new `document`; the rest is of the latest results."""

    document: Document
    version: int | None
    language: Language
    is_file: bool
    task: asyncio.Task[None] | None = None
    shown: Sequence[Shown] = ()
    """What the client shows in this document, by this document's own check."""
    elsewhere: frozenset[str] = frozenset()
    """Other documents in which the last check has shown something."""
    kernels: tuple[KernelResult, ...] = ()
    """Results of the last check with verification."""
    kernel_rows: dict[str, int] = field(default_factory=dict)
    repairs: list[Repaired] = field(default_factory=list)
    """Repairs of this version that were found so far."""
    repairing: asyncio.Task[tuple[Repaired, ...] | Failed] | None = None
    """The search for repairs of this version that is under way."""
    _whole: dict[str, _Whole] = field(default_factory=dict)
    _names: asyncio.Task[Names] | None = None

    def changed(self, text: str, version: int | None) -> None:
        """Take the new text."""
        lines = Lines(text, self.document.lines.encoding)
        self.document = replace(self.document, lines=lines)
        self.version = version
        self.repairs = []
        self._names = None
        self._stop_repairing()

    async def names(self) -> Names:
        """Return the names of the text, parsed aside when it is asked for the first time."""
        if self._names is None:
            source = Source(self.document.name, self.document.lines.text)
            self._names = asyncio.create_task(asyncio.to_thread(_read_names, source))
        return await asyncio.shield(self._names)

    def cancel(self) -> None:
        """Give up the check that is under way or waiting."""
        if self.task is not None:
            self.task.cancel()
            self.task = None

    def close(self) -> None:
        """Give up all work."""
        self.cancel()
        self._stop_repairing()

    def _stop_repairing(self) -> None:
        if self.repairing is not None:
            self.repairing.cancel()
            self.repairing = None

    def remember(self, names: Names, report: Report, shown: Sequence[Shown]) -> None:
        """Keep what a check with verification said of each kernel."""
        self.kernels = report.kernels
        self._whole = {}
        for kernel, (text, row) in _kernel_texts(names, self.document.lines).items():
            own = tuple(each for each in shown if each.finding is not None and each.finding.kernel == kernel)
            self._whole[kernel] = _Whole(text, row, own)
            self.kernel_rows[kernel] = row

    def completed(self, names: Names, shown: Sequence[Shown]) -> list[Shown]:
        """Return diagnostics without verification, and for kernels whose text has not changed those with it."""
        texts = _kernel_texts(names, self.document.lines)
        kept = {
            kernel: whole
            for kernel, whole in self._whole.items()
            if kernel in texts and texts[kernel][0] == whole.text
        }
        self.kernel_rows = {kernel: row for kernel, (_, row) in texts.items() if kernel in kept}
        result = [each for each in shown if each.finding is None or each.finding.kernel not in kept]
        for kernel, whole in kept.items():
            result += [_moved(each, texts[kernel][1] - whole.row, self.document.uri) for each in whole.shown]
        return result


def opened(uri: str, path: str | None, item: types.TextDocumentItem, encoding: str) -> Open:
    """Return a document that the editor has opened; `path` is None for one in no file."""
    is_file = path is not None
    name = os.path.normpath(path) if path is not None else PurePath(uri).name or "untitled"
    language = language_of(name, item.language_id)
    document = Document(
        uri,
        name,
        Lines(item.text, encoding),
        is_ptx=language is Language.PTX,
        is_repairable=language is not Language.HOST and (is_file or language is Language.PTX),
    )
    return Open(document, item.version, language, is_file)


def _read_names(source: Source) -> Names:
    return Names(parse_module(source))


def _kernel_texts(names: Names, lines: Lines) -> dict[str, tuple[str, int]]:
    """Return the text of each function, and the row that it starts at."""
    text = names.module.source.text
    return {
        function.name: (text[slice(*function.span)], lines.position(function.span.start).line)
        for function in names.module.functions
        if function.body is not None
    }


def _moved(shown: Shown, rows: int, uri: str) -> Shown:
    """Return a diagnostic so many rows further down, with the places in the same document that it speaks of."""
    if rows == 0:
        return shown
    diagnostic = shown.diagnostic
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(each.location.uri, _shifted(each.location.range, rows)), each.message
        )
        if each.location.uri == uri
        else each
        for each in diagnostic.related_information or ()
    ]
    moved = types.Diagnostic(
        range=_shifted(diagnostic.range, rows),
        message=diagnostic.message,
        severity=diagnostic.severity,
        code=diagnostic.code,
        code_description=diagnostic.code_description,
        source=diagnostic.source,
        tags=diagnostic.tags,
        related_information=related or None,
    )
    return Shown(moved, shown.finding)


def _shifted(where: types.Range, rows: int) -> types.Range:
    start, end = where.start, where.end
    return types.Range(
        types.Position(max(start.line + rows, 0), start.character),
        types.Position(max(end.line + rows, 0), end.character),
    )
