"""Which package has a header that a compilation lacked.

Checked against the wheels of CUDA 13 (`nvidia-cuda-runtime`, `-crt`, `-cccl`) and the folders of a toolkit of 13.0.
"""

from __future__ import annotations

import re

_MISSING = re.compile(
    r"(?:fatal error: |cannot open source file [\"'])(?P<name>[\w./+-]+?)(?:: No such file or directory|[\"'])"
)
_RUNTIME = re.compile(
    r"(?:cuda(?:_\w+)?|cuda\w*Typedefs|cudart_platform|mma|vector_(?:types|functions)|driver_types|device_\w+"
    r"|host_(?:defines|config)|math_(?:functions|constants)|library_types|(?:surface|texture)_\w+|sm_\d+_\w+"
    r"|cooperative_groups)\.(?:h|hpp)\Z|cooperative_groups/"
)
_PIP = "pip install '{package}', or the toolkit's package {toolkit}"
_PACKAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"crt/"), _PIP.format(package="nvidia-cuda-crt>=13", toolkit="cuda-crt")),
    (re.compile(r"(?:cuda|cub|thrust|nv)/"), _PIP.format(package="nvidia-cuda-cccl>=13", toolkit="cuda-cccl")),
    (_RUNTIME, _PIP.format(package="nvidia-cuda-runtime>=13", toolkit="cuda-cudart-dev")),
    (re.compile(r"curand"), _PIP.format(package="nvidia-curand", toolkit="libcurand-dev")),
    (re.compile(r"cublas"), _PIP.format(package="nvidia-cublas", toolkit="libcublas-dev")),
    (re.compile(r"nvtx3/|nvToolsExt"), _PIP.format(package="nvidia-nvtx", toolkit="cuda-nvtx")),
    (re.compile(r"(?:cutlass|cute)/"), "pass CUTLASS's folder, -I cutlass/include (from its repository)"),
    (re.compile(r"(?:torch|ATen|c10)/"), "pass what torch.utils.cpp_extension.include_paths() lists, with -I"),
)  # fmt: skip
_OWN = "it is in no package of CUDA: pass the folder that has it with -I DIR, or --compile-commands"
_ALL = "; `pip install 'ptxcheck[cuda]'` brings all that small kernels need"


def advice_for(output: str) -> str:
    """Return what to do about the first header that nvcc did not find, "" when it lacked none."""
    found = _MISSING.search(output)
    if found is None:
        return ""
    name = found["name"]
    for pattern, package in _PACKAGES:
        if pattern.match(name):
            more = _ALL if package.startswith("pip install 'nvidia-cuda-") else ""
            return f"{name} is missing: {package}{more}"
    return f"{name} is missing: {_OWN}"
