"""ptxcheck: a static verifier and linter for PTX and CUDA kernels.

>>> import ptxcheck
>>> report = ptxcheck.check("kernel.ptx")
>>> for finding in report.active:
...     print(finding.location.primary, finding.rule, finding.message)

The names are imported when they are first used, so that the command line can be interrupted from its first moment.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it: `typing` takes a while to import
if TYPE_CHECKING:
    from .checker import check
    from .config import Config
    from .finding import Finding
    from .results import Report
    from .source import Source
    from .version import __version__

_HOMES = {
    "check": ".checker",
    "Config": ".config",
    "Finding": ".finding",
    "Report": ".results",
    "Source": ".source",
    "__version__": ".version",
}

__all__ = ["Config", "Finding", "Report", "Source", "__version__", "check"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home, __name__), name)
