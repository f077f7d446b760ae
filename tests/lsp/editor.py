"""An editor for tests: a client of the protocol that talks to `ptxcheck lsp` in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.limits import WALL_SECONDS

PATIENCE = WALL_SECONDS
_ENCODED = {"utf-16": "utf-16-le", "utf-8": "utf-8", "utf-32": "utf-32-le"}
_UNIT = {"utf-16": 2, "utf-8": 1, "utf-32": 4}


class Editor:
    """Holds documents as an editor does, and what the server has said of them."""

    def __init__(self, client: LanguageClient, encoding: str) -> None:
        self.client = client
        self.encoding = encoding
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.diagnostics: dict[str, Sequence[types.Diagnostic]] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.capabilities: types.ServerCapabilities | None = None
        self._news = asyncio.Event()

        feature: Callable[[str], Callable[[Any], Any]] = client.feature

        @feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = params.diagnostics
            self.published.append(params)
            self._news.set()

        @feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(_: types.RegistrationParams) -> None:
            return None

        @feature(types.WORKSPACE_CODE_LENS_REFRESH)
        def refreshed(_: None) -> None:
            return None

    def open(self, uri: str, text: str, language: str = "ptx") -> str:
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))

    def save(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    async def until(self, holds: Callable[[], bool], what: str = "") -> None:
        """Wait for news from the server until something holds."""

        async def wait() -> None:
            while not holds():
                self._news.clear()
                await self._news.wait()

        try:
            await asyncio.wait_for(wait(), PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{what or holds}: {self.diagnostics} {self.messages}") from None

    async def codes(self, uri: str, *expected: str) -> Sequence[types.Diagnostic]:
        """Wait until a document shows findings of exactly these rules, and return them."""
        wanted = sorted(expected)
        await self.until(
            lambda: (
                uri in self.diagnostics and sorted(str(each.code) for each in self.diagnostics[uri]) == wanted
            ),
            f"waited for {wanted} in {uri}",
        )
        return self.diagnostics[uri]

    def position(self, uri: str, offset: int) -> types.Position:
        """Return a position as an editor counts it."""
        before = self.texts[uri][:offset].replace("\r\n", "\n")
        line = before.rpartition("\n")[2]
        units = len(line.encode(_ENCODED[self.encoding])) // _UNIT[self.encoding]
        return types.Position(before.count("\n"), units)

    def at(self, uri: str, text: str, shift: int = 0) -> tuple[types.TextDocumentIdentifier, types.Position]:
        """Return the place of the first occurrence of a text in a document."""
        place = self.texts[uri].index(text) + shift
        return types.TextDocumentIdentifier(uri), self.position(uri, place)

    def marked(self, uri: str, where: types.Range) -> str:
        """Return the text in a range."""
        text = self.texts[uri]
        start, end = (self._offset(text, place) for place in (where.start, where.end))
        return text[start:end]

    def _offset(self, text: str, place: types.Position) -> int:
        lines = text.splitlines(keepends=True) or [""]
        start = sum(len(line) for line in lines[: place.line])
        line = lines[place.line] if place.line < len(lines) else ""
        encoded = line.encode(_ENCODED[self.encoding])[: place.character * _UNIT[self.encoding]]
        return start + len(encoded.decode(_ENCODED[self.encoding]))

    def applied(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """Return the texts of the documents that an edit changes, as they are after it."""
        changes: dict[str, list[Any]] = {uri: list(edits) for uri, edits in (edit.changes or {}).items()}
        for each in edit.document_changes or ():
            assert isinstance(each, types.TextDocumentEdit)
            assert each.text_document.version == self.versions[each.text_document.uri]
            changes.setdefault(each.text_document.uri, []).extend(each.edits)
        found = {}
        for uri, edits in changes.items():
            text = self.texts[uri]
            placed = [
                (self._offset(text, e.range.start), self._offset(text, e.range.end), number, e.new_text)
                for number, e in enumerate(edits)
            ]
            for start, end, _, new in sorted(placed, reverse=True):
                text = text[:start] + new + text[end:]
            found[uri] = text
        return found

    async def actions(
        self, uri: str, where: types.Range, only: Sequence[str] | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
        answer = await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE)
        return [action for action in answer or () if isinstance(action, types.CodeAction)]

    async def hover(self, uri: str, text: str, shift: int = 0) -> str | None:
        params = types.HoverParams(*self.at(uri, text, shift))
        answer = await asyncio.wait_for(self.client.text_document_hover_async(params), PATIENCE)
        if answer is None:
            return None
        assert isinstance(answer.contents, types.MarkupContent)
        return answer.contents.value

    async def definition(self, uri: str, text: str, shift: int = 0) -> tuple[str, int] | None:
        """Return the text that a definition is at, and its line."""
        params = types.DefinitionParams(*self.at(uri, text, shift))
        answer = await asyncio.wait_for(self.client.text_document_definition_async(params), PATIENCE)
        if answer is None:
            return None
        assert isinstance(answer, types.Location)
        return self.marked(answer.uri, answer.range), answer.range.start.line


ALL = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(
            document_changes=True,
            change_annotation_support=types.ChangeAnnotationsSupportOptions(),
        ),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(["edit"]), data_support=True
        )
    ),
)
LITTLE = types.ClientCapabilities()
"""A client that can do nothing special."""


def with_encoding(encoding: str) -> types.ClientCapabilities:
    general = types.GeneralClientCapabilities(position_encodings=[encoding])
    return types.ClientCapabilities(general=general, workspace=ALL.workspace, text_document=ALL.text_document)


def edit(
    folder: Path | None,
    story: Callable[[Editor], Coroutine[Any, Any, None]],
    *,
    capabilities: types.ClientCapabilities = ALL,
    options: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
) -> None:
    """Start a server on a folder, do what a story says, and shut the server down."""
    asyncio.run(_session(folder, story, capabilities, options, {**os.environ, **(environment or {})}))


async def _session(
    folder: Path | None,
    story: Callable[[Editor], Coroutine[Any, Any, None]],
    capabilities: types.ClientCapabilities,
    options: dict[str, Any] | None,
    environment: dict[str, str],
) -> None:
    client = LanguageClient("test", "1")
    await client.start_io(sys.executable, "-m", "ptxcheck", "lsp", "--stdio", env=environment)
    process = client._server
    assert process is not None
    assert process.stderr is not None
    errors = asyncio.create_task(process.stderr.read())
    try:
        answer = await asyncio.wait_for(
            client.initialize_async(
                types.InitializeParams(
                    capabilities=capabilities,
                    root_uri=None if folder is None else folder.as_uri(),
                    initialization_options=options,
                )
            ),
            PATIENCE,
        )
        client.initialized(types.InitializedParams())
        encoding = answer.capabilities.position_encoding or "utf-16"
        editor = Editor(client, str(getattr(encoding, "value", encoding)))
        editor.capabilities = answer.capabilities
        await story(editor)
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
        status = await asyncio.wait_for(process.wait(), PATIENCE)
        assert status == 0, await errors
    finally:
        if process.returncode is None:
            process.kill()
        stop: Any = client.stop
        await stop()
    assert b"Traceback" not in await errors, (await errors).decode()
