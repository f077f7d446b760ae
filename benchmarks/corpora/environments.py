"""Virtual environments under the cache, each with the few wheels that a group needs.

Every install is without dependencies: the sources of FlashInfer are wanted, not PyTorch. Kernels in the CuTe DSL want
the PyTorch that has no CUDA, whose index has to be known to pip (`CPU_WHEELS`).
"""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

from .process import run
from .store import Cache

INSTALL_TIMEOUT = 1800.0

CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
"""Where PyTorch without CUDA is, for a pip that is not told of it: `PIP_EXTRA_INDEX_URL`."""

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "sources": (
        "apache-tvm-ffi==0.1.15.post2",
        "flashinfer-python==0.7.2.post1",
        "nvidia-cublas==13.10.0.20",
        "nvidia-cuda-cccl==13.3.5.0.6",
        "nvidia-cuda-crt==13.5.37",
        "nvidia-cuda-nvcc==13.5.37",
        "nvidia-cuda-runtime==13.5.37",
        "nvidia-curand==10.4.5.25",
        "nvidia-cutlass==4.2.0.0",
        "nvidia-nvvm==13.5.37",
    ),
    "tilelang": (
        "--extra-index-url=https://download.pytorch.org/whl/cpu",
        "apache-tvm-ffi==0.1.12",
        "cloudpickle==3.1.2",
        "filelock==4.2.12",
        "fsspec==2026.9.0",
        "jinja2==3.1.6",
        "markupsafe==3.0.4",
        "ml-dtypes==0.6.0",
        "mpmath==1.3.0",
        "networkx==3.6.1",
        "numpy==2.4.6",
        "psutil==7.2.2",
        "sympy==1.14.0",
        "tilelang==0.1.15",
        "torch==2.13.0+cpu",
        "torch-c-dlpack-ext==0.1.5",
        "tqdm==4.70.1",
        "typing-extensions==4.16.0",
        "z3-solver==4.15.4.0",
    ),
    "triton": ("triton==3.9.0",),
    "jit_libraries": (
        "adasplash==0.2.2",
        "conch-triton-kernels==1.3",
        "einops==0.8.2",
        "filelock==4.2.12",
        "fla-core==0.6.0",
        "flag-gems==5.0.2",
        "flash-linear-attention==0.6.0",
        "fsspec==2026.9.0",
        "gemlite==0.6.0.post2",
        "greenlet",
        "jinja2==3.1.6",
        "liger-kernel==0.8.5",
        "markupsafe==3.0.4",
        "mpmath==1.3.0",
        "networkx==3.6.1",
        "ninja",
        "numpy==2.4.6",
        "packaging",
        "pyyaml",
        "sqlalchemy",
        "sympy==1.14.0",
        "torch==2.13.0+cpu",
        "triton==3.9.0",
        "typing-extensions==4.16.0",
    ),
    "cute_dsl": (
        "apache-tvm-ffi==0.1.15.post2",
        "cuda-bindings==13.5.0",
        "cuda-pathfinder==1.9.0",
        "einops==0.8.2",
        "filelock==4.2.12",
        "fsspec==2026.9.0",
        "jinja2==3.1.6",
        "markupsafe==3.0.4",
        "mpmath==1.3.0",
        "networkx==3.6.1",
        "numpy==2.4.6",
        "nvidia-cutlass-dsl==4.8.1",
        "nvidia-cutlass-dsl-libs-base==4.8.1",
        "nvidia-cutlass-dsl-libs-core==4.8.1",
        "nvidia-cutlass-dsl-libs-cu12==4.8.1",
        "protobuf==7.36.2",
        "quack-kernels==0.6.5",
        "sympy==1.14.0",
        "torch==2.13.0+cpu",
        "torch-c-dlpack-ext==0.1.5",
        "triton==3.9.0",
        "typing-extensions==4.16.0",
    ),
}


class SetupError(RuntimeError):
    """An environment could not be made; the text says why."""


def ensure(cache: Cache, name: str) -> Path:
    """The Python of the environment `name`, made and filled when it is not there yet."""
    folder = cache.environment(name)
    python = folder / "bin" / "python"
    stamp = folder / "installed.json"
    wanted = list(REQUIREMENTS[name])
    if stamp.is_file() and json.loads(stamp.read_text(encoding="utf-8")) == wanted:
        return python
    if not python.exists():
        venv.create(folder, with_pip=True)
    print(f"installing into {folder}: {' '.join(wanted)}", file=sys.stderr)
    ran = run([python, "-m", "pip", "install", "--quiet", "--no-deps", *wanted], timeout=INSTALL_TIMEOUT)
    if not ran.ok:
        raise SetupError(f"pip could not fill the environment {name}:\n{ran.message}")
    stamp.write_text(json.dumps(wanted), encoding="utf-8")
    return python


def packages(cache: Cache, name: str) -> Path:
    """The site-packages folder of an environment."""
    ensure(cache, name)
    return next((cache.environment(name) / "lib").glob("python3.*/site-packages"))
