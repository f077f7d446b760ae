"""Group `cuda_ptx`: a caller for every form of the `cuda::ptx` wrappers, compiled for a legal target.

The compiler does not look into inline assembly, so `ptxas` judges each form: what it rejects on one
target is tried on the next that the header names, and what every target rejects is left out of the files
and listed with its reason in `cuda_ptx_forms.json`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .environments import packages
from .process import Ran, run
from .ptx_wrappers import Form, Parameter, read_headers
from .store import Cache, Row, read_json, write_json
from .toolchain import Toolchain, main_toolchain, to_ptx, toolchains

GROUP = "cuda_ptx"
BASE_TARGET = "sm_80"
ROUNDS_OF_PRUNING = 4
PTXAS_TIMEOUT = 300.0
IMMEDIATES = {"setmaxnreg": "64"}

PROLOGUE = """#include <cuda/ptx>
struct alignas(32) wide256 { long long words[4]; };
"""

_CXX_ERROR = re.compile(r"\.cu\((\d+)\): error: (.*)")
_PTXAS_ERROR = re.compile(r"line (\d+); error\s*: (.*)")


@dataclass(frozen=True, slots=True)
class Caller:
    """One kernel that calls one form with one combination of tags and types."""

    kernel: str
    form: Form
    text: str


@dataclass(slots=True)
class Attempt:
    """A caller with the compilers and targets that it has not been tried on."""

    caller: Caller
    remaining: list[tuple[Toolchain, str]]
    reasons: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Unit:
    """One file: the callers of one header for one target."""

    name: str
    tool: Toolchain
    target: str
    attempts: list[Attempt]
    rejected: dict[str, str] = field(default_factory=dict)


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Build every file; then write which forms are covered, and why others are not."""
    include = packages(cache, "sources") / "nvidia" / "cu13" / "include" / "cccl"
    forms = read_headers(include)
    tools = toolchains(cache)
    attempts = [_attempt(caller, tools) for form in forms for caller in callers(form)]
    covered: dict[str, dict[str, Any]] = {}
    pending, used = attempts, set[str]()
    while pending:
        rejected: list[Attempt] = []
        for unit in _units(cache, pending, used):
            if wanted and unit.name not in wanted:
                continue
            yield _build_unit(cache, unit, include)
            for attempt in unit.attempts:
                kernel = attempt.caller.kernel
                if kernel in unit.rejected:
                    attempt.reasons.append(f"{unit.tool.name} {unit.target}: {unit.rejected[kernel]}")
                    rejected.append(attempt)
                else:
                    covered[kernel] = {"form": attempt.caller.form.key, "file": unit.name}
        pending = [attempt for attempt in rejected if attempt.remaining]
    if not wanted:
        cache.keep_only(GROUP, used)
        _report(cache, forms, attempts, covered)


def callers(form: Form) -> list[Caller]:
    """The kernels that call one form, one per combination of its tags and types."""
    made = []
    for i, chosen in enumerate(form.callers()):
        kernel = f"{form.header}_{form.number}_{i}"
        made.append(Caller(kernel, form, _kernel(kernel, form, chosen)))
    return made


def _kernel(kernel: str, form: Form, chosen: dict[str, str]) -> str:
    declared: list[str] = []
    before: list[str] = []
    arguments: list[str] = []
    after: list[str] = []
    for position, parameter in enumerate(form.parameters):
        name = f"p{position}"
        kind = _substitute(parameter.type, chosen)
        if parameter.kind == "tag":
            tag = chosen.get(parameter.name)
            arguments.append(f"::cuda::ptx::{tag}" if tag else f"{kind}{{}}")
        elif parameter.kind == "immediate":
            arguments.append(f"::cuda::ptx::n32_t<{_immediate(form)}>{{}}")
        elif parameter.kind == "value":
            declared.append(f"{kind} {name}")
            arguments.append(name)
        else:
            declared.append(f"{kind}* {name}")
            arguments.append(f"local{position}")
            _local(parameter, kind, position, before, after)
    given = [chosen[name] for name in form.explicit]
    given += [f"decltype(::cuda::ptx::{chosen[name]})::value" for name in form.enumerations]
    explicit = ", ".join(given)
    call = f"::cuda::ptx::{form.name}{f'<{explicit}>' if explicit else ''}({', '.join(arguments)});"
    if form.result != "void":
        declared.append(f"{_substitute(form.result, chosen)}* result")
        call = f"*result = {call}"
    body = "\n".join(f"  {line}" for line in [*before, call, *after])
    return f'extern "C" __global__ void {kernel}({", ".join(declared)})\n{{\n{body}\n}}\n'


