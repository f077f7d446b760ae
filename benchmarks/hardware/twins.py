"""Repaired kernels of the corpus as trials: in a harness made from their parameters, twins beside the correct kernel.

Most of these kernels keep what they compute in registers: right means that every case ends, without a fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.repair import Record, read_records
from ptxcheck.ir import Function, Module
from ptxcheck.launches.hints import LaunchHint, parse_hint
from ptxcheck.parser import parse_module
from ptxcheck.repair.perturb import perturb
from ptxcheck.source import Source
from ptxcheck.sources.comments import Verb, comments

from .trials import MANIFEST, Trial, read_trials, write_trials

_ARCH = "sm_90a"
_CASES = (0, 1, 2, 3, 4, 5, 8, 33)
_WORDS = 1 << 20
_FIRST_SEED = 300
"""Other delays than those of the mutants and their repairs."""
_CLUSTERS = 4
_FIXED = {"steps": 3, "first_step": 0, "rows": 256, "columns": 256}
"""Parameters that are the same in every case; the others are the number of the case."""


_MADE_ELSEWHERE = frozenset({"map", "host_map", "sources", "results", "steps"})
"""Pointers of bad kernels to what no buffer of numbers can be; a trip count that their loops need above zero."""


def repaired_twins(repairs: Iterable[Path]) -> Iterator[Record]:
    """Yield what was repaired safely of the corpus."""
    for path in repairs:
        yield from (record for record in read_records(path) if record.outcome == "safe")


def _is_twin(name: str) -> bool:
    return name.startswith("protocols/")


def _is_runnable(module: Module) -> bool:
    """Tell whether buffers of numbers and numbers are all that a kernel takes."""
    return len(module.entries) == 1 and all(
        parameter.type in (".u64", ".u32") and parameter.name not in _MADE_ELSEWHERE
        for parameter in module.entries[0].parameters
    )


def good_twin(name: str) -> str:
    """Return the name of the correct kernel of a twin: `protocols/ring/one_stage.counts_33.ptx`."""
    folder, _, file = name.rpartition("/")
    return f"{folder}/{file.split('.')[0]}.ptx"


def parsed(path: Path) -> Module | None:
    """Return a kernel of the corpus, None when it is not for the architecture that runs here."""
    module = parse_module(Source(path.name, path.read_text(encoding="utf-8")))
    return module if _ARCH in module.targets else None


def harness_text(module: Module, image: str, cases: Iterable[int]) -> str:
    """Return a harness of a kernel: buffers for pointers, the number of the case for numbers."""
    (kernel,) = module.entries
    hint, sizes = _launch(module), kernel.attributes
    block = hint.block or sizes.get(".reqntid") or (32, 1, 1)
    cluster = hint.cluster or sizes.get(".reqnctapercluster") or (1, 1, 1)
    lines = [
        f'kernel = "{kernel.name}"',
        f'source = "{image}"',
        f"grid = [{cluster[0] * _CLUSTERS}]",
        f"block = {list(block)}",
        f"cluster = {list(cluster)}",
        f"cases = [{', '.join(f'{{ n = {n} }}' for n in cases)}]",
        *_arguments(kernel),
    ]
    return "\n".join(lines) + "\n"


def _launch(module: Module) -> LaunchHint:
    said = (comment for comment in comments(module.source) if comment.verb is Verb.LAUNCH)
    return next((parse_hint(comment.text, "comment") for comment in said), LaunchHint())


def _arguments(kernel: Function) -> Iterator[str]:
    for parameter in kernel.parameters:
        yield from ("", "[[argument]]", f'name = "{parameter.name}"')
        if parameter.type == ".u64":
            fill = "zeros" if parameter.name == "target" else "random"
            yield from ('dtype = "uint32"', f"shape = [{_WORDS}]", f'fill = "{fill}"')
        else:
            yield from ('dtype = "uint32"', f'value = "{_FIXED.get(parameter.name, "n")}"')


def prepare_twins(repairs: Iterable[Path], texts: Path, out: Path, root: Path, *, seeds: int) -> int:
    """Write repaired twins, their correct kernels and harnesses to a folder of trials; return how many were added."""
    out.mkdir(parents=True, exist_ok=True)
    known = read_trials(out) if (out / MANIFEST).exists() else []
    names = {trial.name for trial in known}
    added: dict[str, Trial] = {}
    for record in repaired_twins(repairs):
        twin = _is_twin(record.name)
        base = good_twin(record.name) if twin else record.name
        module = parsed(root / "corpus" / base)
        if module is None or not (twin or _is_runnable(module)):
            continue
        image = f"{_stem(base)}.ptx"
        cases = _CASES if twin else _CASES[1:]
        harness = out / f"{_stem(base)}.toml"
        harness.write_text(harness_text(module, image, cases), encoding="utf-8")
        place = str(harness.resolve().relative_to(root))
        repaired = (texts / f"{record.name.replace('/', '-')}.ptx").read_text(encoding="utf-8")
        both = [(base, "correct", module.source.text)] if twin else []
        for name, kind, text in (*both, (record.name, "repair", repaired)):
            if name in names or name in added:
                continue
            delayed = tuple(_delayed(out, name, text, seed) for seed in range(seeds))
            (out / f"{_stem(name)}.ptx").write_text(text, encoding="utf-8")
            restored = record.restored and kind == "repair"
            added[name] = Trial(
                name,
                kind,
                record.group,
                place,
                f"{_stem(name)}.ptx",
                delayed,
                image,
                len(cases) - 1,
                restored,
            )
    write_trials(out, [*known, *added.values()])
    return len(added)


def _stem(name: str) -> str:
    return name.removesuffix(".ptx").replace("/", "-")


def _delayed(out: Path, name: str, text: str, seed: int) -> str:
    module = parse_module(Source(name, text))
    (kernel,) = module.entries
    image = f"{_stem(name)}.delay{seed}.ptx"
    (out / image).write_text(perturb(module, kernel.name, _FIRST_SEED + seed), encoding="utf-8")
    return image
