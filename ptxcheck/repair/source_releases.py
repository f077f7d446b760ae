"""A release that is missing, in a CUDA source: an arrival in the words of the file, at the barrier as the file has it.

The mbarrier that the threads wait for stands in the call of their wait, `wait(&full[stage], parity)`; the one that
nobody releases in the call of the thread that hangs, `wait(&empty[s], parity)`. What differs is its name, and the rest
is of the threads that arrive: `&empty[stage]`. Who arrives is a function of the file, a method, or `asm`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from ..hostcode.cpp_calls import Call, arriving_functions, calls_at
from .patch import Release

_WORD = re.compile(r"[A-Za-z_]\w*|\S")
_PLACES = 4
_FORMS = 3
_METHOD = re.compile(r"^(?P<object>.+?)(?P<dot>\.|->)\w*wait\w*$")
_ASM = 'asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"({at}) : "memory");'
_SHARED = "static_cast<unsigned>(__cvta_generic_to_shared({of}))"
_MEETING = "__syncwarp();"
_ONE_LANE = "if (threadIdx.x % 32 == 0) "

Insertion = tuple[int, str, int]
"""Where in the text, the statements, and the line behind which they come."""


def release_insertions(
    text: str, release: Release, own: Sequence[Sequence[int]], stuck: Sequence[Sequence[int]]
) -> Iterator[Insertion]:
    """Yield statements that may release, and where: behind all that follows the wait in its block, then earlier.

    `own` and `stuck` are the lines of each wait of who arrives, and of who hangs, innermost call first.
    """
    calls = list(_waits(text, own))
    others = list(_waits(text, stuck))
    if len({call.ends for call in calls}) != 1:
        return
    for call in calls[:1]:
        forms = list(dict.fromkeys(_statements(text, call, others)))[:_FORMS]
        for end in islice(reversed(call.ends), _PLACES):
            line = text.count("\n", 0, end) + 1
            indent = _indent(text, call.ends[0])
            lead = ""
            if release.by_one_lane:
                has_met = text[:end].endswith(_MEETING)
                lead = _ONE_LANE if has_met else f"{_MEETING}\n{indent}{_ONE_LANE}"
            for form in forms:
                yield end, f"\n{indent}{lead}{form}", line


def _waits(text: str, places: Sequence[Sequence[int]]) -> Iterator[Call]:
    """Yield the call in the kernel that each wait has become of, each once: what is called outermost is there."""
    seen: set[tuple[int, ...]] = set()
    for lines in places:
        call = next((each for line in reversed(lines) for each in calls_at(text, line)), None)
        if call is not None and call.ends not in seen:
            seen.add(call.ends)
            yield call


def _statements(text: str, call: Call, others: Sequence[Call]) -> Iterator[str]:
    """Yield statements that arrive at the barrier of other waits, in the stage of one."""
    functions = arriving_functions(text)
    for other in others:
        method, its = _METHOD.match(call.callee), _METHOD.match(other.callee)
        if method is not None and its is not None:
            for name in _renamed(method["object"], its["object"]):
                yield f"{name}{method['dot']}arrive();"
        if not call.arguments or not other.arguments:
            continue
        for name in _renamed(call.arguments[0], other.arguments[0]):
            yield from (f"{function}({name});" for function in functions)
            yield _ASM.format(at=_SHARED.format(of=name))
            yield _ASM.format(at=name)


def _renamed(own: str, other: str) -> Iterator[str]:
    """Yield an expression with the first name in which another one differs; the other one where more differs."""
    words, theirs = _WORD.findall(own), _WORD.findall(other)
    pair = next(((a, b) for a, b in zip_longest(words, theirs, fillvalue="") if a != b), None)
    if pair is not None and pair[0].isidentifier() and pair[1].isidentifier():
        yield re.sub(rf"\b{re.escape(pair[0])}\b", pair[1], own)
    elif pair is not None:
        yield other


def _indent(text: str, end: int) -> str:
    """Return how the line is indented in which a statement ends."""
    line = text[text.rfind("\n", 0, end) + 1 : end]
    return line[: len(line) - len(line.lstrip())]
