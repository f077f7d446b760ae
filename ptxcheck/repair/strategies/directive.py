"""Directives of the module and the kernel: a version and a target that have what is used, bounds that agree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...opcodes.target import Requirement, Target
from ...protocols.typestate.legality import newer_target_span, newer_version_needed, other_target_needed
from ...view import KernelView
from ..edits import Edit
from ..patch import Patch, combined
from ..subject import Subject

_VERSION = re.compile(r"^([ \t]*\.version[ \t]+)(\S+)", re.MULTILINE)
_TARGET = re.compile(r"^([ \t]*\.target[ \t]+)([^\s,]+)", re.MULTILINE)
_REGISTERS, _MOST_REGISTERS, _STEP = 65536, 255, 8
"""Of a multiprocessor and of a thread (CUDA C++ Programming Guide, compute capabilities)."""
_BOUNDS = (".maxntid", ".reqntid")


def change_directive(subject: Subject) -> Iterator[Patch]:
    """Yield a higher version, an architecture-specific target, or one bound on the block left out."""
    match subject.finding.rule:
        case "PT004":
            yield from _version(subject.view)
        case "PT005":
            yield from _target(subject.view)
        case "WG011":
            yield from _registers(subject.view)
        case "PT010":
            yield from _bounds(subject.view)
        case _:
            return


def _version(view: KernelView) -> Iterator[Patch]:
    version = view.module.version
    needed = [
        missing.requirement.version
        for operation in view.body.points_by_operation
        for missing in newer_version_needed(operation, version)
    ]
    target = newer_target_span(view.module, view.function)
    if target is not None:
        needed.append(target[1])
    found = _VERSION.search(view.module.source.text)
    if needed and found is not None:
        edit = Edit(found.start(2), found.end(2), str(max(needed)))
        yield combined("directive", f".version {max(needed)} instead of {version}", 1, [edit])


def _target(view: KernelView) -> Iterator[Patch]:
    """Yield the variants of the module's own architecture that have everything that the kernel uses."""
    found, own = _TARGET.search(view.module.source.text), view.module.target
    if found is None or own is None:
        return
    missing = [
        one.requirement
        for operation in view.body.points_by_operation
        for one in other_target_needed(operation, own)
    ]
    for cost, variant in enumerate("fa"):
        name = f"sm_{own.arch}{variant}"
        try:
            target = Target.parse(name)
        except ValueError:
            continue
        if target != own and all(_has(target, requirement) for requirement in missing):
            edit = Edit(found.start(2), found.end(2), name)
            yield combined("directive", f".target {name} instead of {own}", 1 + cost, [edit])


def _has(target: Target, requirement: Requirement) -> bool:
    return any(target.meets(one) for one in requirement.targets)


def _registers(view: KernelView) -> Iterator[Patch]:
    """Yield the registers of a thread at the start: as many as a multiprocessor has for one block of the kernel."""
    text = view.module.source.text
    threads = view.launch.threads
    brace = text.index("{", view.function.span.start)
    if threads:
        count = min(_MOST_REGISTERS, _REGISTERS // threads // _STEP * _STEP)
        edit = Edit(brace, brace, f".maxnreg {count} ")
        yield combined("directive", f".maxnreg {count}, for one block of {threads} threads", 2, [edit])


def _bounds(view: KernelView) -> Iterator[Patch]:
    text = view.module.source.text
    head = text[view.function.span.start : view.function.span.end].split("{", 1)[0]
    for cost, name in enumerate(_BOUNDS):
        found = re.search(rf"{re.escape(name)}[ \t]+\d+(?:[ \t]*,[ \t]*\d+)*", head)
        if found is not None:
            start = view.function.span.start + found.start()
            edit = Edit(start, start + len(found[0]), "")
            yield combined("directive", f"leave out '{found[0]}'", 2 + cost, [edit])
