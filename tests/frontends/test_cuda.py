from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from ptxcheck.frontends import (
    Input,
    InputKind,
    Loaded,
    NvccOptions,
    cuda,
    load,
)
from ptxcheck.frontends.compile_commands import flags_for
from ptxcheck.frontends.text import UnreadableError

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")

FAKE = """#!{python}
import json, os, sys, time
args = sys.argv[1:]
with open({log!r}, "w") as log:
    json.dump({{"args": args, "tmp": os.environ["TMPDIR"]}}, log)
{body}
"""


class FakeNvcc:
    """An nvcc that notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.json"

    def install(self, body: str) -> None:
        path = self.folder / "nvcc"
        path.write_text(FAKE.format(python=sys.executable, log=str(self.log), body=body))
        path.chmod(0o755)

    def args(self) -> list[str]:
        return list(json.loads(self.log.read_text())["args"])

    def temporary(self) -> str:
        return str(json.loads(self.log.read_text())["tmp"])


WRITES = (
    'open(args[args.index("-o") + 1], "w").write("// ptx\\n"); open(args[args.index("-MF") + 1], "w").close()'
)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNvcc:
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    made = FakeNvcc(tmp_path)
    made.install(WRITES)
    return made


def compiled(options: NvccOptions | None = None, path: str = "k.cu") -> Loaded:
    return load(Input(path, InputKind.CUDA), options or NvccOptions())


def test_flags(fake: FakeNvcc) -> None:
    options = NvccOptions(
        args=("-std=c++17",), includes=("inc",), defines=("N=4", "x;rm -rf y"), arch="sm_100a"
    )
    loaded = compiled(options)
    assert loaded.problems == ()
    assert loaded.source is not None
    assert loaded.source.name == "k.cu.ptx"
    args = fake.args()
    assert args[:5] == ["-Iinc", "-DN=4", "-Dx;rm -rf y", "-arch=sm_100a", "-std=c++17"]
    assert args[-1] == "k.cu"
    assert "-lineinfo" in args


def test_temporary_files_are_gone(fake: FakeNvcc) -> None:
    compiled()
    assert not os.path.exists(fake.temporary())


def test_architecture_from_comment_and_default(fake: FakeNvcc) -> None:
    compiled()
    assert "-arch=sm_90a" in fake.args()
    Path("k.cu").write_text("// ptxcheck: arch sm_100a\n")
    compiled()
    assert "-arch=sm_100a" in fake.args()
    compiled(NvccOptions(args=("-arch=sm_120a",)))
    assert [flag for flag in fake.args() if flag.startswith("-arch")] == ["-arch=sm_120a"]


def test_names_that_look_like_flags(fake: FakeNvcc) -> None:
    for name in ("-ccbin.cu", "@x.cu"):
        Path(name).write_text("")
        compiled(path=name)
        assert fake.args()[-1] == f"./{name}"


def test_errors_are_shown_as_they_are(fake: FakeNvcc) -> None:
    fake.install('print("k.cu(1): error: bad"); print("1 error", file=sys.stderr); sys.exit(2)')
    (problem,) = compiled().problems
    assert problem.message == "nvcc failed (exit code 2)"
    assert set(problem.detail.splitlines()) == {"k.cu(1): error: bad", "1 error"}


def test_time_limit(fake: FakeNvcc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    fake.install("time.sleep(6000)")
    (problem,) = compiled(NvccOptions(timeout=0.5)).problems
    assert "longer than 0.5 s" in problem.message
    assert not list(temporary.iterdir())


def test_no_output(fake: FakeNvcc) -> None:
    fake.install("")
    (problem,) = compiled().problems
    assert problem.message.startswith("nvcc wrote no PTX")


def test_no_nvcc(fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake.folder / "nvcc").unlink()
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr(cuda, "_wheel_folders", list)
    (problem,) = compiled().problems
    assert "pip install 'ptxcheck[cuda]'" in problem.message


def test_nvcc_of_the_wheels(fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake.folder / "nvidia/cu13/bin").mkdir(parents=True)
    wheel = fake.folder / "nvidia/cu13/bin/nvcc"
    (fake.folder / "nvcc").rename(wheel)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(cuda, "_wheel_folders", lambda: [fake.folder / "nvidia"])
    assert cuda.find_nvcc() == str(wheel)


def database(folder: Path, **entry: object) -> str:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([{"directory": str(folder), "file": "k.cu", **entry}]))
    return str(path)


def test_compile_commands_keep_what_means_something(tmp_path: Path) -> None:
    (tmp_path / "inc.rsp").write_text("-isystem other -I=third")
    command = (
        "nvcc -forward-unknown-to-host-compiler -DN=4 -Iinc --options-file inc.rsp -ccbin /bin/evil "
        "-Xcompiler=-fplugin=evil.so -std=c++17 --expt-relaxed-constexpr "
        '"--generate-code=arch=compute_80,code=[sm_80]" --generate-code=arch=compute_90a,code=sm_90a '
        "-x cu -c k.cu -o k.o"
    )
    flags = flags_for(database(tmp_path, command=command), str(tmp_path / "k.cu"))
    assert flags == [
        "-DN=4", f"-I{tmp_path}/inc", "-isystem", f"{tmp_path}/other", f"-I{tmp_path}/third", "-std=c++17",
        "--expt-relaxed-constexpr", "-arch=sm_90a",
    ]  # fmt: skip


def test_compile_commands_of_another_file(tmp_path: Path) -> None:
    assert flags_for(database(tmp_path, arguments=["nvcc", "-DN"]), str(tmp_path / "other.cu")) == []


@pytest.mark.parametrize("text", ["{", "[1, null]", '{"a": 1}'])
def test_broken_compile_commands(tmp_path: Path, text: str) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    if text == "{":
        with pytest.raises(UnreadableError, match="is not JSON"):
            flags_for(str(tmp_path), "k.cu")
    else:
        assert flags_for(str(tmp_path), "k.cu") == []


@needs_nvcc
def test_real_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.h").write_text("#define N 3\n")
    Path("k.cu").write_text('#include "my.h"\n__global__ void k(int *p) { p[N] = 1; }\n')
    loaded = compiled()
    assert loaded.source is not None
    assert ".loc" in loaded.source.text
    assert loaded.origins[0] == "k.cu"
    assert [os.path.basename(path) for path in loaded.origins if path.endswith("my.h")] == ["my.h"]


@needs_nvcc
def test_real_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text("__global__ void k(int *p) { *p = nothing; }\n")
    (problem,) = compiled().problems
    assert 'k.cu(1): error: identifier "nothing" is undefined' in problem.detail