def _local(parameter: Parameter, kind: str, position: int, before: list[str], after: list[str]) -> None:
    local, outer = f"local{position}", f"p{position}"
    if parameter.kind == "output":
        before.append(f"{kind} {local};")
        after.append(f"*{outer} = {local};")
        return
    before.append(f"{kind} {local}[{parameter.size}];")
    elements = range(parameter.size)
    if parameter.kind == "array":
        before.append(" ".join(f"{local}[{i}] = {outer}[{i}];" for i in elements))
    else:
        after.append(" ".join(f"{outer}[{i}] = {local}[{i}];" for i in elements))


def _substitute(text: str, chosen: dict[str, str]) -> str:
    return re.sub(r"\b_\w+\b", lambda found: chosen.get(found[0], found[0]), text)


def _immediate(form: Form) -> str:
    if form.header in IMMEDIATES:
        return IMMEDIATES[form.header]
    return "128" if "tensormap" in form.header and "replace" not in form.header else "0"


def _attempt(caller: Caller, tools: Sequence[Toolchain]) -> Attempt:
    usable = [tool for tool in tools if caller.form.isa <= tool.isa < caller.form.isa_below]
    candidates = [(tool, target) for tool in usable for target in _targets(caller.form) if tool.knows(target)]
    attempt = Attempt(caller, candidates)
    if not candidates:
        attempt.reasons.append(f"no compiler here writes its PTX version ({_versions(caller.form)})")
    return attempt


def _versions(form: Form) -> str:
    first = f"{form.isa / 10:.1f} or newer"
    return first if form.isa_below > 1000 else f"{first}, older than {form.isa_below / 10:.1f}"


def _targets(form: Form) -> list[str]:
    """The targets that the header names, lowest first; family targets last, they add nothing new."""
    named = [name.lower() for name in form.targets] or [BASE_TARGET]
    raised = [BASE_TARGET if int(re.sub(r"\D", "", name)) < 80 else name for name in named]
    plain = len(raised) == 1 and raised[0][-1].isdigit()
    later = ["sm_90", "sm_100a", "sm_103a"] if plain else []
    unique = dict.fromkeys([*raised, *later])
    return sorted(unique, key=lambda name: name.endswith("f"))


def _units(cache: Cache, pending: list[Attempt], used: set[str]) -> list[Unit]:
    groups: dict[tuple[str, Toolchain, str], list[Attempt]] = defaultdict(list)
    for attempt in pending:
        if attempt.remaining:
            tool, target = attempt.remaining.pop(0)
            groups[attempt.caller.form.header, tool, target].append(attempt)
    units = []
    for (header, tool, target), attempts in groups.items():
        name = f"{header}.{target}"
        if tool is not main_toolchain(cache):
            name += f".isa{tool.isa}"
        while name in used:
            name += ".more"
        used.add(name)
        units.append(Unit(name, tool, target, attempts))
    return units


def _build_unit(cache: Cache, unit: Unit, include: Path) -> Row:
    """Compile a unit, leaving out the callers that the compiler or ptxas rejects."""
    folder = cache.sources(GROUP)
    asked, verdict = folder / f"{unit.name}.asked.cu", folder / f"{unit.name}.json"
    everything = _source([attempt.caller for attempt in unit.attempts])
    known = cache.rows().get(f"{GROUP}/{unit.name}")
    if known and verdict.is_file() and asked.is_file() and asked.read_text(encoding="utf-8") == everything:
        unit.rejected.update(read_json(verdict)["rejected"])
        if not known.built or cache.built(GROUP, unit.name):
            return known
    unit.rejected.clear()
    row = _compile(cache, unit, include)
    asked.write_text(everything, encoding="utf-8")
    write_json(verdict, {"rejected": unit.rejected})
    cache.record(row)
    return row


