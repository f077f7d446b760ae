"""D3, the library that the page draws with: taken from the Python package `mpld3`, which ships it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

_PACKAGE = "mpld3"
_FILE = "mpld3/js/d3.v5.min.js"
_MARK = "https://d3js.org v5"
"""D3's own first line names its version."""


class LibraryError(Exception):
    """The library is not there; the message says how to get it."""


def d3() -> str:
    """Return the text of D3. Raises LibraryError. The package itself, which needs matplotlib, is not imported."""
    try:
        files = distribution(_PACKAGE).files or []
    except PackageNotFoundError:
        raise LibraryError(_advice("is not installed")) from None
    found = next((file for file in files if file.as_posix() == _FILE), None)
    if found is None:
        raise LibraryError(_advice(f"has no {_FILE}"))
    try:
        text = found.locate().read_text(encoding="utf-8")  # type: ignore[attr-defined]
    except OSError as error:
        raise LibraryError(_advice(f"cannot be read: {error.strerror}")) from error
    if _MARK not in text[:200] or "</script" in text.lower():
        raise LibraryError(_advice(f"has another {_FILE} than expected"))
    return str(text)


def _advice(what: str) -> str:
    return f"the page is drawn with D3, which the package {_PACKAGE} brings; it {what}: pip install 'ptxcheck[view]'"
