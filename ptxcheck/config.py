"""Configuration: `[tool.ptxcheck]` of `pyproject.toml`, or `ptxcheck.toml`, of the nearest folder above."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from .finding import Severity
from .frontends import NvccOptions
from .launches.hints import LaunchError, LaunchHint, hint_from_table
from .sources.positions import LIBRARY_PREFIXES
from .terms.effort import LEVELS
from .terms.refutations import SECOND_SOLVERS

OWN_FILE = "ptxcheck.toml"
PROJECT_FILE = "pyproject.toml"

T = TypeVar("T")


class ConfigError(Exception):
    """A configuration that is wrong; the message names the file and the key."""


@dataclass(frozen=True)
class Config:
    """All settings of a run. The defaults are those of ptxcheck without configuration."""

    select: tuple[str, ...] = ("ALL",)
    """Prefixes of rule ids, rule names, severities, or ALL."""
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    """Other severities for rules, by prefix or name."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Rules to ignore in files that match a pattern."""
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    """Leave out of searches what Git ignores."""
    fail_on: Severity = Severity.NOTE
    strict: bool = False
    pedantic: bool = False
    possible: bool = False
    library_prefixes: tuple[str, ...] = LIBRARY_PREFIXES
    source_roots: tuple[str, ...] = ()
    """Folders whose files may be read to show source lines of PTX that was compiled elsewhere."""
    launch: tuple[LaunchHint, ...] = ()
    verify: bool = True
    """Verify whole kernels besides running rules on each thread's code."""
    verify_seconds: float = LEVELS["normal"]
    """Effort for the verification of one kernel (see `terms.effort`)."""
    for_every_count: bool = True
    """Ask the product of role automata first, which shows kernels for every count of rounds."""
    cross_check: str | None = None
    """A second solver that confirms what the first one found to be impossible."""
    nvcc: NvccOptions = field(default_factory=NvccOptions)


def find_config(start: Path) -> Path | None:
    """Return the configuration file of the nearest folder at or above `start` that has one."""
    folder = start if start.is_dir() else start.parent
    for parent in (folder.absolute(), *folder.absolute().parents):
        own = parent / OWN_FILE
        if own.is_file():
            return own
        project = parent / PROJECT_FILE
        if project.is_file() and "ptxcheck" in _table(_parsed(project), "tool", project):
            return project
    return None


def load_config(path: Path) -> Config:
    """Read a configuration file. Raises ConfigError."""
    parsed = _parsed(path)
    if path.name == PROJECT_FILE:
        parsed = _table(_table(parsed, "tool", path), "ptxcheck", path)
    config = Config()
    return _over(config, parsed, _Reader(path, config.nvcc))


def with_setting(config: Config, text: str) -> Config:
    """Return the settings with one over them, written as in a file: `verify-seconds = 3`. Raises ConfigError."""
    origin = Path("--set")
    try:
        parsed = tomllib.loads(text)
    except ValueError as error:
        raise ConfigError(f'{origin}: {text!r} is not TOML, such as `select = ["MB"]`: {error}') from error
    return _over(config, parsed, _Reader(origin, config.nvcc))


def _over(config: Config, parsed: Mapping[str, Any], reader: _Reader) -> Config:
    """Return settings with those of a table over them."""
    settings = reader.read(parsed, _KEYS, "")
    select = settings.pop("extend_select", ())
    prefixes = settings.pop("extend_library_prefixes", ())
    config = replace(config, **settings)
    return replace(config, select=config.select + select, library_prefixes=config.library_prefixes + prefixes)


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error


