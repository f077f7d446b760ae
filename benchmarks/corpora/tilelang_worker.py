"""Runs in TileLang's environment: lower cases to CUDA sources with no GPU.

python -m benchmarks.corpora.tilelang_worker list
python -m benchmarks.corpora.tilelang_worker lower CASE TARGET OUTPUT
python -m benchmarks.corpora.tilelang_worker includes
"""
# mypy: ignore-errors

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

from .store import digest_of


def main(arguments: list[str]) -> int:
    command, *rest = arguments
    if command == "includes":
        from tilelang.env import CUTLASS_INCLUDE_DIR, TILELANG_TEMPLATE_PATH

        print(json.dumps([TILELANG_TEMPLATE_PATH, CUTLASS_INCLUDE_DIR]))
        return 0
    from .tilelang_kernels import CASES

    cases = {case.name: case for case in CASES}
    if command == "list":
        for case in cases.values():
            for target in case.targets:
                print(json.dumps([case.name, target, case.unit(target), _digest(case, target)]))
        return 0
    name, target, output = rest
    Path(output).write_text(lower(cases[name], target), encoding="utf-8")
    return 0


def lower(case, target: str) -> str:
    """The CUDA source that TileLang writes for one case."""
    import tilelang
    from tilelang import tvm

    wanted = tvm.target.Target({"kind": "cuda", "arch": target})
    with tvm.transform.PassContext(opt_level=3, config=case.settings), wanted:
        return tilelang.lower(case.make(**case.arguments), target=wanted).kernel_source


def _digest(case, target: str) -> str:
    """Changes with the function that makes the kernel, its arguments and the settings."""
    import tilelang

    how = [case.arguments, case.settings, target, tilelang.__version__]
    return digest_of(inspect.getsource(case.make), repr(how))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
