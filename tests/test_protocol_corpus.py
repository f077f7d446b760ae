"""The protocol corpus: good kernels hold, each broken twin is violated at a line that it marks.

`tests/protocol_expectations.py` explains the notation. A twin of `ring/one_stage.ptx` is
`ring/one_stage.<what is wrong>.ptx`.
"""

from __future__ import annotations

import difflib
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.consistency import contradicted, untold
from benchmarks.mutation.judge import Judged, judge
from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.explain.violations import WholeKernel
from ptxcheck.frontends import discover, load
from ptxcheck.protocols.model.mechanisms import PROPERTY_OF
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

from .limits import VERIFY_SECONDS, WALL_SECONDS
from .protocol_expectations import Expectation, Said, Status, compare, expectation

CORPUS = Path(__file__).parent.parent / "corpus" / "protocols"
FILES = sorted(path for path in CORPUS.rglob("*") if path.suffix in (".ptx", ".cu"))
PTX = [path for path in FILES if path.suffix == ".ptx"]
HAS_NVCC = shutil.which("nvcc") is not None
PTXAS = shutil.which("ptxas")
MOST_CHANGED_LINES = 40


class UndecidedError(Exception):
    """The verifier answers `unknown` where the corpus knows better."""


class BoundedError(Exception):
    """The verifier proves a broken kernel for the trip counts that it runs."""


class WrongError(Exception):
    """The verifier says something that is not so."""


RAISED = {Status.UNDECIDED: UndecidedError, Status.BOUNDED: BoundedError, Status.WRONG: WrongError}


def name_of(path: Path) -> str:
    return path.relative_to(CORPUS).as_posix()


def read(path: Path) -> Source:
    return Source(name_of(path), path.read_text(encoding="utf-8"))


def good_twin(path: Path) -> Path:
    return path.with_name(path.name.split(".")[0] + path.suffix)


def cases() -> list[object]:
    found: list[object] = []
    for path in FILES:
        wanted = expectation(read(path))
        marks = [] if wanted.pending is None else [
            pytest.mark.xfail(strict=True, raises=RAISED[wanted.pending_status], reason=wanted.pending)
        ]  # fmt: skip
        found.append(pytest.param(path, wanted, id=name_of(path), marks=marks))
    return found


def ptx_of(path: Path) -> Source:
    """Return the PTX of a file; CUDA is compiled with line information."""
    if path.suffix == ".ptx":
        return read(path)
    (item,), _ = discover([str(path)], ())
    loaded = load(item, Config().nvcc)
    assert loaded.source is not None, loaded.problems
    return loaded.source


@pytest.mark.parametrize(("path", "wanted"), cases())
def test_verdicts(path: Path, wanted: Expectation) -> None:
    if path.suffix == ".cu" and not HAS_NVCC:
        pytest.skip("no nvcc")
    silent = wanted.good and wanted.pending_status is not Status.WRONG
    said, detail = _checked(path) if silent else _judged(path)
    status = compare(wanted, said)
    if status is not Status.MET:
        raise RAISED[status](said, detail)


def _checked(path: Path) -> tuple[list[Said], object]:
    """Return what a check says of a good kernel, of which rules say nothing."""
    report = check(str(path))
    assert report.problems == ()
    assert [(f.rule, f.location.primary.line, f.message) for f in report.active] == []
    (kernel,) = [each for each in report.kernels if each.entry]
    assert kernel.verification is not None
    verdicts = kernel.verification.verdicts
    detail = [(v.property.value, v.kind.value, [r.text for r in v.reasons]) for v in verdicts]
    return [Said(v.property.value, v.kind.value, frozenset()) for v in verdicts], detail


def _judged(path: Path) -> tuple[list[Said], object]:
    (judged,) = judge(
        ptx_of(path), seconds=6 * VERIFY_SECONDS, origin=read(path) if path.suffix == ".cu" else None
    )
    said = [
        Said(v.property.value, v.kind.value, judged.lines(v.reasons[0].point if v.reasons else -1))
        for v in (*judged.verdicts, *(v for v in judged.of_units if v.property is Property.GLOBAL_ORDER))
    ]
    violated = {v.property for v in judged.verdicts if v.kind is VerdictKind.VIOLATED}
    assert violated == told_of(judged), "a property is violated, and no finding is certain of it"
    return said, [(v.property.value, v.kind.value, [r.text for r in v.reasons]) for v in judged.verdicts]


def told_of(judged: Judged) -> set[Property]:
    """Return the properties that violations are about of which rules make findings that are certain."""
    violations = WholeKernel(judged.verification).violations
    return {PROPERTY_OF[each.problem.flaw] for each in violations if each.certain}


BROKEN = [path for path in PTX if not expectation(read(path)).good]


@pytest.mark.parametrize("path", BROKEN[::8], ids=name_of)
def test_what_is_violated_is_told_and_nothing_is_contradicted(path: Path) -> None:
    """`python -m benchmarks.consistency corpus benchmarks` looks at all files."""
    report = check(str(path))
    assert untold(report) == []
    assert contradicted(report) == []


def test_each_broken_kernel_is_a_small_change_of_a_good_one() -> None:
    for path in FILES:
        if expectation(read(path)).good:
            is_told = (
                "edantic" in read(path).text.partition("expect-verdict")[0]
            )  # what only `--pedantic` tells is a twin
            assert is_told or good_twin(path) == path, f"{path}: a good kernel has one name"
            continue
        twin = good_twin(path)
        assert twin.exists(), f"{path}: its good twin is missing"
        assert expectation(read(twin)).good
        changed = [
            line for line in difflib.ndiff(_code(twin), _code(path)) if line[0] in "+-" and line[1:].strip()
        ]
        assert changed, f"{path}: the same code as its good twin"
        assert len(changed) <= MOST_CHANGED_LINES, f"{path}: {len(changed)} lines differ from its good twin"


def _code(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [text for line in lines if (text := line.split("//")[0].strip()) and not text.startswith(".reg")]


def test_there_are_enough_pairs() -> None:
    good = {good_twin(path) for path in FILES}
    broken = [path for path in FILES if not expectation(read(path)).good]
    assert len(good) >= 40
    assert len(broken) >= 80


@pytest.mark.parametrize("path", PTX, ids=name_of)
@pytest.mark.skipif(PTXAS is None, reason="no ptxas")
def test_ptxas_assembles(path: Path, tmp_path: Path) -> None:
    assert PTXAS is not None
    text = path.read_text(encoding="ascii")
    target = text.split(".target", 1)[1].split()[0]
    command = [PTXAS, f"-arch={target}", "-O0", "-o", str(tmp_path / "out.cubin"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WALL_SECONDS)
    assert done.returncode == 0, done.stderr
