"""Launches of kernels by host code: which kernel of a module is meant, and the launches that it is verified for.

Property: a launch is taken to be a kernel's only where its name, its qualifiers and the numbers among its template
arguments fit that kernel and no other, or where all launches that fit several are alike. What the user states
(options, configuration, comments) counts before; a launch that contradicts it is another one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..ir import Function, Module
from ..launch import Launch
from ..source import Source
from ..sources.demangled_names import short_name, template_numbers
from .hints import LaunchHint, contradiction_of, from_directives, launch_of

if TYPE_CHECKING:
    from ..hostcode.launches import HostLaunch, LaunchReading


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A launch that a kernel is verified for."""

    launch: Launch
    with_constants: Launch | None = None
    """The same with the arguments that are known numbers, where there are any."""


@dataclass(frozen=True, slots=True)
class HostHint:
    """What one launch by host code says of one kernel."""

    hint: LaunchHint
    """Its shapes."""
    constants: tuple[tuple[str, int], ...] = ()
    """Its arguments that are known numbers, by parameter."""


def host_launches(
    module: Module, host: Source | None, path: str = "", beside: Sequence[str] = ()
) -> tuple[HostHint, ...]:
    """Return what host code says of the launches of a module's kernels.

    `host` is the source of the module; `beside` are other files, which count for kernels that neither they nor a
    third file near `path` define.
    """
    found = () if host is None else tuple(_read(host, is_own=True).launches)
    if module.entries:
        found += tuple(launch for other in beside for launch in _launches_beside(module, other, path))
    return hints_of(module, found)


def _read(source: Source, *, is_own: bool) -> LaunchReading:
    """Return the launches of a file; a host that is not understood says nothing."""
    from ..hostcode.find import has_launch
    from ..hostcode.includes import Includes
    from ..hostcode.launches import LaunchReading, launches_in

    if not has_launch(source.text):
        return LaunchReading()
    try:
        return launches_in(source, Includes(source.name) if is_own else None)
    except Exception:  # the rules on host code report what fails
        return LaunchReading()


def _launches_beside(module: Module, other: str, path: str) -> Iterator[HostLaunch]:
    """Yield the launches of another file that are of kernels of this module and of no other."""
    text = _text(other)
    names = [short_name(function.name).rpartition("::")[2] for function in module.entries]
    if not any(
        name in text or function.name in text for name, function in zip(names, module.entries, strict=True)
    ):
        return
    reading = _read(Source(other, text), is_own=False)
    for launch in reading.launches:
        is_meant = any(_is_meant(launch, function.name) for function in module.entries)
        if is_meant and launch.kernel.name not in reading.defined:
            rivals = _definers(launch.kernel.name, path)
            is_named = os.path.basename(path) in text and not any(name in text for name in rivals)
            if not rivals or is_named:
                yield launch


def _definers(name: str, path: str) -> tuple[str, ...]:
    """Return the names of other files of a folder that define a kernel of the same name."""
    from ..hostcode.launches import defines_kernel

    folder = os.path.dirname(path)
    own = os.path.basename(path)
    try:
        with os.scandir(folder or ".") as entries:
            files = sorted(entry.name for entry in entries if entry.name.endswith((".cu", ".cuh", ".ptx")))
    except OSError:
        return ()
    others = (each for each in files if each != own and each not in _made_of(own))
    return tuple(each for each in others if defines_kernel(_text(os.path.join(folder, each)), name))


def _made_of(name: str) -> tuple[str, ...]:
    """Return the names of a source and of its PTX, which are one kernel in two forms."""
    stem = name.removesuffix(".ptx").removesuffix(".cu")
    return (f"{stem}.cu", f"{stem}.ptx", f"{stem}.cu.ptx")


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def hints_of(module: Module, launches: Sequence[HostLaunch]) -> tuple[HostHint, ...]:
    """Return what launches say of the kernels of a module."""
    found: list[HostHint] = []
    vague: dict[str, list[tuple[HostLaunch, list[Function]]]] = {}
    for launch in launches:
        kernels = [function for function in module.entries if _is_meant(launch, function.name)]
        if len(kernels) == 1:
            found.append(_hint(launch, kernels[0]))
        elif kernels:
            vague.setdefault(launch.kernel.name, []).append((launch, kernels))
    for name, group in vague.items():
        shapes = {(one.block, one.cluster) for one in launches if one.kernel.name == name}
        if len(shapes) == 1:
            for launch, kernels in group:
                found += [replace(_hint(launch, kernel), constants=()) for kernel in kernels]
    return tuple(dict.fromkeys(found))


def _is_meant(launch: HostLaunch, mangled: str) -> bool:
    """Tell whether a launch may be of a kernel, by its names and the numbers among its template arguments."""
    kernel = launch.kernel
    if kernel.is_symbol or mangled == kernel.name:
        return mangled == kernel.name
    readable = short_name(mangled)
    written = f"{kernel.scope}::{kernel.name}" if kernel.scope else kernel.name
    if readable == mangled and not kernel.scope:  # tags of Numba
        return re.match(rf"_ZN.*?(?<!\d){len(kernel.name)}{re.escape(kernel.name)}B", mangled) is not None
    if readable == mangled or not f"::{readable}".endswith(f"::{written}"):
        return False
    numbers = template_numbers(mangled)
    pairs = zip(kernel.template_arguments, numbers or (), strict=False)
    return all(given is None or number is None or given == number for given, number in pairs)


def _hint(launch: HostLaunch, kernel: Function) -> HostHint:
    own = from_directives(kernel)
    leaves_cluster = not launch.states_cluster and own.cluster is not None
    hint = LaunchHint(
        kernel.name, launch.block, None if leaves_cluster else launch.cluster, origin=launch.origin
    )
    return HostHint(hint, tuple((f"param_{each.position}", each.value) for each in launch.constants))


def launches_of(
    function: Function, hints: Sequence[LaunchHint], host: Sequence[HostHint]
) -> tuple[tuple[KernelLaunch, ...], tuple[str, ...]]:
    """Return the launches that a kernel is verified for, and complaints about hints that contradict it."""
    stated, complaints = launch_of(function, hints)
    made = [
        _launched(function, hints, each)
        for each in host
        if each.hint.kernel == function.name and contradiction_of(stated, each.hint) is None
    ]
    return tuple(_each_once(made)) or (KernelLaunch(stated),), complaints


def impossible_launches(function: Function, host: Sequence[HostHint]) -> Iterator[str]:
    """Yield what is wrong with launches that a kernel is not compiled for."""
    own = from_directives(function)
    for each in host:
        if each.hint.kernel == function.name:
            complaint = contradiction_of(own, each.hint)
            if complaint is not None:
                yield f"the launch by {each.hint.origin} fails: its {complaint}"


def _launched(function: Function, hints: Sequence[LaunchHint], host: HostHint) -> KernelLaunch:
    launch, _ = launch_of(function, (*hints, host.hint))
    if not host.constants:
        return KernelLaunch(launch)
    constants = replace(host.hint, values=host.constants)
    known, complaints = launch_of(function, (*hints, constants))
    return KernelLaunch(launch, None if complaints or known.given == launch.given else known)


def _each_once(launches: Sequence[KernelLaunch]) -> Iterator[KernelLaunch]:
    """Yield launches that differ in more than the place where they are."""
    seen: set[object] = set()
    for each in launches:
        launch, known = each.launch, each.with_constants
        key = (launch.block, launch.cluster, None if known is None else known.given)
        if key not in seen:
            seen.add(key)
            yield each
