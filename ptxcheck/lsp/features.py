"""What the server answers: each question of the protocol, asked of the server's state."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from ..report.verdicts import lens_title
from ..results import KernelResult
from .documents import Language, Open
from .hover import (
    hover_text,
    opcode_at,
    opcode_page,
    rule_text,
)
from .names import Names
from .server import Server, get
from .symbols import outline
from .text import Lines

_CONFIGURATIONS = ("ptxcheck.toml", "pyproject.toml")


def _lens(kernel: KernelResult, row: int) -> types.CodeLens | None:
    table = kernel.verification
    if table is None:
        return None
    title = lens_title(table)
    start = types.Position(row, 0)
    return types.CodeLens(types.Range(start, start), types.Command(title, ""))


def add_documents(server: Server) -> None:
    """Add what documents and settings do."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        capabilities = get(server.client_capabilities, "workspace", "did_change_watched_files")
        if not get(capabilities, "dynamic_registration"):
            return
        watchers = [types.FileSystemWatcher(f"**/{name}") for name in _CONFIGURATIONS]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("configuration", method, options)
        server.ask_client(server.client_register_capability_async(types.RegistrationParams([registration])))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def configuration_changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.check_again()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        text = server.workspace.get_text_document(uri).source
        server.change(uri, text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.save(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: None) -> None:
        await server.end()


def add_questions(server: Server) -> None:
    """Add hover, outline and verdicts."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        text, where = await _hover(server, document, params)
        parts = list(dict.fromkeys([*_rule_texts(server, params), *([text] if text else [])]))
        if not parts:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), where)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None or document.language is not Language.PTX:
            return None
        lines = document.document.lines
        return await asyncio.to_thread(outline, await document.names(), lines)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        rows = document.kernel_rows
        made = (_lens(kernel, rows[kernel.name]) for kernel in document.kernels if kernel.name in rows)
        return [lens for lens in made if lens is not None]


def add_names(server: Server) -> None:
    """Add the questions about names in PTX."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri
        found = await server.names_at(uri, params.position)
        if found is None:
            return None
        names, lines, offset = found
        token = names.token(offset)
        declaration = None if token is None else names.declaration(token)
        return None if declaration is None else types.Location(uri, lines.range(*declaration.span))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        uri = params.text_document.uri
        found = await server.names_at(uri, params.position)
        if found is None:
            return None
        uses = await _uses(*found, declared=params.context.include_declaration)
        return [types.Location(uri, where) for where in uses]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        found = await server.names_at(params.text_document.uri, params.position)
        if found is None:
            return None
        return [types.DocumentHighlight(where) for where in await _uses(*found, declared=True)]


async def _hover(
    server: Server, document: Open, params: types.HoverParams
) -> tuple[str | None, types.Range | None]:
    """Return what to show of the text itself, and for which part of it."""
    lines = document.document.lines
    found = await server.names_at(params.text_document.uri, params.position)
    if found is not None:
        shown = hover_text(found[0], found[2])
        return (None, None) if shown is None else (shown[0], lines.range(*shown[1]))
    offset = lines.offset(params.position)
    start = lines.offset(types.Position(params.position.line, 0))
    opcode = opcode_at(lines.text[start:].split("\n", 1)[0], offset - start)
    if opcode is None:
        return None, None
    text, (first, last) = opcode
    return opcode_page(text), lines.range(start + first, start + last)


def _rule_texts(server: Server, params: types.HoverParams) -> list[str]:
    from ..rules import info_of, known_rules

    at = server.shown_at(params.text_document.uri, params.position)
    wanted = {each.finding.rule for each in at if each.finding is not None}
    return [rule_text(info_of(rule)) for rule in known_rules() if rule.id in wanted]


async def _uses(names: Names, lines: Lines, offset: int, *, declared: bool) -> list[types.Range]:
    token = names.token(offset)
    declaration = None if token is None else names.declaration(token)
    if token is None or declaration is None:
        return []
    uses = await asyncio.to_thread(lambda: list(names.uses(declaration, token.name)))
    return [lines.range(*span) for span in uses if declared or span != declaration.span]


def add_actions(server: Server) -> None:
    """Add repairs and suppressions."""

    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True),
    )
    async def offered(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        shown = server.said(params.text_document.uri)
        maker = server.actions(document)
        made = list(maker.offered(shown, params.range, params.context.only or (), document.repairs))
        if server.abilities.resolves:
            return made
        return [await resolved(action) for action in made]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(action: types.CodeAction) -> types.CodeAction:
        data = action.data
        if action.edit is not None or not isinstance(data, dict):
            return action
        document = server.documents.get(data["uri"])
        if document is None or document.version != data["version"]:
            server.tell("the text has changed since the action was offered")
            return action
        keys = tuple((str(rule), kernel, str(message)) for rule, kernel, message in data["findings"])
        found = await server.repairs(document, keys, unsafe=bool(data["unsafe"]))
        if isinstance(found, str):
            server.tell(f"{action.title}: {found}")
            return action
        action.edit = server.actions(document).edit([each for each in found if each.safe or data["unsafe"]])
        return action
