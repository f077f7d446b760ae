"""What `ptxcheck show resources` says of kernels that run on a GPU, beside what Nsight Compute counted there.

Occupancy: what `ptxcheck.resources.occupancy` makes of the block, of the bytes of shared memory that the harness asks
for, and of the registers that ptxas says. Traffic: operations of the launch, by the operations a byte of the main loop.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.repair.assemble import assemble, find_ptxas
from ptxcheck.repair.harness import Case, Harness, plan_of
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.metrics import Profile
from ptxcheck.resources import Resources, gather, occupancy
from ptxcheck.source import Source
from ptxcheck.view import KernelView

from .counters import QUESTIONS, read_counters
from .entries import harness_path, read_manifest

_TARGET, _ARCH = "sm_90a", 90
_OPERATIONS: Mapping[str, Callable[[Case], int]] = {
    "attention": lambda case: 4 * 64 * 2 * case["length"] ** 2,
    "wgmma_left_in_registers": lambda case: 2 * 64 * 128 * 64 * 2 * case["steps"],
}
"""By how a name begins: multiplications and additions of a launch; of a product they are known by its sizes."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """What is said of one kernel for one launch."""

    occupancy: float | None
    """Percent of the warps of an SM, at most."""
    conflicts: int
    """Accesses that surely have bank conflicts."""
    traffic: float | None
    """Bytes that come to the SMs."""


def predict(text: str, harness: Harness, case: Case) -> Predicted:
    """Return what is said of a kernel as it is launched on one case."""
    plan = plan_of(harness, case)
    module = parse_module(Source(f"{harness.kernel}.ptx", text))
    function = next(each for each in module.functions if each.name == harness.kernel)
    launch = replace(launch_of(function, ())[0], block=plan.block, block_is_exact=True)
    found = gather(KernelView(module, function, launch))
    threads = plan.block[0] * plan.block[1] * plan.block[2]
    registers = _registers(text, harness.kernel)
    most = occupancy(_ARCH, threads, found.shared_bytes + plan.shared, registers, found.barriers)
    return Predicted(
        None if most is None else most.percent, len(found.conflicts), _traffic(harness.kernel, found, case)
    )


def _registers(text: str, kernel: str) -> int | None:
    ptxas = find_ptxas()
    known = {} if ptxas is None else assemble(text, _TARGET, ptxas).resources
    return known[kernel].registers if kernel in known else None


def _traffic(kernel: str, found: Resources, case: Case) -> float | None:
    if found.loop is None or found.loop.intensity is None:
        return None
    count = next((f(case) for name, f in _OPERATIONS.items() if kernel.startswith(name)), None)
    if count is None and {"m", "n", "k"} <= case.keys():
        count = 2 * case["m"] * case["n"] * case["k"]
    return None if count is None else count / found.loop.intensity


def predictions(folders: list[Path], counters: Path, root: Path) -> Iterator[tuple[str, Predicted, Profile]]:
    """Yield kernels that were counted, with what is said of them."""
    counted = read_counters(counters)
    cases = _cases(counters)
    for folder in folders:
        for entry in read_manifest(folder):
            if not entry.operator and entry.name in counted:
                harness = load_harness(harness_path(entry.harness, folder, root))
                text = (folder / entry.image).read_text(encoding="utf-8")
                yield (
                    entry.name,
                    predict(text, harness, harness.cases[cases[entry.name]]),
                    counted[entry.name],
                )
    for name in QUESTIONS:
        harness = load_harness(root / "benchmarks" / "hardware" / "questions" / f"{name}.toml")
        if f"questions/{name}" in counted:
            text = Path(harness.source).read_text(encoding="utf-8")
            yield name, predict(text, harness, harness.cases[0]), counted[f"questions/{name}"]


def _cases(path: Path) -> dict[str, int]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["name"]: row["case"] for row in rows}


def show_predictions(folders: list[Path], counters: Path, root: Path) -> str:
    """Return the table."""
    lines = [
        "| kernel | warps at most, said | counted | achieved | accesses with bank conflicts, said | conflicts counted: "
        "loads, stores | MB to the SMs, said | counted |",
        "| --- " * 8 + "|",
    ]
    for name, said, seen in predictions(folders, counters, root):
        values = dict(seen.values)
        cells = [
            f"`{name}`",
            "" if said.occupancy is None else f"{said.occupancy:.1f} %",
            f"{values['most_occupancy']:.1f} %",
            f"{values['occupancy']:.1f} %",
            str(said.conflicts),
            f"{values['conflicts_ld']:,.0f}, {values['conflicts_st']:,.0f}",
            "" if said.traffic is None else f"{said.traffic / 1e6:.2f}",
            f"{values['brought_to_sms'] / 1e6:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
