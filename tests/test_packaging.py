"""What is installed, and what importing it costs, counted in modules."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ptxcheck import __version__

from .fakes import KERNEL

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ptxcheck"
HEAVY = frozenset(
    (
        "numpy",
        "z3",
        "pysmt",
        "networkx",
        "lark",
        "cuda",
        "tree_sitter",
        "sarif_om",
        "triton",
        "torch",
        "dask",
        "pygls",
        "lsprotocol",
    )
)
ANALYSIS = frozenset(("numpy", "lark"))
"""What checking a kernel without a whole-kernel protocol may import."""


def heavy_modules(code: str, *arguments: str) -> set[str]:
    """Return the heavy packages that a fresh interpreter has imported after running code."""
    script = (
        f"import sys\nsys.argv = ['ptxcheck', *{arguments!r}]\n"
        f"try:\n    {code}\nexcept SystemExit:\n    pass\n"
        f"print('\\n' + ' '.join(name for name in {sorted(HEAVY)!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


RUN = "from ptxcheck.cli import main; main()"


def test_imports_are_light(tmp_path: Path) -> None:
    assert heavy_modules("import ptxcheck") == set()
    assert heavy_modules(RUN, "--help") == set()
    assert heavy_modules(RUN, "check", "--help") == set()
    assert heavy_modules(RUN, "--version") == set()
    assert heavy_modules(RUN, "lsp", "--help") == set()
    kernel = tmp_path / "k.ptx"
    kernel.write_text(KERNEL)
    assert heavy_modules(RUN, "check", str(kernel), "--no-verify") <= ANALYSIS
    assert heavy_modules(RUN, "check", str(kernel), "--no-verify", "--format", "sarif") <= ANALYSIS | {
        "sarif_om"
    }


def test_unchanged_files_import_no_analysis(tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    kernel.write_text(KERNEL)
    arguments = ("check", str(kernel), "--no-verify")
    assert heavy_modules(RUN, *arguments) == ANALYSIS
    assert heavy_modules(RUN, *arguments) == set()


def test_the_probe_sees_heavy_modules() -> None:
    assert heavy_modules("import numpy, networkx") == {"numpy", "networkx"}


def test_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptxcheck", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"ptxcheck {__version__} (PTX ISA 1.0 to 9.")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


def package_files() -> set[str]:
    listed = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in listed}


def test_the_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (entry_points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "ptxcheck = ptxcheck.__main__:main" in archive.read(entry_points).decode()
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert names == package_files()
    assert {"ptxcheck/parser/ptx.lark", "ptxcheck/descriptors/constraints.toml", "ptxcheck/py.typed"} <= names


def test_the_wheel_works_where_the_checkout_is_not(wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    kernel = tmp_path / "k.ptx"
    kernel.write_text(KERNEL.replace("128", "0"))
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import ptxcheck.cli as c; print(c.__file__); c.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(kernel), "--format", "concise"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(str(folder))
    assert (done.returncode, "[MB001]" in done.stdout) == (1, True), done.stderr
