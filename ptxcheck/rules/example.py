"""The example of a rule: a bad kernel and its good twin as one text, with a margin on the lines that differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

_BOTH, _BAD, _GOOD, _NEITHER = "  ", "- ", "+ ", "= "
_MARK = re.compile(r"[ \t]*//\s*expect:.*")
_REGISTERS = (".reg .pred %p<8>;", ".reg .b32 %r<24>;", ".reg .b64 %rd<16>;")


@dataclass(frozen=True, slots=True)
class Example:
    """What a rule fires on and what it leaves alone.

    Each line of `text` begins with two characters of margin: `- ` in the bad kernel only, `+ ` in the good one only,
    blanks in both. `// expect: ID` marks the lines where the rule fires; the good kernel is without these marks.
    Raises ValueError for a line without its margin.
    """

    text: str
    language: str = "ptx"
    """"ptx" or "cpp"."""

    def __post_init__(self) -> None:
        for line in self.text.splitlines():
            if line.strip() and line[:2] not in (_BOTH, _BAD, _GOOD):
                raise ValueError(f"a line without its margin: {line}")

    @property
    def bad(self) -> str:
        """Return the kernel that the rule fires on, at the lines marked `// expect: ID`."""
        return "\n".join(line[2:] for line in self._lines() if line[:2] != _GOOD)

    @property
    def good(self) -> str:
        """Return the kernel that the rule leaves alone."""
        return "\n".join(_unmarked(line[2:]) for line in self._lines() if line[:2] != _BAD)

    @property
    def base(self) -> Base:
        """Return the good kernel, for other examples to vary."""
        return Base(self.good)

    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @classmethod
    def between(cls, bad: str, good: str, language: str = "ptx") -> Example:
        """Return the example with these two kernels."""
        return cls("\n".join(_difference(bad.split("\n"), good.split("\n"))), language)


class Base(str):
    """A kernel that examples vary in a few places."""

    __slots__ = ()

    def variant(self, text: str) -> Example:
        """Return the example of this kernel, changed in places that blank lines part.

        A place has margins, and replaces the only stretch of the kernel that reads as the good lines of the place
        do, or as the bad ones; or, where both differ from the kernel, as the lines with the margin `= `, which neither
        has. Raises ValueError where there is no such stretch, or more than one.
        """
        lines = [_BOTH + line if line else line for line in self.split("\n")]
        for place in text.strip("\n").split("\n\n"):
            lines = _replaced(lines, place.split("\n"))
        return Example("\n".join(lines))


def sm_80(text: str) -> Example:
    """Return the example of one Ampere kernel: `(parameters) directives` and the body, with margins."""
    return _whole(".version 8.0", "sm_80", text)


def sm_90a(text: str) -> Example:
    """Return the example of one Hopper kernel, as `sm_80` does."""
    return _whole(".version 8.6", "sm_90a", text)


def sm_100a(text: str) -> Example:
    """Return the example of one Blackwell kernel, as `sm_80` does."""
    return _whole(".version 8.6", "sm_100a", text)


def _whole(version: str, target: str, text: str) -> Example:
    lines = text.strip("\n").split("\n")
    count = next(number for number, line in enumerate(lines) if not line[2:].startswith("("))
    entries = (f"{line[:2]}.visible .entry kernel{line[2:]}" for line in lines[:count])
    head = (version, f".target {target}", ".address_size 64")
    registers = (f"    {line}" for line in _REGISTERS)
    parts = (
        "",
        *_shared(head),
        "",
        *entries,
        *_shared(("{", *registers)),
        *lines[count:],
        *_shared(("}",)),
        "",
    )
    return Example("\n".join(parts))


def _shared(lines: Iterable[str]) -> Iterator[str]:
    return (_BOTH + line for line in lines)


def _difference(bad: list[str], good: list[str]) -> Iterator[str]:
    matcher = SequenceMatcher(None, [_unmarked(line) for line in bad], good, autojunk=False)
    for tag, from_bad, to_bad, from_good, to_good in matcher.get_opcodes():
        if tag == "equal":
            yield from (_BOTH + line if line else line for line in bad[from_bad:to_bad])
        else:
            yield from (_BAD + line for line in bad[from_bad:to_bad])
            yield from (_GOOD + line for line in good[from_good:to_good])


def _replaced(lines: list[str], place: list[str]) -> list[str]:
    own = [line for line in place if line[:2] != _NEITHER]
    neither = [line[2:] for line in place if line[:2] == _NEITHER]
    sides = ([_unmarked(line[2:]) for line in own if line[:2] != other] for other in (_BAD, _GOOD))
    for wanted in (neither,) if neither else sides:
        at = [
            start
            for start in range(len(lines) - len(wanted) + 1)
            if wanted and [line[2:] for line in lines[start : start + len(wanted)]] == wanted
        ]
        if len(at) == 1:
            return [*lines[: at[0]], *own, *lines[at[0] + len(wanted) :]]
    raise ValueError("these lines do not stand in the kernel once:\n" + "\n".join(place))


def _unmarked(line: str) -> str:
    return _MARK.sub("", line)
