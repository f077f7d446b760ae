"""The claims of `library_bugs.toml`: what is broken, of which class it is, and how many there are of each.

    python -m benchmarks.library_bugs

prints the table that `benchmarks/README.md` shows.
"""

from __future__ import annotations

import collections
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_suffix(".toml")


class Shown(Enum):
    """What a claim rests on, the strongest first."""

    IN_KERNEL = "shown-in-kernel"
    IN_LITMUS = "shown-in-litmus"
    REQUIRED = "required-elsewhere"
    ISA_ONLY = "isa-only"


_MEANINGS = {
    Shown.IN_KERNEL: "the kernel itself gave wrong numbers or hung on a GPU",
    Shown.IN_LITMUS: "the same pattern did, as a litmus test or a question to a GPU",
    Shown.REQUIRED: "code or documents of the hardware's vendor do what is missing",
    Shown.ISA_ONLY: "the letter of the ISA alone: no default finding",
}


@dataclass(frozen=True, slots=True)
class Bug:
    """One mechanism that breaks a property in the kernels of one file."""

    file: str
    """A pattern of `group/file`."""
    property: str
    reasons: tuple[str, ...]
    """How the reason of the verdict begins."""
    shown: Shown
    evidence: str
    gpu: str = ""
    report: str = ""
    """A page, from the root of the repository, with what the kernel did on `gpu`."""
    litmus: str = ""
    """`row/variant`, with weak outcomes."""
    question: str = ""
    """A file of `hardware/questions`, without its suffix."""
    required: str = ""
    not_seen: str = ""
    """`row/variant` of the pattern, in which no weak outcome was seen."""
    axiom: str = ""


@cache
def read_bugs(path: Path = PATH) -> tuple[Bug, ...]:
    """Read all claims."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["bug"]
    return tuple(
        Bug(shown=Shown(row.pop("class")), **{**row, "reasons": tuple(row.pop("reasons"))}) for row in rows
    )


def table(bugs: Iterable[Bug]) -> str:
    """Return the classes, with the number of entries of each and the files that they are in."""
    files = collections.defaultdict(list)
    for bug in bugs:
        files[bug.shown].append(f"`{bug.file}`")
    lines = ["| class | what shows it | entries | in |", "| --- | --- | --- | --- |"]
    for shown, meaning in _MEANINGS.items():
        places = ", ".join(dict.fromkeys(files[shown]))
        lines.append(f"| `{shown.value}` | {meaning} | {len(files[shown])} | {places} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(read_bugs()), end="")
