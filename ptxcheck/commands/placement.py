"""What `ptxcheck show resources` prints: the placement table of the kernels of one file."""

from __future__ import annotations

from collections.abc import Callable

from ..config import Config
from ..resources import gather
from ..resources.render import as_json, as_text
from ..results import Problem, ProblemKind
from ..source import Position
from ..sources.demangled_names import kernel_name
from ..sources.positions import Locator
from ..view import KernelView
from .drawings import locator_of, views_of
from .dump import load_with_host


def place_file(path: str, form: str, kernel: str | None, config: Config) -> tuple[str, tuple[Problem, ...]]:
    """Return the tables of the kernels of one file, as `text` or `json`, and what was wrong."""
    loaded, module, problems = load_with_host(path, config.nvcc)
    if loaded is None or module is None:
        return "", problems
    locator = locator_of(loaded, module, config)
    render = as_json if form == "json" else as_text
    found = [
        render(gather(view), kernel_name(view.function.name), _lines(locator, view))
        for view in views_of(module, locator, kernel, config, loaded)
    ]
    if not found:
        message = f"no kernel is called {kernel}" if kernel else "the file has no kernel"
        return "", (*problems, Problem(ProblemKind.INPUT, message, Position(path, 0)))
    return "\n".join(found), problems


def _lines(locator: Locator, view: KernelView) -> Callable[[int], int]:
    return lambda point: locator.location(view.function, point).ptx.line
