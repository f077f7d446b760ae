"""Build the corpora: `python -m benchmarks.corpora build [GROUP …] [--only NAME …] [--cache DIR]`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from .store import Cache, Row, default_root

GROUPS = ("cuda_ptx", "triton", "tilelang", "cutlass", "flashinfer", "flashinfer_raw", "cute_dsl")

MODULES = {"triton": "triton_group", "tilelang": "tilelang_group", "cute_dsl": "cute_dsl_group"}

Builder = Callable[[Cache, frozenset[str]], Iterable[Row]]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="build groups that are not in the cache yet (default: all)")
    build.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    build.add_argument("--only", nargs="+", default=(), metavar="NAME", help="only the units of these names")
    listing = commands.add_parser("list", help="what the cache holds")
    timing = commands.add_parser("ptxas", help="time ptxas -O3 on every file that was not timed yet")
    timing.add_argument("groups", nargs="*", metavar="GROUP")
    for command in (build, listing, timing):
        command.add_argument("--cache", type=Path, default=default_root(), metavar="DIR")
    options = parser.parse_args(arguments)
    cache = Cache(options.cache.resolve())
    unknown = set(getattr(options, "groups", ())) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    if options.command == "list":
        return _list(cache)
    if options.command == "ptxas":
        from .assemble import measure

        for line in measure(cache, frozenset(options.groups)):
            print(line, flush=True)
        return 0
    return _build(cache, options.groups or list(GROUPS), frozenset(options.only))


def _build(cache: Cache, groups: list[str], only: frozenset[str]) -> int:
    failed = 0
    for group in groups:
        build: Builder = importlib.import_module(f"{__package__}.{MODULES.get(group, group)}").build
        for row in build(cache, only):
            failed += not row.built
            print(_line(row), flush=True)
            if not row.built:
                print("    " + (row.message.splitlines() or ["no message"])[0], file=sys.stderr, flush=True)
    return 1 if failed else 0


def _list(cache: Cache) -> int:
    rows = cache.rows()
    for key in sorted(rows):
        print(_line(rows[key]))
    built = [row for row in rows.values() if row.built]
    print(
        f"{len(built)} of {len(rows)} built, {sum(row.bytes for row in built) / 1e6:.1f} MB, in {cache.root}"
    )
    return 0


def _line(row: Row) -> str:
    state = f"{row.bytes / 1e3:10.1f} kB" if row.built else "       FAILED"
    return f"{row.key:58} {row.target:8} {state} {row.seconds:7.1f} s {row.peak_mb:6d} MB"


if __name__ == "__main__":
    sys.exit(main())
