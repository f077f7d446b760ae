"""Insert a missing statement: fences, commits, waits, barriers. What and where is data."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from ...ir import Address
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...parser.show import show_operand
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import ways_out
from ..subject import Subject

_SYNC = frozenset({Trait.BARRIER, Trait.COMMIT})
_NEAR = 6
"""Synchronising instructions before the finding that are tried."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """One entry of the table."""

    rules: frozenset[str]
    where: tuple[str, ...]
    text: tuple[str, ...]
    ops: frozenset[Op] = frozenset()
    """Only for kernels with one of these operations; empty for any."""
    cost: int = 0


@cache
def insertions() -> tuple[Insertion, ...]:
    """Return the table."""
    text = (files("ptxcheck.repair") / "insertions.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)["insertion"]
    return tuple(
        Insertion(
            frozenset(r["rules"]), tuple(r["where"]), tuple(r["text"]),
            frozenset(Op[name] for name in r.get("with", ())), r.get("cost", 0),
        )
        for r in rows
    )  # fmt: skip


def insert_statement(subject: Subject) -> Iterator[Patch]:
    """Yield each insertion of the table that is for the rule of the finding, at each of its places."""
    writer = Writer(subject.view)
    present = {instruction.operation.op for instruction in subject.view.body.instructions}
    for insertion in insertions():
        if subject.finding.rule not in insertion.rules or (insertion.ops and not insertion.ops & present):
            continue
        text = _filled(subject, insertion.text)
        for where in insertion.where if text else ():
            for cost, edits in PLACES[where](subject, writer, text):
                summary = f"insert '{' '.join(text)}'"
                yield combined("insertion", summary, cost + len(insertion.text) + insertion.cost, edits)


def _filled(subject: Subject, text: tuple[str, ...]) -> tuple[str, ...]:
    """Return statements with `{map}` as the address of the tensor map of the finding; () when it has none."""
    if not any("{map}" in line for line in text):
        return text
    instruction = subject.instruction
    address = None if instruction is None else instruction.get("tensor_map")
    if not isinstance(address, Address):
        return ()
    shown = show_operand(replace(address, extra=()))
    return tuple(line.replace("{map}", shown) for line in text)


_Places = Iterator[tuple[int, list[Edit]]]


def _before(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    if subject.point >= 0:
        yield 2, [writer.before_step(subject.point, *text)]


def _after(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    if subject.point >= 0:
        yield 2, [writer.after_step(subject.point, *text)]


def _before_related(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    for point in subject.related:
        yield 3, [writer.before_step(point, *text)]


def _after_related(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    for point in subject.related:
        yield 3, [writer.after_step(point, *text)]


def _before_sync(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    instructions = subject.view.body.instructions
    earlier = [
        point for point in range(max(subject.point, 0))
        if _SYNC & set(instructions[point].operation.traits)
        or instructions[point].operation.op is Op.MBARRIER_ARRIVE
    ]  # fmt: skip
    for distance, point in enumerate(reversed(earlier[-_NEAR:])):
        yield 4 + distance, [writer.before(point, *text)]


def _before_later_sync(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    instructions = subject.view.body.instructions
    later = [
        point for point in range(subject.point + 1, len(instructions))
        if Trait.BARRIER in instructions[point].operation.traits
    ]  # fmt: skip
    for distance, point in enumerate(later[:_NEAR]):
        yield 2 + distance, [writer.before(point, *text)]


def _before_exit(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    exits = ways_out(subject.view)
    if exits:
        yield 4 + len(exits), [writer.before(point, *text) for point in exits]


def _after_init(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    instructions = subject.view.body.instructions
    inits = [p for p, i in enumerate(instructions) if i.operation.op is Op.MBARRIER_INIT]
    if inits:
        yield 3, [writer.after(inits[-1], *text)]
        yield 4, [writer.after(inits[-1], *text, "bar.sync 0;")]


def _where_inits_join(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    cfg = subject.view.cfg
    inits = [p for p, i in enumerate(subject.view.body.instructions) if i.operation.op is Op.MBARRIER_INIT]
    if inits:
        own = cfg.graph.block_of[inits[-1]]
        behind = next((block for block in cfg.blocks if block.index > own and block.points), None)
        if behind is not None:
            yield 1, [writer.before(behind.points[0], *text)]


def _after_copies(subject: Subject, writer: Writer, text: tuple[str, ...]) -> _Places:
    """Yield the place behind each block's last copy that no commit follows there; cheaper than to wait for more."""
    instructions = subject.view.body.instructions
    for block in subject.view.cfg.blocks:
        copies = [p for p in block.points if instructions[p].operation.op is Op.CP_ASYNC]
        ops = {instructions[p].operation.op for p in block.points if copies and p > copies[-1]}
        if copies and Op.CP_ASYNC_COMMIT_GROUP not in ops:
            yield 0, [writer.after(copies[-1], *text)]


PLACES: Mapping[str, Callable[[Subject, Writer, tuple[str, ...]], _Places]] = {
    "before": _before,
    "after": _after,
    "before-related": _before_related,
    "after-related": _after_related,
    "before-sync": _before_sync,
    "before-later-sync": _before_later_sync,
    "before-exit": _before_exit,
    "after-init": _after_init,
    "where-inits-join": _where_inits_join,
    "after-copies": _after_copies,
}
