"""`// ptxcheck: launch block=384 cluster=2` in a kernel or above it, in PTX or CUDA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .comments import Comment, Verb, comments
from .ir import Function, Module
from .launches import LaunchError, LaunchHint, parse_hint
from .positions import Locator
from .source import Source


def comment_hints(module: Module, locator: Locator, sources: Sequence[Source]) -> tuple[LaunchHint, ...]:
    """Return the launches that comments state: each is about the kernel it is in, or the next one."""
    return tuple(hint for source in sources for hint in _hints(module, locator, source))


def _hints(module: Module, locator: Locator, source: Source) -> Iterator[LaunchHint]:
    said = [comment for comment in comments(source) if comment.verb is Verb.LAUNCH]
    if not said:
        return
    last_lines = _last_lines(module, locator, source)
    for comment in said:
        yield from _hints_of(comment, last_lines)


def _hints_of(comment: Comment, last_lines: Mapping[str, int]) -> Iterator[LaunchHint]:
    place = f"{comment.position.file}:{comment.position.line}"
    line = min((last for last in last_lines.values() if last >= comment.position.line), default=None)
    for kernel, last in last_lines.items():
        if last == line:
            try:
                yield parse_hint(comment.text, place, kernel)
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
