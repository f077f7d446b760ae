"""Drawings of runs: what is in them, and that other programs can read them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from ptxcheck.explain.barrier_names import BarrierNames, barrier_names
from ptxcheck.explain.diagram import dot, role_graph
from ptxcheck.explain.timeline import (
    Timeline,
    timeline,
    timeline_svg,
    timeline_text,
)
from ptxcheck.explain.violations import whole_kernel
from ptxcheck.protocols.proof.evidence import Run
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.rules.protocol_kernels import RING
from tests.explain.test_counterexample import WRONG_BYTES, view


def sample(text: str) -> tuple[Run, BarrierNames]:
    made = view(text)
    whole = made.get(whole_kernel)
    assert whole is not None
    failures = whole.result.failures
    run = failures[0] if failures else whole.result.sample
    assert run is not None
    return run, barrier_names(made.function, made.module, run.protocol)


def made(text: str) -> Timeline:
    run, names = sample(text)
    return timeline(run.protocol, simulate(run.protocol).steps, names, lambda point: f"<{point}>", "k & l")


def test_graph() -> None:
    run, names = sample(RING)
    text = dot(role_graph(run.protocol, names, 'a "title"'))
    assert text.startswith('digraph "a \\"title\\"" {\n')
    nodes = dict(re.findall(r"  (\w+) \[shape=\w+, label=\"(.*)\"\];", text))
    by_name = {name: ident for ident, name in nodes.items()}
    producer, full = by_name["producer (warp 0, lane 0)"], by_name["full[0-1]"]
    consumer, empty = by_name["consumer (warp 1)"], by_name["empty[0-1]"]
    edges = {(a, b): label for a, b, label in re.findall(r"  (\w+) -> (\w+) \[label=\"(.*)\"\];", text)}
    assert "copy 1024 bytes" in edges[producer, full]
    assert "expect 1024 bytes" in edges[producer, full]
    assert edges[full, consumer] == "wait"
    assert edges[consumer, empty] == "arrive"
    assert edges[empty, producer] == "wait"
    assert {end for edge in edges for end in edge} <= set(nodes)


def test_text() -> None:
    run = made(RING)
    lines = timeline_text(run).splitlines()
    assert lines[0] == "k & l"
    assert lines[1] == "A  producer (warp 0, lane 0)"
    orders = [int(line.split()[0]) for line in lines if re.match(r" *\d", line)]
    assert orders == sorted(orders)
    assert len(orders) == len(run.rows)


def test_waits_know_what_let_them_pass() -> None:
    run = made(RING)
    caused = [row for row in run.rows if row.cause is not None]
    assert caused
    for row in caused:
        assert run.rows[row.cause or 0].order < row.order
        assert "waits on" in row.text


def test_what_never_happens_is_shown_last() -> None:
    last = [row.text for row in made(WRONG_BYTES).rows[-2:]]
    assert all(text.endswith(": for ever") for text in last)


def test_picture_is_well_formed() -> None:
    run = made(RING)
    root = ElementTree.fromstring(timeline_svg(run))
    space = {"s": "http://www.w3.org/2000/svg"}
    assert len(root.findall("s:g", space)) == len(run.rows)
    titles = [node.text or "" for node in root.findall("s:g/s:title", space)]
    assert all("<" in title for title in titles)
