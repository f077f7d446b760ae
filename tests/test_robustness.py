"""Bad input and a bad world: a clear located error each time, nothing lost, nothing run, nothing else read."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ptxcheck.frontends import text
from ptxcheck.report import Format

from .fakes import HEADER, KERNEL

BAD = KERNEL.replace("128", "0")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("good.ptx").write_text(BAD)


def ptxcheck(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command line; it must end by itself, with a known code, and without a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "ptxcheck", "check", *args],
        **{"capture_output": True, "text": True, "timeout": 120, "errors": "surrogateescape", **options},  # type: ignore[call-overload]
    )
    assert done.returncode in (0, 1, 2), done.stderr
    assert "Traceback" not in (done.stderr or "")
    assert "internal error" not in (done.stderr or "")
    return done  # type: ignore[no-any-return]


def problems(*args: str) -> dict[str, str]:
    """Return the messages by file of a run in which the good file's finding is not lost."""
    done = ptxcheck(*args, "--format", "json")
    value = json.loads(done.stdout)
    assert done.returncode == 2
    assert "MB001" in {finding["rule"] for finding in value["findings"]}
    return {problem["file"].removeprefix("./"): problem["message"] for problem in value["problems"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (os.urandom(4096) + b"\0", "is not PTX text"),
        (b"\x7fELF\x02\x01\x01\0", "an ELF object"),
        (b"\x50\xed\x55\xba\x01\0", "a fat binary"),
        (b"", "is empty"),
        (b"\xff\xfe" + KERNEL.encode("utf-16-le"), "is not PTX text"),
        (b"{" * 100_000, ""),
        (b"(" * 100_000, ""),
        (KERNEL.encode()[:-40], ""),
    ],
    ids=["random", "elf", "fatbin", "empty", "utf-16", "braces", "parentheses", "cut off"],
)
def test_garbage(data: bytes, message: str) -> None:
    Path("bad.ptx").write_bytes(data)
    assert message in problems(".")["bad.ptx"]


def test_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_LINE", 1 << 16)
    with pytest.raises(text.UnreadableError, match="line 4 is longer") as caught:
        text.decode((HEADER + "x" * (1 << 17)).encode(), "k.ptx")
    assert (caught.value.line, caught.value.column) == (4, 1)


