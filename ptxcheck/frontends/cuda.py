"""CUDA sources to PTX through nvcc, from PATH or the wheels of the `cuda` extra; never through a shell."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..runtime.scratch import scratch_folder
from .missing_headers import advice_for

DEFAULT_ARCH = "sm_90a"
DEFAULT_TIMEOUT = 600.0

NO_NVCC = (
    "no nvcc on PATH or in the installed wheels: install a CUDA toolkit, or `pip install 'ptxcheck[cuda]'`"
)


@dataclass(frozen=True, slots=True)
class NvccOptions:
    """How CUDA sources are compiled."""

    args: tuple[str, ...] = ()
    """Passed on as they are, after everything else."""
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    arch: str | None = None
    compile_commands: str | None = None
    """A `compile_commands.json`, or the folder that holds one."""
    compiler: str | None = None
    """The nvcc to use in place of the one that is found."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds that one compilation may take."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX of a CUDA source, and the files that went into it."""

    data: bytes
    dependencies: tuple[str, ...]


class CompileError(Exception):
    """nvcc could not run or refused the source; `output` is what it printed."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


def find_nvcc(chosen: str | None = None) -> str:
    """Return the path of nvcc, or of the one that was chosen. Raises CompileError when there is none."""
    if chosen is not None:
        found = shutil.which(chosen)
        if found is None:
            raise CompileError(f"{chosen} is no program that can be run")
        return found
    on_path = shutil.which("nvcc")
    if on_path is not None:
        return on_path
    for folder in _wheel_folders():
        for candidate in sorted(folder.glob("*/bin/nvcc"), reverse=True):
            if os.access(candidate, os.X_OK):
                return str(candidate)
    raise CompileError(NO_NVCC)


def _wheel_folders() -> list[Path]:
    """Return where the `nvidia` wheels unpack: `nvidia/cu13/bin/nvcc` beside its headers and libraries."""
    spec = importlib.util.find_spec("nvidia")
    return [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]


def compile_cuda(path: str, flags: Sequence[str], options: NvccOptions) -> Compiled:
    """Compile one CUDA source to PTX with line information. Raises CompileError."""
    nvcc = find_nvcc(options.compiler)
    with scratch_folder() as folder:
        ptx = os.path.join(folder, "out.ptx")
        dependencies = os.path.join(folder, "out.d")
        source = os.path.join(".", path) if path[0] in "-@" else path  # nvcc would read these as flags
        command = [nvcc, *flags, *_option_flags(options), "-ptx", "-lineinfo"]
        command += ["-MMD", "-MF", dependencies, "-o", ptx, source]
        status, output = _run(command, {**os.environ, "TMPDIR": folder}, options.timeout)
        if status != 0:
            advice = advice_for(output)
            why = f": {advice}" if advice else f" (exit code {status})"
            raise CompileError(f"nvcc failed{why}", output)
        try:
            return Compiled(Path(ptx).read_bytes(), _read_dependencies(dependencies))
        except OSError as error:
            raise CompileError(f"nvcc wrote no PTX: {error.strerror}", output) from error


def _option_flags(options: NvccOptions) -> list[str]:
    flags = [f"-I{folder}" for folder in options.includes]
    flags += [f"-D{name}" for name in options.defines]
    if options.arch is not None:
        flags.append(f"-arch={options.arch}")
    return [*flags, *options.args]


def names_architecture(flags: Sequence[str]) -> bool:
    """Tell whether nvcc flags choose an architecture."""
    heads = ("-arch", "--gpu-architecture", "-gencode", "--generate-code")
    return any(flag.split("=", 1)[0] in heads for flag in flags)


def _run(command: Sequence[str], environment: Mapping[str, str], timeout: float) -> tuple[int, str]:
    """Run a command in a process group of its own; return its exit status and what it printed."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CompileError(f"nvcc cannot be run: {error}") from error
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise CompileError(f"nvcc took longer than {timeout:g} s and was stopped") from error
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode, output.decode("utf-8", errors="replace")


def _read_dependencies(path: str) -> tuple[str, ...]:
    """Return the prerequisites of a make rule, spaces escaped by a backslash."""
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    _, _, listed = text.replace("\\\n", " ").partition(" : ")
    names = listed.replace("\\ ", "\0").split()
    return tuple(name.replace("\0", " ") for name in names)
