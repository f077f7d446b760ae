"""Runs in the environment of the CuTe DSL: compile cases with no GPU, one JSON line for each case.

python -m benchmarks.corpora.cute_dsl_worker list
python -m benchmarks.corpora.cute_dsl_worker build CASE OUTPUT

Arguments of the kernels are fake tensors with symbolic sizes. The cluster that the host launches is no part of this
PTX, so it is part of the unit's name, and a case that launches another one fails. The folder of CUTLASS' examples
comes in `CUTE_DSL_EXAMPLES`.
"""
# mypy: ignore-errors

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
from pathlib import Path

from .store import digest_of


def main(arguments: list[str]) -> int:
    command, *rest = arguments
    from .cute_dsl_cases import CASES, VERSIONS

    if command == "list":
        for case in CASES:
            print(json.dumps([case.name, case.target, case.unit, _digest(case, VERSIONS)]))
        return 0
    name, output = rest
    (case,) = (case for case in CASES if case.unit == name)
    Path(output).write_text(compile_case(case), encoding="utf-8")
    return 0


def compile_case(case) -> str:
    """The PTX of a case; its environment variables have to be set before the DSL is imported."""
    with tempfile.TemporaryDirectory() as folder:
        capability = case.target.removeprefix("sm_").rstrip("af")
        os.environ.update(
            CUTE_DSL_ARCH=case.target,
            CUTE_DSL_DISABLE_FILE_CACHING="1",
            CUTE_DSL_DUMP_DIR=folder,
            CUTE_DSL_KEEP="ptx",
            QUACK_ARCH=capability,
            QUACK_CACHE_ENABLED="0",
        )
        clusters = _record_clusters()
        _be_a_device()
        case.make()
        made = sorted(Path(folder).glob("*.ptx"))
        if len(made) != 1:
            raise ValueError(f"{case.unit}: {len(made)} files of PTX: {[path.name for path in made]}")
        if clusters != {case.cluster}:
            raise ValueError(f"{case.unit}: the host launches clusters {sorted(clusters)}")
        return made[0].read_text(encoding="utf-8").replace("\x00", "")


def _be_a_device() -> None:
    """Answer what host code asks of the device, for which the driver would be needed."""
    from cutlass.utils import HardwareInfo

    HardwareInfo.__init__ = lambda self, device_id=0: None
    HardwareInfo.get_device_multiprocessor_count = lambda self: 132
    HardwareInfo.get_max_active_clusters = lambda self, cluster_size, stream=None: 132 // cluster_size


def _record_clusters() -> set[tuple[int, ...]]:
    """Make the DSL note the shape of each cluster that host code launches."""
    from cutlass.base_dsl.dsl import BaseDSL

    seen: set[tuple[int, ...]] = set()
    config = BaseDSL.LaunchConfig
    finish = config.__post_init__

    def noting(self) -> None:
        cluster = self.cluster
        seen.add((1, 1, 1) if cluster is None else tuple(int(extent) for extent in cluster))
        finish(self)

    config.__post_init__ = noting
    return seen


def _digest(case, versions: str) -> str:
    """Changes with the function that compiles the case, its arguments, and the versions of the packages."""
    return digest_of(versions, inspect.getsource(case.make.func), repr((case.make.args, case.make.keywords)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
