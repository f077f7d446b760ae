"""What changed between two versions of the same kernels: findings, verdicts, contracts, resources."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..checker import check
from ..config import Config
from ..finding import Finding
from ..frontends import Input, NvccOptions, load
from ..ir import Function, Module
from ..results import KernelResult, Problem, Report
from ..verdict import SEVERITY, VerdictKind

_COUNTED = re.compile(
    "MBARRIER|CP_|WGMMA|TCGEN05|MMA|BAR_|BARRIER|FENCE|MEMBAR|SETMAXNREG|TENSORMAP|CLUSTERLAUNCH|LDMATRIX|STMATRIX"
)
"""Operations whose number says something about a kernel's protocol."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was; None where it is absent."""

    what: str
    old: str | None
    new: str | None
    worse: bool = False
    """True for a new finding and a verdict that says less."""


@dataclass(frozen=True, slots=True)
class KernelChange:
    """Changes of one kernel. `old` and `new` tell whether it is there."""

    kernel: str
    old: bool
    new: bool
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Differences:
    """The outcome of a comparison."""

    kernels: tuple[KernelChange, ...]
    compared: int
    """Kernels that are on both sides."""
    problems: tuple[Problem, ...] = ()

    @property
    def worse(self) -> bool:
        """Tell whether a finding is new or a verdict says less."""
        return any(change.worse for kernel in self.kernels for change in kernel.changes)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two versions: its report, and its module when there is one."""

    report: Report
    module: Module | None

    def kernels(self) -> dict[str, KernelResult]:
        return {kernel.name: kernel for kernel in self.report.kernels if kernel.entry}

    def findings(self, kernel: str) -> dict[str, Finding]:
        return {found.fingerprint: found for found in self.report.active if found.kernel == kernel}

    def function(self, name: str) -> Function | None:
        functions = () if self.module is None else self.module.entries
        return next((function for function in functions if function.name == name), None)


def compare(
    old: Input, new: Input, config: Config, old_nvcc: NvccOptions, new_nvcc: NvccOptions
) -> Differences:
    """Check both inputs, each with its compiler, and compare the kernels of the same name."""
    return compare_sides(
        _side(old, replace(config, nvcc=old_nvcc)), _side(new, replace(config, nvcc=new_nvcc))
    )


def compare_sides(before: Side, after: Side) -> Differences:
    """Compare the kernels of the same name."""
    first, second = before.kernels(), after.kernels()
    changes = [_kernel(name, before, after) for name in dict.fromkeys([*first, *second])]
    return Differences(
        tuple(change for change in changes if change.changes or not (change.old and change.new)),
        len(first.keys() & second.keys()),
        before.report.problems + after.report.problems,
    )


def _side(item: Input, config: Config) -> Side:
    loaded = load(item, config.nvcc)
    if loaded.source is None:
        return Side(Report(problems=loaded.problems), None)
    from ..parser import parse_module

    report = check(loaded.source, config=config)
    problems = tuple(dict.fromkeys((*loaded.problems, *report.problems)))
    return Side(replace(report, problems=problems), parse_module(loaded.source))


def _kernel(name: str, before: Side, after: Side) -> KernelChange:
    old, new = before.kernels().get(name), after.kernels().get(name)
    if old is None or new is None:
        found = () if new is None else tuple(_new(finding) for finding in after.findings(name).values())
        return KernelChange(name, old is not None, new is not None, found)
    changes = [*_findings(before.findings(name), after.findings(name))]
    changes += _verdicts(_answers(old), _answers(new))
    changes += _facts(_contract(old), _contract(new))
    changes += _facts(_resources(old, before, name), _resources(new, after, name))
    return KernelChange(name, True, True, tuple(changes))


def _new(finding: Finding) -> Change:
    return Change(f"finding {finding.rule} {finding.name}", None, finding.message, worse=True)


def _findings(old: Mapping[str, Finding], new: Mapping[str, Finding]) -> Iterable[Change]:
    for fingerprint, finding in new.items():
        if fingerprint not in old:
            yield _new(finding)
    for fingerprint, finding in old.items():
        if fingerprint not in new:
            yield Change(f"finding {finding.rule} {finding.name}", finding.message, None)


def _answers(kernel: KernelResult) -> dict[str, VerdictKind]:
    found = kernel.verification
    return {} if found is None else {each.property.value: each.kind for each in found.verdicts}


def _verdicts(old: Mapping[str, VerdictKind], new: Mapping[str, VerdictKind]) -> Iterable[Change]:
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before is not after:
            worse = after is None or (before is not None and SEVERITY.index(after) < SEVERITY.index(before))
            yield Change(
                f"verdict {name}",
                None if before is None else before.value,
                None if after is None else after.value,
                worse,
            )


def _contract(kernel: KernelResult) -> dict[str, str]:
    """Return what the host must make true, each with its own label: they are a set."""
    found = kernel.verification
    if found is None:
        return {}
    assumed = {f"assumes {remark.text}": "yes" for remark in found.assumptions}
    return {**{f"host equation {equation}": "yes" for equation in found.equations}, **assumed}


def _resources(kernel: KernelResult, side: Side, name: str) -> dict[str, str]:
    """Return what a kernel takes, by name."""
    launch = kernel.launch
    facts: dict[str, object] = {
        "launch block": launch.block,
        "launch cluster": launch.cluster,
        "launch maximum of threads": launch.max_threads,
        "instructions": kernel.instructions,
    }
    function = side.function(name)
    if side.module is not None and function is not None and function.body is not None:
        facts["target"] = " ".join(side.module.targets)
        facts["parameter bytes"] = sum(size for _, size, _ in function.parameter_places)
        facts |= {f"static {space} bytes": size for space, size in _memory(side.module, function).items()}
        names = Counter(each.operation.op.name for each in function.body.instructions)
        facts |= {
            f"operation {op.lower()}": count for op, count in sorted(names.items()) if _COUNTED.match(op)
        }
    return {what: _words(value) for what, value in facts.items() if value is not None}


def _words(value: object) -> str:
    return "×".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _memory(module: Module, function: Function) -> dict[str, int]:
    """Return the bytes that a function declares, and of the module's variables those that it mentions."""
    assert function.body is not None
    start, end = function.span
    mentioned = set(re.findall(r"[\w$%]+", module.source.text[start:end]))
    outer = [variable for variable in module.variables.values() if variable.name in mentioned]
    sizes: Counter[str] = Counter()
    for variable in (*outer, *function.body.variables):
        if variable.space in (".shared", ".local") and variable.size is not None:
            sizes[variable.space[1:]] += variable.size
    return dict(sizes)


