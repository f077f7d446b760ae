"""Settings of a run: where they come from, what wins, and which files and rules they choose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ptxcheck import cli
from ptxcheck.config import Config, ConfigError, with_setting
from ptxcheck.rules import RULES
from ptxcheck.verdict import AssumptionSource, Evidence, Openness, Property, VerdictKind
from tests.fakes import HEADER

BAD = HEADER + ".visible .entry k()\n{\n  bar.sync 17;\n  ret;\n}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "generated").mkdir()
    for name in ("a.ptx", "b.ptx", "generated/c.ptx"):
        (tmp_path / name).write_text(BAD)
    return tmp_path


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli.main, ["check", *arguments], input=text)


def shown(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--show-settings")
    assert done.exit_code == 0, done.output
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def test_settings_are_those_of_the_file_and_the_options_over_it(folder: Path) -> None:
    file = folder / "ptxcheck.toml"
    file.write_text(
        'select = ["MB"]\nextend-select = ["CL006"]\nignore = ["MB001"]\n'
        '[nvcc]\narch = "sm_90a"\ndefine = ["A"]\n[launch]\n"k*" = "block=32"\n'
    )
    value = shown("a.ptx", "--ignore", "MB003", "--extend-select", "NB001", "--set", 'nvcc.arch = "sm_100a"')
    settings = value["settings"]
    assert Path(value["configuration"]).samefile(file)
    assert settings["select"] == ["MB", "CL006", "NB001"]
    assert settings["ignore"] == ["MB001", "MB003"]
    assert (settings["nvcc"]["arch"], settings["nvcc"]["define"]) == ("sm_100a", ["A"])
    assert value["launch"][0]["kernels"] == "k*"
    assert value["launch"][0]["block"] == [32, 1, 1]
    assert {"CL006", "MB004", "NB001"} <= set(value["rules"])
    assert not {"MB001", "MB003", "CL001"} & set(value["rules"])


def test_every_setting_is_shown(folder: Path) -> None:
    value = shown(".", "--isolated")
    keys = {key for key in cli_keys() if not key.startswith("extend-")}
    assert set(value["settings"]) | {"launch"} == keys
    assert value["configuration"] is None
    on = [rule.id for rule in RULES if not rule.pedantic and rule.confidence.value == "proved"]
    assert value["rules"] == sorted(on)


def cli_keys() -> set[str]:
    from ptxcheck import config

    return set(config._KEYS)


def test_a_rule_that_is_off_is_turned_on_besides_the_others(folder: Path) -> None:
    pedantic = next(rule.id for rule in RULES if rule.pedantic)
    assert pedantic not in shown(".")["rules"]
    rules = shown(".", "--extend-select", pedantic)["rules"]
    assert set(rules) == {*shown(".")["rules"], pedantic}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("verify-seconds = -1", "--set: `verify-seconds`: must be a positive number"),
        ("selekt = []", "--set: unknown key `selekt`; did you mean `select`?"),
        ("select=MB", "--set: 'select=MB' is not TOML"),
        ("nvcc = 3", "--set: `nvcc`: must be a table"),
        ("nvcc.arsch = 's'", "--set: unknown key `nvcc.arsch`"),
    ],
)
def test_bad_settings(folder: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match="--set"):
        with_setting(Config(), text)
    done = run("a.ptx", "--set", text)
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_settings_of_rules_that_are_not(folder: Path) -> None:
    done = run("a.ptx", "--select", "MBX", "--show-settings")
    assert (done.exit_code, "no rule is called" in done.output) == (2, True)


def test_files(folder: Path) -> None:
    def files(*arguments: str) -> list[str]:
        done = run(*arguments, "--show-files")
        assert done.exit_code == 0, done.output
        return done.stdout.split()

    assert files(".") == ["./a.ptx", "./b.ptx", "./generated/c.ptx"]
    assert files(".", "--exclude", "generated", "--exclude", "b.ptx") == ["./a.ptx"]
    assert files("a.ptx", "generated/c.ptx", "--exclude", "generated") == ["a.ptx", "generated/c.ptx"]
    assert files("a.ptx", "generated/c.ptx", "--exclude", "generated", "--force-exclude") == ["a.ptx"]
    (folder / "ptxcheck.toml").write_text('exclude = ["generated"]\n')
    assert files(".") == ["./a.ptx", "./b.ptx"]
    assert run("no.ptx", "--show-files").exit_code == 2
    assert run(".", "--show-files", "--since", "HEAD").exit_code == 2  # no repository


def test_files_that_are_excluded_by_force_are_not_checked(folder: Path) -> None:
    done = run("generated/c.ptx", "--exclude", "generated", "--force-exclude")
    assert (done.exit_code, done.stdout) == (0, "checked 0 kernels in 0 files; 0 findings\n")
    assert run("generated/c.ptx", "--exclude", "generated").exit_code == 1


def test_standard_input_has_a_name(folder: Path) -> None:
    (folder / "ptxcheck.toml").write_text('[per-file-ignores]\n"generated/*" = ["ALL"]\n')
    named = run("-", "--stdin-filename", "src/k.ptx", "--format", "concise", text=BAD)
    assert named.stdout.startswith("src/k.ptx:6:3: ")
    assert run("-", "--stdin-filename", "generated/k.ptx", text=BAD).exit_code == 0
    (folder / "inner").mkdir()
    (folder / "inner/ptxcheck.toml").write_text('ignore = ["NB", "PT"]\n')
    assert run("-", "--stdin-filename", "inner/k.ptx", text=BAD).exit_code == 0
    assert "<stdin>" in run("-", text=BAD).stdout
    both = run("a.ptx", "-", "--stdin-filename", "k.ptx", "--format", "concise", text=BAD).stdout
    assert "a.ptx:6:3" in both
    assert "\nk.ptx:6:3" in "\n" + both


def test_cuda_on_standard_input(folder: Path) -> None:
    done = run("-", "--stdin-filename", "k.cu", text="int x;")
    assert (done.exit_code, "nvcc reads CUDA sources from files" in done.output) == (2, True)


def test_the_other_commands_have_the_same_settings(folder: Path) -> None:
    done = CliRunner().invoke(cli.main, ["baseline", "write", "a.ptx", "-o", "known.json"])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(cli.main, ["diff", "a.ptx", "b.ptx"]).exit_code == 0


def test_a_rule_is_explained_in_three_ways() -> None:
    def explained(*form: str) -> str:
        done = CliRunner().invoke(cli.main, ["explain", "mb003", *form])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert explained().startswith("MB003 uninitialised-mbarrier (hang)")
    assert explained("--format", "markdown").startswith("# MB003 uninitialised-mbarrier")
    (value,) = json.loads(explained("--format", "json"))
    assert (value["id"], "mbarrier.init" in value["good"]) == ("MB003", True)


def test_every_word_of_a_report_is_explained() -> None:
    words = [*VerdictKind, *Property, *Openness, *Evidence, *AssumptionSource]
    for word in [each.value for each in words] + [
        "not decided",
        "not judged",
        "holds unless",
        "if",
        "taking",
        "runs",
    ]:
        done = CliRunner().invoke(cli.main, ["explain", word])
        assert done.exit_code == 0, word
        assert "What to do: " in done.stdout


def test_a_word_is_explained_in_three_ways() -> None:
    def explained(*form: str) -> str:
        return CliRunner().invoke(cli.main, ["explain", "Slot-Safety", *form]).stdout

    assert explained().startswith("slot-safety\n\nTwo accesses of the same bytes")
    assert explained("--format", "markdown").startswith("# slot-safety")
    assert json.loads(explained("--format", "json"))["name"] == "slot-safety"
