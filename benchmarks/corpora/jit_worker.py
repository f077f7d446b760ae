"""Runs in the environment of Triton libraries: finds a package's kernels by import, and compiles them with no GPU.

python -m benchmarks.corpora.jit_worker list MODULE [PREFIX...]
python -m benchmarks.corpora.jit_worker build FOLDER PTX_VERSION CAPABILITY@NAME...

One JSON line a kernel. `list` names every jitted function that no other one calls and that returns nothing. `build`
searches for arguments with which the front end takes the kernel (`jit_guesses`), and writes the PTX when the kernel
multiplies matrices, uses descriptors, or says itself how its loops are pipelined: Triton makes nothing asynchronous of
others. Each kernel is compiled in a process of its own, as the compiler may abort.
"""
# mypy: ignore-errors

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import json
import os
import re
import signal
import sys
import traceback
import types
import warnings
from pathlib import Path
from random import Random

from .cases import target_name
from .jit_guesses import Guess, first_guess, layers, next_guess, signature_of
from .jit_usage import Flow, usage_of
from .store import digest_of

MOST_TRIES = 40
MOST_CONFIGS = 4
SECONDS = 30
"""Of the processor, for the search of arguments and the compilation."""
SHARED_MEMORY = 232_448
TENSOR_COLUMNS = 512
WITHOUT_ROOT = ("mamba_ssm",)
"""Packages whose root imports what was compiled for a GPU; their modules are imported without it."""
IS_ASYNCHRONOUS = re.compile(r"mbarrier|cp\.async|wgmma|tcgen05")


def main(arguments: list[str]) -> int:
    command, *rest = arguments
    warnings.simplefilter("ignore")
    _be_a_device()
    sys.modules.update({name: _bare(name) for name in WITHOUT_ROOT if importlib.util.find_spec(name)})
    if command == "list":
        for line in _listed(rest[0], rest[1:]):
            print(json.dumps(line), flush=True)
        return 0
    folder, version, *units = rest
    for unit in units:
        capability, _, name = unit.partition("@")
        with Silence(), contextlib.suppress(BaseException):  # the child says what is wrong
            importlib.import_module(name.partition(":")[0])
        line = _in_own_process(_build, Path(folder), name, int(capability), int(version))
        print(json.dumps({"name": name, "target": int(capability), **line}), flush=True)
    return 0


def _be_a_device() -> None:
    """Answer what libraries ask of the device when they are imported."""
    import torch
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class Driver(DriverBase):
        def __init__(self) -> None:
            self.get_current_stream = lambda device=None: 0
            self.get_current_device = lambda: 0
            self.set_current_device = lambda device: None
            self.get_device_capability = lambda device=None: (9, 0)

        is_active = classmethod(lambda cls: True)

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self):
            return GPUTarget("cuda", 90, 32)

        def get_active_torch_device(self):
            return torch.device("cpu")

        def get_benchmarker(self):
            return lambda call, quantiles=None: [1.0, 1.0, 1.0]

    triton.runtime.driver.set_active(Driver())
    numbers = {
        "major": 9, "minor": 0, "multi_processor_count": 132, "name": "NVIDIA H100", "warp_size": 32,
        "total_memory": 80 << 30, "shared_memory_per_block_optin": SHARED_MEMORY, "L2_cache_size": 50 << 20,
        "max_threads_per_multi_processor": 2048, "shared_memory_per_multiprocessor": 233_472,
        "regs_per_multiprocessor": 65_536, "gcnArchName": "",
    }  # fmt: skip
    device = type("Device", (), numbers)()
    for name, value in {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_capability": (9, 0),
        "get_device_properties": device, "get_device_name": "NVIDIA H100", "init": None, "_lazy_init": None,
        "is_bf16_supported": True, "synchronize": None,
    }.items():  # fmt: skip
        setattr(torch.cuda, name, lambda *_, _value=value, **__: _value)
    os.environ.setdefault("GEMS_VENDOR", "nvidia")

    class OnHost(torch.overrides.TorchFunctionMode):
        """Tensors that a library makes for itself at import lie on the host."""

        def __torch_function__(self, function, types, arguments=(), named=None):
            named = dict(named or {})
            if "cuda" in str(named.get("device", "")):
                named["device"] = "cpu"
            return function(*arguments, **named)

    OnHost().__enter__()


