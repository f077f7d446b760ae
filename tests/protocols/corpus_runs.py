"""Kernels of the corpus of protocols, with the launch that their first line states."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ptxcheck.commands.drawings import views_of
from ptxcheck.config import Config
from ptxcheck.explain.violations import whole_kernel
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Run
from ptxcheck.source import Source
from ptxcheck.sources.positions import Locator
from ptxcheck.view import KernelView

ROOT = Path(__file__).parent.parent.parent / "corpus/protocols"


@cache
def view_of(name: str) -> KernelView:
    """Return the kernel of a file, such as `ring/three_stages`."""
    module = parse_module(Source("k.ptx", (ROOT / f"{name}.ptx").read_text()))
    (view,) = views_of(module, Locator(module), None, Config())
    return view


def sample(name: str) -> Run:
    """Return the longest run of a kernel that keeps its contract."""
    whole = view_of(name).get(whole_kernel)
    assert whole is not None
    assert whole.result.sample is not None, whole.result.reasons
    return whole.result.sample
