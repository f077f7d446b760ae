"""Baselines: findings that are known and not to be reported again, by fingerprints that survive moved lines."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..finding import Finding
from ..results import Note, NoteKind, Report
from ..source import COMPILED_SUFFIX, Position

SCHEMA = 1

_Key = tuple[str, str]
"""Fingerprint, and file relative to the folder of the baseline."""


class BaselineError(Exception):
    """A baseline that cannot be used; the message names the file."""


def baseline_text(report: Report, path: str) -> str:
    """Return a baseline of the findings of a report that no comment suppresses, to be written to `path`."""
    findings = [
        {
            "fingerprint": finding.fingerprint,
            "rule": finding.rule,
            "file": _relative(finding, path),
            "kernel": finding.kernel,
            "message": finding.message,
        }
        for finding in report.findings
        if finding.suppressed is None
    ]
    findings.sort(key=lambda item: (item["file"] or "", item["rule"] or "", item["fingerprint"] or ""))
    return json.dumps({"schema": SCHEMA, "findings": findings}, indent=2) + "\n"


def read_baseline(path: str) -> Counter[_Key]:
    """Return how often each finding is in a baseline. Raises BaselineError."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: is not JSON: {error}") from error
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise BaselineError(f"{path}: is not a baseline of this version: write it again")
    listed = value.get("findings")
    if not isinstance(listed, list):
        raise BaselineError(f"{path}: `findings` is not a list")
    return Counter(_key(item, path) for item in listed)


def _key(item: Any, path: str) -> _Key:
    fingerprint, file = (
        (item.get("fingerprint"), item.get("file")) if isinstance(item, dict) else (None, None)
    )
    if not isinstance(fingerprint, str) or not isinstance(file, str):
        raise BaselineError(f"{path}: a finding lacks its `fingerprint` or `file`")
    return fingerprint, file


def without_known(report: Report, known: Counter[_Key], path: str) -> Report:
    """Mark the findings that the baseline at `path` lists, and note how many of its entries are gone."""
    left = known.copy()
    findings = []
    for finding in report.findings:
        key = (finding.fingerprint, _relative(finding, path))
        found = finding.suppressed is None and left[key] > 0
        left[key] -= found
        findings.append(replace(finding, baselined=True) if found else finding)
    checked = {_from_folder(name, path) for name in report.inputs}
    gone = sum(count for (_, file), count in left.items() if count > 0 and _input_of(file) in checked)
    notes = report.notes
    if gone:
        message = f"{gone} of its findings are gone: write the baseline again, so that they stay gone"
        notes = (*notes, Note(NoteKind.BASELINE, message, Position(path, 0)))
    return replace(report, findings=tuple(findings), notes=notes)


def _relative(finding: Finding, path: str) -> str:
    return _from_folder(_input_of(finding.location.ptx.file), path)


def _input_of(file: str) -> str:
    """Return the CUDA source that a compiled file's PTX is named after, or the file itself."""
    return file.removesuffix(".ptx") if file.endswith(COMPILED_SUFFIX) else file


def _from_folder(name: str, path: str) -> str:
    """Return a file's path from the folder of the baseline, so that it holds wherever a run starts."""
    return name if name.startswith("<") else os.path.relpath(name, os.path.dirname(os.path.abspath(path)))