def _table(parent: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    table = parent.get(key, {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"{path}: `{key}` is not a table")
    return table


def parse_severity(text: object) -> Severity:
    """Return the severity of a name. Raises ConfigError."""
    for severity in Severity:
        if severity.value == text:
            return severity
    names = ", ".join(severity.value for severity in Severity)
    raise ConfigError(f"{text!r} is not a severity; they are {names}")


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns TOML values into settings; every complaint names the file and the key."""

    path: Path
    base: NvccOptions
    """Options of nvcc that those read are over."""

    def read(self, table: Mapping[str, Any], keys: Mapping[str, _Parse], prefix: str) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for key, value in table.items():
            parse = keys.get(key)
            if parse is None:
                raise ConfigError(f"{self.path}: unknown key `{prefix}{key}`{_suggestion(key, keys)}")
            try:
                settings[key.replace("-", "_")] = parse(self, value)
            except (ConfigError, LaunchError) as error:
                where = f"{self.path}: `{prefix}{key}`: "
                text = str(error)
                raise ConfigError(text if text.startswith(f"{self.path}: ") else where + text) from error
        return settings

    def flag(self, value: object) -> bool:
        return _typed(value, bool, "true or false")

    def texts(self, value: object) -> tuple[str, ...]:
        items = _typed(value, list, "a list of strings")
        return tuple(_typed(item, str, "a list of strings") for item in items)

    def text(self, value: object) -> str:
        return _typed(value, str, "a string")

    def folders(self, value: object) -> tuple[str, ...]:
        return tuple(str(self.path.parent / folder) for folder in self.texts(value))

    def severity(self, value: object) -> Severity:
        return parse_severity(value)

    def severities(self, value: object) -> Mapping[str, Severity]:
        return {key: parse_severity(item) for key, item in _typed(value, dict, "a table").items()}

    def ignores(self, value: object) -> Mapping[str, tuple[str, ...]]:
        return {key: self.texts(item) for key, item in _typed(value, dict, "a table").items()}

    def launches(self, value: object) -> tuple[LaunchHint, ...]:
        table = _typed(value, dict, "a table of kernels")
        return tuple(hint_from_table(key, item, "configuration") for key, item in table.items())

    def solver(self, value: object) -> str:
        if value not in SECOND_SOLVERS:
            raise ConfigError(f"must be one of {', '.join(SECOND_SOLVERS)}")
        return str(value)

    def effort(self, value: object) -> float:
        if isinstance(value, str):
            if value not in LEVELS:
                raise ConfigError(f"must be one of {', '.join(LEVELS)}, or a positive number of seconds")
            return LEVELS[value]
        return self.seconds(value)

    def seconds(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise ConfigError("must be a positive number of seconds")
        return float(value)

    def nvcc(self, value: object) -> NvccOptions:
        settings = self.read(_typed(value, dict, "a table"), _NVCC_KEYS, "nvcc.")
        names = {"include": "includes", "define": "defines"}
        return replace(self.base, **{names.get(key, key): item for key, item in settings.items()})

    def database(self, value: object) -> str:
        return str(self.path.parent / self.text(value))


_Parse = Callable[[_Reader, object], Any]

_KEYS: Mapping[str, _Parse] = {
    "select": _Reader.texts,
    "extend-select": _Reader.texts,
    "ignore": _Reader.texts,
    "severity": _Reader.severities,
    "per-file-ignores": _Reader.ignores,
    "exclude": _Reader.texts,
    "gitignore": _Reader.flag,
    "fail-on": _Reader.severity,
    "strict": _Reader.flag,
    "pedantic": _Reader.flag,
    "possible": _Reader.flag,
    "library-prefixes": _Reader.texts,
    "extend-library-prefixes": _Reader.texts,
    "source-roots": _Reader.folders,
    "launch": _Reader.launches,
    "verify": _Reader.flag,
    "verify-seconds": _Reader.effort,
    "for-every-count": _Reader.flag,
    "cross-check": _Reader.solver,
    "nvcc": _Reader.nvcc,
}

_NVCC_KEYS: Mapping[str, _Parse] = {
    "args": _Reader.texts,
    "include": _Reader.folders,
    "define": _Reader.texts,
    "arch": _Reader.text,
    "compile-commands": _Reader.database,
    "timeout": _Reader.seconds,
}


def _typed(value: object, kind: type[T], what: str) -> T:
    if not isinstance(value, kind):
        raise ConfigError(f"must be {what}")
    return value


def _suggestion(key: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(key, known, n=1)
    return f"; did you mean `{close[0]}`?" if close else f"; known keys are {', '.join(known)}"
