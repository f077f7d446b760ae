"""Compute a register in the way in which another place of the kernel does: roles keep the same stages and parities."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Register
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import nearest
from ..slices import feeding, has_twin
from ..subject import Subject

_LONGEST = 4
_MOST = 40


def borrow_computation(subject: Subject) -> Iterator[Patch]:
    """Yield, for each chain that computes a register which synchronisation depends on, the other chains for it."""
    if subject.finding.counterexample is None:
        return
    chains = _chains(subject)
    writer = Writer(subject.view)
    starts = {chain[0]: (register, chain) for register, each in chains.items() for chain in each}
    count = 0
    for far, start in enumerate(nearest(tuple(sorted(starts)), subject.around)):
        register, own = starts[start]
        for rank, other in enumerate(_others(subject, chains[register], own)):
            count += 1
            if count > _MOST:
                return
            texts = [writer.statement(point) for point in other]
            edits: list[Edit] = [writer.rewritten(own[0], " ".join(texts))]
            edits += [writer.delete(point) for point in own[1:]]
            summary = f"compute {register.name} as '{' '.join(texts)}'"
            odd = not all(has_twin(subject.view, point) for point in own)
            cost = (2 if odd else 4) + min(rank, 2) + min(far // 4, 2)
            yield combined("computation", summary, cost, edits, needs_proof=True)


def copy_source(subject: Subject) -> Iterator[Patch]:
    """Yield a copy of what a chain computes from in its place: a count that is rounded or cut in one role only."""
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    instructions = view.body.instructions
    for register, chains in _chains(subject).items():
        for chain in chains:
            sources = [r for r in instructions[chain[0]].reads() if r != register]
            own = instructions[chain[0]].guard
            if len(sources) == 1 and own is None and len(chain) > 1 and not has_twin(view, chain[0]):
                text = f"mov.b32 {register.name}, {sources[0].name};"
                edits = [writer.rewritten(chain[0], text), *(writer.delete(point) for point in chain[1:])]
                summary = f"'{text}' as other roles count"
                yield combined("computation", summary, 5, edits, needs_proof=True)


def _chains(subject: Subject) -> dict[Register, list[tuple[int, ...]]]:
    """Return the runs of statements in one block that compute one register one after the other, by register."""
    instructions, cfg = subject.view.body.instructions, subject.view.cfg
    relevant = frozenset(feeding(subject.view))
    found: dict[Register, list[tuple[int, ...]]] = {}
    for block in cfg.blocks:
        chain: list[int] = []
        for point in block.points:
            written = tuple(instructions[point].writes()) if point in relevant else ()
            last = tuple(instructions[chain[-1]].writes()) if chain else ()
            if len(written) == 1 and written == last:
                chain.append(point)
                continue
            if chain:
                found.setdefault(last[0], []).append(tuple(chain))
            chain = [point] if len(written) == 1 else []
        if chain:
            found.setdefault(next(iter(instructions[chain[-1]].writes())), []).append(tuple(chain))
    return found


def _others(
    subject: Subject, chains: list[tuple[int, ...]], own: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Yield beginnings of the other chains for a register, as long ones as the own one first; each text once."""
    writer = Writer(subject.view)
    seen = {tuple(writer.statement(p) for p in own)}
    found = [
        chain[:end] for chain in chains if chain != own for end in range(1, min(len(chain), _LONGEST) + 1)
    ]
    for chain in sorted(found, key=lambda each: (abs(len(each) - len(own)), each)):
        text = tuple(writer.statement(point) for point in chain)
        if text not in seen and _is_computable(subject, chain, own[0]):
            seen.add(text)
            yield chain


def _is_computable(subject: Subject, chain: tuple[int, ...], place: int) -> bool:
    """Tell whether what a chain reads, itself left out, has values at a place."""
    instructions = subject.view.body.instructions
    made: set[Register] = set()
    for point in chain:
        reads = set(instructions[point].reads()) - made
        if any(not _may_be_read(subject, place, register) for register in reads):
            return False
        made.update(instructions[point].writes())
    return True


def _may_be_read(subject: Subject, place: int, register: Register) -> bool:
    """Tell whether a register has a value at a place, on every way to it as far as one definition tells."""
    definitions = subject.view.facts.definitions(place, register)
    return any(subject.view.cfg.dominates(each, place) for each in definitions) or len(definitions) > 1
