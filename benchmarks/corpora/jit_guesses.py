"""Plausible arguments for a Triton kernel that nobody has read: from its decorators, its defaults and its names.

A guess gives each parameter a type (`*bf16`, `i32`, …) or a constant. `first_guess` is made from what the library
itself says (a configuration of its autotuner, heuristics, defaults) and, where it says nothing, from how the source
uses the name (`jit_usage`). `next_guess` changes one parameter that the compiler's error may be about.
"""
# mypy: ignore-errors

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .jit_usage import Usage

INTEGERS = re.compile(
    r"seqlen|indices|index|idx|offset|lens|label|target_|targets|token|block_table|page|slot|_ids|^ids|cu_|counts?$"
)
REALS = re.compile(r"scale|eps|alpha|beta|dropout|^lr|softcap|smooth|weight_decay|temperature|^p$|sm_|gamma")
STRIDE = re.compile(r"^(?P<of>.*?)_?strides?_?(?P<rest>.*)$", re.I)
SMALL = {
    "BC": 16,
    "NC": 4,
    "NK": 1,
    "NV": 1,
    "NS": 2,
    "NT": 4,
    "H": 4,
    "HQ": 8,
    "HV": 4,
    "G": 2,
    "W": 4,
    "B": 2,
}
"""Constants that libraries of attention name so, and that are no size of a tile."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is known when the kernel is compiled."""

    value: Any


@dataclass(slots=True)
class Guess:
    """A value or a type for each parameter, and how the kernel is compiled."""

    chosen: dict[str, Any]
    options: dict[str, Any]
    fixed: frozenset[str] = field(default_factory=frozenset)
    """Parameters that the library itself gives a value."""

    def key(self) -> str:
        return repr(sorted((name, repr(value)) for name, value in self.chosen.items()))


def layers(wrapped: Any) -> tuple[Any, list[dict[str, Any]], dict[str, Any]]:
    """The jitted function under decorators, the configurations of its autotuner, and its heuristics."""
    from triton.runtime.jit import JITFunction

    configs: list[dict[str, Any]] = []
    heuristics: dict[str, Any] = {}
    while wrapped is not None and not isinstance(wrapped, JITFunction):
        for config in getattr(wrapped, "configs", None) or ():
            if hasattr(config, "all_kwargs"):
                configs.append(dict(config.all_kwargs()))
        values = getattr(wrapped, "values", None)
        if isinstance(values, dict):
            heuristics |= values
        wrapped = getattr(wrapped, "fn", None)
    return wrapped, configs, heuristics


def first_guess(function: Any, config: dict[str, Any], heuristics: dict[str, Any], usage: Usage) -> Guess:
    """What the library says, and for the rest what names and uses suggest."""
    options = {
        name: config[name] for name in ("num_warps", "num_stages", "num_ctas", "maxnreg") if name in config
    }
    chosen: dict[str, Any] = {}
    fixed: set[str] = set()
    for parameter in function.params:
        name = parameter.name
        if name in config and name not in options:
            chosen[name] = Constant(config[name])
            fixed.add(name)
        elif parameter.is_constexpr and name not in heuristics:
            if parameter.has_default and parameter.default is not None:
                chosen[name] = Constant(parameter.default)
            else:
                chosen[name] = choices(parameter, usage)[0]
        elif name not in heuristics:
            chosen[name] = choices(parameter, usage)[0]
    chosen |= _inner_strides(function, usage)
    guess = Guess(chosen, options, frozenset(fixed | set(heuristics)))
    return with_heuristics(guess, heuristics, function)


def with_heuristics(guess: Guess, heuristics: dict[str, Any], function: Any) -> Guess:
    """Let the library's own heuristics say what they say of the rest."""
    arguments = {name: _example(value) for name, value in guess.chosen.items()} | guess.options
    chosen = dict(guess.chosen)
    for name, rule in heuristics.items():
        if name not in function.arg_names:
            continue
        try:
            value = rule(arguments)
        except Exception:  # a heuristic that asks for more than there is here
            value = name.startswith(("IS_", "USE_", "EVEN_", "HAS_"))
        chosen[name] = Constant(value)
        arguments[name] = value
    return Guess({name: chosen[name] for name in function.arg_names}, guess.options, guess.fixed)


def next_guess(
    guess: Guess, suspects: list[str], function: Any, heuristics: dict[str, Any], usage: Usage, random: Random
) -> Guess | None:
    """Change one of the parameters that an error may be about."""
    parameters = {each.name: each for each in function.params}
    open_ = [name for name in suspects if name in parameters and name not in guess.fixed]
    if not open_:
        open_ = [name for name in parameters if name not in guess.fixed]
    if not open_:
        return None
    near = open_[: max(1, min(3, len(open_)))]
    name = random.choice(near if random.random() < 0.7 else open_)
    offered = [each for each in choices(parameters[name], usage) if repr(each) != repr(guess.chosen[name])]
    if not offered:
        return None
    weights = [1.0 / (1 + rank) for rank in range(len(offered))]
    chosen = guess.chosen | {name: random.choices(offered, weights)[0]}
    return with_heuristics(Guess(chosen, guess.options, guess.fixed), heuristics, function)


