"""Runs in Triton's environment: compile cases with no GPU, one JSON line for each result.

python -m benchmarks.corpora.triton_worker list MODULE
python -m benchmarks.corpora.triton_worker build MODULE CASE TARGET OUTPUT PTX_VERSION [unspecialised]

Beside the PTX lies what Triton's own cache has there: the same name with `.ttir`, of Gluon `.ttgir`. With
`unspecialised` the compiler is not told which arguments are multiples of what.
"""
# mypy: ignore-errors

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from .cases import Case, target_name
from .store import digest_of


def main(arguments: list[str]) -> int:
    command, module, *rest = arguments
    cases = {case.name: case for case in importlib.import_module(f"{__package__}.{module}").CASES}
    if command == "list":
        for case in cases.values():
            for target in case.targets:
                print(json.dumps([case.name, target, target_name(target), case.unit(target), _digest(case)]))
        return 0
    name, target, output, ptx_version, *how = rest
    made = compile_case(cases[name], int(target), int(ptx_version), specialised=how != ["unspecialised"])
    for kind in ("ttir" if "ttir" in made else "ttgir", "ptx"):
        Path(output).with_suffix(f".{kind}").write_text(made[kind], encoding="utf-8")
    return 0


def compile_case(case: Case, target: int, ptx_version: int, *, specialised: bool = True) -> Mapping[str, str]:
    """The texts that Triton makes of one case for one compute capability, by kind."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.experimental.gluon import GluonASTSource

    signature, attributes = _signature(case)
    attributes = attributes if specialised else {}
    constants = {(case.kernel.arg_names.index(name),): value for name, value in case.constants.items()}
    source_class = GluonASTSource if case.kernel.is_gluon() else ASTSource
    source = source_class(case.kernel, signature, constants, attributes)
    options = {
        "num_warps": case.warps,
        "num_ctas": case.ctas,
        "ptx_version": ptx_version,
        "debug": case.debug,
    }
    if not case.kernel.is_gluon():
        options["num_stages"] = case.stages
    compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options=options)
    return compiled.asm


def _digest(case: Case) -> str:
    """Changes with the kernel, what it calls, its place in the file, and how it is compiled."""
    how = [case.types, case.constants, case.layouts, case.warps, case.stages, case.ctas, case.debug]
    return digest_of(case.kernel.cache_key, repr(how))


def _signature(case: Case) -> tuple[dict[str, str], dict[tuple[int, ...], list[list[object]]]]:
    types = iter(case.types.split())
    layouts = iter(case.layouts)
    signature: dict[str, str] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for index, name in enumerate(case.kernel.arg_names):
        if name in case.constants:
            signature[name] = "constexpr"
            continue
        kind, _, multiple = next(types).partition(":")
        if kind.startswith(("map<", "im2col<")):
            kind = _descriptor(kind, next(layouts, None))
        signature[name] = kind
        if kind.startswith("*") or multiple:
            attributes[(index,)] = [["tt.divisibility", int(multiple or 16)]]
    if next(types, None) is not None:
        raise ValueError(f"{case.name}: more types than arguments")
    return signature, attributes


def _descriptor(kind: str, layout: object) -> str:
    """`map<fp16[128,64]>` or `im2col<…>` as Triton spells the type."""
    mode, _, inner = kind.removesuffix(">").partition("<")
    if mode == "im2col":
        return f"tensordesc_im2col<{inner},input_rank=4,{layout!r}>"
    return f"tensordesc<{inner}{f',{layout!r}' if layout is not None else ''}>"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
