"""The cache folder: where everything lies, and the manifest of what was built."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MANIFEST_SCHEMA = 1
BESIDE = (".ttir", ".ttgir")
"""Texts of the compiler's that lie beside PTX of the same name."""


def default_root() -> Path:
    """`$XDG_CACHE_HOME/ptxcheck/corpora`, by default under `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "ptxcheck" / "corpora"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the manifest: a PTX file that was built, or the reason why it was not."""

    group: str
    name: str
    target: str
    built: bool
    how: str
    tool: str = ""
    bytes: int = 0
    seconds: float = 0.0
    peak_mb: int = 0
    message: str = ""
    digest: str = ""
    """Of what it was built from; a unit whose digest changed is built again."""

    @property
    def key(self) -> str:
        return f"{self.group}/{self.name}"


@dataclass(frozen=True, slots=True)
class Cache:
    """The folder that holds environments, generated sources, PTX and records."""

    root: Path

    @property
    def manifest_file(self) -> Path:
        return self.root / "manifest.json"

    @property
    def ptxas_file(self) -> Path:
        return self.root / "ptxas.json"

    def environment(self, name: str) -> Path:
        return self.root / "envs" / name

    def sources(self, group: str) -> Path:
        """Where the generated sources of a group go; made when missing."""
        folder = self.root / "sources" / group
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def ptx(self, group: str, name: str) -> Path:
        """The place of one PTX file; its folder is made when missing."""
        path = self.root / "ptx" / group / f"{name}.ptx"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def relative(self, text: str) -> str:
        """`text` without this machine's folders, for the record."""
        return text.replace(str(self.root), "<cache>")

    def rows(self) -> dict[str, Row]:
        data = read_json(self.manifest_file)
        return {key: Row(**row) for key, row in data.get("rows", {}).items()}

    def record(self, row: Row) -> None:
        """Add or replace one row; several builders may do so at the same time."""
        entry = {k: self.relative(v) if isinstance(v, str) else v for k, v in asdict(row).items()}
        update_json(self.manifest_file, {row.key: entry})

    def keep_only(self, group: str, names: set[str]) -> None:
        """Drop the rows and files of a group that the builder does not make any more."""
        with locked(self.manifest_file):
            data = read_json(self.manifest_file)
            rows: dict[str, Any] = data.get("rows", {})
            stale = [key for key, row in rows.items() if row["group"] == group and row["name"] not in names]
            for key in stale:
                path = self.ptx(group, rows.pop(key)["name"])
                for kind in (".ptx", *BESIDE):
                    path.with_suffix(kind).unlink(missing_ok=True)
            if stale:
                write_json(self.manifest_file, data)

    def built(self, group: str, name: str, digest: str = "") -> Row | None:
        """The row of a unit that needs no new build."""
        row = self.rows().get(f"{group}/{name}")
        if row is None or not row.built or not self.ptx(group, name).is_file():
            return None
        return row if not digest or row.digest == digest else None


def digest_of(*parts: str) -> str:
    """A short fingerprint of some texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()[:16]


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty when there is no such file."""
    if not path.is_file():
        return {}
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def write_json(path: Path, data: object) -> None:
    """Write through a temporary file, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(path)


def update_json(path: Path, rows: dict[str, Any]) -> None:
    """Merge `rows` into the rows of a JSON file while holding its lock."""
    with locked(path):
        data = read_json(path)
        merged = {**data.get("rows", {}), **rows}
        write_json(path, {"schema": MANIFEST_SCHEMA, "rows": merged})


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that belongs to `path`; other processes wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