def _facts(old: Mapping[str, str], new: Mapping[str, str]) -> Iterable[Change]:
    for what in dict.fromkeys([*old, *new]):
        if old.get(what) != new.get(what):
            yield Change(what, old.get(what), new.get(what))


def differences_text(differences: Differences) -> str:
    """Return the differences for people: a paragraph for each kernel that changed."""
    from ..report.plain import place, plural, visible
    from ..sources.demangled_names import short_name

    lines = [
        f"error: {place(problem.position)}: {visible(problem.message)}" for problem in differences.problems
    ]
    for kernel in differences.kernels:
        state = "" if kernel.old and kernel.new else " (only new)" if kernel.new else " (only old)"
        lines.append(f"{visible(short_name(kernel.kernel))}{state}")
        lines += [f"  {_line(change)}" for change in kernel.changes]
    changed = sum(1 for kernel in differences.kernels if kernel.old and kernel.new)
    alone = len(differences.kernels) - changed
    lines.append(
        f"{plural(differences.compared, 'kernel')} compared; {changed} changed; {alone} on one side only"
    )
    return "\n".join(lines) + "\n"


def _line(change: Change) -> str:
    from ..report.plain import visible

    mark = "!" if change.worse else " "
    if change.old is None:
        return f"{mark} + {change.what}: {visible(str(change.new))}"
    if change.new is None:
        return f"{mark} - {change.what}: {visible(change.old)}"
    return f"{mark}   {change.what}: {visible(change.old)} -> {visible(change.new)}"


def differences_json(differences: Differences) -> str:
    """Return the differences for programs."""
    kernels: list[dict[str, Any]] = [
        {
            "name": kernel.kernel,
            "old": kernel.old,
            "new": kernel.new,
            "changes": [
                {"what": change.what, "old": change.old, "new": change.new, "worse": change.worse}
                for change in kernel.changes
            ],
        }
        for kernel in differences.kernels
    ]
    problems = [
        {"kind": problem.kind.value, "message": problem.message, "file": problem.position.file}
        for problem in differences.problems
    ]
    value = {"schema": 1, "compared": differences.compared, "kernels": kernels, "problems": problems}
    return json.dumps(value, indent=2) + "\n"
