"""Code actions: repairs of findings, and comments that suppress them.

A repair takes time to find, so an action names the finding first, and its edits come when it is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from ..finding import Finding
from ..triage.write_suppressions import ignore_comment
from .diagnostics import Document, Shown
from .text import Lines
from .work import Repaired, key_of

FIX_ALL = "source.fixAll.ptxcheck"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the client can do with edits."""

    versions: bool = False
    """It takes edits of one version of a document."""
    confirmation: bool = False
    """It can ask the user before it applies an edit."""
    resolves: bool = False
    """It asks for the edit of an action when the action is chosen."""


@dataclass(frozen=True)
class Actions:
    """Makes the actions of one version of a document."""

    document: Document
    version: int | None
    abilities: Abilities

    def offered(
        self, shown: Sequence[Shown], where: types.Range, only: Sequence[str], known: Sequence[Repaired]
    ) -> Iterator[types.CodeAction]:
        """Yield the actions for a part of the document, of the kinds that the client asks for."""
        here = [each for each in shown if each.finding is not None and _touch(each.diagnostic.range, where)]
        if _wanted(types.CodeActionKind.QuickFix, only):
            if self.document.is_repairable:
                yield from (self._repair(each, known) for each in here)
            yield from self._suppressions(here)
        findings = [each.finding for each in shown if each.finding is not None]
        if self.document.is_repairable and findings and _wanted(FIX_ALL, only):
            data = self._data(findings, unsafe=False)
            yield types.CodeAction("Apply all safe repairs", FIX_ALL, data=data)

    def _repair(self, shown: Shown, known: Sequence[Repaired]) -> types.CodeAction:
        finding = shown.finding
        assert finding is not None
        found = next((each for each in known if each.key == key_of(finding)), None)
        if found is not None:
            return self._found_repair(found, shown.diagnostic)
        return types.CodeAction(
            title=f"Repair {finding.rule} {finding.name}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[shown.diagnostic],
            data=self._data([finding], unsafe=True),
        )

    def _found_repair(self, found: Repaired, diagnostic: types.Diagnostic) -> types.CodeAction:
        return types.CodeAction(
            title=f"{found.fix.description} ({'safe' if found.safe else 'suggested'})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=found.safe or None,
            edit=self.edit([found]),
        )

    def _data(self, findings: Iterable[Finding], *, unsafe: bool) -> dict[str, Any]:
        """Return what an action has to carry until it is chosen."""
        return {
            "uri": self.document.uri,
            "version": self.version,
            "findings": [list(key_of(finding)) for finding in findings],
            "unsafe": unsafe,
        }

    def edit(self, repairs: Sequence[Repaired]) -> types.WorkspaceEdit:
        """Return repairs as an edit; what is not proved is to be confirmed, where the client can ask."""
        asked: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = []
        annotations: dict[str, types.ChangeAnnotation] = {}
        for number, repaired in enumerate(repairs):
            edits = list(_edits(repaired, self.document.lines))
            if repaired.safe or not (self.abilities.confirmation and self.abilities.versions):
                asked += edits
                continue
            name = f"suggested{number}"
            annotations[name] = types.ChangeAnnotation(
                label=repaired.fix.description,
                needs_confirmation=True,
                description="; ".join(repaired.evidence),
            )
            asked += [types.AnnotatedTextEdit(name, each.range, each.new_text) for each in edits]
        return self._workspace_edit(asked, annotations)

    def _workspace_edit(
        self,
        edits: Sequence[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit],
        annotations: dict[str, types.ChangeAnnotation] | None = None,
    ) -> types.WorkspaceEdit:
        if not self.abilities.versions:
            plain = [each for each in edits if isinstance(each, types.TextEdit)]
            return types.WorkspaceEdit(changes={self.document.uri: plain})
        versioned = types.OptionalVersionedTextDocumentIdentifier(self.document.uri, self.version)
        return types.WorkspaceEdit(
            document_changes=[types.TextDocumentEdit(versioned, list(edits))],
            change_annotations=annotations or None,
        )

    def _suppressions(self, here: Sequence[Shown]) -> Iterator[types.CodeAction]:
        """Yield, for each rule and line, the comment to which a reason is to be added: without one it does nothing."""
        done: set[tuple[str, int]] = set()
        for each in here:
            finding, row = each.finding, each.diagnostic.range.start.line
            if finding is None or (finding.rule, row) in done:
                continue
            done.add((finding.rule, row))
            edit = suppression(finding.rule, row, self.document)
            if edit is not None:
                yield types.CodeAction(
                    title=f"Suppress {finding.rule} here (add the reason)",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[each.diagnostic],
                    edit=self._workspace_edit([edit]),
                )


def suppression(rule: str, row: int, document: Document) -> types.TextEdit | None:
    """Return the insertion of a comment above a line; None where a comment would join two lines of a macro."""
    lines = document.lines
    start = lines.offset(types.Position(row, 0))
    text = ignore_comment(lines.text, start, [rule], "", python=document.name.endswith(".py"))
    if text is None:
        return None
    position = types.Position(row, 0)
    return types.TextEdit(types.Range(position, position), text)


def _edits(repaired: Repaired, lines: Lines) -> Iterator[types.TextEdit]:
    for each in repaired.fix.replacements:
        start = lines.placed(each.start.line, each.start.column)
        end = lines.placed(each.end.line, each.end.column)
        text = each.text.replace("\r\n", "\n").replace("\n", lines.newline)
        yield types.TextEdit(lines.range(start, end), text)


def _wanted(kind: str, only: Sequence[str]) -> bool:
    """Tell whether a kind of action was asked for; without a list every kind but those on the source was."""
    if not only:
        return not kind.startswith("source")
    return any(kind == each or kind.startswith(f"{each}.") for each in only)


def _touch(first: types.Range, second: types.Range) -> bool:
    return _place(first.start) <= _place(second.end) and _place(second.start) <= _place(first.end)


def _place(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
