"""The state of the language server. The only module that imports pygls.

The event loop only waits: texts are parsed in a thread and checked in a process of their own, which is ended when
a newer text makes its work useless.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Coroutine, Sequence
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ..results import Report
from ..version import __version__
from .actions import Abilities, Actions
from .checker import Checker
from .diagnostics import (
    SOURCE,
    Diagnostics,
    Document,
    Shown,
)
from .documents import Language, Open, opened
from .names import Names
from .options import Options, Verify
from .pages import RulePages
from .text import Lines
from .work import (
    Check,
    Failed,
    FindRepairs,
    Key,
    Repaired,
)

TYPING_PAUSE = 0.3
"""Seconds without a change before a text is checked."""
VERIFY_PAUSE = 1.0
"""Further seconds before it is verified."""
VERIFY_SECONDS = 2.0
"""Time for the verification of one kernel that is not saved; on saving it is that of the configuration."""
REPAIR_LIMIT = 120.0
GRACE = 1.0
LARGEST_TEXT = 1 << 25
"""Characters; a longer text is checked on opening and saving only."""
_UNLIMITED = float("inf")


class Server(LanguageServer):
    """The server's state: open documents, what was said of others, and the processes that check."""

    def __init__(self) -> None:
        super().__init__("ptxcheck", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.documents: dict[str, Open] = {}
        self.options = Options()
        self.abilities = Abilities()
        self.pages = RulePages()
        self._checker = Checker()
        self._repairer = Checker()
        self._said: dict[str, dict[str, Sequence[Shown]]] = {}
        """Diagnostics by the document they are in and the one whose check found them."""
        self._asked: set[asyncio.Task[None]] = set()
        """Questions to the client that it has not answered yet."""

    def begin(self, params: types.InitializeParams) -> None:
        """Take what the client can do and wants."""
        self.options = Options.read(params.initialization_options)
        self.pages = RulePages(self.options.rule_pages)
        edits = get(params.capabilities, "workspace", "workspace_edit")
        resolve = get(params.capabilities, "text_document", "code_action", "resolve_support")
        self.abilities = Abilities(
            versions=bool(get(edits, "document_changes")),
            confirmation=get(edits, "change_annotation_support") is not None,
            resolves=resolve is not None and "edit" in resolve.properties,
        )
        root = self.workspace.root_path
        if root is not None and os.path.isdir(root):
            os.chdir(root)  # relative paths in the configuration's nvcc flags start here

    def ask_client(self, question: Coroutine[Any, Any, None]) -> None:
        """Ask the client for something; nobody waits for the answer, and a refusal does no harm."""

        async def asked() -> None:
            with contextlib.suppress(Exception):
                await question

        task = asyncio.get_running_loop().create_task(asked())
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def end(self) -> None:
        """Give up all work, but wait for answers of the client: pygls cannot take them later."""
        if self._asked:
            await asyncio.wait(self._asked, timeout=GRACE)
        for document in self.documents.values():
            document.close()
        await self._checker.close()
        await self._repairer.close()

    # -- documents

    def open(self, item: types.TextDocumentItem) -> None:
        """Take a document that the editor has opened, and check it."""
        encoding = self.workspace.position_encoding or "utf-16"
        encoding = str(getattr(encoding, "value", encoding))
        document = opened(item.uri, to_fs_path(item.uri), item, encoding)
        self.documents[item.uri] = document
        self.schedule(document, pause=0.0, seconds=VERIFY_SECONDS)

    def change(self, uri: str, text: str, version: int) -> None:
        """Take the new text of a document, and check it when typing pauses; CUDA waits until it is saved."""
        document = self.documents.get(uri)
        if document is None:
            return
        document.changed(text, version)
        if document.language is Language.CUDA or len(text) > LARGEST_TEXT:
            return
        seconds = VERIFY_SECONDS if self.options.verify is Verify.ON_TYPE else None
        self.schedule(document, TYPING_PAUSE, seconds)

    def save(self, uri: str) -> None:
        """Check a document that was saved, and the CUDA sources that may include it."""
        document = self.documents.get(uri)
        if document is None:
            return
        self.schedule(document, 0.0, _UNLIMITED)
        if document.language is Language.HOST:
            self.check_again(Language.CUDA)

    def close(self, uri: str) -> None:
        """Forget a document."""
        document = self.documents.pop(uri, None)
        if document is not None:
            document.close()
            for place in {*document.elsewhere, uri}:
                self._say(place, uri, ())

    def check_again(self, language: Language | None = None) -> None:
        """Check open documents again, because something that they rest on changed."""
        for document in self.documents.values():
            if language is None or document.language is language:
                self.schedule(document, TYPING_PAUSE, VERIFY_SECONDS)

    # -- checking

    def schedule(self, document: Open, pause: float, seconds: float | None) -> None:
        """Check a document after a pause, in place of what was to be done with it before."""
        document.cancel()
        if self.options.verify is Verify.NEVER:
            seconds = None
        document.task = asyncio.get_running_loop().create_task(self._check(document, pause, seconds))

    async def _check(self, document: Open, pause: float, seconds: float | None) -> None:
        await asyncio.sleep(pause)
        if document.language is Language.CUDA:
            if document.is_file:
                await self._check_file(document, seconds)
            return
        name, text = document.document.name, document.document.lines.text
        answer = await self._checker.ask(Check(name, text, None, self.options))
        names = await document.names()
        self._publish(document, document.completed(names, await self._shown(document, answer)))
        if seconds is None or document.language is Language.HOST:
            return
        await asyncio.sleep(min(VERIFY_PAUSE, 3 * pause))
        answer = await self._checker.ask(Check(name, text, seconds, self.options))
        shown = await self._shown(document, answer)
        if isinstance(answer, Report):
            document.remember(names, answer, shown)
        self._publish(document, shown)
        if get(self.client_capabilities, "workspace", "code_lens", "refresh_support"):
            self.ask_client(self.workspace_code_lens_refresh_async(None))

    async def _check_file(self, document: Open, seconds: float | None) -> None:
        saved = document.document
        answer = await self._checker.ask(Check(saved.name, None, seconds, self.options))
        self._publish(document, await self._shown(document, answer, saved))

    async def _shown(
        self, document: Open, answer: Report | Failed, checked: Document | None = None
    ) -> list[Shown]:
        """Return the diagnostics of an answer in its own document, and say those in others."""
        checked = checked or document.document
        if isinstance(answer, Failed):
            where = checked.lines.word(0, 0)
            error = types.DiagnosticSeverity.Error
            return [Shown(types.Diagnostic(where, answer.message, severity=error, source=SOURCE))]
        found = {finding.rule for finding in answer.active}
        rules = [rule for rule in answer.rules if rule.id in found]
        pages = await asyncio.to_thread(self.pages.of, rules)
        uri = document.document.uri
        by_document = Diagnostics(checked, answer, pages).by_document()
        own = by_document.pop(uri)
        for place in document.elsewhere - by_document.keys():
            self._say(place, uri, ())
        for place, shown in by_document.items():
            self._say(place, uri, shown)
        document.elsewhere = frozenset(by_document)
        return own

    def _publish(self, document: Open, shown: Sequence[Shown]) -> None:
        document.shown = shown
        uri = document.document.uri
        if self.documents.get(uri) is document:
            self._say(uri, uri, shown)

    def _say(self, place: str, origin: str, shown: Sequence[Shown]) -> None:
        """Show in one document what the check of another, or its own, has found."""
        said = self._said.setdefault(place, {})
        said.pop(origin, None)
        if shown:
            said[origin] = shown
        diagnostics: list[types.Diagnostic] = []
        for each in self.said(place):
            if each.diagnostic not in diagnostics:
                diagnostics.append(each.diagnostic)
        document = self.documents.get(place)
        version = None if document is None else document.version
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(place, diagnostics, version))

    # -- questions

    def said(self, uri: str) -> list[Shown]:
        """Return what is shown in a document, whichever check found it."""
        return [each for _, group in sorted(self._said.get(uri, {}).items()) for each in group]

    def shown_at(self, uri: str, position: types.Position) -> list[Shown]:
        """Return what is shown at a place."""
        return [each for each in self.said(uri) if _holds(each.diagnostic.range, position)]

    async def names_at(self, uri: str, position: types.Position) -> tuple[Names, Lines, int] | None:
        """Return the names of a PTX document, its lines, and the offset that is meant; None for any other."""
        document = self.documents.get(uri)
        if document is None or document.language is not Language.PTX:
            return None
        lines = document.document.lines
        return await document.names(), lines, lines.offset(position)

    def actions(self, document: Open) -> Actions:
        """Return the maker of the actions of a document as it is."""
        return Actions(document.document, document.version, self.abilities)

    async def repairs(self, document: Open, keys: tuple[Key, ...], *, unsafe: bool) -> list[Repaired] | str:
        """Return repairs of findings of a document as it is, or why there are none."""
        version = document.version
        known = [each for each in document.repairs if each.key in keys]
        missing = tuple(key for key in keys if all(each.key != key for each in known))
        if not missing:
            return known
        name, text = document.document.name, document.document.lines.text
        job = FindRepairs(name, text, missing, unsafe, self.options)
        searching = document.repairing = asyncio.create_task(self._repairer.ask(job))
        done, _ = await asyncio.wait([searching], timeout=REPAIR_LIMIT)
        if not done:
            searching.cancel()
            return f"no repair was found in {REPAIR_LIMIT:g} seconds"
        if searching.cancelled() or document.version != version:
            return "the text has changed meanwhile"
        answer = searching.result()
        if isinstance(answer, Failed):
            return answer.message
        if len(missing) == 1 or document.language is Language.PTX:  # else they are one change
            document.repairs += answer
        return [*known, *answer] or "no repair was found"

    def tell(self, message: str) -> None:
        """Show a message to the user."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"ptxcheck: {message}"))


def get(value: Any, *names: str) -> Any:
    """Return an attribute of an attribute; None where one is missing."""
    for name in names:
        value = getattr(value, name, None)
    return value


def _holds(where: types.Range, position: types.Position) -> bool:
    at = position.line, position.character
    return (where.start.line, where.start.character) <= at <= (where.end.line, where.end.character)
