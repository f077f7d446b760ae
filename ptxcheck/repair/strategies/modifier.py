"""Widen a scope, strengthen a wait or an order: one modifier for another."""

from __future__ import annotations

from collections.abc import Iterator

from ...opcodes.op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of, sites_of
from ..subject import Subject

_CHANGES: tuple[tuple[frozenset[str], str, str], ...] = (
    (frozenset({"BG006", "BG004", "BG003"}), ".read", ""),
    (
        frozenset({"CL004", "SM020", "SM021", "SM022", "MB027", "CL010", "CL020", "PX005"}),
        ".relaxed",
        ".release",
    ),
    (frozenset({"SM020", "SM021", "SM022"}), ".relaxed", ".acquire"),
    (frozenset({"CL004"}), ".relaxed", ""),
    (
        frozenset({"MB013", "SM006", "CL010", "MB020", "MB027", "SM020", "SM021", "SM022", "CL020"}),
        ".cta",
        ".cluster",
    ),
    (frozenset({"MB013", "SM006"}), ".shared::cta", ".shared::cluster"),
    (frozenset({"MB013", "SM006"}), ".shared", ".shared::cluster"),
    (frozenset({"PX002"}), ".global", ".shared::cta"),
    (frozenset({"PX002"}), ".shared::cta", ".global"),
    (frozenset({"PX002", "PX005"}), ".shared::cta", ""),
    (frozenset({"NB004", "NB006"}), ".aligned", ""),
)
"""Rules, the modifier, and what takes its place."""
_ARRIVE, _NOINC = ".arrive", ".noinc"


def count_arrival_once(subject: Subject) -> Iterator[Patch]:
    """Yield `.noinc` for arrivals of `cp.async` that count themselves, and the reverse (PTX ISA §9.7.13.15.17)."""
    if subject.finding.counterexample is None:
        return
    writer = Writer(subject.view)
    for point in points_of(subject.view, Op.CP_ASYNC_MBARRIER_ARRIVE):
        head, space, rest = writer.statement(point).partition(" ")
        changed = (
            head.replace(_NOINC, "", 1) if _NOINC in head else head.replace(_ARRIVE, _ARRIVE + _NOINC, 1)
        )
        edit = writer.rewritten(point, changed + space + rest)
        yield combined("modifier", f"'{changed}' instead of '{head}'", 2, [edit])


def change_modifier(subject: Subject) -> Iterator[Patch]:
    """Yield each change of the table at the finding and its related places."""
    writer = Writer(subject.view)
    for rules, old, new in _CHANGES:
        if subject.finding.rule not in rules:
            continue
        for rank, point in enumerate(_points(subject)):
            statement = writer.statement(point)
            head, space, rest = statement.partition(" ")
            parts = head.split(".")
            wanted = old[1:]
            if wanted in parts[1:]:
                at = parts.index(wanted, 1)
                changed = ".".join([*parts[:at], *([new[1:]] if new else []), *parts[at + 1 :]])
                summary = f"'{changed.rstrip(';')}' instead of '{head.rstrip(';')}'"
                edit = writer.rewritten(point, changed + space + rest)
                yield combined("modifier", summary, 2 + min(rank // 3, 3), [edit])


def _points(subject: Subject) -> list[int]:
    """Return where the finding points, then what synchronises there, and anywhere for what runs of the kernel show."""
    near = [p for p in dict.fromkeys((subject.point, *subject.related, *subject.barrier_points)) if p >= 0]
    if subject.finding.counterexample is None:
        return near
    return list(dict.fromkeys((*near, *nearest(sites_of(subject.view), subject.around))))
