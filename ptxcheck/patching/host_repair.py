"""Repairs of tensor maps that a host encodes: another argument of the call, after which no rule finds anything there.

A legal map need not be the one that was meant, so that such a repair is only ever suggested.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..descriptors.fields import Interleave, Swizzle
from ..finding import Finding
from ..hostcode.encode import arguments_of
from ..hostcode.values import Array, Integer, Value
from ..hostcode.view import HostView
from ..pipeline.rules_on_host_code import HostEvaluation, evaluate_host
from ..rules import Rule
from ..source import Source

_MOST = 400
"""Texts that are judged for one finding."""
_FURTHEST = 80
"""Lines between a finding and a value that it may come from."""
_TOKEN = re.compile(r"CU_TENSOR_MAP_(?:SWIZZLE|INTERLEAVE)_\w+|(?<![\w.\[])\d+(?![\w.])")
"""A mode, or a number that is no length of an array."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|#[^\n]*", re.DOTALL)
_FAMILIES = (
    tuple(mode.enumerator for mode in Swizzle),
    tuple(mode.enumerator for mode in Interleave),
)
_STEPS = (8, 16, 32, 64, 128, 256)
"""What extents, strides and rows of boxes are multiples of."""
_LARGEST_BOX = 256
_CUT = frozenset(
    {"globalStrides", "boxDim", "elementStrides", "interleave", "swizzle", "pixelBoxLowerCorner", "pixelBoxUpperCorner",
     "channelsPerPixel", "pixelsPerColumn", "wideMode", "l2Promotion", "oobFill"}
)  # fmt: skip
"""Arguments (of cuda.h) that a repair may change: those of the tensor itself stay."""


@dataclass(frozen=True, slots=True)
class HostRepair:
    """One finding about a map, and the smallest change of the text after which it is gone."""

    finding: Finding
    summary: str
    text: str


@dataclass(frozen=True, slots=True)
class HostOutcome:
    """What became of the findings about encode calls of one file."""

    text: str
    repairs: tuple[HostRepair, ...]
    left: tuple[Finding, ...]


def repair_host(source: Source, rules: Sequence[Rule], arch: str | None = None) -> HostOutcome:
    """Repair the encode calls of a file one after the other. `arch` is the architecture that it is for, if known."""
    repairs: list[HostRepair] = []
    given_up: set[str] = set()
    while True:
        found = evaluate_host(source, rules, {}, possible=False, arch=arch)
        target = next((each for each in found.findings if each.fingerprint not in given_up), None)
        if target is None or found.problems:
            return HostOutcome(source.text, tuple(repairs), found.findings)
        repair = _repaired(source, target, found, rules, arch)
        if repair is None:
            given_up.add(target.fingerprint)
        else:
            repairs.append(repair)
            source = replace(source, text=repair.text)


def _repaired(
    source: Source, target: Finding, found: HostEvaluation, rules: Sequence[Rule], arch: str | None
) -> HostRepair | None:
    """Return the first change after which a finding is gone and nothing new is found or left unread."""
    before = Counter(each.rule for each in found.findings)
    meant, known = _meant(source), _known(source)
    for start, end, other in islice(_changes(source, target), _MOST):
        changed = replace(source, text=f"{source.text[:start]}{other}{source.text[end:]}")
        judged = evaluate_host(changed, rules, {}, possible=False, arch=arch)
        after = Counter(each.rule for each in judged.findings)
        is_read = not judged.problems and len(judged.notes) <= len(found.notes)
        is_gone = is_read and after[target.rule] < before[target.rule] and after <= before
        if is_gone and _meant(changed) == meant and _known(changed) >= known:
            place = source.position(start)
            summary = f"{other} instead of {source.text[start:end]} at {place.line}:{place.column}"
            return HostRepair(target, summary, changed.text)
    return None


def _meant(source: Source) -> list[tuple[str, ...]]:
    """Return what says which tensor each encode call is about: everything but how it is cut into boxes."""
    return [
        (
            encode.kind.name,
            *(_shown(value) for name, value in arguments_of(encode).items() if name not in _CUT),
        )
        for encode in HostView(source).encodes
    ]


def _known(source: Source) -> int:
    """Return how many numbers of encode calls are known: a change must not hide one."""
    values = [v for encode in HostView(source).encodes for v in encode.arguments]
    values += [item for value in values if isinstance(value, Array) for item in value.items]
    return sum(isinstance(value, Integer) and value.constant is not None for value in values)


def _shown(value: Value) -> str:
    match value:
        case Integer(term=term):
            return ast.dump(term)
        case Array(items=items):
            return f"[{', '.join(map(_shown, items))}]"
    return type(value).__name__


def _changes(source: Source, target: Finding) -> Iterator[tuple[int, int, str]]:
    """Yield other values of modes and numbers: those of the lines that a finding names first, then those near it."""
    named = (target.location, *(each.location for each in target.related))
    lines = [each.ptx.line for each in named] + [frame.position.line for frame in target.location.frames]
    hidden = [match.span() for match in _COMMENT.finditer(source.text)]
    ranked = []
    for match in _TOKEN.finditer(source.text):
        far = min(abs(source.position(match.start()).line - line) for line in lines)
        if far <= _FURTHEST and not any(begin <= match.start() < end for begin, end in hidden):
            ranked += [
                (far + rank, match.start(), match.end(), other)
                for rank, other in enumerate(_others(match[0]))
            ]
    for _, start, end, other in sorted(ranked):
        yield start, end, other


def _others(token: str) -> Iterator[str]:
    """Yield what may stand instead of a mode or a number, the nearest first."""
    for family in _FAMILIES:
        if token in family:
            place = family.index(token)
            order = sorted(range(len(family)), key=lambda n: (abs(n - place), n < place))
            yield from (family[n] for n in order if n != place)
    if token.isdecimal() and (value := int(token)) > 0:
        values = {value // 2, value // 4, value * 2, 1, min(value, _LARGEST_BOX)}
        values |= {value // step * step for step in _STEPS} | {-(-value // step) * step for step in _STEPS}
        yield from (str(n) for n in sorted(values - {0, value}, key=lambda n: (abs(n - value), n)))
