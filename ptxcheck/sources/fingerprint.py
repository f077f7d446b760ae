"""Fingerprints of findings that survive moved lines, renumbered registers and renumbered labels."""

from __future__ import annotations

import hashlib
import re

_SPACE = re.compile(r"\s+")
_REGISTER = re.compile(r"(%[A-Za-z_]+)\d+\b")
_LABEL = re.compile(r"\$L__(?:BB|tmp|func_begin|func_end)[\d_]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def normalised(text: str) -> str:
    """Return an instruction's text without comments, spacing, and the numbers that compilers hand out."""
    text = _SPACE.sub(" ", _COMMENT.sub(" ", text)).strip()
    return _LABEL.sub("$L", _REGISTER.sub(r"\1", text))


def fingerprint(rule: str, kernel: str, text: str, ordinal: int) -> str:
    """Return the fingerprint of the `ordinal`th finding of a rule at equal instructions of a kernel."""
    parts = "\0".join((rule, kernel, text, str(ordinal)))
    return hashlib.sha256(parts.encode("utf-8", errors="replace")).hexdigest()[:32]
