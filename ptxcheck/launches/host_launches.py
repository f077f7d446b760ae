"""Launches of kernels by host code: which kernel of a module is meant, and the launches that it is verified for.

Property: a launch is taken to be a kernel's only where its name, its qualifiers and the numbers among its template
arguments fit that kernel and no other, or where all launches that fit several are alike. What the user states
(options, configuration, comments) counts before; a launch that contradicts it is another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..ir import Function, Module
from ..launch import Launch
from ..source import Source
from ..sources.demangled_names import short_name, template_numbers
from .hints import LaunchHint, contradiction_of, from_directives, launch_of

if TYPE_CHECKING:
    from ..hostcode.launches import HostLaunch


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


def host_launches(module: Module, host: Source | None) -> tuple[HostHint, ...]:
    """Return what the host code of a source says of the launches of a module's kernels."""
    if host is None:
        return ()
    from ..hostcode.find import has_launch
    from ..hostcode.includes import Includes
    from ..hostcode.launches import launches_in

    if not has_launch(host.text):
        return ()
    try:
        launches = launches_in(host, Includes(host.name)).launches
    except Exception:  # a host that is not understood says nothing
        return ()
    return hints_of(module, launches)


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
