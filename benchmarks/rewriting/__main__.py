"""Write kernels of the protocol corpus in other words, and compare the verdicts.

    python -m benchmarks.rewriting                          # every kernel, right and wrong, in every way
    python -m benchmarks.rewriting --match ring/ --rewrite skipped
    python -m benchmarks.rewriting triton --match gluon_tma # kernels of the corpora

What a kernel does stays the same, so no property may hold in one text and be violated in the other. That exits with
status 1, as an exception does. Where one of them is `unknown` the verifier is weaker than it could be: that is counted.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.corpora.store import default_root
from benchmarks.mutation.judge import HOLDS, judge
from benchmarks.mutation.subject import subjects
from ptxcheck.launches.hints import parse_hint
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

from .rewrites import REWRITES, renamed, rewritten

_CORPUS = Path(__file__).parents[2] / "corpus" / "protocols"
_COLUMNS = ("texts", "same", "weaker", "stronger", "opposite")


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.rewriting", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("group", nargs="?", help="a group of the corpora instead of the protocol corpus")
    parser.add_argument("--match", action="append", default=[], help="only files whose names contain this")
    parser.add_argument("--rewrite", action="append", help="only this one; may be repeated")
    parser.add_argument("--seconds", type=float, default=8.0, help="time for one verification")
    parser.add_argument("--launch", action="append", default=[], help="as for `ptxcheck check`: block=128")
    parser.add_argument("--ptxas", action="store_true", help="assemble every text too")
    parser.add_argument("--cache", type=Path, default=default_root(), help="folder of the corpora")
    options = parser.parse_args()
    folder = options.cache / "ptx" / options.group if options.group else _CORPUS
    launch = tuple(parse_hint(text, "--launch") for text in options.launch)
    counts: dict[str, Counter[str]] = {}
    wrong = 0
    for path in sorted(folder.rglob("*.ptx")):
        name = path.relative_to(folder).as_posix()
        if not all(part in name for part in options.match):
            continue
        for subject in subjects(Source(name, path.read_text(encoding="utf-8"))):
            kernel = subject.function.name

            def verdicts(text: str, name: str = name, kernel: str = kernel) -> dict[Property, VerdictKind]:
                judged = judge(Source(name, text), kernel=kernel, seconds=options.seconds, launch=launch)
                return {each.property: each.kind for one in judged for each in one.verdicts}

            texts = {each.name: rewritten(subject, each) for each in REWRITES}
            texts["renamed"] = renamed(subject)
            chosen = {
                way: text
                for way, text in texts.items()
                if text is not None and (options.rewrite is None or way in options.rewrite)
            }
            original = verdicts(subject.text) if chosen else {}
            for way, text in chosen.items():
                refused = _refused(text) if options.ptxas else ""
                if refused:
                    print(f"{name} {kernel} {way}: ptxas: {refused}")
                    wrong += 1
                    continue
                found = {compared(original[each], kind) for each, kind in verdicts(text).items()}
                worst = next(each for each in ("opposite", "weaker", "stronger", "same") if each in found)
                counts.setdefault(way, Counter()).update(("texts", worst))
                if worst == "opposite":
                    wrong += 1
                if worst != "same":
                    print(f"{name} {kernel} {way}: {worst}", flush=True)
    print(f"\n| rewrite | {' | '.join(_COLUMNS)} |\n|{' --- |' * (len(_COLUMNS) + 1)}")
    for way, row in counts.items():
        print(f"| {way} | {' | '.join(str(row[each] or '') for each in _COLUMNS)} |")
    return 1 if wrong else 0


def compared(original: VerdictKind, other: VerdictKind) -> str:
    """Return how the verdict on another text relates to the one on the original."""
    if (original in HOLDS and other is VerdictKind.VIOLATED) or (
        original is VerdictKind.VIOLATED and other in HOLDS
    ):
        return "opposite"
    strength = {VerdictKind.VIOLATED: 2, VerdictKind.PROVED: 2, VerdictKind.UNKNOWN: 0}
    before, after = strength.get(original, 1), strength.get(other, 1)
    return "same" if before == after else ("weaker" if after < before else "stronger")


def _refused(text: str) -> str:
    """Return what `ptxas` says of a text that it does not assemble."""
    tool = shutil.which("ptxas")
    if tool is None:
        return "not found"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.ptx")
        path.write_text(text, encoding="utf-8")
        target = next(line.split()[1].rstrip(",") for line in text.splitlines() if line.startswith(".target"))
        made = subprocess.run(
            [tool, "-arch", target, "-o", str(path.with_suffix(".o")), str(path)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    return made.stderr.strip().splitlines()[0] if made.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
