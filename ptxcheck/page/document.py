"""One HTML file with everything in it: the data as JSON, the style, the scripts.

Nothing in the data can become markup or script: it is written as JSON whose `<`, `>` and `&` are escaped, into an
element that is not run, and the scripts put it into the page as text only. The Content-Security-Policy names the hash
of each script and of the style, and allows nothing else: no other script, no request.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from ..report.plain import visible

SCRIPTS = (
    "words.js", "dom.js", "source.js", "findings.js", "verdicts.js", "timeline.js", "stepper.js", "run_table.js",
    "control_flow.js", "memory.js", "main.js",
)  # fmt: skip
"""The page's own scripts, in the order in which they are put together."""
_STYLE = "page.css"
_MARKUP = "page.html"
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def document(data: dict[str, Any], title: str, libraries: Sequence[str]) -> str:
    """Return the page. `libraries` are scripts that run before the page's own."""
    scripts = (*libraries, own_script())
    style = _asset(_STYLE)
    parts = {
        "policy": _policy(scripts, style),
        "title": escape(visible(title)),
        "style": f"<style>{style}</style>",
        "data": f'<script type="application/json" id="data">{as_json(data)}</script>',
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    pieces = _asset(_MARKUP).split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def d3() -> str:
    """Return the library that the page draws with: D3, which has a license of its own beside it."""
    return _asset("d3.v5.min.js")


def own_script() -> str:
    """Return the page's own scripts as one, without a name in the global scope."""
    return '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"


def as_json(data: dict[str, Any]) -> str:
    """Return data as ASCII without characters that mean something in HTML."""
    text = json.dumps(_shown(data), ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    for char, code in _ESCAPED.items():
        text = text.replace(char, code)
    return text


def _shown(value: Any) -> Any:
    """Return data with control and direction characters in its texts spelt out."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return value


def _policy(scripts: Sequence[str], style: str) -> str:
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    """Return the source expression of a script or style (Content Security Policy Level 3, 2.3.1)."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