def _compile(cache: Cache, unit: Unit, include: Path) -> Row:
    source = cache.sources(GROUP) / f"{unit.name}.cu"
    output = cache.ptx(GROUP, unit.name)
    output.unlink(missing_ok=True)
    seconds, peak, command, message = 0.0, 0, [""], ""
    built = False
    for _ in range(ROUNDS_OF_PRUNING):
        kept = [a.caller for a in unit.attempts if a.caller.kernel not in unit.rejected]
        if not kept:
            message = "every caller was rejected: " + next(iter(unit.rejected.values()))
            break
        text = _source(kept)
        source.write_text(text, encoding="utf-8")
        ran, command = to_ptx(unit.tool, source, output, unit.target, [f"-I{include}"], lineinfo=False)
        seconds, peak = seconds + ran.seconds, max(peak, ran.peak_mb)
        judged = _assemble(unit, output) if ran.ok else ran
        if judged.ok:
            built = True
            break
        wrong = _blame(text, output, judged, compiler=not ran.ok)
        message = judged.message
        output.unlink(missing_ok=True)
        if not wrong:
            wrong = _suspects(cache, unit, kept, include)
        unit.rejected.update(wrong)
    return Row(
        group=GROUP,
        name=unit.name,
        target=unit.target,
        built=built,
        how=" ".join(["nvcc", *command[1:]]),
        tool=unit.tool.label,
        bytes=output.stat().st_size if built else 0,
        seconds=round(seconds, 2),
        peak_mb=peak,
        message=f"{len(unit.rejected)} callers left out"
        if built and unit.rejected
        else ""
        if built
        else message,
    )


def _source(kept: Sequence[Caller]) -> str:
    return PROLOGUE + "\n" + "\n".join(caller.text for caller in kept)


def _assemble(unit: Unit, ptx: Path) -> Ran:
    output = ptx.with_suffix(".cubin.tmp")
    ran = run([unit.tool.ptxas, "-O1", f"-arch={unit.target}", ptx, "-o", output], timeout=PTXAS_TIMEOUT)
    output.unlink(missing_ok=True)
    return ran


def _suspects(cache: Cache, unit: Unit, kept: Sequence[Caller], include: Path) -> dict[str, str]:
    """Find the callers behind a failure that names no line, such as a crash, by halving."""
    source = cache.sources(GROUP) / f"{unit.name}.part.cu"
    output = cache.ptx(GROUP, f"{unit.name}.part")
    source.write_text(_source(kept), encoding="utf-8")
    ran, _ = to_ptx(unit.tool, source, output, unit.target, [f"-I{include}"], lineinfo=False)
    judged = _assemble(unit, output) if ran.ok else ran
    output.unlink(missing_ok=True)
    if judged.ok:
        return {}
    if len(kept) == 1:
        return {kept[0].kernel: judged.message.splitlines()[0]}
    half = len(kept) // 2
    return _suspects(cache, unit, kept[:half], include) | _suspects(cache, unit, kept[half:], include)


def _blame(source: str, ptx: Path, ran: Ran, *, compiler: bool) -> dict[str, str]:
    """The kernels that the messages point into, each with its first message."""
    text = source if compiler else ptx.read_text(encoding="utf-8")
    start = re.compile(r"__global__ void (\w+)\(" if compiler else r"^\s*\.visible \.entry (\w+)")
    owners, owner = [""], ""
    for line in text.splitlines():
        found = start.search(line)
        owner = found[1] if found else owner
        owners.append(owner)
    blamed: dict[str, str] = {}
    for number, message in (_CXX_ERROR if compiler else _PTXAS_ERROR).findall(ran.output):
        kernel = owners[min(int(number), len(owners) - 1)]
        if kernel:
            blamed.setdefault(kernel, message.strip())
    return blamed


def _report(
    cache: Cache, forms: list[Form], attempts: list[Attempt], covered: dict[str, dict[str, Any]]
) -> None:
    forms_covered = {entry["form"] for entry in covered.values()}
    missing = {
        attempt.caller.kernel: {"form": attempt.caller.form.key, "reasons": attempt.reasons}
        for attempt in attempts
        if attempt.caller.kernel not in covered
    }
    summary = {
        "forms": len(forms),
        "forms_covered": len(forms_covered),
        "callers": len(attempts),
        "callers_covered": len(covered),
    }
    write_json(
        cache.root / "cuda_ptx_forms.json",
        {
            "summary": summary,
            "covered": covered,
            "callers_not_covered": missing,
            "forms_not_covered": sorted(form.key for form in forms if form.key not in forms_covered),
        },
    )
    print(
        f"cuda_ptx: {summary['forms_covered']} of {summary['forms']} forms, "
        f"{summary['callers_covered']} of {summary['callers']} callers",
        flush=True,
    )
