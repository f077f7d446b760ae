"""What a repair starts with: the text of a file, its configuration, and who judges its patched forms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import console

if TYPE_CHECKING:
    from ..config import Config
    from ..patching.judge import TextJudge
    from ..repair.weighing import Assembler
    from ..rules import Rule


@dataclass(frozen=True, slots=True)
class Stated:
    """What options say of launches, as they are written."""

    launch: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    tensor_map: tuple[str, ...] = ()
    verify_seconds: float | None = None
    """Effort for verifying one kernel; None for that of the configuration."""


NOTHING_STATED = Stated()
CUDA = (".cu", ".cuh")
"""Files that nvcc compiles before they are repaired."""


def text_of(path: str) -> str:
    """Return the text of a source file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        console.fail(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        console.fail(f"{path}: not UTF-8 text")


def config_of(path: str, config_file: str | None, stated: Stated = NOTHING_STATED) -> Config:
    """Return the configuration that is named, or that stands beside a file or above it, with stated launches first."""
    from ..config import Config, ConfigError, find_config, load_config
    from ..launches.hints import LaunchError
    from ..launches.hints import stated as hints_of

    try:
        place = Path(config_file) if config_file else find_config(Path(path).absolute())
        config = Config() if place is None else load_config(place)
        hints = hints_of(stated.launch, stated.assume, stated.tensor_map)
        seconds = stated.verify_seconds or config.verify_seconds
        return replace(config, launch=hints + config.launch, verify_seconds=seconds)
    except (ConfigError, LaunchError) as error:
        console.fail(str(error))


def rules_of(config: Config) -> tuple[Rule, ...]:
    """Return the rules that a configuration asks for."""
    from ..rules import known_rules, select_rules

    return select_rules(
        known_rules(), config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )


def prepared(path: str, config: Config) -> tuple[str, TextJudge, Assembler]:
    """Return the text of a PTX file, and who judges and assembles its patched forms."""
    from ..frontends import discover, load
    from ..launches.host_launches import host_launches
    from ..parser import parse_module
    from ..patching.judge import TextJudge
    from ..repair.assemble import find_ptxas
    from ..repair.weighing import Assembler

    found, problems = discover([path])
    if not problems and (len(found) != 1 or not path.endswith(".ptx")):
        console.fail(f"{path}: name one .ptx file")
    loaded = None if problems else load(found[0], config.nvcc)
    if loaded is None or loaded.source is None:
        console.fail(f"{path}: {(problems or (() if loaded is None else loaded.problems))[0].message}")
    module = parse_module(loaded.source)
    console.tell_unused(config.launch, [function.name for function in module.entries])
    by_host = host_launches(module, None, path, loaded.beside)
    judge = TextJudge(path, rules_of(config), config, by_host=by_host)
    text = loaded.source.text
    first = judge(text)
    if first.problems:
        console.fail(f"{path}: {first.problems[0]}; only a text that can be checked in full is repaired")
    target = next(iter(first.views.values())).module.targets[0] if first.views else ""
    return text, judge, Assembler(find_ptxas(), target)
