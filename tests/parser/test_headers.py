"""Headers that are read without the grammar say what the grammar says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxcheck.parser.grammar import GrammarError, parse
from ptxcheck.parser.headers import plain_header
from ptxcheck.parser.scope import Names

CORPUS = Path(__file__).parent.parent.parent / "corpus"
_HEADER = re.compile(r"^(?:\.\w+\s+)*\.(?:entry|func)\b[^{;]*(?=\{)", re.MULTILINE)


def test_headers_of_the_corpus() -> None:
    found = [text for path in CORPUS.rglob("*.ptx") for text in _HEADER.findall(path.read_text("utf-8"))]
    plain = [text for text in found if plain_header(text) is not None]
    assert len(found) > 500
    assert len(plain) > 0.8 * len(found)
    for text in plain:
        assert plain_header(text) == parse("header", text, Names())


@pytest.mark.parametrize(
    "text",
    [
        ".entry k",
        ".entry k()",
        ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 q[128]) .maxntid 128, 1 , 1\n",
        ".entry k(.param .b32 a,)",
        ".entry k(.param .b32 a .param .b32 b)",
        ".entry k(.param .b32 a) .maxntid 128,",
        ".entry k(.param .b32 a) .maxntid 08",
        ".entry k(.param .b32 a) .maxntid 128.reqntid 4",
        ".entry k(.param .b32 a) .reqntid 64 .minnctapersm 2",
        ".entry k(.param .b32 a) .maxnreg 0x20",
        ".entry k(.param .b32 a) .explicitcluster .maxntid 4",
        ".entry k(.param .b32 _) .maxntid 4",
        ".entry k(.param .b32 a[]) .maxntid 4",
        ".entry k(.param .b32 a[2][3]) .maxntid 4",
        ".entry k(.param .b32 a // b\n) .maxntid 4",
        ".entry k(.param .align 8U .b8 a) .maxntid 4;",
        ".func (.param .b32 r) f(.param .b32 a)",
        ".func f(.reg .b32 a)",
        ".entry .attribute(.unified(1, 2)) k(.param .b32 a)",
        ".entry 4k(.param .b32 a)",
        ".entry k(.param .b32 a) x",
    ],
)
def test_other_headers(text: str) -> None:
    read = plain_header(text)
    try:
        wanted = parse("header", text, Names())
    except GrammarError:
        wanted = None
    assert read in (None, wanted)
    if wanted is None:
        assert read is None
