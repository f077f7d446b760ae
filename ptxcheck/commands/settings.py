"""The settings of a run, after configuration file and options, as they would be written in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ..config import Config
from ..launches.hints import LaunchHint

_KEYS = {"includes": "include", "defines": "define"}
"""Keys of the configuration whose field has another name."""


def settings_json(config: Config, file: Path | None, rules: Sequence[str]) -> str:
    """Return where the settings come from, all of them, and the ids of the rules that they choose."""
    value = {
        "configuration": None if file is None else str(file),
        "settings": {
            name.replace("_", "-"): _plain(value)
            for name, value in _fields(config).items()
            if name != "launch"
        },
        "launch": [_hint(hint) for hint in config.launch],
        "rules": list(rules),
    }
    return json.dumps(value, indent=2) + "\n"


def _hint(hint: LaunchHint) -> dict[str, Any]:
    """Return one launch; of tensor maps and conditions the names tell enough."""
    return {
        "kernels": hint.kernel,
        "from": hint.origin,
        "block": _plain(hint.block),
        "cluster": _plain(hint.cluster),
        "assume": dict(hint.values),
        "tensor-maps": [name for name, _ in hint.tensor_maps],
    }


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {
            _KEYS.get(name, name).replace("_", "-"): _plain(item) for name, item in _fields(value).items()
        }
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
