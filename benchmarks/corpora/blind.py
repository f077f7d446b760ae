"""Kernels of Triton libraries that nobody here has read, found by import and compiled with no GPU.

    python -m benchmarks.corpora.blind build flag-gems --out BLIND [--most 40] [--other-target]
    python -m benchmarks.corpora.blind manifest --out BLIND

`build` writes `OUT/PACKAGE/*.ptx` and a line a kernel to `OUT/PACKAGE.jsonl`: its arguments, or why there is no PTX. A
kernel is compiled for sm_90a or sm_100a, as a hash of its name says; with `--other-target` what was built is built for
the other one. Kernels come in the order of another hash, so that the first `--most` are a fair sample. What is compiled
already is kept.

`manifest` writes `OUT/manifest.json`: every file with asynchronous work, once where two have one text. A hash of
the name alone puts a kernel into the half `seen` or `unread`, whatever its target; **nobody reads a kernel of the half
`unread`**, nor what the checker says of it beyond its verdicts, before the last figures are taken.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .compiled import REPOSITORY
from .environments import ensure
from .process import run
from .store import Cache, default_root, write_json

_BATCH = 8
_VERSION = "90"
_TARGETS = (90, 100)
_FOREIGN = re.compile(r"ascend|npu|amd|_cpu|mthreads")
"""Modules for other hardware."""
_ASYNCHRONOUS = re.compile(r"mbarrier|cp\.async|wgmma|tcgen05")
_ATTEMPT_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Library:
    """A package, the module to import, and which of its modules have kernels for the GPU."""

    package: str
    module: str
    prefixes: tuple[str, ...] = ()


LIBRARIES = {
    each.package: each
    for each in (
        Library("flash-linear-attention", "fla", ("fla.ops", "fla.modules")),
        Library("flag-gems", "flag_gems", ("flag_gems.ops", "flag_gems.fused", "flag_gems.runtime.backend._nvidia")),
        Library("liger-kernel", "liger_kernel"),
        Library("gemlite", "gemlite"),
        Library("mamba-ssm", "mamba_ssm", ("mamba_ssm.ops",)),
        Library("conch-triton-kernels", "conch"),
        Library("adasplash", "adasplash"),
    )
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Build PTX, or write the manifest."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.corpora.blind",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("packages", nargs="+", choices=sorted(LIBRARIES), metavar="PACKAGE")
    building.add_argument("--most", type=int, default=1000, help="kernels of each package")
    building.add_argument("--other-target", action="store_true")
    building.add_argument("--cache", type=Path, default=default_root())
    building.add_argument("--python", type=Path, help="of an environment that has the packages already")
    listing = commands.add_parser("manifest")
    for command in (building, listing):
        command.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    if options.command == "manifest":
        return _write_manifest(options.out)
    python = options.python or ensure(Cache(options.cache.resolve()), "jit_libraries")
    for package in options.packages:
        for line in _build(LIBRARIES[package], python, options):
            print(line, flush=True)
    return 0


def target_of(name: str) -> int:
    """The compute capability that a kernel is compiled for first."""
    return _TARGETS[0] if _hash(f"target {name}") % 2 else _TARGETS[1]


def half_of(package: str, kernel: str) -> str:
    """The half that a kernel belongs to, for all its targets and arguments."""
    return "seen" if _hash(f"half {package}/{kernel}") % 2 else "unread"


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def _build(library: Library, python: Path, options: argparse.Namespace) -> Iterator[str]:
    folder: Path = options.out.resolve() / library.package
    folder.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".jsonl")
    rows = list(_rows(log))
    done = {(row["name"], row["target"]) for row in rows}
    built = {row["name"] for row in rows if "unit" in row}
    worker: list[str | Path] = [python, "-m", f"{__package__}.jit_worker"]
    listed = run(
        [*worker, "list", library.module, *library.prefixes], timeout=_ATTEMPT_SECONDS, cwd=REPOSITORY
    )
    names = sorted(_chosen(listed.output), key=_hash)
    units = []
    for name in names[: options.most]:
        first = target_of(name)
        target = sum(_TARGETS) - first if options.other_target else first
        if (name, target) not in done and (name in built or not options.other_target):
            units.append(f"{target}@{name}")
    yield f"{library.package}: {len(names)} kernels, {len(units)} to compile"
    for start in range(0, len(units), _BATCH):
        ran = run(
            [*worker, "build", folder, _VERSION, *units[start : start + _BATCH]],
            timeout=_ATTEMPT_SECONDS,
            cwd=REPOSITORY,
        )
        lines = [line for line in ran.output.splitlines() if line.startswith('{"name"')]
        with log.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in lines)
        for line in lines:
            row = json.loads(line)
            outcome = "built" if "unit" in row else row.get("skipped") or row["error"].splitlines()[0][:120]
            yield f"{row['target']:4} {row['name']}: {outcome}"


def _chosen(listed: str) -> Iterator[str]:
    """Kernels with a matrix product: of others the compiler makes nothing asynchronous."""
    for line in listed.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            if row.get("kind") == "kernel" and row["dot"] and not _FOREIGN.search(row["name"]):
                yield row["name"]


def _rows(log: Path) -> Iterator[dict[str, Any]]:
    if log.is_file():
        for line in log.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _write_manifest(out: Path) -> int:
    """Collect what is there; the package's version stands in `OUT/versions.json`, by name."""
    versions = json.loads((out / "versions.json").read_text(encoding="utf-8"))
    kernels: list[dict[str, Any]] = []
    texts: set[str] = set()
    dropped = 0
    for log in sorted(out.glob("*.jsonl")):
        package = log.stem
        for row in sorted(_rows(log), key=lambda row: str(row.get("unit"))):
            path = out / package / f"{row.get('unit')}.ptx"
            if "unit" not in row or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            body = hashlib.sha256(_without_names(text).encode()).hexdigest()
            if body in texts or not _ASYNCHRONOUS.search(text):
                dropped += 1
                continue
            texts.add(body)
            target = re.search(r"^\.target\s+(\w+)", text, re.M)
            kernels.append(
                {
                    "file": f"{package}/{path.name}",
                    "package": package,
                    "version": versions[package],
                    "kernel": row["name"],
                    "target": target[1] if target else "",
                    "warps": row.get("warps"),
                    "cluster": row.get("cluster"),
                    "half": half_of(package, row["name"]),
                    "sha256": hashlib.sha256(text.encode()).hexdigest(),
                }
            )
    write_json(out / "manifest.json", {"schema": 1, "kernels": kernels})
    halves = [row["half"] for row in kernels]
    print(
        f"{len(kernels)} kernels: {halves.count('seen')} seen, {halves.count('unread')} unread; {dropped} dropped"
    )
    return 0


def _without_names(text: str) -> str:
    """The text without what tells two copies of one kernel apart: its name and line information."""
    text = re.sub(r"^\s*\.(loc|file|section)\b.*$|//.*$", "", text, flags=re.M)
    entry = re.search(r"\.entry\s+(\w+)", text)
    return text.replace(entry[1], "kernel") if entry else text


if __name__ == "__main__":
    sys.exit(main())
