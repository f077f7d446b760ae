"""The same kernels under `compute-sanitizer` on a GPU: which of them it reports, beside what is said here.

    python -m benchmarks.block_kernels.racecheck prepare OUT --ptx FOLDER... [--cuda FILE...] [--sanitizer FOLDER]
    python3 benchmarks/block_kernels/racecheck.py run OUT --save FILE [--jobs 8]
    python -m benchmarks.block_kernels.racecheck table FILE --removals FILE...

`prepare` assembles every kernel of PTX folders (mutants, one kernel a file) and CUDA files for sm_90 into OUT, and puts
a list of launches beside them. `run` needs Python, a driver and `compute-sanitizer` (of OUT, or on PATH) alone: it runs
each launch under `racecheck` and `synccheck`, in a process of its own, and saves how many hazards and errors each gave.
All pointers are of buffers of small numbers, all sizes are 64. `table` counts, for each outcome of `removals`, what the
tools say of the mutants; kernels with no outcome are those that are right.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_BYTES = 1 << 26
_SIZE = 64
_SECONDS = 120
_HAZARDS = re.compile(r"RACECHECK SUMMARY: (\d+) hazards?")
_WARNINGS = re.compile(r"RACECHECK SUMMARY: .*\b(\d+) warnings?\)")
_ERRORS = re.compile(r"ERROR SUMMARY: (\d+) errors?")
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(([^)]*)\)([^{]*)\{", re.DOTALL)
_LINE = re.compile(r"\.target\s+\S+")


def main() -> int:
    """Prepare, run all, or launch one."""
    command, *rest = sys.argv[1:] or ["help"]
    if command == "launch":
        return _launch(json.loads(rest[1]), Path(rest[0]))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("prepare", "run", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ptx", type=Path, nargs="*", default=[])
    parser.add_argument("--cuda", type=Path, nargs="*", default=[])
    parser.add_argument("--sanitizer", type=Path, help="the folder `compute-sanitizer` of its package")
    parser.add_argument("--removals", type=Path, nargs="*", default=[])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--jobs", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        _prepare(arguments.folder, arguments.ptx, arguments.cuda, arguments.sanitizer)
        return 0
    if arguments.command == "table":
        return _table(arguments.folder, arguments.removals)
    return _run(arguments.folder, arguments.save, arguments.jobs)


# ---- before: no GPU is needed


def _prepare(out: Path, folders: list[Path], sources: list[Path], sanitizer: Path | None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    launches: list[dict[str, object]] = []
    texts = [
        (path, path.read_text(encoding="utf-8")) for each in folders for path in sorted(each.glob("*.ptx"))
    ]
    for path in sources:
        made = out / f"{path.parent.name}_{path.stem}.ptx"
        subprocess.run(["nvcc", "-ptx", "-arch=sm_90", "-lineinfo", "-o", str(made), str(path)], check=True)
        texts.append((made, made.read_text(encoding="utf-8")))
    for path, text in texts:
        cubin = out / f"{path.parent.name}-{path.stem}.cubin"
        source = out / "one.ptx"
        source.write_text(_LINE.sub(".target sm_90", text, count=1), encoding="utf-8")
        done = subprocess.run(
            ["ptxas", "-arch=sm_90", "-o", str(cubin), str(source)], capture_output=True, text=True
        )
        source.unlink()
        if done.returncode:
            print(f"{path.name}: {done.stderr.splitlines()[0]}")
            continue
        launches += ({"file": cubin.name, **each} for each in _entries(text))
    (out / "launches.json").write_text(json.dumps(launches, indent=1) + "\n", encoding="utf-8")
    if sanitizer is not None:
        shutil.copytree(sanitizer, out / "compute-sanitizer", dirs_exist_ok=True)
    print(f"{len(launches)} launches")


def _entries(text: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for name, parameters, directives in _ENTRY.findall(text):
        block = re.search(r"\.(?:reqntid|maxntid)\s+(\d+)", directives)
        kinds = "".join(
            "p" if ".u64" in each or ".b64" in each else "i" for each in parameters.split(",") if each.strip()
        )
        is_dynamic = bool(re.search(r"\.extern\s+\.shared", text))
        shared = 32768 if is_dynamic else 0
        found.append(
            {"kernel": name, "parameters": kinds, "block": int(block[1]) if block else 128, "shared": shared}
        )
    return found


def _table(results: Path, removals: list[Path]) -> int:
    """Print how many launches of each outcome each tool reports."""
    outcomes: dict[str, str] = {}
    for path in removals:
        for row in json.loads(path.read_text(encoding="utf-8")):
            outcomes[row["mutant"]] = row["outcome"]
    counts: dict[str, Counter[str]] = {}
    for row in json.loads(results.read_text(encoding="utf-8")):
        name = row["file"].removesuffix(".cubin").partition("-")[2]
        count = counts.setdefault(outcomes.get(name, "right"), Counter())
        count["launches"] += 1
        said = {_kind(row, "racecheck"), _kind(row, "synccheck")} - {""}
        count.update(said or {"neither"})
    heads = ("launches", *sorted({head for each in counts.values() for head in each} - {"launches"}))
    print("| of removed barriers |", " | ".join(heads), "|")
    print("| --- " * (len(heads) + 1) + "|")
    for outcome, count in counts.items():
        print(f"| {outcome} |", " | ".join(str(count[head]) for head in heads), "|")
    return 0


def _kind(row: dict[str, object], tool: str) -> str:
    """Return what a tool says of a launch; "" for nothing."""
    said = row[tool]
    if said == 0:
        return ""
    if not isinstance(said, int):
        return f"{tool}: {said}"
    return f"{tool}: warnings alone" if row.get("warnings") == said else tool


# ---- on the machine with the GPU


def _run(folder: Path, save: Path | None, jobs: int) -> int:
    launches = json.loads((folder / "launches.json").read_text(encoding="utf-8"))
    own = folder / "compute-sanitizer" / "compute-sanitizer"
    if own.exists():
        own.chmod(0o755)
        for each in own.parent.rglob("TreeLauncher*"):
            each.chmod(0o755)
    sanitizer = str(own) if own.exists() else shutil.which("compute-sanitizer")
    if sanitizer is None:
        print("no compute-sanitizer", file=sys.stderr)
        return 2

    def judged(launch: dict[str, object]) -> dict[str, object]:
        row = dict(launch)
        for tool, pattern in (("racecheck", _HAZARDS), ("synccheck", _ERRORS)):
            command = [
                sanitizer,
                f"--tool={tool}",
                sys.executable,
                __file__,
                "launch",
                str(folder),
                json.dumps(launch),
            ]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
            except subprocess.TimeoutExpired:
                row[tool] = "hangs"
                continue
            said = done.stdout + done.stderr
            count = pattern.search(said)
            row[tool] = int(count[1]) if count else "failed"
            if not count or int(count[1]):
                row[f"{tool} text"] = said[:600]
            warnings = _WARNINGS.search(said) if tool == "racecheck" else None
            if warnings:
                row["warnings"] = int(warnings[1])
        return row

    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(judged, launches))
    text = json.dumps(rows, indent=1) + "\n"
    print(text) if save is None else save.write_text(text, encoding="utf-8")
    for tool in ("racecheck", "synccheck"):
        reported = sum(row[tool] not in (0, "failed") for row in rows)
        failed = sum(row[tool] == "failed" for row in rows)
        print(f"{tool}: {reported} of {len(rows)} launches reported, {failed} failed")
    return 0


def _launch(launch: dict[str, object], folder: Path) -> int:
    """Run one kernel once, with one block."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments: object) -> None:
        code = getattr(cuda, name)(*arguments)
        if code:
            print(f"{name}: {code}")
            sys.exit(1)

    device, context, module, function = (
        ctypes.c_int(),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
    )
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoad", ctypes.byref(module), str(folder / str(launch["file"])).encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, str(launch["kernel"]).encode())
    values: list[ctypes.c_uint32 | ctypes.c_uint64] = []
    numbers = (ctypes.c_uint32 * (_BYTES // 4))(*((7 * i) & 63 for i in range(4096)))
    for kind in str(launch["parameters"]):
        if kind == "i":
            values.append(ctypes.c_uint32(_SIZE))
            continue
        pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(_BYTES))
        call("cuMemcpyHtoD_v2", pointer, numbers, ctypes.c_size_t(_BYTES))
        values.append(pointer)
    arguments = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(each) for each in values))
    block, shared = int(str(launch["block"])), int(str(launch["shared"]))
    call("cuLaunchKernel", function, 1, 1, 1, block, 1, 1, shared, None, arguments, None)
    call("cuCtxSynchronize")
    return 0


if __name__ == "__main__":
    sys.exit(main())
