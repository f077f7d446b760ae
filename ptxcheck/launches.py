"""The launch that verdicts are for: directives of the kernel first, then what the user says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import prod

from .ir import Function
from .launch import Dim, Launch

_ITEM = re.compile(r"(\w+)\s*=\s*(\(?[\d\s,x]*\)?)(?:\s+|;|\Z)")
MAX_THREADS = 1024
MAX_CLUSTER = 16


class LaunchError(ValueError):
    """A launch that cannot be understood, or contradicts the kernel."""


@dataclass(frozen=True, slots=True)
class LaunchHint:
    """What the user says about the launch of the kernels whose names match `kernel`."""

    kernel: str = "*"
    block: Dim | None = None
    cluster: Dim | None = None
    origin: str = "--launch"

    def applies(self, name: str) -> bool:
        return fnmatchcase(name, self.kernel)


def parse_hint(text: str, origin: str, kernel: str = "*") -> LaunchHint:
    """Parse `block=384 cluster=2`, `block=32x4`, `gemm*: block=(128,2,1)`. Raises LaunchError."""
    head, colon, rest = text.rpartition(":")
    if colon:
        kernel, text = head.strip(), rest
    values: dict[str, Dim] = {}
    covered = 0
    text = text.strip()
    for match in _ITEM.finditer(text):
        if text[covered : match.start()].strip() or match[1] not in ("block", "cluster"):
            break
        values[match[1]] = _dim(match[2], match[1])
        covered = match.end()
    if not values or text[covered:].strip():
        raise LaunchError(
            f"{origin}: {text!r} is not a launch: write `block=384 cluster=2` or `block=32x4x1`"
        )
    return LaunchHint(kernel, values.get("block"), values.get("cluster"), origin)


def hint_from_table(kernel: str, table: object, origin: str) -> LaunchHint:
    """Build a hint from a configuration value: a string, or a table of `block` and `cluster`."""
    if isinstance(table, str):
        return parse_hint(table, origin, kernel)
    if not isinstance(table, Mapping) or not table or set(table) - {"block", "cluster"}:
        raise LaunchError(f"{origin}: needs `block` or `cluster`, or both, and nothing else")
    values = {name: _dim(_as_text(value), name) for name, value in table.items()}
    return LaunchHint(kernel, values.get("block"), values.get("cluster"), origin)


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _dim(text: str, what: str) -> Dim:
    try:
        numbers = [int(part) for part in re.split(r"[,x]", text.strip().strip("()"))]
    except ValueError:
        numbers = []
    limit = MAX_THREADS if what == "block" else MAX_CLUSTER
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1 or prod(numbers) > limit:
        raise LaunchError(
            f"{what}={text.strip()} is not a shape of 1 to 3 positive numbers up to {limit} in all"
        )
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def from_directives(function: Function) -> Launch:
    """Return what `.reqntid`, `.maxntid` and `.reqnctapercluster` say."""
    required = _directive(function, ".reqntid")
    cluster = _directive(function, ".reqnctapercluster")
    bound = required or _directive(function, ".maxntid")
    return Launch(required, required is not None, cluster, None if bound is None else prod(bound))


def _directive(function: Function, keyword: str) -> Dim | None:
    numbers = function.attributes.get(keyword)
    if not numbers or min(numbers) < 1:
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def launch_of(function: Function, hints: Sequence[LaunchHint]) -> tuple[Launch, tuple[str, ...]]:
    """Return the launch of a kernel, and complaints about hints that contradict its directives.

    Directives count first, then the first hint that speaks of block or cluster. A hint with a pattern for
    many kernels gives way silently; one that names this kernel must agree.
    """
    launch = from_directives(function)
    fitting = [hint for hint in hints if hint.applies(function.name)]
    complaints = [
        f"{hint.origin}: {complaint}"
        for hint in fitting
        if hint.kernel == function.name and (complaint := _contradiction(launch, hint)) is not None
    ]
    fitting = [hint for hint in fitting if _contradiction(launch, hint) is None]
    block = next((hint.block for hint in fitting if hint.block is not None), None)
    if launch.block is None and block is not None:
        launch = replace(launch, block=block, block_is_exact=True, max_threads=prod(block))
    cluster = next((hint.cluster for hint in fitting if hint.cluster is not None), None)
    if launch.cluster is None and cluster is not None:
        launch = replace(launch, cluster=cluster)
    return launch, tuple(complaints)


def _contradiction(launch: Launch, hint: LaunchHint) -> str | None:
    if hint.block is not None and launch.block is not None and hint.block != launch.block:
        return f"block {_show(hint.block)} contradicts .reqntid {_show(launch.block)}"
    if hint.block is not None and launch.max_threads is not None and prod(hint.block) > launch.max_threads:
        return f"block {_show(hint.block)} exceeds .maxntid, {launch.max_threads} threads"
    if hint.cluster is not None and launch.cluster is not None and hint.cluster != launch.cluster:
        return f"cluster {_show(hint.cluster)} contradicts .reqnctapercluster {_show(launch.cluster)}"
    return None


def _show(dim: Dim) -> str:
    return "×".join(map(str, dim))
