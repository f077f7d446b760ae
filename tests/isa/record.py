"""Record what a ptxas says of the statements in `data/*.txt`.

Usage: `python -m tests.isa.record RELEASE=PATH … [FILE …]`.

A data file starts with one line a column, `# release version target`, and then has groups: a line of verdicts
in brackets, one letter a column (`y` accepted, `n` rejected, `?` not run), and the statements they hold for.
Long vectors are written `{%r0..%r15}`. The recorder runs the columns of the releases that it is given, keeps
the others, and writes the files again.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxcheck.opcodes.target import Target, Version

DATA = Path(__file__).parent / "data"
_RUN = re.compile(r"%(\w+?)(\d+)\.\.%\w+?(\d+)")
_LINE = re.compile(r"line (\d+); (error|fatal)")
_PARTIAL = re.compile(r"; fatal|Unknown modifier|syntax error|<macro")
_LATE_REGISTERS = ".reg .b128 %bq<8>;"
_HEADER = """.version {version}
.target {target}
.address_size 64
.visible .entry probe(.param .b64 out)
{{
.reg .pred p, q, r; .reg .b8 %b<4>; .reg .b16 %h<64>; .reg .b32 %r<320>; .reg .b64 %rd<64>; {late}
.reg .f32 %f<320>; .reg .f64 %fd<64>;
"""
_WRONG = "mov.u32 %r1, %rd1;\nret;\n}\n"
FIRST_LINE = _HEADER.count("\n") + 1


@dataclass(frozen=True, order=True)
class Column:
    """A ptxas release, and the module header that statements are tried under."""

    release: str
    version: Version
    target: Target

    def __str__(self) -> str:
        return f"# {self.release} {self.version} {self.target}"


@dataclass(frozen=True)
class Recording:
    """The columns of a data file, and the verdicts of each statement."""

    columns: tuple[Column, ...]
    verdicts: Mapping[str, str]


def expand(statement: str) -> str:
    """Write out `{%r0..%r3}` as `{%r0,%r1,%r2,%r3}`."""

    def spelled(match: re.Match[str]) -> str:
        return ",".join(f"%{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1))

    return _RUN.sub(spelled, statement)


def module(statements: Sequence[str], column: Column) -> str:
    """Return a module with one statement a line, from `FIRST_LINE` on, each in a scope of its own.

    Its last statement is wrong, so that ptxas stops before it generates code.
    """
    late = _LATE_REGISTERS if column.version >= Version(8, 3) else ""
    head = _HEADER.format(version=column.version, target=column.target, late=late)
    return head + "".join(f"{{ {one}; }}\n" if one else "\n" for one in map(expand, statements)) + _WRONG


def load(path: Path) -> Recording:
    """Read a data file."""
    columns: list[Column] = []
    found: dict[str, str] = {}
    verdicts = ""
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            release, version, target = line[2:].split()
            columns.append(Column(release, Version.parse(version), Target.parse(target)))
        elif line.startswith("["):
            verdicts = line.strip("[]")
        elif line:
            found[line] = verdicts
    return Recording(tuple(columns), found)


def show(recording: Recording) -> Iterator[str]:
    """Yield the lines of a data file, statements grouped by their verdicts."""
    yield from map(str, recording.columns)
    groups: dict[str, list[str]] = {}
    for statement, verdicts in recording.verdicts.items():
        groups.setdefault(verdicts, []).append(statement)
    for verdicts in sorted(groups, reverse=True):
        yield f"[{verdicts}]"
        yield from groups[verdicts]


def run(ptxas: str, statements: Sequence[str], column: Column) -> set[int]:
    """Return the indices of the statements that ptxas rejects.

    ptxas stops at a fatal error, reports some errors once a module and may crash: what it did not reject is
    then tried again without the rest.
    """
    rejected: set[int] = set()
    left = list(range(len(statements)))
    while left:
        attempt = _try(ptxas, [statements[index] for index in left], column)
        if attempt.crashed:
            if len(left) == 1:
                return rejected | set(left)
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                bad = run(ptxas, [statements[index] for index in part], column)
                rejected |= {part[index] for index in bad}
            return rejected
        rejected |= {left[index] for index in attempt.rejected}
        left = [index for place, index in enumerate(left) if place not in attempt.rejected]
        if not attempt.rejected or attempt.complete:
            break
    return rejected


@dataclass(frozen=True)
class _Attempt:
    rejected: set[int]
    crashed: bool
    complete: bool
    """Every statement was judged: nothing stopped ptxas early, nothing was reported only once."""


def _try(ptxas: str, statements: Sequence[str], column: Column) -> _Attempt:
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(module(statements, column))
        file.flush()
        command = [ptxas, f"-arch={column.target}", file.name, "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (int(match[1]) - FIRST_LINE for match in _LINE.finditer(done.stderr))
    return _Attempt(
        {line for line in lines if 0 <= line < len(statements)},
        crashed=done.returncode < 0,
        complete=_PARTIAL.search(done.stderr) is None,
    )


def record(path: Path, tools: Mapping[str, str]) -> None:
    """Fill in the columns of the given releases of one data file."""
    recording = load(path)
    statements = list(recording.verdicts)
    rows = [list(recording.verdicts[one].ljust(len(recording.columns), "?")) for one in statements]
    for place, column in enumerate(recording.columns):
        if column.release in tools:
            rejected = run(tools[column.release], statements, column)
            for index, row in enumerate(rows):
                row[place] = "n" if index in rejected else "y"
    verdicts = {one: "".join(row) for one, row in zip(statements, rows, strict=True)}
    path.write_text("\n".join(show(Recording(recording.columns, verdicts))) + "\n")


def main() -> None:
    """Record every file, or those named after the releases."""
    tools = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    names = [argument for argument in sys.argv[1:] if "=" not in argument]
    for path in sorted(DATA.glob("*.txt")):
        if not names or path.stem in names:
            record(path, tools)


if __name__ == "__main__":
    main()
