"""Files that a source includes: what they define is known, and nothing outside the folder of the source is read."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.hostcode import includes
from ptxcheck.hostcode.find import read
from ptxcheck.hostcode.includes import Includes
from ptxcheck.source import Source

from .test_find import program

BIG = "#pragma once\nconstexpr int kRows = 512;\n"


def checked(folder: Path, included: str) -> ptxcheck.Report:
    """Check a file in `folder` whose box has the rows that an included file defines."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "p.cpp"
    path.write_text(program("kRows", top=f'#include "{included}"').text)
    return ptxcheck.check(str(path))


def test_constants_of_files_below(tmp_path: Path) -> None:
    (tmp_path / "sizes").mkdir()
    (tmp_path / "sizes" / "rows.h").write_text(BIG)
    (tmp_path / "sizes.h").write_text('#include "sizes/rows.h"\n')
    report = checked(tmp_path, "sizes.h")
    assert [finding.rule for finding in report.findings] == ["TD008"]
    assert [one.location.ptx.line for one in report.findings[0].related] == [2]


@pytest.mark.parametrize("way", ["above", "absolute", "link"])
def test_nothing_outside_the_folder_is_read(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "rows.h").write_text(BIG)
    if way == "link":
        (inner / "rows.h").symlink_to(tmp_path / "rows.h")
    name = {"above": "../rows.h", "absolute": str(tmp_path / "rows.h"), "link": "rows.h"}[way]
    read_paths: list[str] = []
    read_text = Path.read_text

    def noted(path: Path, *arguments: str, **options: str) -> str:
        read_paths.append(str(path))
        return read_text(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", noted)
    assert checked(inner, name).findings == ()
    assert [path for path in read_paths if path.endswith("rows.h")] == []


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for depth in range(1, 9):
        (tmp_path / f"h{depth}.h").write_text(f'#include "h{depth + 1}.h"\n#include "p.cpp"\n')
    source = Source(str(tmp_path / "p.cpp"), program("8", top='#include "h1.h"').text)
    (tmp_path / "p.cpp").write_text(source.text)
    found = Includes(source.name)
    read(source, found)
    assert [Path(path).name for path in found.opened] == [
        f"h{depth}.h" for depth in range(1, includes.DEEPEST + 1)
    ]
    monkeypatch.setattr(includes, "LARGEST_FILE", 4)
    assert read(source, Includes(source.name)).opened == ()


def test_text_without_a_file_includes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.h").write_text(BIG)
    monkeypatch.chdir(tmp_path)
    assert ptxcheck.check(Source("p.cpp", program("kRows", top='#include "rows.h"').text)).findings == ()


def test_a_name_with_two_values_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "rows.h").write_text(BIG)
    (tmp_path / "other.h").write_text("constexpr int kRows = 8;\n")
    assert checked(tmp_path, 'rows.h"\n#include "other.h').findings == ()


def test_an_encode_in_an_included_function_is_at_the_call(tmp_path: Path) -> None:
    text = program("n").text.replace("void encode", "inline void encode_tile")
    (tmp_path / "encode.h").write_text(text)
    path = tmp_path / "p.cpp"
    path.write_text(
        '#include "encode.h"\n// for cuTensorMapEncodeTiled\nvoid f(void *p) {\n  encode_tile(p, 8);\n'
        "  encode_tile(p, 300);  // cuTensorMapEncodeTiled\n}\n"
    )
    report = ptxcheck.check(str(path))
    assert [(finding.rule, finding.location.primary.line) for finding in report.findings] == [("TD008", 5)]
