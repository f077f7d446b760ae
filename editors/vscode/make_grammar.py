"""Writes the TextMate grammar of PTX from the instruction table: `python editors/vscode/make_grammar.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ptxcheck.ir import TYPE_BYTES
from ptxcheck.isa import forms_of, rows_by_mnemonic
from ptxcheck.lsp.meanings import register_meanings

PLACE = Path(__file__).parent / "syntaxes" / "ptx.tmLanguage.json"

DIRECTIVES = (
    ".version", ".target", ".address_size", ".file", ".loc", ".section", ".entry", ".func", ".visible", ".extern",
    ".weak", ".common", ".alias", ".pragma", ".reg", ".sreg", ".shared", ".local", ".param", ".global", ".const",
    ".tex", ".align", ".ptr", ".attribute", ".managed", ".unified", ".branchtargets", ".calltargets", ".callprototype",
    ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".noreturn", ".reqnctapercluster",
    ".explicitcluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve", ".abi_preserve_control",
    ".language", ".loc_intermediate", ".minperctamemory",
)  # fmt: skip
"""Chapters 4.3, 5 and 11 of the PTX manual."""


def grammar() -> dict[str, Any]:
    """Return the grammar as JSON values."""
    types = sorted({*TYPE_BYTES, ".pred", *_type_modifiers()})
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "comment": "Made by make_grammar.py from the instruction table of ptxcheck: do not edit.",
        "name": "PTX",
        "scopeName": "source.ptx",
        "fileTypes": ["ptx"],
        "patterns": [
            {"include": f"#{name}"}
            for name in (
                "comments",
                "strings",
                "labels",
                "instructions",
                "functions",
                "directives",
                "operands",
            )
        ],
        "repository": {
            "comments": _patterns(
                _rule("comment.line.double-slash.ptx", "//.*$"),
                {"name": "comment.block.ptx", "begin": r"/\*", "end": r"\*/"},
            ),
            "strings": _patterns(_rule("string.quoted.double.ptx", r'"(?:[^"\\]|\\.)*"?')),
            "labels": _patterns(
                {
                    "match": r"(?:^|(?<=[;{}]))\s*([\w$%]+)\s*:(?!:)",
                    "captures": {"1": {"name": "entity.name.label.ptx"}},
                }
            ),
            "instructions": _patterns(
                {
                    "match": rf"(?:^|(?<=[;{{}}:]))\s*(?:(@!?)\s*([\w$%]+)\s+)?({_any(rows_by_mnemonic())})"
                    r"((?:\.[\w:]+)*)(?=[\s;\[{]|/[/*]|$)",
                    "captures": {
                        "1": {"name": "keyword.operator.guard.ptx"},
                        "2": {"name": "variable.parameter.guard.ptx"},
                        "3": {"name": "keyword.control.instruction.ptx"},
                        "4": {"patterns": [{"include": "#modifiers"}]},
                    },
                }
            ),
            "functions": _patterns(
                {
                    "match": r"(\.entry)\s+([\w$%]+)",
                    "captures": {
                        "1": {"name": "storage.type.directive.ptx"},
                        "2": {"name": "entity.name.function.ptx"},
                    },
                }
            ),
            "directives": _patterns(
                _rule("storage.type.directive.ptx", rf"(?:{_any(DIRECTIVES)})(?![\w:])"),
                {"include": "#modifiers"},
            ),
            "modifiers": _patterns(
                _rule("support.type.ptx", rf"(?:{_any(types)})(?![\w:])"),
                _rule("storage.modifier.ptx", r"\.[A-Za-z_][\w:]*"),
            ),
            "operands": _patterns(
                _rule("variable.language.special.ptx", rf"(?:{_any(register_meanings())})\b(?:\.[xyzw])?"),
                _rule("variable.other.register.ptx", r"%[\w$]+"),
                _rule("constant.numeric.float.ptx", r"\b0[fFdD][0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?\b"),
                _rule("constant.numeric.hex.ptx", r"\b0[xX][0-9a-fA-F]+U?\b"),
                _rule("constant.numeric.ptx", r"(?<![\w$%.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?U?\b"),
                _rule("keyword.operator.ptx", r"[-+*/|!~&^<>=?]"),
                _rule("variable.other.ptx", r"(?<![\w$%.])[A-Za-z_$][\w$]*"),
            ),
        },
    }


def _type_modifiers() -> set[str]:
    """Return the values of slots that the table calls types."""
    return {
        word
        for name in rows_by_mnemonic()
        for form in forms_of(name)
        for slot in form.slots
        if slot.name.endswith("type")
        for word in slot.values
    }


def _any(words: Iterable[str]) -> str:
    """Return a pattern for one of several words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def _rule(name: str, pattern: str) -> dict[str, Any]:
    return {"name": name, "match": pattern}


def _patterns(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"patterns": list(rules)}


def text() -> str:
    """Return the grammar as it is kept."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
