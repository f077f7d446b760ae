from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.frontends import InputKind, discover


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.ptx", "sub/b.cu", "sub/c.txt", ".hidden/d.ptx", "build/e.ptx"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [item.name for item in discover(paths, exclude)[0]]


def complaints(*paths: str) -> list[str]:
    return [f"{p.position.file}: {p.message}" for p in discover(paths)[1]]


@pytest.mark.usefixtures("tree")
def test_folder_is_walked_in_order_without_hidden_folders() -> None:
    assert names(".") == ["./a.ptx", "./build/e.ptx", "./sub/b.cu"]
    assert names(".", exclude=("build",)) == ["./a.ptx", "./sub/b.cu"]


@pytest.mark.usefixtures("tree")
def test_globs_files_and_repetitions() -> None:
    assert names("**/*") == ["a.ptx", "build/e.ptx", "sub/b.cu"]
    assert names("a.ptx", "./a.ptx", "*.ptx") == ["a.ptx"]
    assert names("-") == ["<stdin>"]
    assert discover(["sub/b.cu"])[0][0].kind is InputKind.CUDA
    assert discover(["sub/c.txt"])[0][0].kind is InputKind.PTX


@pytest.mark.usefixtures("tree")
def test_what_names_nothing_is_reported() -> None:
    Path("empty").mkdir()
    assert complaints("nope.ptx") == ["nope.ptx: no such file or folder"]
    assert complaints("empty") == ["empty: no .ptx or .cu file in this folder"]
    assert complaints("*.cubin") == ["*.cubin: no .ptx or .cu file matches this pattern"]
    assert complaints("a\0b") != []


def test_links_to_folders_are_not_followed(tree: Path) -> None:
    (tree / "sub" / "loop").symlink_to(tree, target_is_directory=True)
    assert names("sub") == ["sub/b.cu"]


def test_headers_are_refused_with_advice(tree: Path) -> None:
    (tree / "h.cuh").write_text("")
    assert complaints("h.cuh") == [
        "h.cuh: .cuh files are checked for tensor maps only, and this one encodes none: name a .ptx or .cu file"
    ]


def repository(tree: Path, ignored: dict[str, str]) -> None:
    (tree / ".git" / "info").mkdir(parents=True)
    for path, lines in ignored.items():
        (tree / path).write_text(lines)


def searched(*paths: str) -> list[str]:
    return [item.name for item in discover(paths, gitignore=True)[0]]


def test_what_git_ignores_is_left_out_of_searches(tree: Path) -> None:
    repository(tree, {".gitignore": "build/\n", "sub/.gitignore": "*.ptx\n!keep.ptx\n"})
    for name in ("sub/keep.ptx", "sub/drop.ptx", "sub/deep/drop.ptx", "sub/build/x.cu"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("x")
    assert searched(".") == ["./a.ptx", "./sub/b.cu", "./sub/keep.ptx"]
    assert searched("**/*") == ["a.ptx", "sub/b.cu", "sub/keep.ptx"]
    assert "./build/e.ptx" in names(".")
    assert searched("sub") == ["sub/b.cu", "sub/keep.ptx"]


def test_what_is_named_outright_is_not_ignored(tree: Path) -> None:
    repository(tree, {".gitignore": "build\n*.cu\n"})
    assert searched("build/e.ptx", "sub/b.cu") == ["build/e.ptx", "sub/b.cu"]
    assert searched("build") == ["build/e.ptx"]
    assert searched("build/*.ptx") == ["build/e.ptx"]
    (tree / "build" / ".gitignore").write_text("e.*")
    assert searched("build") == []


def test_a_pattern_that_is_nearer_decides(tree: Path) -> None:
    repository(tree, {".gitignore": "*.cu\n", "sub/.gitignore": "!b.cu\n", ".git/info/exclude": "a.ptx\n"})
    assert searched(".") == ["./build/e.ptx", "./sub/b.cu"]


def test_ignore_files_count_in_repositories_only(tree: Path) -> None:
    (tree / ".gitignore").write_text("*")
    assert searched(".") == names(".")


def test_a_search_that_git_leaves_nothing_says_so(tree: Path) -> None:
    repository(
        tree, {".gitignore": "*.ptx\n*.cu\n\udce9\n".encode("utf-8", "surrogatepass").decode("latin-1")}
    )
    _, (problem,) = discover(["."], gitignore=True)
    assert "--no-gitignore" in problem.message
    _, (problem,) = discover(["nothing*"], gitignore=True)
    assert "--no-gitignore" not in problem.message
