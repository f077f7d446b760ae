"""Run one of these modules where ptxcheck's own dependencies are missing.

    python benchmarks/tensor_maps/bare.py campaign --rows 300000 --out DIR

The model needs NumPy alone, but importing `ptxcheck` brings the rest of the package; here it is a bare
namespace.
"""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Put a bare `ptxcheck` in place and run the module named on the command line."""
    sys.path.insert(0, str(ROOT))
    package = types.ModuleType("ptxcheck")
    package.__path__ = [str(ROOT / "ptxcheck")]
    sys.modules["ptxcheck"] = package
    del sys.argv[0]
    runpy.run_module(f"benchmarks.tensor_maps.{sys.argv[0]}", run_name="__main__")


if __name__ == "__main__":
    main()
