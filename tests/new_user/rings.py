"""The ring of a new user in ten forms: right or with one of four faults, with `__launch_bounds__` or a host launch.

Without nvcc the PTX of each form is the one that is stored here, and a program of the same name hands it out.
`python -m tests.new_user.rings` stores it anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent
STORED = FOLDER / "ptx"
ROOT_DEMO = FOLDER.parent.parent / "corpus" / "demo"
"""The ring of the README."""
_FILE = "@ring.cu@"
"""In stored PTX, the path of the source."""

FAULTS: Mapping[str, tuple[str, str]] = {
    "nothing": ("", ""),
    "a wrong parity": ("wait(&full[stage], round & 1);", "wait(&full[stage], (round & 1) ^ 1);"),
    "a wrong parity of the producer": (
        "wait(&empty[stage], (round & 1) ^ 1);",
        "wait(&empty[stage], round & 1);",
    ),
    "a wrong arrival count": ("init(&empty[i], CONSUMERS);", "init(&empty[i], CONSUMERS + 32);"),
    "wrong bytes": ("expect(&full[stage], TILE * sizeof(float));", "expect(&full[stage], TILE * 2);"),
    "a missing release": ("      arrive(&empty[stage]);\n", ""),
}
"""What is right, and what stands there instead."""
BOUNDS = "__launch_bounds__(CONSUMERS + 32) "
STYLES = ("bounds", "launch")


def ring(fault: str, style: str) -> str:
    """Return the source of a ring with a fault, in a style."""
    right, wrong = FAULTS[fault]
    text = (FOLDER / "ring.cu").read_text(encoding="utf-8")
    assert right in text
    text = text.replace(right, wrong, 1)
    if style == "launch":
        text = text.replace(BOUNDS, "") + (FOLDER / "main.cu").read_text(encoding="utf-8")
    return text


def stored_path(fault: str, style: str) -> Path:
    """Return where the PTX of a form is stored."""
    return STORED / f"{style}.{fault.replace(' ', '_')}.ptx"


def install(folder: Path) -> str:
    """Write a program called nvcc that hands out stored PTX; return a PATH on which it comes first."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {
        hashlib.sha256(ring(fault, style).encode()).hexdigest(): str(stored_path(fault, style))
        for fault in FAULTS
        for style in STYLES
    }
    script = folder / "nvcc"
    script.write_text(
        f"#!{sys.executable}\n"
        "import hashlib, os, sys\n"
        f"known = {known!r}\n"
        "source = sys.argv[-1]\n"
        "stored = known.get(hashlib.sha256(open(source, 'rb').read()).hexdigest())\n"
        "if stored is None: sys.exit('this is no form of the ring')\n"
        "value = dict(zip(sys.argv, sys.argv[1:]))\n"
        f"text = open(stored).read().replace({_FILE!r}, os.path.abspath(source))\n"
        "open(value['-o'], 'w').write(text)\n"
        "open(value['-MF'], 'w').write(f'ring.ptx : {source}')\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def compiled(fault: str, style: str) -> str:
    """Return what nvcc makes of a form."""
    return compiled_text(ring(fault, style), "ring.cu")


def compiled_text(text: str, name: str) -> str:
    """Return what nvcc makes of a source, without what differs from one release or machine to the next."""
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name
        source.write_text(text, encoding="utf-8")
        made = source.with_suffix(".ptx")
        command = [nvcc, "-arch=sm_90a", "-ptx", "-lineinfo", "-o", str(made), str(source)]
        subprocess.run(command, check=True)
        text = made.read_text(encoding="utf-8").replace(str(source), f"@{name}@")
    return re.sub(r'"/[^"]*/(\w+\.hpp)"', r'"/cuda/include/\1"', text)


if __name__ == "__main__":
    STORED.mkdir(exist_ok=True)
    for a_fault in FAULTS:
        for a_style in STYLES:
            stored_path(a_fault, a_style).write_text(compiled(a_fault, a_style), encoding="utf-8")
