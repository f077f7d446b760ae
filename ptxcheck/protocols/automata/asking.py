"""Which questions an automaton may put, and what has to be known of loops and words before it does.

Property: `Asking.question` gives a question only of a predicate that is one for all threads that ask, on what the
product can answer: variables alone, or no variable at all.

Argument: where a predicate needs more (words of shared memory that are followed, residues of rounds, numbers in place
of variables), that is noted, and the automaton is built anew.

Not covered: predicates on registers that nobody has written. Compilers leave those on ways that no thread takes: the
node is the last one of its way, and nothing is shown where the product comes there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..symex.values.approximated_terms import unwritten_in
from ..symex.values.assumptions import unwritten_text
from ..symex.values.recurrent_arithmetic import period
from ..symex.values.trace import NotFollowedError
from .handed_words import WordNumbers
from .kept_loops import Kept, RestartError
from .naming_decider import OpenError
from .nodes import Node, NotFollowed, Question
from .variables import is_of_variables, variables_in


@dataclass(frozen=True, slots=True)
class Asking:
    """The questions of one automaton."""

    kept: Kept
    words: WordNumbers

    def question(self, error: OpenError, node: Node) -> Question | None:
        """Return a question of a node, None where that is the last one that is followed.

        Raises RestartError, NotFollowedError.
        """
        truth = error.truth
        if error.reason:
            node.not_followed = NotFollowed(error.reason, error.point)
            return None
        register = unwritten_in(truth)
        if register:
            node.not_followed = NotFollowed(unwritten_text(register), error.point)
            return None
        if not is_of_variables(truth):
            self._need_numbers(error)
        if self.words.note_asked(truth):
            raise RestartError
        self.kept.refine(period(truth))
        return Question(error.point, truth, node.threads)

    def open_loops(self, error: OpenError, headers: list[int]) -> None:
        """Keep the loops that a branch may leave, but for those whose rounds variables count. Raises RestartError."""
        for header in () if is_of_variables(error.truth) else headers:
            if header not in self.kept.opened:
                self.kept.opened.add(header)
                raise RestartError((header,))

    def raise_differing(self, error: OpenError) -> NoReturn:
        """Follow the words that a condition depends on, or nothing. Raises RestartError, NotFollowedError."""
        self._need_numbers(error)
        if self.words.follow(error.truth):
            raise RestartError
        raise NotFollowedError("a condition differs between threads", error.point)

    def _need_numbers(self, error: OpenError) -> None:
        names = variables_in(error.truth)
        if names:
            self.kept.keep_numbers_everywhere(names)
