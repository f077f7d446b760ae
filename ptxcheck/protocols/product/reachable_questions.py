"""Which questions threads may still come to from where they stand.

Property: what `ReachableQuestions.may_ask` refuses, no thread asks in any way to go on.

Argument: a backward analysis over the nodes of each automaton, with a bit for each question.

Not covered: rounds of loops: a question in a loop may be asked from anywhere in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from ..automata.automaton import Automaton


class ReachableQuestions:
    """Questions of all automata of a kernel, by what they ask."""

    def __init__(
        self, automata: Sequence[Automaton], sites: Mapping[tuple[int, int], Hashable | None]
    ) -> None:
        self._bits: dict[Hashable, int] = {}
        for key in sites.values():
            if key is not None:
                self._bits.setdefault(key, 1 << len(self._bits))
        self._ahead = [
            _ahead(
                automaton,
                {
                    node: self._bits[key]
                    for (at, node), key in sites.items()
                    if at == number and key is not None
                },
            )
            for number, automaton in enumerate(automata)
        ]

    def may_ask(self, key: Hashable, standing_at: Iterable[tuple[int, int]]) -> bool:
        """Tell whether somebody may still ask something; `standing_at` are automata and nodes."""
        bit = self._bits.get(key, 0)
        return any(self._ahead[automaton][node] & bit for automaton, node in standing_at)


def _ahead(automaton: Automaton, asked: Mapping[int, int]) -> list[int]:
    found = [asked.get(node.number, 0) for node in automaton.nodes]
    before: dict[int, list[int]] = {}
    for node in automaton.nodes:
        for target in node.targets:
            before.setdefault(target.node, []).append(node.number)
    waiting = list(asked)
    while waiting:
        number = waiting.pop()
        for source in before.get(number, ()):
            now = found[source] | found[number]
            if now != found[source]:
                found[source] = now
                waiting.append(source)
    return found


__all__ = ["ReachableQuestions"]
