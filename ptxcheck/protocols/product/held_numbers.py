"""Numbers that threads hold for one round of a loop: what its round loads, and what registers hold at its header.

Property: askers with one name from `named`, in one round of the loops around, ask about one number.

Argument: what is loaded from an address that rounds move is one number in one round, for all who compute that address,
as long as nobody stores there (the verdict says so). What a register holds at the header of a loop is one number for
the threads that came there together, where it does not differ between them: the name says who these are. So a count
that each tile has anew is a direction with thresholds, as one that the host passes is.

Not covered: what is computed from ordinals outside of an address, and what threads held behind their loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..automata.automaton import Automaton
from ..automata.nodes import Node
from ..automata.received_values import renamed
from ..symex.values.kinds import Kind
from ..symex.values.symbol import Atom, Form
from ..symex.values.trace import ThreadSet
from ..symex.values.traversal import walk
from .loop_nests import Class
from .questions import Below, Terms


def is_held(terms: Terms) -> bool:
    """Tell whether a direction is a number that threads hold for a round."""
    return any(name.inner_kind is Kind.HELD for name, _ in terms)


def is_of_group(asked: Below) -> bool:
    """Tell whether only threads that came to a loop together hold a number."""
    return any(name.inner_kind is Kind.WIDENED for name in walk(asked.terms))


def is_for_all(asked: Below) -> bool:
    """Tell whether a direction is one number for the whole launch, whoever asks."""
    return bool(asked.terms) and not asked.held and not is_of_group(asked)


def named(
    asked: Below, number: int, automaton: Automaton, node: Node, classes: Mapping[int, Class]
) -> Below | None:
    """Return a question about a number that is held, with a name for it; None where it is not known who holds it."""
    names: dict[Atom, Atom] = {}
    for name in walk(asked.terms):
        if name.inner_kind is Kind.ORDINAL:
            header = int(str(name.inner[1]))
            names[name] = Atom((Kind.HELD, "round", str(classes[header])), 0)
        elif name.inner_kind is Kind.WIDENED:
            owners = {*_owners(automaton.nodes, int(str(name.inner[1])), node.threads)}
            if len(owners) != 1:
                return None
            names[name] = Atom((Kind.HELD, name, number, hex(owners.pop())), 0)
    form = renamed(Form(asked.terms), names)
    terms = [(Atom((Kind.HELD, name), name.differs), factor) for name, factor in form.terms]
    in_order = tuple(sorted(terms, key=lambda term: term[0].digest))
    return Below(
        in_order,
        asked.constant,
        asked.slopes,
        asked.positive,
        asked.equal,
        asked.is_plain,
        asked.changes,
        asked.held,
    )


def _owners(nodes: Sequence[Node], header: int, threads: ThreadSet) -> Iterator[ThreadSet]:
    """Yield the groups with some threads that come to a header together."""
    return (each.threads for each in nodes if each.block == header and not threads & ~each.threads)


__all__ = ["is_for_all", "is_held", "is_of_group", "named"]
