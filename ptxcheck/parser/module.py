"""Modules: cuts the top level into items. Bodies are read by `body`, all else by the grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ..ir import (
    Directive,
    FileEntry,
    Function,
    FunctionKind,
    Module,
    ModuleItem,
    Section,
    Variable,
)
from ..opcodes.target import Version
from ..source import Source, Span, SyntaxProblem
from .body import BodyReader
from .declarations import plain_variable, variable, variables_of
from .grammar import (
    Declaration,
    GrammarError,
    Header,
    HeaderDirective,
    parse,
)
from .headers import plain_header
from .scope import Names, element_sizes
from .text import (
    blank_comments,
    closing_brace,
    statement_end,
    trimmed_lines,
)

_SKIP = re.compile(r"(?:[ \t\r\n\f\v]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_GAP = r"(?:[ \t\r\n]|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)"
_VERSION = re.compile(rf"\.version{_GAP}+(\d{{1,20}})\.(\d{{1,20}})(?![\w.])")
_TARGET = re.compile(rf"\.target{_GAP}+([\w]+(?:{_GAP}*,{_GAP}*\w+)*)")
_ADDRESS_SIZE = re.compile(rf"\.address_size{_GAP}+(\d{{1,20}})(?!\w)")
_FILE = re.compile(rf'\.file{_GAP}+(\d{{1,20}}){_GAP}+"((?:[^"\\\n]|\\.)*)"((?:{_GAP}*,{_GAP}*\d{{1,20}})*)')
_LOC = re.compile(r"\.loc[ \t]+\d+[ \t]+\d+[ \t]+\d+[^\n]*")
_DWARF = re.compile(r"@@[^\n]*")
_WORD = re.compile(r"\.[a-z_]\w*")
_SECTION = re.compile(rf"\.section{_GAP}+([.\w$]+){_GAP}*\{{")
_HEADER_STOP = re.compile(r'[;{="]|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?')
_NEXT_ITEM = re.compile(
    r"\n[ \t]*(?=\.(?:visible|extern|weak|common|entry|func|global|const|shared|file|section|target"
    r"|version|address_size)\b)"
)
_LAUNCH = frozenset(
    {
        ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".reqnctapercluster",
        ".explicitcluster", ".maxclusterrank", ".blocksareclusters", ".minperctamemory",
    }
)  # fmt: skip


def parse_module(source: Source) -> Module:
    """Parse PTX text. Never raises on bad PTX: each error is in `problems` of the module or of a body."""
    return _ModuleReader(source).read()


class _ModuleReader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        self._at = 0
        self._items: list[ModuleItem] = []
        self._problems: list[SyntaxProblem] = []
        self._arrays: dict[str, int] = {}
        self._version: Version | None = None
        self._targets: list[str] = []
        self._address_size: int | None = None
        self._readers: Mapping[str, tuple[re.Pattern[str], Callable[[re.Match[str]], None]]] = {
            ".version": (_VERSION, self._read_version),
            ".target": (_TARGET, self._read_target),
            ".address_size": (_ADDRESS_SIZE, self._read_address_size),
            ".file": (_FILE, self._read_file),
            ".loc": (_LOC, self._ignore),
            ".section": (_SECTION, self._read_section),
        }

    def read(self) -> Module:
        if not self._is_ptx():
            return self._module()
        length = len(self._text)
        while True:
            skip = _SKIP.match(self._text, self._at)
            self._at = skip.end() if skip else self._at
            if self._at >= length:
                break
            before = self._at
            self._read_item()
            if self._at <= before:
                self._at = before + 1
        return self._module()

    def _module(self) -> Module:
        return Module(
            self._source, self._version or Version(0, 0), tuple(self._targets), self._address_size,
            tuple(self._items), tuple(self._problems),
        )  # fmt: skip

    def _is_ptx(self) -> bool:
        """Report a text that is not PTX at all as one error."""
        text = self._text
        if not text.isascii():
            at = next(i for i, c in enumerate(text) if ord(c) > 127)
            self._problem(f"PTX is ASCII: found character {text[at]!r}", at, at + 1)
            return False
        skip = _SKIP.match(text)
        start = skip.end() if skip else 0
        if _VERSION.match(text, start) is None:
            end = min(len(text), start + 1)
            shown = text[start : start + 20].split("\n")[0]
            found = f"found {shown!r}" if shown else "the file is empty"
            self._problem(f"not PTX: a module starts with '.version', {found}", start, end)
            return False
        return True

    def _read_item(self) -> None:
        text, start = self._text, self._at
        word = _WORD.match(text, start)
        if word is None:
            dwarf = _DWARF.match(text, start)
            if dwarf is not None:
                self._at = dwarf.end()
                return
            words = text[start : start + 20].split(maxsplit=1) or [ascii(text[start])[1:-1]]
            self._bad_item(f"unexpected '{words[0]}' at module level", start)
            return
        pattern, reader = self._readers.get(word[0], (None, None))
        found = pattern.match(text, start) if pattern is not None else None
        if found is not None and reader is not None:
            self._at = found.end()
            reader(found)
            return
        plain = plain_variable(text, start)
        if plain is not None:
            self._at = plain.span.end
            self._items.append(plain)
            self._arrays.update(element_sizes((plain,)))
            return
        self._read_declaration_or_function(start)

    def _bad_item(self, message: str, start: int) -> None:
        """Report one error and go on at the next line that starts an item."""
        next_item = _NEXT_ITEM.search(self._text, start + 1)
        self._at = next_item.end() if next_item else len(self._text)
        self._problem(message, start, min(self._at, self._line_end(start)))

    def _line_end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return end if end >= 0 else len(self._text)

    # -- directives without a semicolon

    def _ignore(self, _: re.Match[str]) -> None:
        return

    def _read_version(self, found: re.Match[str]) -> None:
        if self._version is not None:
            self._problem("second '.version'", *found.span())
            return
        self._version = Version(int(found[1]), int(found[2]))

    def _read_target(self, found: re.Match[str]) -> None:
        self._targets += [word.strip() for word in blank_comments(found[1]).split(",")]

    def _read_address_size(self, found: re.Match[str]) -> None:
        self._address_size = int(found[1])

    def _read_file(self, found: re.Match[str]) -> None:
        extra = tuple(int(part) for part in blank_comments(found[3]).replace(",", " ").split())
        self._items.append(FileEntry(int(found[1]), found[2], extra, Span(*found.span())))

    def _read_section(self, found: re.Match[str]) -> None:
        end = closing_brace(self._text, found.end() - 1, len(self._text))
        if end is None:
            self._problem("missing '}' of '.section'", found.start(), found.end())
            self._at = len(self._text)
            return
        self._at = end + 1
        text = trimmed_lines(blank_comments(self._text[found.end() : end]))
        self._items.append(Section(found[1], text, Span(found.start(), end + 1)))

    # -- declarations and functions

    def _read_declaration_or_function(self, start: int) -> None:
        stop = self._header_stop(start)
        if stop is None:
            self._bad_item("declaration is not closed", start)
            return
        header = blank_comments(self._text[start:stop])
        is_function = re.search(r"\.(?:entry|func)\b", header) is not None
        try:
            if is_function:
                self._read_function(start, stop)
            else:
                self._read_declaration(start)
        except GrammarError as error:
            if is_function:
                self._skip_function(start, stop)
                self._problem(error.message + " in a function header", start + error.offset, stop)
            else:
                end = self._at = statement_end(self._text, start, len(self._text))
                self._problem(error.message, min(start + error.offset, end), end)

    def _header_stop(self, start: int) -> int | None:
        """Return the offset of the `;`, `{` or `=` that ends a header (the `;` of a `.pragma` does not)."""
        at = start
        while True:
            found = _HEADER_STOP.search(self._text, at)
            if found is None:
                return None
            character = self._text[found.start()]
            at = found.end()
            if character == '"':
                string = _STRING.match(self._text, found.start())
                at = string.end() if string else at
            elif character == ";" and self._header_goes_on(start, at):
                continue
            elif character in ";{=":
                return found.start()

    def _header_goes_on(self, start: int, after: int) -> bool:
        """Tell whether a `;` ends only a `.pragma` between a function's parameters and its body."""
        header = self._text[start:after]
        pragma = header.rfind(".pragma")
        if pragma < 0 or ";" in header[pragma:-1] or ")" not in header[:pragma]:
            return False
        skip = _SKIP.match(self._text, after)
        rest = self._text[skip.end() if skip else after :][:40]
        return (
            rest.startswith("{")
            or re.match(r"\.(?:pragma|max|req|min|explicit|blocks|abi|noreturn)", rest) is not None
        )

    def _skip_function(self, start: int, stop: int) -> None:
        if self._text[stop] != "{":
            self._at = stop + 1
            return
        end = closing_brace(self._text, stop, len(self._text))
        self._at = len(self._text) if end is None else end + 1

    def _read_declaration(self, start: int) -> None:
        end = self._at = statement_end(self._text, start, len(self._text))
        text, span = self._text[start:end], Span(start, end)
        keyword = _WORD.match(text)
        if keyword is not None and keyword[0] in (".alias", ".pragma", ".language", ".loc_intermediate"):
            self._items.append(self._directive(text, keyword[0], span))
            return
        variables = tuple(variables_of(text, span, Names()))
        self._arrays.update(element_sizes(variables))
        self._items.extend(variables)

    def _directive(self, text: str, keyword: str, span: Span) -> Directive:
        if keyword == ".alias":
            _, _, names = parse("listing", text, Names())
            return Directive(keyword, f"{keyword} {', '.join(names)}", None, names, span)
        values = parse("directive", text, Names()).values
        return Directive(keyword, f"{keyword} {', '.join(values)}".strip(), span=span)

    def _read_function(self, start: int, stop: int) -> None:
        text = self._text[start:stop]
        header: Header = plain_header(text) or parse("header", text, Names())
        body_end = stop
        body = None
        parameters = tuple(_parameters(header.parameters, Span(start, stop)))
        returns = tuple(_parameters(header.returns, Span(start, stop)))
        if self._text[stop] == "{":
            closing = closing_brace(self._text, stop, len(self._text))
            if closing is None:
                self._problem(f"missing '}}' of '{header.name}'", start, stop)
            body_end = len(self._text) if closing is None else closing
            names = Names(self._arrays)
            body = BodyReader(self._text, stop + 1, body_end, returns + parameters, names).read()
        elif self._text[stop] == "=":
            raise GrammarError("unexpected '='", stop - start)
        self._at = body_end + 1
        words = [word.text for word in header.words]
        kind = FunctionKind.ENTRY if ".entry" in words else FunctionKind.DEVICE
        linkage = tuple(word for word in words if word in (".visible", ".extern", ".weak", ".common"))
        self._items.append(
            Function(
                kind, header.name, linkage, returns, parameters,
                {d.keyword: _numbers(d) for d in header.directives if d.keyword in _LAUNCH},
                tuple(_header_directives(header)), body, Span(start, body_end + 1),
            )
        )  # fmt: skip

    def _problem(self, message: str, start: int, end: int) -> None:
        self._problems.append(SyntaxProblem(message, Span(start, max(start, end))))


def _parameters(declarations: tuple[Declaration, ...], span: Span) -> Iterator[Variable]:
    for declaration in declarations:
        for each in declaration.declarators:
            yield variable(declaration.words, each, span)


def _numbers(directive: HeaderDirective) -> tuple[int, ...]:
    try:
        return tuple(int(value, 0) for value in directive.values)
    except ValueError:
        raise GrammarError(f"'{directive.keyword}' takes numbers", 0) from None


def _header_directives(header: Header) -> Iterator[Directive]:
    for word in header.words:
        if word.text == ".attribute":
            text = f".attribute({', '.join(word.items)})"
            yield Directive(word.text, text)
    for directive in header.directives:
        if directive.keyword not in _LAUNCH:
            text = f"{directive.keyword} {', '.join(directive.values)}".strip()
            yield Directive(directive.keyword, text)
