"""Tensor maps that the host code of a CUDA file passes to the kernels of the same file."""

from __future__ import annotations

import re

from ..ir import Module
from ..source import Source
from .hints import LaunchHint


def passed_hints(module: Module, host: Source | None) -> tuple[LaunchHint, ...]:
    """Return what the launches of a file say of the tensor maps of its kernels.

    A kernel is meant by its name alone, so nothing is said where two of the module have it (overloads, or one
    template with several arguments).
    """
    if host is None:
        return ()
    from ..hostcode.passed import passed_maps

    try:
        maps = passed_maps(host)
    except Exception:  # the rules on host code read the same calls, and report what fails
        return ()
    found: list[LaunchHint] = []
    for passed in maps:
        kernels = [function.name for function in module.entries if _is_called(function.name, passed.kernel)]
        if len(kernels) == 1:
            name = f"param_{passed.position}"
            origin = f"the launch in {host.name}"
            found.append(LaunchHint(kernels[0], origin=origin, tensor_maps=((name, passed.tensor_map),)))
    return tuple(found)


def _is_called(mangled: str, name: str) -> bool:
    """Tell whether a name of the Itanium ABI is that of a function; a name of C is itself."""
    if mangled == name:
        return True
    return re.match(rf"_ZN?.*?(?<!\d){len(name)}{re.escape(name)}", mangled) is not None
