"""What Triton's own files say of a kernel: `.ttir` (of Gluon `.ttgir`) beside the `.ptx`, before it was lowered.

Read are the types and attributes of the arguments of its public function, and what `tl.assume` says of them there.
The text is MLIR as Triton prints it: one operation a line, four spaces in front of those that no loop or branch
surrounds. What does not look like that is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..launches.parameter_facts import Argument, Specialisation

SUFFIXES = (".ttir", ".ttgir")
"""The first says most: optimisation drops assumptions."""
LARGEST = 1 << 26
"""Bytes; a larger text is left alone."""

_FUNCTION = re.compile(r"^ *tt\.func public @(?:\"([^\"]+)\"|([\w$.]+))\(", re.MULTILINE)
_ARGUMENT = re.compile(r"\s*%([\w$.\-]+): (.+)", re.DOTALL)
_DIVISIBILITY = re.compile(r"\btt\.divisibility = (\d+) : i\d+")
_OPERATION = re.compile(r"    (?:%([\w$.\-]+) = )?([\w.]+) (.*?)(?: loc\(.*\))?\Z")
_OPEN, _CLOSE = "([{<", ")]}>"
_BOUNDS: Mapping[str, tuple[int | None, int | None]] = {
    "sgt": (1, None), "sge": (0, None), "slt": (None, -1), "sle": (None, 0), "eq": (0, 0),
}  # fmt: skip
"""What a comparison says of its left side: the right side plus these."""
_SWAPPED = {"sgt": "slt", "sge": "sle", "slt": "sgt", "sle": "sge", "eq": "eq"}


def specialisation_beside(path: str) -> Specialisation | None:
    """Return what Triton compiled the kernel of a PTX file for; None where nothing beside it says."""
    return first_specialisation(Path(path).with_suffix(suffix) for suffix in SUFFIXES)


def first_specialisation(paths: Iterable[Path]) -> Specialisation | None:
    """Return what the first of some files of Triton's says that can be read and says anything."""
    for path in paths:
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                found = read_specialisation(path.read_text(encoding="utf-8", errors="replace"))
                if found is not None:
                    return found
        except (OSError, ValueError):
            continue
    return None


def read_specialisation(text: str) -> Specialisation | None:
    """Return what a text of Triton's says of the arguments of its kernel; None unless it has exactly one."""
    found = list(_FUNCTION.finditer(text))
    if len(found) != 1:
        return None
    end = _closing(text, found[0].end())
    if end is None:
        return None
    read = [_argument(each) for each in _parts(text[found[0].end() : end])]
    arguments = tuple(argument for argument in read if argument is not None)
    if len(arguments) != len(read):
        return None
    assumed = _Assumptions(arguments)
    assumed.read(text[end:].split("\n  }", 1)[0])
    return Specialisation(found[0][1] or found[0][2], tuple(map(assumed.of, arguments)))


def _argument(text: str) -> Argument | None:
    """Return one argument: `%name: type {attributes} loc(…)`."""
    match = _ARGUMENT.match(text)
    if match is None:
        return None
    rest = match[2]
    end = next((at for at, depth, char in _scan(rest) if char == " " and depth == 0), len(rest))
    multiple = _DIVISIBILITY.search(rest, end)
    return Argument(match[1], rest[:end], 1 if multiple is None else max(int(multiple[1]), 1))


def _scan(text: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yield each character outside of quotes with its place and the depth of brackets in front of it."""
    depth, quoted, before = 0, False, ""
    for at in range(start, len(text)):
        char = text[at]
        if char == '"' and before != "\\":
            quoted = not quoted
        elif not quoted:
            if char in _CLOSE and not (char == ">" and before == "-"):
                depth -= 1
            yield at, depth, char
            depth += char in _OPEN
        before = char


def _closing(text: str, start: int) -> int | None:
    """Return where the bracket closes that is open before `start`."""
    return next((at for at, depth, char in _scan(text, start) if depth < 0 and char == ")"), None)


def _parts(text: str) -> list[str]:
    """Return what stands between commas that no bracket surrounds."""
    cuts = [at for at, depth, char in _scan(text) if char == "," and depth == 0]
    starts, ends = [0, *(at + 1 for at in cuts)], [*cuts, len(text)]
    return [part for a, b in zip(starts, ends, strict=True) if (part := text[a:b]).strip()]


@dataclass
class _Assumptions:
    """Reads the operations of a kernel in order, and keeps what is assumed of its arguments."""

    arguments: tuple[Argument, ...]
    _numbers: dict[str, int] = field(default_factory=dict)
    _remainders: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Remainders of arguments, by the name of the result."""
    _said: dict[str, tuple[Argument, ...]] = field(default_factory=dict)
    """What a predicate says when it holds."""
    _assumed: list[Argument] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Read the first block: what stands behind a label may not be reached."""
        for line in text.split("\n  ^", 1)[0].split("\n"):
            match = _OPERATION.match(line)
            if match is not None:
                self._operation(match[1], match[2], match[3])

    def of(self, argument: Argument) -> Argument:
        """Return an argument with what is assumed of it."""
        for one in self._assumed:
            if one.name == argument.name:
                argument = _both(argument, one)
        return argument

    def _operation(self, result: str | None, name: str, rest: str) -> None:
        operands = [part.strip().removeprefix("%") for part in rest.split(" : ")[0].split(",")]
        match name, operands:
            case "arith.constant", [number] if result is not None and _is_number(number):
                self._numbers[result] = int(number)
            case "arith.constant", ["true"] if result is not None:
                self._said[result] = ()
            case "arith.remsi" | "arith.remui", [a, b] if result is not None and b in self._numbers:
                self._remainders[result] = (a, self._numbers[b])
            case "arith.cmpi", [relation, a, b] if result is not None:
                self._said[result] = tuple(self._compared(relation, a, b))
            case "arith.andi", [a, b] if result is not None:
                self._said[result] = self._said.get(a, ()) + self._said.get(b, ())
            case "llvm.intr.assume", [predicate]:
                self._assumed.extend(self._said.get(predicate, ()))

    def _compared(self, relation: str, a: str, b: str) -> Iterator[Argument]:
        names = {argument.name for argument in self.arguments}
        if relation not in _BOUNDS:
            return
        if a in self._remainders and relation == "eq" and self._numbers.get(b) == 0:
            name, divisor = self._remainders[a]
            if name in names and divisor > 0:
                yield Argument(name, "", assumed_multiple_of=divisor)
        for left, right, how in ((a, b, relation), (b, a, _SWAPPED[relation])):
            if left in names and right in self._numbers:
                low, high = _BOUNDS[how]
                number = self._numbers[right]
                yield Argument(
                    left,
                    "",
                    low=None if low is None else number + low,
                    high=None if high is None else number + high,
                )


def _both(a: Argument, b: Argument) -> Argument:
    """Return an argument with the assumptions of both."""
    lows = [low for low in (a.low, b.low) if low is not None]
    highs = [high for high in (a.high, b.high) if high is not None]
    multiple = max(a.assumed_multiple_of, b.assumed_multiple_of)
    return replace(
        a, low=max(lows, default=None), high=min(highs, default=None), assumed_multiple_of=multiple
    )


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdigit()
