from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.config import (
    Config,
    ConfigError,
    find_config,
    load_config,
)
from ptxcheck.finding import Severity
from ptxcheck.launches.hints import LaunchHint
from ptxcheck.sources.positions import LIBRARY_PREFIXES

FULL = """
select = ["MB", "hang"]
ignore = ["MB003"]
exclude = ["build"]
fail-on = "undefined"
strict = true
pedantic = true
possible = true
library-prefixes = ["/opt/lib"]
extend-library-prefixes = ["mine/include"]
source-roots = ["src"]

[severity]
MB001 = "note"

[per-file-ignores]
"gen/*.ptx" = ["PT"]

[launch]
"gemm*" = { block = 384, cluster = [2, 1] }
small = "block=32"

[nvcc]
args = ["-std=c++20"]
include = ["inc"]
define = ["N=1"]
arch = "sm_100a"
timeout = 60
compile-commands = "build"
"""


def write(folder: Path, text: str, name: str = "ptxcheck.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_every_key(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, FULL))
    assert config.select == ("MB", "hang")
    assert config.ignore == ("MB003",)
    assert config.fail_on is Severity.UNDEFINED
    assert (config.strict, config.pedantic, config.possible) == (True, True, True)
    assert config.library_prefixes == ("/opt/lib", "mine/include")
    assert config.source_roots == (str(tmp_path / "src"),)
    assert config.severity == {"MB001": Severity.NOTE}
    assert config.per_file_ignores == {"gen/*.ptx": ("PT",)}
    assert config.launch[0] == LaunchHint("gemm*", (384, 1, 1), (2, 1, 1), "configuration")
    assert config.nvcc.includes == (str(tmp_path / "inc"),)
    assert (config.nvcc.args, config.nvcc.defines, config.nvcc.arch) == (("-std=c++20",), ("N=1",), "sm_100a")
    assert (config.nvcc.timeout, config.nvcc.compile_commands) == (60.0, str(tmp_path / "build"))


def test_extending_the_default_prefixes(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, 'extend-library-prefixes = ["mine"]'))
    assert config.library_prefixes == (*LIBRARY_PREFIXES, "mine")


def test_empty_file_is_the_default(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, "")) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "unknown key `selct`; did you mean `select`?"),
        ("zzz = 1", "unknown key `zzz`; known keys are select"),
        ("select = 'MB'", "`select`: must be a list of strings"),
        ("select = [1]", "`select`: must be a list of strings"),
        ("strict = 1", "`strict`: must be true or false"),
        ("fail-on = 'bad'", "`fail-on`: 'bad' is not a severity; they are error, hang"),
        ("[nvcc]\ntimeut = 1", "unknown key `nvcc.timeut`; did you mean `timeout`?"),
        ("[nvcc]\ntimeout = -1", "`nvcc.timeout`: must be a positive number of seconds"),
        ("[launch]\nk = 3", "`launch`: configuration: needs `block`, `cluster`, `assume` or `tensor-maps`"),
        ("[severity]\nMB = 3", "`severity`: 3 is not a severity"),
        ("x = [", "is not TOML"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.toml")


def test_nearest_folder(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    write(tmp_path, "strict = true")
    assert find_config(deep / "k.ptx") == tmp_path / "ptxcheck.toml"
    write(tmp_path / "a", "[tool.other]", "pyproject.toml")
    assert find_config(deep) == tmp_path / "ptxcheck.toml"
    write(tmp_path / "a", "[tool.ptxcheck]\nstrict = true", "pyproject.toml")
    assert find_config(deep) == tmp_path / "a" / "pyproject.toml"
    assert load_config(tmp_path / "a" / "pyproject.toml").strict


def test_pyproject_with_a_wrong_shape(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`ptxcheck` is not a table"):
        load_config(write(tmp_path, "[tool]\nptxcheck = 1", "pyproject.toml"))
