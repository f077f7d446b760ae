"""What `ptxcheck show` prints: roles and barriers of kernels, or one run step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..cfg.inlining import with_calls_inlined
from ..config import Config
from ..explain.violations import stuck_at, whole_kernel
from ..frontends import Loaded
from ..ir import Function, Module
from ..launch import Launch
from ..launches.hints import tensor_maps_of
from ..launches.host_launches import host_launches, launches_of
from ..launches.host_maps import passed_hints
from ..launches.launch_comments import comment_hints
from ..pipeline.several_launches import worst_view
from ..report.plain import call_of, helper, place
from ..results import Problem, ProblemKind
from ..source import Position
from ..sources.demangled_names import kernel_name, short_name
from ..sources.files import Files
from ..sources.positions import Library, Locator
from ..view import KernelView
from . import console
from .dump import load_with_host

if TYPE_CHECKING:
    from ..descriptors.tensor_map import TensorMap

DOT, GRAPHML, SVG = "dot", "graphml", "svg"
_OF_ONE = (GRAPHML, SVG)


def draw_file(path: str, form: str, kernel: str | None, config: Config) -> tuple[str, tuple[Problem, ...]]:
    """Return a drawing of the kernels of one file, and what was wrong.

    `form` is `dot` or `graphml` (a graph of roles and barriers), `text` or `svg` (one run); a picture and a GraphML
    file show one kernel. `kernel` chooses one, by its name or by the short form of a C++ name.
    """
    loaded, module, problems = load_with_host(path, config.nvcc)
    if loaded is None or module is None:
        return "", problems
    locator = locator_of(loaded, module, config)
    views = list(views_of(module, locator, kernel, config, loaded))
    drawn = [(view, text) for view in views if (text := _drawn(view, locator, form)) is not None]
    if form in _OF_ONE and len(drawn) > 1:
        names = ", ".join(view.function.name for view, _ in drawn)
        what = "a picture" if form == SVG else "a GraphML file"
        return "", (*problems, _problem(path, f"{what} shows one kernel; choose with --kernel: {names}"))
    if not drawn:
        return "", (*problems, _problem(path, _why_nothing(module, views, kernel)))
    return "\n".join(text for _, text in drawn), problems


def locator_of(loaded: Loaded, module: Module, config: Config) -> Locator:
    """Return where the points of a module are, by the names that the user knows of files."""
    return Locator(
        module, Library(config.library_prefixes), Files.of(loaded.origins, config.source_roots).shown
    )


def views_of(
    module: Module, locator: Locator, kernel: str | None, config: Config, loaded: Loaded | None = None
) -> Iterator[KernelView]:
    """Yield the kernels of a module, or the one of a name, each for its launch: of several for the worst.

    `loaded` is what the module was read from.
    """
    console.tell_unused(config.launch, [function.name for function in module.entries])
    host = None if loaded is None else loaded.host
    sources = [module.source, *filter(None, (host,))]
    hints = (
        *config.launch,
        *comment_hints(module, locator, sources),
        *passed_hints(module, host),
        *(() if loaded is None else loaded.hints),
    )
    by_host = () if loaded is None else host_launches(module, host, loaded.input.path, loaded.beside)
    for function in module.entries:
        if kernel is None or kernel in (function.name, short_name(function.name), kernel_name(function.name)):
            launches, _ = launches_of(function, hints, by_host)
            maps, _ = tensor_maps_of(function, hints)
            inlined = with_calls_inlined(function, module)
            yield worst_view(launches, _maker(module, inlined, config, maps))


def _maker(
    module: Module, function: Function, config: Config, maps: tuple[tuple[str, TensorMap], ...]
) -> Callable[[Launch], KernelView]:
    """Return what makes the view of a kernel for a launch."""
    return lambda launch: KernelView(module, function, launch, config.verify_seconds, tensor_maps=maps)


def _why_nothing(module: Module, views: Sequence[KernelView], kernel: str | None) -> str:
    if not views:
        names = ", ".join(function.name for function in module.entries) or "none"
        return f"no kernel is called {kernel}; there are: {names}" if kernel else "the file has no kernel"
    for view in views:
        if (whole := view.get(whole_kernel)) is not None:
            reasons = whole.failure or "; ".join(reason.text for reason in whole.result.reasons[:2])
            return f"no run of {view.function.name} could be followed: {reasons}"
    return "no kernel uses barriers or asynchronous work that could be drawn"


def _problem(path: str, message: str) -> Problem:
    return Problem(ProblemKind.INPUT, message, Position(path, 0))


def _drawn(view: KernelView, locator: Locator, form: str) -> str | None:
    """Return the drawing of one kernel: of the run that goes wrong, or of the longest one."""
    whole = view.get(whole_kernel)
    if whole is None:
        return None
    wrong = whole.violations[0] if whole.violations else None
    run = whole.result.sample if wrong is None else wrong.run
    if run is None or whole.result.shape is None:
        return None
    from ..explain.barrier_names import barrier_names

    names = barrier_names(view.function, view.module, run.protocol)
    block, cluster = (
        "×".join(map(str, dim)) for dim in (whole.result.shape.block, whole.result.shape.cluster)
    )
    title = f"{kernel_name(view.function.name)}, block {block}, cluster {cluster}, open loops repeat {run.trips} times"
    if form in (DOT, GRAPHML):
        from ..explain.diagram import dot, graphml, role_graph

        graph = role_graph(run.protocol, names, title, {} if wrong is None else stuck_at(wrong))
        return dot(graph) if form == DOT else graphml(graph)
    from ..explain.timeline import timeline, timeline_svg, timeline_text
    from ..protocols.proof.simulate import scheduled_steps

    def locate(point: int) -> str:
        location = locator.location(view.function, point)
        file = location.primary.file
        call = call_of(location, file)
        return place(location.primary if call is None else call) + (
            "" if call is None else f", {helper(location, file)}"
        )

    schedule = tuple(wrong.problem.schedule if wrong is not None else ()) or scheduled_steps(run.protocol)
    made = timeline(run.protocol, schedule, names, locate, title)
    return timeline_svg(made) if form == SVG else timeline_text(made)
