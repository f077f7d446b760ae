"""What `ptxcheck show` prints: roles and barriers of kernels, or one run step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..cfg.inlining import with_calls_inlined
from ..config import Config
from ..explain.violations import stuck_at, verified_launch, whole_kernel
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
    from ..protocols.symex.values.trace import Shape

DOT, GRAPHML, SVG = "dot", "graphml", "svg"
_OF_ONE = (GRAPHML, SVG)
_NO_BARRIERS = "no kernel uses barriers or asynchronous work that could be drawn"


@dataclass(frozen=True, slots=True)
class NotDrawn:
    """Why there is no drawing of a kernel."""

    reason: str


Draw: TypeAlias = Callable[[KernelView, Locator, str], str | NotDrawn]
"""Makes the drawing of one kernel in a format."""


def draw_run(view: KernelView, locator: Locator, form: str) -> str | NotDrawn:
    """Return a drawing of the run that goes wrong, or of the longest one.

    `form` is `dot` or `graphml` (a graph of roles and barriers), `text` or `svg` (step by step).
    """
    whole = view.get(whole_kernel)
    if whole is None:
        return NotDrawn(_NO_BARRIERS)
    wrong = whole.violations[0] if whole.violations else None
    run = whole.result.sample if wrong is None else wrong.run
    if run is None or whole.result.shape is None:
        reasons = whole.failure or "; ".join(reason.text for reason in whole.result.reasons[:2])
        return NotDrawn(f"no run of {view.function.name} could be followed: {reasons}")
    from ..explain.barrier_names import barrier_names

    names = barrier_names(view.function, view.module, run.protocol)
    title = f"{_launched(view, whole.result.shape)}, open loops repeat {run.trips} times"
    if form in (DOT, GRAPHML):
        from ..explain.diagram import dot, graphml, role_graph

        graph = role_graph(run.protocol, names, title, {} if wrong is None else stuck_at(wrong))
        return dot(graph) if form == DOT else graphml(graph)
    from ..explain.timeline import timeline, timeline_svg, timeline_text
    from ..protocols.proof.simulate import scheduled_steps

    schedule = tuple(wrong.problem.schedule if wrong is not None else ()) or scheduled_steps(run.protocol)
    made = timeline(run.protocol, schedule, names, _locate(view, locator), title)
    return timeline_svg(made) if form == SVG else timeline_text(made)


def draw_automata(view: KernelView, locator: Locator, form: str) -> str | NotDrawn:
    """Return the role automata of a kernel: what threads do in which order for any count, as `dot` or `graphml`."""
    whole = view.get(whole_kernel)
    if whole is None:
        return NotDrawn(_NO_BARRIERS)
    shape = whole.result.shape
    if shape is None:
        return NotDrawn(f"how {view.function.name} is launched is not known: pass --launch")
    from ..explain.automaton_graph import automaton_dot, automaton_graph
    from ..explain.barrier_names import barrier_names
    from ..explain.diagram import graphml
    from ..protocols.product.for_all import Shown
    from ..protocols.role_automata import role_automata
    from ..protocols.symex.values.symbol import show_atom

    assert view.verify_seconds is not None, "it was verified"
    locate = _locate(view, locator)
    found = role_automata(
        view.cfg, view.function, view.module, verified_launch(view), shape, seconds=view.verify_seconds
    )
    result, automata = found.result, found.automata
    why = ""
    if not isinstance(result, Shown):
        why = result.reason + (f" ({locate(result.point)})" if result.point >= 0 else "")
    if automata is None:
        return NotDrawn(f"the roles of {view.function.name} are not followed for every count: {why}")
    names = barrier_names(view.function, view.module, automata.protocol)
    rests = [
        f"{show_atom(name)} modulo {each.modulus} is {each.rest}" for name, each in automata.residues.items()
    ]
    shown = result.text if isinstance(result, Shown) else f"not shown for every count: {why}"
    title = names.say("\n".join((", ".join((_launched(view, shape), *rests)), shown)))
    graph = automaton_graph(automata, names, locate, title)
    return automaton_dot(graph) if form == DOT else graphml(graph)


def _launched(view: KernelView, shape: Shape) -> str:
    block, cluster = ("×".join(map(str, dim)) for dim in (shape.block, shape.cluster))
    return f"{kernel_name(view.function.name)}, block {block}, cluster {cluster}"


def _locate(view: KernelView, locator: Locator) -> Callable[[int], str]:
    """Return what names the places of points for people."""

    def locate(point: int) -> str:
        location = locator.location(view.function, point)
        file = location.primary.file
        call = call_of(location, file)
        return place(location.primary if call is None else call) + (
            "" if call is None else f", {helper(location, file)}"
        )

    return locate


def draw_file(
    path: str, form: str, kernel: str | None, config: Config, draw: Draw = draw_run
) -> tuple[str, tuple[Problem, ...]]:
    """Return a drawing of the kernels of one file, and what was wrong.

    A picture and a GraphML file show one kernel. `kernel` chooses one, by its name or by the short form of a C++ name.
    """
    loaded, module, problems = load_with_host(path, config.nvcc)
    if loaded is None or module is None:
        return "", problems
    locator = locator_of(loaded, module, config)
    views = list(views_of(module, locator, kernel, config, loaded))
    made = [(view, draw(view, locator, form)) for view in views]
    drawn = [(view, text) for view, text in made if isinstance(text, str)]
    if form in _OF_ONE and len(drawn) > 1:
        names = ", ".join(view.function.name for view, _ in drawn)
        what = "a picture" if form == SVG else "a GraphML file"
        return "", (*problems, _problem(path, f"{what} shows one kernel; choose with --kernel: {names}"))
    if not drawn:
        return "", (*problems, _problem(path, _why_nothing(module, [text for _, text in made], kernel)))
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


def _why_nothing(module: Module, made: Sequence[str | NotDrawn], kernel: str | None) -> str:
    reasons = [each.reason for each in made if isinstance(each, NotDrawn)]
    if not reasons:
        names = ", ".join(function.name for function in module.entries) or "none"
        return f"no kernel is called {kernel}; there are: {names}" if kernel else "the file has no kernel"
    return next((each for each in reasons if each != _NO_BARRIERS), _NO_BARRIERS)


def _problem(path: str, message: str) -> Problem:
    return Problem(ProblemKind.INPUT, message, Position(path, 0))
