"""What `// ptxcheck: launch block=384 cluster=2` says in a kernel or above it; `assume` and `tensor-map` likewise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..ir import Function, Module
from ..source import Source
from ..sources.comments import Comment, Verb, comments
from ..sources.positions import Locator
from .hints import (
    LaunchError,
    LaunchHint,
    parse_assumption,
    parse_hint,
    parse_tensor_map,
)


def _parse_tensor_map(text: str, origin: str, kernel: str) -> LaunchHint:
    """Read a description; a comment in a source cannot name a file to be read."""
    if text.rstrip().endswith((".toml", ".json")):
        raise LaunchError(f"{origin}: a comment holds the description itself, not the name of a file")
    return parse_tensor_map(text, origin, kernel)


def _parse_assumption(text: str, origin: str, kernel: str) -> LaunchHint:
    """Read a value or a condition of the kernel that the comment is in; one that names another kernel is about that."""
    hint = parse_assumption(text, origin)
    return hint if hint.kernel != "*" else replace(hint, kernel=kernel)


PARSERS: Mapping[Verb, Callable[[str, str, str], LaunchHint]] = {
    Verb.LAUNCH: parse_hint,
    Verb.ASSUME: _parse_assumption,
    Verb.TENSOR_MAP: _parse_tensor_map,
}
"""How to read what a comment says of the kernel that it is in."""


def comment_hints(module: Module, locator: Locator, sources: Sequence[Source]) -> tuple[LaunchHint, ...]:
    """Return the launches that comments state: each is about the kernel it is in, or the next one."""
    return tuple(hint for source in sources for hint in _hints(module, locator, source))


def _hints(module: Module, locator: Locator, source: Source) -> Iterator[LaunchHint]:
    said = [comment for comment in comments(source) if comment.verb in PARSERS]
    if not said:
        return
    last_lines = _last_lines(module, locator, source)
    for comment in said:
        yield from _hints_of(comment, last_lines)


def _hints_of(comment: Comment, last_lines: Mapping[str, int]) -> Iterator[LaunchHint]:
    assert comment.verb is not None
    place = f"{comment.position.file}:{comment.position.line}"
    line = min((last for last in last_lines.values() if last >= comment.position.line), default=None)
    for kernel, last in last_lines.items():
        if last == line:
            try:
                yield PARSERS[comment.verb](comment.text, place, kernel)
            except LaunchError:
                continue


def _last_lines(module: Module, locator: Locator, source: Source) -> dict[str, int]:
    """Return the last line of each kernel in a file."""
    if source is module.source:
        return {kernel.name: source.position(kernel.span.end).line for kernel in module.entries}
    return {
        kernel.name: line
        for kernel in module.entries
        if (line := _last_line(kernel, module, locator, source.name)) > 0
    }


def _last_line(kernel: Function, module: Module, locator: Locator, name: str) -> int:
    assert kernel.body is not None
    return max(
        (
            loc.place.line
            for loc in kernel.body.locs
            if loc is not None
            and loc.inlined_at is None
            and locator.shown(module.files.get(loc.place.file, "")) == name
        ),
        default=0,
    )
