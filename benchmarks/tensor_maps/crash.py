"""Ask which wrong arguments crash the CUDA driver instead of being refused. Needs a GPU.

python -m benchmarks.tensor_maps.crash
"""

from __future__ import annotations

import subprocess
import sys

CASES = [
    (kind, name, value)
    for kind in ("tiled", "im2col", "im2col_wide")
    for name, value in (
        ("rank", 64),
        ("rank", 1 << 20),
        ("rank", (1 << 32) - 1),
        ("dtype", -1),
        ("dtype", 255),
        ("dtype", 1 << 30),
        ("interleave", -1),
        ("interleave", 1 << 30),
        ("swizzle", -1),
        ("swizzle", 1 << 30),
        ("l2", -1),
        ("oob", -1),
    )
]


def main() -> None:
    """Ask each case in a process of its own."""
    if len(sys.argv) > 1:
        from benchmarks.tensor_maps.cuda_driver import Driver
        from benchmarks.tensor_maps.questions import ask, base

        kind, name, value = sys.argv[1:]
        print(ask(Driver(), kind, [base(kind) | {name: int(value)}])[0])
        return
    for case in CASES:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.tensor_maps.crash", *map(str, case)],
            capture_output=True,
            text=True,
            check=False,
        )
        print(*case, "exit code", done.returncode, "result", done.stdout.strip())


if __name__ == "__main__":
    main()
