"""Small kernels for tests of rules: a body and launch directives around it."""

from __future__ import annotations

from textwrap import dedent

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Confidence
from ptxcheck.rules import RULES, Rule
from ptxcheck.source import Source

from ..expectations import Mark, expected, found

REGISTERS = """
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 16 .b8 data[1024];
    .shared .align 8 .b64 bar;
"""


def kernel(
    body: str, directives: str = ".reqntid 128", *, target: str = "sm_90a", version: str = "9.0"
) -> Source:
    """Return a module with one kernel."""
    text = (
        f".version {version}\n.target {target}\n.address_size 64\n"
        f".visible .entry k(.param .u64 in, .param .u32 n)\n{directives}\n"
        f"{{{REGISTERS}{dedent(body)}\nret;\n}}\n"
    )
    return Source("k.ptx", text)


def rule(rule_id: str) -> Rule:
    return next(one for one in RULES if one.id == rule_id)


def agrees(rule_id: str, source: Source) -> bool:
    """Tell whether a rule fires at the lines that the text marks, and nowhere else."""
    return found(source, rule(rule_id)) == expected(source, rule_id)


def proved(rule_id: str, source: Source) -> list[Mark]:
    """Return where a rule fires without `possible`."""
    report = ptxcheck.check(source, rules=(rule(rule_id),), config=Config(pedantic=True))
    assert report.problems == (), report.problems
    kept = [one for one in report.active if one.confidence is Confidence.PROVED]
    return sorted({(one.rule, one.location.primary.line) for one in kept})
