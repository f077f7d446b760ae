"""Replace an operand out of its range by the legal value next to it: only suggested. Which operands, is data."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ...ir import Immediate
from ..patch import Patch, Writer
from ..subject import Subject

_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Legal:
    """One entry of the table."""

    rules: frozenset[str]
    operands: tuple[str, ...]
    least: int = 0
    most: int | None = None
    multiple: int = 1
    powers: bool = False
    values: tuple[int, ...] = ()

    def near(self, value: int) -> list[int]:
        """Return the legal values next to an illegal one, the nearest first, the larger of two that are as near."""
        if self.values:
            return [each for each in self.values if each != value & _MASK]
        if self.powers:
            most = self.most or 1 << 31
            found = [1 << n for n in range(32) if self.least <= 1 << n <= most]
        else:
            low = value // self.multiple * self.multiple
            bounds = [low, low + self.multiple, self.least, *([] if self.most is None else [self.most])]
            found = [n for n in bounds if n >= self.least and (self.most is None or n <= self.most)]
        chosen = sorted(set(found) - {value}, key=lambda n: (abs(n - value), -n))
        return chosen[:2]


@cache
def legal_values() -> tuple[Legal, ...]:
    """Return the table."""
    text = (files("ptxcheck.repair") / "legal_values.toml").read_text(encoding="utf-8")
    return tuple(
        Legal(
            frozenset(row["rules"]), tuple(row["operands"]), row.get("least", 0), row.get("most"),
            row.get("multiple", 1), row.get("powers", False), tuple(row.get("values", ())),
        )
        for row in tomllib.loads(text)["legal"]
    )  # fmt: skip


def use_legal_value(subject: Subject) -> Iterator[Patch]:
    """Yield the legal values next to the operand of a finding; related places with the same value change with it."""
    instructions = subject.view.body.instructions
    for legal in legal_values():
        if subject.finding.rule not in legal.rules or subject.point < 0:
            continue
        for name in legal.operands:
            value = subject.view.facts.constant(subject.point, instructions[subject.point].get(name))
            if value is None:
                continue
            same = [
                point
                for point, each in enumerate(instructions)
                if subject.view.facts.constant(point, each.get(name)) == value
            ]
            for rank, wanted in enumerate(legal.near(value)):
                for more, points in enumerate(dict.fromkeys(((subject.point,), tuple(same)))):
                    edits = [Writer(subject.view).with_operand(p, name, Immediate(wanted)) for p in points]
                    summary = f"{name} {wanted} instead of {value}"
                    yield Patch(tuple(sorted(edits)), "legal value", summary, 2 + rank + more, guess=True)
