"""Check the host code below some folders and count: calls in the text, calls reached, findings by rule.

python -m benchmarks.tensor_maps.host_code FOLDER...
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path

from ptxcheck.frontends.discover import encodes_maps
from ptxcheck.hostcode.code import Opaque
from ptxcheck.hostcode.find import SUFFIXES
from ptxcheck.hostcode.machine import Encode
from ptxcheck.hostcode.view import HostView
from ptxcheck.rules.illegal_tensor_map import RULES
from ptxcheck.source import Source

CALL = re.compile(r"cuTensorMapEncode(?:Tiled|Im2colWide|Im2col)\s*\)?\s*\((?!\s*CUtensorMap\s*\*)\s*[^\s)]")
MAKER = re.compile(r"\bmake_tma_(?:copy|atom)(?:_[ABC]_sm90)?\s*(?:<[^;(]*>)?\s*\(")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Strings and comments."""
DECLARES = ("cuda.h", "cudaTypedefs.h", "generated_cuda_meta.h", "driver_api.h")
"""Headers that name the functions without calling them."""


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only each Nth file")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    arguments = parser.parse_args()
    stop = time.monotonic() + arguments.seconds
    paths = [
        path for folder in arguments.folders for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES
    ]
    chosen = [path for path in paths if path.name not in DECLARES and encodes_maps(str(path))][
        :: arguments.every
    ]
    totals: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    slowest = (0.0, "")
    for path in chosen:
        if time.monotonic() > stop:
            print(f"stopped after {totals['files']} of {len(chosen)} files")
            break
        source = Source(str(path), path.read_text(encoding="utf-8", errors="replace"))
        start = time.process_time()
        view = HostView(source)
        hits = [(rule, hit) for rule in RULES if rule.host is not None for hit in rule.host(view)]
        slowest = max(slowest, (time.process_time() - start, path.name))
        text = TEXT.sub("", source.text)
        reached = {encode.call.span for encode in view.encodes if not _is_derived(encode)}
        totals.update(files=1, calls=len(CALL.findall(text)), reached=len(reached))
        makers = view.reading.makers
        totals.update(makers=len(MAKER.findall(text)), made=len(makers), decided=sum(makers.values()))
        totals.update(given_up=len(view.reading.given_up))
        for rule, hit in hits:
            rules[rule.id + (" (pedantic)" if rule.pedantic else "")] += 1
            if not rule.pedantic:
                print(f"{path}:{source.position(hit.span.start).line}: {rule.id} {hit.message}")
    print(f"{len(paths)} sources, {totals['files']} that name an encode function")
    print(f"{totals['calls']} calls, {totals['reached']} reached; slowest {slowest[0]:.1f} s: {slowest[1]}")
    print(f"CuTe: {totals['makers']} calls, {totals['made']} reached, {totals['decided']} decided")
    print(f"{totals['given_up']} functions given up")
    for rule_id, count in sorted(rules.items()):
        print(f"  {rule_id}: {count}")
    return 1 if any("pedantic" not in name for name in rules) else 0


def _is_derived(encode: Encode) -> bool:
    """Whether a call stands for one in CuTe or in an included file."""
    return all(isinstance(argument, Opaque) for argument in encode.call.arguments)


if __name__ == "__main__":
    sys.exit(main())
