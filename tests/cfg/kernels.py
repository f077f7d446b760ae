"""Kernels for tests, from their bodies in PTX."""

from __future__ import annotations

from ptxcheck.cfg import (
    Cfg,
    Facts,
    analyse,
    build,
)
from ptxcheck.ir import Instruction, Module, Register
from ptxcheck.launch import Launch
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

_HEAD = """
.version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b64 bars[4];
.shared .align 128 .b8 tile[4096];
.global .align 4 .u32 counter;
.visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 16 data)
{
  .reg .pred %p<32>;
  .reg .b16 %h<32>;
  .reg .b32 %r<64>;
  .reg .b64 %d<64>;
"""


def module_of(body: str) -> Module:
    """Parse a kernel with parameters n and data and some shared variables."""
    module = parse_module(Source("kernel.ptx", _HEAD + body + "\n}\n"))
    assert not module.problems, module.problems
    return module


def cfg_of(body: str) -> Cfg:
    return build(module_of(body).entries[0])


def facts_of(body: str, launch: Launch | None = None) -> Facts:
    module = module_of(body)
    return analyse(build(module.entries[0]), module, launch or Launch())


def exact_block(x: int, y: int = 1) -> Launch:
    return Launch(block=(x, y, 1), block_is_exact=True, max_threads=x * y)


def point_of(facts: Facts | Cfg, text: str, which: int = 0) -> int:
    """Return the point of the instruction whose source contains `text`."""
    cfg = facts.cfg if isinstance(facts, Facts) else facts
    points = [p for p, i in enumerate(cfg.instructions) if text in source_of(cfg, i)]
    return points[which]


def source_of(cfg: Cfg, instruction: Instruction) -> str:
    guard = instruction.guard
    prefix = "" if guard is None else f"@{'!' if guard.negated else ''}{guard.register.name} "
    words = " ".join(str(getattr(o, "name", getattr(o, "value", ""))) for o in instruction.operands)
    return f"{prefix}{instruction.operation.text} {words}"


def register(name: str) -> Register:
    return Register(name)