def test_files_that_cannot_be_read() -> None:
    Path("loop.ptx").symlink_to("loop.ptx")
    Path("gone.ptx").symlink_to("nowhere")
    Path("ring").mkdir()
    Path("ring/up").symlink_to("..")
    Path("folder.ptx").mkdir()
    os.mkfifo("pipe.ptx")
    found = problems(".")
    assert set(found) == {"loop.ptx", "gone.ptx", "pipe.ptx"}
    assert "Too many levels of symbolic links" in found["loop.ptx"]
    assert "No such file" in found["gone.ptx"]
    assert "pipe" in found["pipe.ptx"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission() -> None:
    Path("secret.ptx").write_text(KERNEL)
    Path("secret.ptx").chmod(0)
    assert "Permission denied" in problems(".")["secret.ptx"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (b"select = [", "is not TOML"),
        (b"\xff\xfe", "is not TOML"),
        (b"select = 'MB'", "`select`: must be a list of strings"),
        (b"slect = []", "did you mean `select`?"),
        (b"a = " + b"[" * 100_000, "is not TOML"),
        (b"[nvcc]\ntimeout = -1", "`nvcc.timeout`: must be a positive number"),
    ],
)
def test_broken_configuration(settings: bytes, message: str) -> None:
    Path("ptxcheck.toml").write_bytes(settings)
    done = ptxcheck("good.ptx")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ptxcheck.toml: " in done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_nvcc() -> None:
    Path("k.cu").write_text("__global__ void k() {}\n")
    code = (
        "import sys, ptxcheck.frontends.cuda as cuda; cuda._wheel_folders = list\n"
        "from ptxcheck.cli import main; sys.argv[0] = 'ptxcheck'; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", ".", "--format", "json"],
        env={**os.environ, "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    value = json.loads(done.stdout)
    assert done.returncode == 2
    assert [(problem["kind"], problem["file"].removeprefix("./")) for problem in value["problems"]] == [
        ("compiler", "k.cu")
    ]
    assert "install a CUDA toolkit" in value["problems"][0]["message"]
    assert "MB001" in {finding["rule"] for finding in value["findings"]}


def test_full_disk() -> None:
    done = ptxcheck("good.ptx", "-o", "/dev/full")
    assert (done.returncode, done.stderr) == (
        2,
        "ptxcheck: cannot write /dev/full: No space left on device\n",
    )
    with open("/dev/full", "wb") as full:
        done = ptxcheck("good.ptx", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 2
    assert "cannot write to standard output: No space left on device" in done.stderr


def no_file_may_grow() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_disk_on_which_nothing_can_be_written(tmp_path: Path) -> None:
    Path("report.json").write_text("the old report")
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PTXCHECK_CACHE_DIR": str(tmp_path / "r"),
    }
    first = ptxcheck("good.ptx", preexec_fn=no_file_may_grow, env=environment)
    assert (first.returncode, "MB001" in first.stdout, first.stderr) == (1, True, "")
    done = ptxcheck("good.ptx", "-o", "report.json", preexec_fn=no_file_may_grow, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ptxcheck: cannot write report.json: ")
    assert Path("report.json").read_text() == "the old report"
    assert sorted(path.name for path in Path().iterdir()) == ["good.ptx", "report.json"]


@pytest.mark.parametrize("form", [form.value for form in Format])
def test_names_of_any_bytes(form: str) -> None:
    for name in (b"\xff\xfe.ptx", b"new\nline.ptx", b"\x1b[31m.ptx", b"a b;$(touch harm)`touch harm`.ptx"):
        Path(os.fsdecode(name)).write_text(BAD)
    for _ in range(2):
        done = ptxcheck(".", "--format", form)
        assert done.returncode == 1
        assert "\x1b" not in done.stdout
    assert not list(Path().rglob("harm"))


@pytest.mark.parametrize("name", ["-h.ptx", "--output=harm.ptx", "@list.ptx", "*.ptx", "%s{}.ptx"])
def test_names_that_look_like_options(name: str) -> None:
    Path(name).write_text(BAD)
    done = ptxcheck("--format", "concise", "--", name)
    assert f"{name}:8:3: " in done.stdout
    assert sorted(path.name for path in Path().iterdir()) == sorted({"good.ptx", name})


HOSTILE = """
// ptxcheck: arch sm_90a; touch harm
// ptxcheck: launch block=$(touch harm)
// ptxcheck: ignore[../../secret] @secret
.file 1 "{secret}"
.file 2 "/etc/passwd"
.file 3 "../secret.cu"
.file 4 "|touch harm"
.pragma "include {secret}";
.visible .entry k()
{{
  .shared .align 8 .b64 bar;
  .loc 1 1 1
  mbarrier.init.shared.b64 [bar], 0;
  .loc 2 1 1
  mbarrier.init.shared.b64 [bar+8], 0;
  .loc 3 1 1
  bar.sync 17;
  .loc 4 1 1
  bar.sync 18;
  ret;
}}
"""

AUDIT = """
import sys
seen = []
def hook(event, arguments):
    if event in ("open", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty",
                 "socket.connect", "ctypes.dlopen", "shutil.move", "os.remove", "os.rename"):
        seen.append((event, str(arguments[0] if arguments else "")))
from ptxcheck.cli import main
sys.argv = ["ptxcheck", *sys.argv[1:]]
sys.addaudithook(hook)
try:
    main()
except SystemExit:
    pass
found = list(seen)
import json
print("\\n" + json.dumps(found))
"""


@pytest.mark.parametrize("form", [form.value for form in Format])
def test_a_file_cannot_run_or_read_anything(form: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.cu"
    secret.write_text("SECRET // ptxcheck: ignore-file[MB, NB, PT] hidden\n" * 3)
    Path("hostile.ptx").write_text(HEADER + HOSTILE.format(secret=secret))
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, "check", "hostile.ptx", "--format", form],
        capture_output=True,
        text=True,
        check=True,
    )
    *report, events = done.stdout.splitlines()
    assert "SECRET" not in "\n".join(report)
    assert "root:" not in "\n".join(report)
    kinds: dict[str, set[str]] = {}
    for event, what in json.loads(events):
        kinds.setdefault(event, set()).add(what)
    assert "hostile.ptx" in kinds["open"]
    assert not {path for path in kinds["open"] if "secret" in path or path.startswith("/etc/passwd")}
    assert not kinds.keys() & {
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.fork",
        "socket.connect",
    }
    assert not list(tmp_path.rglob("harm"))
