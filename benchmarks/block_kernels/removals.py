"""Each barrier of correct kernels removed alone: is that found?

    python -m benchmarks.block_kernels.removals FOLDER [--most N] [--every N] [--save FILE] [--mutants FOLDER] [--all]

A removal is *found* (a finding), *shown with some data* (`unknown`, with threads that race for some contents of global
memory), *not decided* (`unknown`), or *proved* all the same. One that is proved is shown to be
redundant by an argument that asks the verifier nothing: from the barrier, one way or the other, no path leads to an
access of shared memory before another barrier, so that it separates nothing. What is proved and has no such argument
is listed, and written out for a run on a GPU under a dynamic checker (`racecheck.py`), with
`--all` every mutant, and into `right` below it the kernels as they are.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Trait
from ptxcheck.view import KernelView

from .subject import Answer, alone, answer, files, views

_BLOCK = frozenset({Op.BAR_SYNC})
_WARP = frozenset({Op.BAR_WARP_SYNC})
_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC})


@dataclass(frozen=True, slots=True)
class Removal:
    """One barrier of one kernel, and what is said of the kernel without it."""

    name: str
    line: int
    of_block: bool
    answer: Answer
    is_redundant: bool
    text: str
    original: str
    """The kernel alone, with the barrier."""

    @property
    def outcome(self) -> str:
        """Return how the removal ended."""
        if self.answer.findings:
            return "found"
        if self.answer.kind == "unknown":
            return "shown with some data" if self.answer.with_some_data else "not decided"
        if self.is_redundant:
            return "redundant"
        return "in step" if self.answer.kind == "assumes" else "proved"


def removals(text: str, name: str, *, of_warps: bool, chosen: Iterator[bool]) -> Iterator[Removal]:
    """Yield the mutants of all kernels of a PTX text, of which `chosen` says which are wanted, one after the other."""
    wanted = _BLOCK | _WARP if of_warps else _BLOCK
    for view in views(text, name):
        barriers = [p for p, each in enumerate(view.cfg.instructions) if each.operation.op in wanted]
        taken = [point for point in barriers if next(chosen)]
        if not taken or answer(view).kind == "violated":
            continue
        only = alone(view)
        for point in taken:
            instruction = view.cfg.instructions[point]
            span = instruction.span
            mutant = only[: span.start] + " " * (span.end - span.start) + only[span.end :]
            (changed,) = views(mutant, name)
            line = only.count("\n", 0, span.start) + 1
            of_block = instruction.operation.op in _BLOCK
            yield Removal(
                view.function.name,
                line,
                of_block,
                answer(changed),
                _separates_nothing(view, point, wanted),
                mutant,
                only,
            )


def _separates_nothing(view: KernelView, barrier: int, stops: frozenset[Op]) -> bool:
    """Tell whether no access comes before the barrier, or none behind it, with no other barrier between."""
    return not _meets_access(view, barrier, stops, forwards=True) or not _meets_access(
        view, barrier, stops, forwards=False
    )


def _meets_access(view: KernelView, barrier: int, stops: frozenset[Op], *, forwards: bool) -> bool:
    cfg = view.cfg
    seen: set[int] = set()
    work = [*_next_to(view, barrier, forwards=forwards)]
    while work:
        point = work.pop()
        if point in seen:
            continue
        seen.add(point)
        operation = cfg.instructions[point].operation
        space = operation.slots.get("space", "")
        if operation.traits & _ACCESSING and (not space or space.startswith(".shared")):
            return True
        if point != barrier and operation.op not in stops:
            work.extend(_next_to(view, point, forwards=forwards))
    return False


def _next_to(view: KernelView, point: int, *, forwards: bool) -> Iterator[int]:
    cfg = view.cfg
    block = cfg.blocks[cfg.graph.block_of[point]]
    step = 1 if forwards else -1
    if block.start <= point + step < block.end:
        yield point + step
        return
    around = cfg.successors if forwards else cfg.predecessors
    for other in around[block.index]:
        if other != cfg.exit:
            yield cfg.blocks[other].start if forwards else cfg.blocks[other].last


def main() -> None:
    """Remove barriers one by one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, help="removals in each file at most, spread over its kernels")
    parser.add_argument("--every", type=int, default=1, help="take every Nth barrier of the folder only")
    parser.add_argument("--warps", action="store_true", help="remove `bar.warp.sync`, too")
    parser.add_argument("--save", type=Path)
    parser.add_argument(
        "--mutants", type=Path, help="folder for the mutants that are proved with no argument"
    )
    parser.add_argument("--all", action="store_true", help="write the other mutants to that folder, too")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    chosen = (number % arguments.every == 0 for number in count())
    for path in files(arguments.folder):
        text = path.read_text("utf-8")
        mutants = removals(text, path.name, of_warps=arguments.warps, chosen=chosen)
        for number, each in enumerate(mutants):
            if arguments.most is not None and number >= arguments.most:
                break
            name = f"{path.stem}.{each.name}.{each.line}"
            row = {"file": path.stem, "kernel": each.name, "line": each.line, "outcome": each.outcome}
            rows.append(row | {"mutant": name})
            is_odd = each.outcome in ("proved", "in step")
            if is_odd:
                print(f"{path.stem}:{each.line}: {each.name}: {each.outcome}", flush=True)
            if arguments.mutants is not None and (is_odd or arguments.all):
                _write(arguments.mutants / f"{name}.ptx", each.text)
                _write(arguments.mutants / "right" / f"{path.stem}.{each.name}.ptx", each.original)
    counts = Counter(row["outcome"] for row in rows)
    print(
        f"{len(rows)} removals:", ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    )
    if arguments.save:
        arguments.save.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