def _bare(name: str) -> types.ModuleType:
    package = types.ModuleType(name)
    package.__spec__ = importlib.util.find_spec(name)
    package.__path__ = list(package.__spec__.submodule_search_locations)
    return package


def _listed(module: str, prefixes: list[str]):
    """Every kernel of a package, and modules that cannot be imported."""
    found, wrapped = {}, {}
    for name in _modules(module, prefixes):
        try:
            with Silence():
                imported = importlib.import_module(name)
        except BaseException as error:  # some raise SystemExit
            yield {"module": name, "error": f"{type(error).__name__}: {error}"[:300]}
            continue
        for attribute, value in sorted(vars(imported).items()):
            if isinstance(value, type) or not hasattr(value, "fn"):
                continue
            try:
                function, _, _ = layers(value)
            except Exception:  # an object that answers to every name
                continue
            if function is not None and (function.__module__ or "").startswith(module):
                key = (function.__module__, function.__qualname__)
                if key not in wrapped or function.__module__ == name:
                    found[key], wrapped[key] = function, f"{name}:{attribute}"
    usages, called = {}, set()
    for key, function in sorted(found.items()):
        try:
            called |= usage_of(function, usages).called
        except Exception as error:
            yield {"module": wrapped[key], "error": f"{type(error).__name__}: {error}"[:300]}
    for key, function in sorted(found.items()):
        usage = usages.get(id(function))
        if usage is None or function.is_gluon():
            continue
        kind = "helper" if id(function) in called or usage.returns else "kernel"
        yield {
            "name": wrapped[key],
            "kind": kind,
            "dot": usage.has_dot,
            "digest": digest_of(function.cache_key),
        }


def _modules(module: str, prefixes: list[str]):
    """Names of a package's modules, by its folders: importing is not needed for that."""
    places = list(importlib.util.find_spec(module).submodule_search_locations or ())
    yield module
    for place in places:
        for path in sorted(Path(place).rglob("*.py")):
            parts = path.relative_to(place).with_suffix("").parts
            if parts[-1] in ("__init__", "__main__"):
                parts = parts[:-1]
            name = ".".join((module, *parts))
            is_wanted = "test" not in name and (not prefixes or name.startswith(tuple(prefixes)))
            if parts and all(part.isidentifier() for part in parts) and is_wanted:
                yield name


class Silence:
    """Keeps what libraries print at import out of the answer."""

    def __enter__(self):
        self.kept = os.dup(1)
        os.dup2(2, 1)

    def __exit__(self, *_):
        sys.stdout.flush()
        os.dup2(self.kept, 1)
        os.close(self.kept)