def choices(parameter: Any, usage: Usage) -> list[Any]:
    """Types or constants that a parameter may have, the most plausible first."""
    import triton.language as tl

    name = parameter.name
    if not parameter.is_constexpr:
        return _types(parameter, usage)
    if name in usage.texts:
        return [Constant(text) for text in dict.fromkeys(usage.texts[name])] + [Constant(""), Constant(None)]
    if re.search(r"dtype|_type$|^DT", name, re.I):
        return [Constant(each) for each in (tl.bfloat16, tl.float32, tl.float16, tl.int32)]
    if re.search(r"precision", name, re.I):
        return [Constant("tf32"), Constant("ieee"), Constant(None)]
    if name in usage.extents or re.match(r"BLOCK|^B[A-Z]$|.*BLOCK", name):
        return [Constant(each) for each in (SMALL.get(name, 64), 32, 128, 16, 1, 2, 256)]
    if name in usage.conditions or re.match(r"IS_|USE_|HAS_|EVEN_|STORE_|SAVE_|OUTPUT_|ENABLE_", name):
        return [Constant(each) for each in (_is_likely(name), not _is_likely(name), None, 1)]
    if re.search(r"activation", name, re.I):
        return [Constant(each) for each in ("", None, "silu", "relu")]
    if REALS.search(name.lower()):
        return [Constant(each) for each in (0.5, 1, None, False)]
    return [
        Constant(each) for each in (SMALL.get(name, 128), 64, 1, 0, False, True, None, 16, 4, 2, 1024, "")
    ]


def _types(parameter: Any, usage: Usage) -> list[Any]:
    name = parameter.name
    whole = "i32" if parameter.do_not_specialize else "i32:16"
    if name in usage.descriptors:
        return [f"tensordesc<bf16[{rows},{columns}]>" for rows in (64, 128, 32) for columns in (64, 128, 32)]
    integers, halves = ["*i32", "*i64"], ["*bf16", "*fp32", "*fp16"]
    if name in usage.pointers or re.search(r"_ptrs?$|ptr$", name.lower()):
        if re.search(r"mask", name.lower()):
            return ["*i1", *halves, *integers, "*i8", Constant(None)]
        first = [*integers, *halves] if INTEGERS.search(name.lower()) else [*halves, *integers]
        return [*first, Constant(None), "*u8", "*i8", "*fp8e4nv", whole]
    if name in usage.conditions:
        return ["i32", Constant(True), Constant(False)]
    if REALS.search(name.lower()) and not STRIDE.match(name):
        return ["fp32", whole, "*fp32", "*bf16"]
    if isinstance(parameter.default, float):
        return ["fp32", whole]
    return [whole, "fp32", "*bf16", "*fp32", "*i32", Constant(1), Constant(None), "i64"]


def _is_likely(name: str) -> bool:
    return not re.search(r"VARLEN|DEBUG|DISABLE|REVERSE|INTERPRET|AMD|HIP|FP8|INT8|DETERMINISTIC", name)


def _inner_strides(function: Any, usage: Usage) -> dict[str, Any]:
    """The last stride of each array is 1, as it is of arrays that are contiguous."""
    last: dict[str, str] = {}
    for parameter in function.params:
        found = STRIDE.match(parameter.name)
        if found and not parameter.is_constexpr and parameter.name not in usage.pointers:
            last[found["of"] or found["rest"][:1]] = parameter.name
    return {name: Constant(1) for name in last.values()}


def _example(value: Any) -> Any:
    """An argument as a heuristic may look at it."""
    import torch

    if isinstance(value, Constant):
        return value.value
    kinds = {
        "*bf16": torch.bfloat16, "*fp16": torch.float16, "*fp32": torch.float32, "*i32": torch.int32,
        "*i64": torch.int64, "*i8": torch.int8, "*u8": torch.uint8, "*i1": torch.bool,
    }  # fmt: skip
    if value in kinds:
        return torch.empty(1, dtype=kinds[value])
    return 0.5 if value == "fp32" else 4096


def signature_of(function: Any, guess: Guess) -> tuple[dict[str, str], dict, dict]:
    """Types, constants and attributes, as `ASTSource` takes them."""
    signature: dict[str, str] = {}
    constants: dict[tuple[int, ...], Any] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for index, name in enumerate(function.arg_names):
        value = guess.chosen[name]
        if isinstance(value, Constant):
            signature[name] = "constexpr"
            constants[(index,)] = value.value
            continue
        signature[name], _, multiple = value.partition(":")
        if value.startswith("*") or multiple:
            attributes[(index,)] = [["tt.divisibility", 16]]
    return signature, constants, attributes


__all__ = ["Constant", "Guess", "choices", "first_guess", "layers", "next_guess", "signature_of"]