def _in_own_process(work, *arguments) -> dict:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        os.dup2(2, 1)
        try:
            answer = work(*arguments)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = {
                "error": f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            }
        with os.fdopen(write, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if not text:
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return {
            "error": f"time is over ({SECONDS} s)"
            if killed == signal.SIGPROF
            else f"the compiler died ({killed})"
        }
    return json.loads(text)


def _build(folder: Path, name: str, capability: int, version: int) -> dict:
    module, _, attribute = name.partition(":")
    with Silence():
        wrapped = getattr(importlib.import_module(module), attribute)
    function, configs, heuristics = layers(wrapped)
    usage = usage_of(function, {})
    random = Random(name)
    piped = [each for each in configs if each.get("num_stages", 3) > 1] or configs or [{}]
    random.shuffle(piped)
    errors = []
    for config in piped[:MOST_CONFIGS]:
        answer = _try_config(
            function, config, heuristics, usage, capability, version, Random(name), folder, name
        )
        if "error" not in answer:
            return answer
        errors.append(answer["error"])
        if answer.get("is_front_end"):
            break
    return {"error": errors[-1][-600:]}


def _try_config(function, config, heuristics, usage, capability, version, random, folder, name) -> dict:
    compiler = _Compiler(function, capability, version)
    guess = first_guess(function, config, heuristics, usage)
    tried, best, best_line, suspects = {guess.key()}, guess, -1, []
    flow = Flow(function.parse().body[0], set(function.arg_names))
    error = "no guess"
    for attempt in range(MOST_TRIES):
        try:
            compiler.front_end(guess)
            break
        except Exception as raised:
            line, found, error = _blame(raised, flow)
        if line > best_line or attempt == 0:
            best, best_line, suspects = guess, line, found
        for _ in range(20):
            changed = next_guess(best, suspects, function, heuristics, usage, random)
            if changed is not None and changed.key() not in tried:
                break
        else:
            return {"error": error, "is_front_end": True}
        guess = changed
        tried.add(guess.key())
    else:
        return {"error": error, "is_front_end": True}
    if not compiler.may_be_asynchronous():
        return {"skipped": "no matrix product, descriptor or pipelined loop"}
    text, metadata = compiler.ptx()
    if metadata["shared"] > SHARED_MEMORY or (metadata.get("tmem_size") or 0) > TENSOR_COLUMNS:
        return {
            "error": f"takes {metadata['shared']} bytes of shared memory, {metadata.get('tmem_size')} columns"
        }
    if not IS_ASYNCHRONOUS.search(text):
        return {"skipped": "nothing asynchronous"}
    unit = f"{name.replace(':', '.')}.{target_name(capability)}"
    (folder / f"{unit}.ptx").write_text(text, encoding="utf-8")
    how = {each: repr(getattr(value, "value", value)) for each, value in guess.chosen.items()}
    return {
        "unit": unit,
        "how": how,
        "options": guess.options,
        "warps": metadata["num_warps"],
        "tries": len(tried),
    }


class _Compiler:
    """The stages of Triton's compiler up to PTX."""

    def __init__(self, function, capability: int, version: int) -> None:
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend

        self.function = function
        self.target = GPUTarget("cuda", capability, 32)
        self.backend = make_backend(self.target)
        self.version = version
        self.module = None

    def front_end(self, guess: Guess) -> None:
        """Make Triton's IR, or raise what the front end says."""
        from triton._C.libtriton import ir
        from triton.compiler import ASTSource

        signature, constants, attributes = signature_of(self.function, guess)
        source = ASTSource(self.function, signature, constants, attributes)
        options = {name: value for name, value in guess.options.items() if value is not None}
        self.options = self.backend.parse_options(options | {"ptx_version": self.version})
        self.source = source
        self.context = ir.context()
        ir.load_dialects(self.context)
        self.backend.load_dialects(self.context)
        generators = self.backend.get_codegen_implementation(self.options)
        modules = self.backend.get_module_map()
        self.module = source.make_ir(self.target, self.options, generators, modules, self.context)

    def may_be_asynchronous(self) -> bool:
        return (
            re.search(r"tt\.dot|descriptor|tt\.num_stages|tt\.warp_specialize", str(self.module)) is not None
        )

    def ptx(self):
        stages: dict = {}
        self.backend.add_stages(stages, self.options, self.source.language)
        metadata = {"target": self.target, **self.options.__dict__}
        module = self.module
        for kind, stage in stages.items():
            module = stage(module, metadata)
            if kind == "ptx":
                return module, metadata
        raise ValueError("no stage makes PTX")


def _blame(error: Exception, flow: Flow) -> tuple[int, list[str], str]:
    """The line of the kernel that an error is about, parameters that it depends on, and the innermost message."""
    line, suspects = 0, []
    node = getattr(error, "node", None)
    if isinstance(node, ast.AST) and hasattr(node, "lineno"):
        line = node.lineno
        suspects = flow.sources(node)
    inner = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    message = getattr(inner, "error_message", None) or str(inner)
    named = re.findall(r"'(\w+)'", message)
    suspects = [name for name in named if name in flow.parameters] + suspects
    return line, list(dict.fromkeys(suspects)), f"{type(inner).__name__}: {' '.join(message.split())[:400]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
